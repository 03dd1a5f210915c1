"""`tbgen diagram`: pictures of positions, and errors."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from tbgen.cli import main

FEN = "9/9/4k4/9/9/9/9/3n5/9/R2K5 b - - 0 1"
PLACED = "_".join(FEN.split()[:2])
SVG = "{http://www.w3.org/2000/svg}"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["diagram", *map(str, arguments)])


def drawn(picture: str) -> dict[str, str]:
    """Return the FEN letter of every piece in an SVG by square, as `{"d0": "K"}`."""
    root = ElementTree.fromstring(picture)
    pieces = next(group for group in root if group.get("class") == "pieces")
    return {use.get("data-square", ""): use.get("data-code", "") for use in pieces}


def test_files_and_ranks_are_named_as_in_the_notation() -> None:
    for notation, names in (("iccs", 19), ("zh", 18)):  # Chinese moves name no ranks
        assert run(FEN, "--notation", notation).stdout.count('class="coordinate"') == names


def test_the_picture_shows_the_position() -> None:
    result = run(FEN)
    assert result.exit_code == 0
    root = ElementTree.fromstring(result.stdout)
    assert (root.tag, root.get("data-fen"), root.get("width")) == (f"{SVG}svg", PLACED, None)
    letters = {square: code.upper() for square, code in drawn(result.stdout).items()}
    assert letters == {"e7": "K", "d2": "N", "a0": "R", "d0": "K"}


@pytest.mark.parametrize(
    ("notation", "said"),
    [("wxf", "Red rook, a0"), ("zh", "红车，九路底线"), ("zh-hant", "紅車，九路底線")],
)
def test_labels_are_in_the_language_of_the_notation(notation: str, said: str) -> None:
    assert f'aria-label="{said}"' in run(FEN, "--notation", notation).stdout


def test_the_position_comes_from_standard_input() -> None:
    board = CliRunner().invoke(main, ["convert", FEN, "--to", "board"]).stdout
    result = CliRunner().invoke(main, ["diagram", "-"], input=board)
    assert (result.exit_code, result.stdout) == (0, run(FEN).stdout)


def test_the_last_move_is_played_and_marked() -> None:
    result = run(FEN, "--last", "d2b1", "--flip", "--pieces", "latin", "--width", "300")
    root = ElementTree.fromstring(result.stdout)
    assert root.get("data-fen") == "9/9/4k4/9/9/9/9/9/1n7/R2K5_w"
    assert (root.get("width"), root.get("data-flip")) == ("300", "1")
    assert len([c for c in root.iter(f"{SVG}circle") if c.get("class") == "last"]) == 2
    assert "b1" in drawn(result.stdout)


def test_svg_files(tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    answer = json.loads(run(FEN, "-o", out, "--json").stdout)
    assert answer == {"fen": FEN, "format": "svg", "out": str(out)}
    assert out.read_text() == run(FEN).stdout
    assert list(tmp_path.iterdir()) == [out]


def test_png_files(tmp_path: Path) -> None:
    out = tmp_path / "x.png"
    assert run(FEN, "-o", out, "--width", "96").exit_code == 0
    data = out.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (96, 107)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((FEN, "-o", "x.gif"), "neither .svg nor .png"),
        ((FEN, "--json"), "--out is needed"),
        ((FEN, "--last", "d2d3"), "d2d3"),
        (("4k4/9/9/9/9/9/9/9/9/4RK3 w", "--last", "e0e9"), "Black is in check"),
        (("nonsense",), "nonsense"),
    ],
)
def test_errors(
    arguments: tuple[str, ...], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert not list(tmp_path.iterdir())


def test_without_the_converter_the_hint_is_svg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = run(FEN, "-o", tmp_path / "x.png")
    assert result.exit_code == 2
    assert "PNG needs resvg-py" in result.stderr
    assert "tbgen[png]" in result.stderr
    assert not list(tmp_path.iterdir())
