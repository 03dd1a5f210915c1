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
from tbgen.indexing import InputError, Material

if TYPE_CHECKING:
    from tbgen.tables.proofs import ProofStatus
    from tbgen.verify import VerifyReport


@click.command(cls=Command)
@click.argument("materials", nargs=-1, required=True, metavar="MATERIAL...")
@options.table_options
@click.option(
    "--threads", type=click.IntRange(min=1), default=os.cpu_count() or 1, show_default="all cores"
)
@click.option(
    "--certificate/--no-certificate",
    default=True,
    show_default=True,
    help="Leave a certificate beside each table that is proven.",
)
@options.json_option
@click.pass_context
def verify(
    ctx: click.Context,
    materials: tuple[str, ...],
    selection: options.Selection,
    threads: int,
    certificate: bool,
    as_json: bool,
) -> None:
    """Prove the tables of MATERIAL... from the rules.

    Reads the whole files, checks every checksum and every position: its value is the best of its
    moves, its perpetual checks and chases are patterns, and no draw hides one. What that shows of
    a table holds if its supporting tables are right: name them too to be sure.

    A certificate says which contents were proven, given which others; `ls` and `stats` tell what
    certificates amount to. That of a table that is refuted is removed.

    Exit status: 0 ok, 1 a finding or a missing table, 2 bad input, 3 corrupt file.
    """
    wanted = [Material.parse(name) for name in materials]
    for material in wanted:
        if not material.needs_table:
            raise InputError(
                f"{material} has no table: without a rook, knight, cannon or pawn all is drawn",
                "name a material with an attacker, as in KRKAA",
            )
    with selection.open() as opened:
        names = [opened.table(material).header.spec.name for material in wanted]
    # Compiled kernels are loaded only when something is to be verified.
    from tbgen.tables.proofs import Proofs, in_directory
    from tbgen.verify import certify, verify_file

    find = in_directory(selection.directory)
    answers = []
    with _LiveLine() as line:
        # Bottom-up, so that what is said of a chain holds when all is done.
        for name in sorted(names, key=lambda name: (name.material.men, str(name))):
            line.material = name.material.name
            proof = verify_file(find, name, threads=threads, report=line.show)
            notes = certify(proof) if certificate else []
            status = Proofs(find).status(name)
            answers.append(
                proof.report.to_json()
                | {"digest": proof.digest, "proof": status.to_json(), "notes": notes}
            )
            if not as_json:
                line.clear()
                _show(proof.report, status if certificate and not notes else None)
            for note in notes:
                click.echo(f"note: {note}", err=True)
    ok = all(answer["ok"] for answer in answers)
    if as_json:
        show_json({"ok": ok, "tables": answers})
    ctx.exit(failures.OK if ok else failures.FINDINGS)


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


def _show(proof: VerifyReport, status: ProofStatus | None) -> None:
    """One table, to read; `status` is what its certificate amounts to."""
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
    if proof.ok and status is not None:
        click.echo(f"  {'certificate':14}{status}")
    if proof.findings:
        click.echo(f"  {proof.findings:,} positions are wrong, the first one:")
        click.echo(f"  {proof.first}")
    for problem in proof.file_problems:
        click.echo(f"  {problem}")
