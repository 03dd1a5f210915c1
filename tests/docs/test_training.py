"""The examples of docs/train.md: the first section, and each section whose package is there."""

from __future__ import annotations

import doctest
import re
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.built import built
from tests.helpers.paths import DOCS

PAGE = DOCS / "train.md"


def sections() -> list[tuple[str, str]]:
    """Return (title, examples as one text) of each section."""
    found = re.split(r"^## (.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
    return [
        (title, "\n".join(re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)))
        for title, text in zip(found[::2], found[1::2], strict=True)
    ]


@pytest.mark.parametrize("package", ["", "cchess", "pyffish", "xiangqibench"])
def test_the_page(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    for material in ("KRKN", "KCPKB"):
        shutil.copytree(built(material, rules="wxf"), tmp_path / "egtb", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    chosen = [(title, text) for title, text in sections() if package and package in title]
    examples = "\n".join(text for _, text in [sections()[0], *chosen])
    assert len(chosen) == bool(package)
    said: list[str] = []
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, PAGE.name, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "".join(said)
