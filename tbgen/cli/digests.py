"""`verify --digests`: tables compared with a list of known digests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from tbgen.answers import failures
from tbgen.building.contents import checked_values
from tbgen.cli import options
from tbgen.cli.command import show_json
from tbgen.cli.live import LiveLine
from tbgen.indexing import Material
from tbgen.indexing.units import counted

_WORDS = {
    "agrees": "as listed",
    "rearranged": "with the listed values, compressed differently",
    "differs": "with OTHER VALUES than listed",
    "unknown": "not listed",
}


def compare_digests(
    selection: options.Selection,
    materials: list[Material],
    against: Path | None,
    threads: int,
    as_json: bool,
) -> int:
    """Compare the digests of tables with known ones, print the result, and return the exit status.

    against : CSV file of known digests, None for the project's own
    """
    from tbgen.publishing.known import KNOWN, Digests, Standing, read_known, standing

    known = read_known(against or KNOWN)
    entries: list[dict[str, Any]] = []
    with selection.open() as opened, LiveLine() as line:
        for number, material in enumerate(materials, 1):
            file = opened.table(material)
            name = file.path.name
            line.update(f"{number} of {len(materials)}: {name}")
            values = checked_values(file, threads=threads).hex()
            found = Digests(file.header.digest.hex(), values)
            how = standing(name, found, known)
            entries.append({"file": name, **found._asdict(), "standing": str(how)})
            line.clear()
            if how not in (Standing.AGREES, Standing.UNKNOWN) and not as_json:
                click.echo(f"{name}: {_WORDS[how]}")
    counts = Counter(entry["standing"] for entry in entries)
    ok = not counts[Standing.DIFFERS]
    if as_json:
        show_json({"ok": ok, "list": str(against) if against else None, "tables": entries})
    else:
        said = ", ".join(f"{counts[how]} {_WORDS[how]}" for how in Standing if counts[how])
        click.echo(f"{counted(len(entries), 'table')}: {said}")
    return failures.OK if ok else failures.FINDINGS
