"""No text of the repository has the marks that an unresolved merge leaves."""

from __future__ import annotations

import re

from tests.kits.paths import ROOT

TEXTS = {".cfg", ".csv", ".html", ".ipynb", ".js", ".json", ".md", ".py", ".toml", ".txt", ".yml"}
MARK = re.compile(r"^(<{7}|>{7}) ", re.MULTILINE)
GENERATED = {"build", "egtb", "site"}


def test_no_merge_is_left_unresolved() -> None:
    marked = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.rglob("*"))
        if path.suffix in TEXTS
        and not any(
            part.startswith(".") or part in GENERATED for part in path.relative_to(ROOT).parts
        )
        and path.is_file()
        and MARK.search(path.read_text("utf-8", "replace"))
    ]
    assert not marked
