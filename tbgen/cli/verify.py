"""`tbgen verify`: prove finished tables from the rules alone."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from tbgen.answers import failures
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.lessons import show_next
from tbgen.indexing import InputError, Material

if TYPE_CHECKING:
    from tbgen.verify import VerifyReport

NAMED_BELOW = 12
"""As many supporting tables are named in full; more make no line that anybody would type."""


@click.command(cls=Command)
@click.argument("materials", nargs=-1, required=True, metavar="MATERIAL...")
@options.table_options
@click.option(
    "--threads", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="all cores"
)
@options.json_option
@click.pass_context
def verify(
    ctx: click.Context,
    materials: tuple[str, ...],
    selection: options.Selection,
    threads: int,
    as_json: bool,
) -> None:
    """Prove the tables of MATERIAL... from the rules.

    Reads the whole files, checks every checksum and every position: its value is the best of its
    moves, its perpetual checks and chases are patterns, and no draw hides one. What that shows of
    a table holds if its supporting tables are right: name them too to be sure.

    Exit status: 0 ok, 1 a finding or a missing table, 2 bad input, 3 corrupt file.
    """
    wanted = [Material.parse(name) for name in materials]
    for material in wanted:
        if not material.needs_table:
            raise InputError(
                f"{material} has no table: without a rook, knight, cannon or pawn all is drawn",
                "name a material with an attacker, as in KRKAA",
            )
    reports = []
    with selection.open() as opened, _LiveLine() as line:
        # Compiled kernels are loaded only when something is to be verified.
        from tbgen.verify import verify_file

        for material in wanted:
            line.material = material.name
            proof = verify_file(opened, material, threads=threads, report=line.show)
            reports.append(proof)
            if not as_json:
                line.clear()
                _show(proof)
    ok = all(proof.ok for proof in reports)
    if as_json:
        show_json({"ok": ok, "tables": [proof.to_json() for proof in reports]})
    elif ok:
        _suggest(wanted)
    ctx.exit(failures.OK if ok else failures.FINDINGS)


def _suggest(proven: list[Material]) -> None:
    """Name the tables that the proofs rest on, if they were not all among them."""
    below = {m for material in proven for m in material.closure() if m.needs_table}
    if below.issubset(proven):
        return
    names = sorted((material.name for material in below), key=lambda name: (len(name), name))
    if len(names) <= NAMED_BELOW:
        show_next((f"tbgen verify {' '.join(names)}", "proves what this rests on, too"))
    else:
        show_next(("tbgen verify MATERIAL...", f"the {len(names)} tables that this rests on"))


class _LiveLine:
    """Progress on stderr, if it is a terminal."""

    def __init__(self) -> None:
        self.material = ""
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> _LiveLine:
        """Begin the line."""
        if sys.stderr.isatty():
            self._bar = tqdm(bar_format="{desc}", leave=False)
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        if self._bar is not None:
            self._bar.close()

    def show(self, phase: str, done: int, total: int) -> None:
        """How far the proof is."""
        if self._bar is not None:
            self._bar.set_description_str(f"{self.material}: {phase}, {100 * done // total} %")

    def clear(self) -> None:
        """Make room for a line on stdout."""
        if self._bar is not None:
            self._bar.clear()


def _show(proof: VerifyReport) -> None:
    """One table, to read."""
    option = "" if proof.minor_chases is not False else " without minor chases"
    limit = f", at most {proof.orders_limit} orders" if proof.orders_limit else ""
    verdict = "proven" if proof.ok else "REFUTED"
    click.echo(
        f"{proof.material} ({proof.rules}{option}{limit}, {proof.metric}): {verdict}, "
        f"{proof.positions:,} positions in {proof.seconds:.1f} s"
    )
    for side, totals in (("red", proof.red_to_move), ("black", proof.black_to_move)):
        click.echo(
            f"  {side + ' to move':14}{totals.positions:,}: {totals.wins:,} wins, "
            f"{totals.draws:,} draws, {totals.losses:,} losses; {totals.rule_decided:,} by rules, "
            f"{totals.direct:,} of them direct wins ({totals.direct_checks:,} by perpetual check, "
            f"{totals.direct_chases:,} by perpetual chase)"
        )
    if proof.rules != "none":
        click.echo(
            f"  {'patterns':14}{proof.orders_examined} orders searched, "
            f"{proof.offenders_examined:,} possible checkers, "
            f"{proof.chasers_examined:,} possible chasers"
        )
    if proof.findings:
        click.echo(f"  {proof.findings:,} positions are wrong, the first one:")
        click.echo(f"  {proof.first}")
    for problem in proof.file_problems:
        click.echo(f"  {problem}")
