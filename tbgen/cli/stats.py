"""`tbgen stats`: statistics of one table, from its file, build record and certificates."""

from __future__ import annotations

from typing import Any

import click

from tbgen.building.packing import checked_digest
from tbgen.cli import options
from tbgen.cli.command import Command, show_json
from tbgen.cli.materials import require_tables
from tbgen.notation import parse_material
from tbgen.system.platform import usable_cores
from tbgen.system.units import counted, percent
from tbgen.tables import read_build_record
from tbgen.tables.proofs import Proofs, ProofStatus, find_in_directory


@click.command(cls=Command)
@click.argument("material")
@click.option("--histogram", is_flag=True, help="Also print positions by value.")
@click.option(
    "--longest/--no-longest", default=True, show_default=True,
    help="Print the longest win or loss of each order and side, as FEN.",
)  # fmt: skip
@options.check_option
@options.table_options
@options.json_option
def stats(
    material: str,
    histogram: bool,
    longest: bool,
    check: bool,
    selection: options.Selection,
    as_json: bool,
) -> None:
    """Print statistics of a table.

    Positions are legal ones with either side to move, mirror images counted once; Red is the
    side named first in the canonical name. Distances are in plies. Statistics and digest are those
    that the file states; --check computes the digest, `verify` also compares the statistics with
    the values.

    Exit status: 0 ok, 1 missing table, 2 bad input, 3 corrupt file.
    """
    wanted = parse_material(material)
    require_tables([wanted])
    with selection.open() as opened:
        file = opened.table(wanted)
        answer = file.statistics.to_json()
        name = file.header.spec.name
        values = checked_digest(file, threads=usable_cores()).hex() if check else None
    status = Proofs(find_in_directory(selection.directory)).status(name)
    if not histogram:
        del answer["histogram"]
    answer |= {
        "minor_chases": name.rule_set.choice,
        "bytes_on_disk": file.header.file_size,
        "build_seconds": read_build_record(file.path).get("build_seconds"),
        "digest": file.header.digest.hex(),
        "checked": check,
        "values": values,
        "file": str(file.path),
        "proof": status.to_json(),
    }
    if as_json:
        show_json(answer)
    else:
        _show(answer, status, longest)


def _show(answer: dict[str, Any], status: ProofStatus, longest: bool) -> None:
    limit, rate = answer["orders_limit"], percent(answer["rule_decided_rate"])
    limited = f", at most {counted(limit, 'order')}" if limit else ""
    option = "" if answer["minor_chases"] is not False else " without minor chases"
    rows = [
        ("material", answer["material"]),
        ("rules", answer["rules"] + option + limited),
        ("metric", answer["metric"]),
        ("index size", f"{answer['index_size']:,} slots for each side to move"),
        ("legal positions", f"{answer['legal']:,}"),
        *((f"{side} to move", _counts(answer[f"{side}_to_move"])) for side in ("red", "black")),
        ("draws", f"{answer['draws']:,}"),
        ("longest distance", counted(answer["max_distance"], "ply", "plies")),
        ("decided by rules", f"{answer['rule_decided']:,} ({rate})"),
        *((f"  order {order['order']}", _order_counts(order)) for order in answer["orders"]),
        ("on disk", f"{answer['bytes_on_disk']:,} bytes"),
    ]
    if answer["build_seconds"] is not None:
        rows.append(("built in", f"{answer['build_seconds']:.1f} seconds"))
    rows.append(("digest" if answer["checked"] else "stated digest", answer["digest"]))
    if answer["values"] is not None:
        rows.append(("of values alone", answer["values"]))
    rows.append(("proof", str(status)))
    if status.certificate is not None:
        method, version = status.certificate.method, status.certificate.tbgen
        seconds = status.certificate.seconds
        rows.append(("proven in", f"{seconds:.1f} seconds, {method}, by tbgen {version}"))
    for name, text in rows:
        click.echo(f"{name:18}{text}")
    if longest and answer["longest"]:
        click.echo("\nlongest          value")
        for entry in answer["longest"]:
            click.echo(
                f"order {entry['order']}, {entry['side']:6}{entry['value']:>7}  {entry['fen']}"
            )
    if "histogram" in answer:
        click.echo("\nside   outcome  order  plies  positions")
        for bar in answer["histogram"]:
            plies = "-" if bar["plies"] is None else bar["plies"]
            click.echo(
                f"{bar['side']:7}{bar['outcome']:7}{bar['order']:>7}{plies:>7}"
                f"{bar['positions']:>11,}"
            )


def _order_counts(order: dict[str, Any]) -> str:
    text = f"{order['positions']:,}, at most {counted(order['max_distance'], 'ply', 'plies')}"
    if order["check_patterns"] is not None:
        text += f"; {counted(order['check_patterns'], 'direct win')} by check"
        text += f", {order['chase_patterns']:,} by chase"
    return text


def _counts(side: dict[str, int]) -> str:
    return (
        f"{side['legal']:,}: {counted(side['wins'], 'win')}, {counted(side['draws'], 'draw')}, "
        f"{counted(side['losses'], 'loss', 'losses')}"
    )
