"""Bundle of win-draw-loss files: a directory for distribution, and an archive of it.

    KRK.wxf.wdl.xqt, ...    the files themselves
    index.csv               a line for each: name, bytes, SHA-256, name and digest of its table
    SHA256SUMS              for `sha256sum --check`
    README.txt, LICENSE.txt
    tbgen-wxf-wdl.zip       all of them

Equal files make an equal bundle, byte for byte: it contains no date, place or author.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from tbgen.indexing.errors import InputError
from tbgen.publishing.index import hash_of
from tbgen.system.units import counted
from tbgen.tables.files import replacing
from tbgen.tables.names import WdlName, parse_name
from tbgen.tables.rule_sets import RuleSet
from tbgen.tables.wdl import WdlFile

README = """\
Endgame tables of xiangqi (Chinese chess): who wins
===================================================

{files}, each of an endgame of at most {men} men, under the repetition rules "{rules}".
They say for every position whether the side to move wins, draws or loses, without distances.

Engines: name this folder in the option XiangqiTablePath or EGTBPaths. An engine that has no such
option needs the reader of tbgen, two files in C, and some lines: docs/engines.md there. Programs in
Python: tbgen.open_tablebase(FOLDER).probe_wdl(position).

Tables of other repetition rules answer other questions. Take those that your games are judged by.
A table knows no history and counts no moves.

index.csv lists the files, SHA256SUMS their digests (sha256sum --check SHA256SUMS).
"""

LICENSE = """\
These files were computed by tbgen from the rules of the game. Use, copy, change and pass on
whatever is in this folder, for any purpose and without any condition. There is no warranty.
"""

_STAMP = (1980, 1, 1, 0, 0, 0)
"""Date and time of all members of the archive: the earliest that a ZIP archive can store."""


def bundled_names(directory: Path, rule_set: RuleSet) -> list[WdlName]:
    """Return the names of the win-draw-loss files in a directory, sorted by men and name.

    The list is empty if there is no such directory. Raises `InputError` if a file has other rules
    than `rule_set`, since a bundle is for one rule set, and `OSError`.
    """
    paths = directory.iterdir() if directory.exists() else ()
    found = [name for path in paths if isinstance(name := parse_name(path.name), WdlName)]
    names = sorted(found, key=lambda name: (name.material.men, name.filename))
    other = next((name for name in names if name.rule_set != rule_set), None)
    if other is not None:
        raise InputError(
            f"{directory} has files of other rules: {other.filename}",
            "name another directory with --out, one for each rule set",
        )
    return names


def write_bundle(directory: Path, rule_set: RuleSet, *, threads: int = 1) -> tuple[Path, int]:
    """Add index, checksums, texts and archive to a directory of win-draw-loss files.

    Every file is read whole and checked first, also those of earlier runs. Returns the path of the
    archive, and the number of win-draw-loss files in it. Raises the errors of `bundled_names` and
    of reading the files, and `OSError`.
    """
    names = bundled_names(directory, rule_set)
    men = max((name.material.men for name in names), default=0)
    rows = [_row(directory / name.filename, name, threads) for name in names]
    lines = [("file", "bytes", "sha256", "source", "source_digest"), *rows]
    texts = {
        "README.txt": README.format(files=counted(len(names), "file"), men=men, rules=rule_set),
        "LICENSE.txt": LICENSE,
        "index.csv": "".join(",".join(map(str, line)) + "\n" for line in lines),
        "SHA256SUMS": "".join(f"{row[2]}  {row[0]}\n" for row in rows),
    }
    for name, text in texts.items():
        with replacing(directory / name) as file:
            file.write(text.encode("ascii"))
    archive = directory / f"tbgen-{rule_set}-wdl.zip"
    with replacing(archive) as file, zipfile.ZipFile(file, "w") as packed:
        for name in (*texts, *(row[0] for row in rows)):
            member = zipfile.ZipInfo(name, _STAMP)
            member.external_attr = 0o644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            # Members of 2 GiB and more need another header: zipfile must have the size in advance.
            member.file_size = (directory / name).stat().st_size
            with (directory / name).open("rb") as source, packed.open(member, "w") as stored:
                shutil.copyfileobj(source, stored)
    return archive, len(names)


def _row(path: Path, name: WdlName, threads: int) -> tuple[str, int, str, str, str]:
    """Check a whole win-draw-loss file, and return its fields in index.csv."""
    with WdlFile(path, name=name) as file:
        file.check(threads=threads)
        source = file.statistics.source
    return path.name, *hash_of(path), source.file, source.digest
