"""Pages about research and searches: commands and Python, run from top to bottom."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tests.helpers.built import built
from tests.helpers.paths import DOCS
from tests.helpers.sessions import without_compiling


@pytest.mark.parametrize("page", ["research.md", "find.md"])
def test_the_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for material in ("KRKN", "KNKP"):
        shutil.copytree(built(material, rules="wxf"), tmp_path / "egtb", dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TBGEN_TABLES", raising=False)
    names: dict[str, Any] = {}
    text = (DOCS / page).read_text("utf-8")
    blocks = re.findall(r"^```(console|pycon)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert {language for language, _ in blocks} == {"console", "pycon"}
    for language, block in blocks:
        if language == "pycon":
            test = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
            said: list[str] = []
            doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
            assert not said, "".join(said)
            names = test.globs
            continue
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            result = CliRunner().invoke(main, shlex.split(command)[1:])
            assert result.exit_code == 0, command
            assert without_compiling(result.output) == output.splitlines(), command
