"""The list of known digests, tbgen/publishing/digests.csv, from the tables of a directory.

    tbgen build --men 5 --jobs auto --tables DIR
    tbgen build practical --men 7 --jobs auto --tables DIR
    python scripts/reproduce/known_digests.py DIR            compare the list with them
    python scripts/reproduce/known_digests.py DIR --write    write it: if values or format changed

Exit status 1 if the list is another one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tbgen.building.contents import values_of
from tbgen.building.sets import materials_of
from tbgen.indexing import Material
from tbgen.publishing.known import Digests, read_known, write_known
from tbgen.tables import Metric, Rules, RuleSet, TableFile, TableName


def listed_materials() -> list[Material]:
    """All materials of at most five men, and those of two attackers of at most seven."""
    return list(dict.fromkeys([*materials_of((), 5), *materials_of((), 7, attackers=2)]))


def digests_in(directory: Path) -> dict[str, Digests]:
    """The digests of the tables that are to be listed, by file name."""
    found = {}
    for material in listed_materials():
        name = TableName(material, RuleSet(Rules.WXF), Metric.DTM)
        with TableFile(directory / name.filename, name=name) as file:
            file.check(threads=2)
            values = values_of(file, threads=2)
            found[name.filename] = Digests(file.header.digest.hex(), values.hex())
    return found


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path, metavar="DIR")
    parser.add_argument("--write", action="store_true", help="Write the list.")
    options = parser.parse_args()
    found = digests_in(options.directory)
    if options.write:
        from tbgen.publishing.known import KNOWN

        write_known(KNOWN, found.items())
        return 0
    same = found == read_known()
    print(f"{len(found)} tables: {'as listed' if same else 'ANOTHER LIST'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
