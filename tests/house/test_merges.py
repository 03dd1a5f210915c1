"""No file of the repository contains conflict markers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from tests.helpers.paths import ROOT

TEXTS = {".cfg", ".csv", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".toml", ".txt", ".yml"}
MARK = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
GENERATED = {"build", "egtb", "node_modules", "site"}


def texts() -> Iterator[Path]:
    """Yield every text file outside hidden and generated folders."""
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if not name.startswith(".") and name not in GENERATED]
        yield from (path for path in map(Path(folder).joinpath, names) if path.suffix in TEXTS)


def test_no_merge_is_left_unresolved() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for path in texts()
        if path.is_file() and MARK.search(path.read_text("utf-8", "replace"))
    ]
    assert not marked
