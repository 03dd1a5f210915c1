"""Commands, golden vectors and figures of `docs/notations.md` against the programs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tbgen.cli.convert import convert
from tbgen.indexing import START_FEN, Move, Position
from tbgen.notation import format_move, parse_position
from tests.helpers.paths import ROOT

TEXT = (ROOT / "docs" / "notations.md").read_text(encoding="utf-8")


def console_examples() -> list[tuple[str, str]]:
    """List (arguments of `tbgen convert`, output) of each command that the page shows."""
    (block,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    return re.findall(r"^\$ tbgen convert (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


@pytest.mark.parametrize(("arguments", "output"), console_examples())
def test_console(arguments: str, output: str) -> None:
    result = CliRunner().invoke(convert, shlex.split(arguments))
    assert result.output == output
    assert result.exit_code == (2 if output.startswith("error") else 0)


def test_there_are_examples() -> None:
    assert len(console_examples()) == 6


def test_pai_table() -> None:
    rows = re.findall(r"^\| `([0-9A-Za-z]+)` \| `([^`]*/[^`]*)` \|$", TEXT, re.MULTILINE)
    assert len(rows) == 3
    for pai, fen in rows:
        assert parse_position(pai).fen == fen


def test_move_table() -> None:
    start = Position.from_fen(START_FEN).fen
    named = {
        "opening array": start,
        "opening array, Black to move": start.replace(" w ", " b "),
    }
    rows = re.findall(
        r"^\| ([^|]+) \| ([a-i]\d[a-i]\d) \| `([^`]+)` \| (\S+) \|$", TEXT, re.MULTILINE
    )
    assert len(rows) == 7
    for name, move, wxf, chinese in rows:
        position = Position.from_fen(named.get(name, name.strip("`")))
        written = [format_move(position, Move.from_iccs(move), style) for style in ("wxf", "zh")]
        assert written == [wxf, chinese]


def test_storage_figures() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "docs" / "notation_sizes.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert result.stdout in TEXT
