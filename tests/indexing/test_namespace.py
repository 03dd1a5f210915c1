"""`import tbgen` offers all public names with types, and loads modules lazily."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import tbgen
from tests.helpers.paths import ROOT

FEN = "4k4/9/9/9/9/9/9/9/9/R2K5 w"
HEAVY = ("numpy", "numba", "tbgen.indexing", "tbgen.tables", "tbgen.play")


def test_all_names_exist_and_are_listed() -> None:
    assert set(tbgen.__all__) <= set(dir(tbgen))
    for name in tbgen.__all__:
        assert getattr(tbgen, name) is not None
    with pytest.raises(AttributeError, match="opentablebase"):
        getattr(tbgen, "opentablebase")  # noqa: B009


def test_types_and_names_agree() -> None:
    """The imports for type checkers, the table `_HOMES` of lazy names, and `__all__` agree."""
    tree = ast.parse((ROOT / "tbgen" / "__init__.py").read_text("utf-8"))
    typed = {
        (str(node.module), alias.name)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {(f"tbgen.{home}", name) for home, names in tbgen._HOMES.items() for name in names}
    assert typed == homes
    assert {name for _, name in homes} | {"__version__"} == set(tbgen.__all__)


def test_importing_loads_nothing() -> None:
    script = f"import sys, tbgen; dir(tbgen); sys.exit(any(m in sys.modules for m in {HEAVY}))"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT).returncode == 0


def test_display_of_positions() -> None:
    position = tbgen.Position.from_fen(FEN)
    assert repr(position) == f"Position('{FEN} - - 0 1')"
    assert eval(repr(position).replace("Position(", "tbgen.Position.from_fen(")) == position
    assert position._repr_svg_() == tbgen.picture(FEN)
    assert position._repr_svg_().startswith("<svg xmlns")


def test_fens_are_accepted_as_positions() -> None:
    position = tbgen.Position.from_fen(FEN)
    assert tbgen.legal_moves(FEN) == tbgen.legal_moves(position)
    assert tbgen.is_legal(FEN)
    assert not tbgen.is_terminal(FEN)
    assert tbgen.judge(FEN, ["a0a1"]) == tbgen.judge(position, [tbgen.Move.from_iccs("a0a1")])


@pytest.mark.parametrize("ask", [tbgen.legal_moves, tbgen.is_legal, tbgen.in_check])
def test_errors_keep_their_hints(ask) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(tbgen.PositionError) as caught:
        ask("4k4 w")
    assert str(caught.value) == f"{caught.value.message}; {caught.value.hint}"
    assert caught.value.hint


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(tbgen.InputError, match="'cxa' is none of none, check, wxf, computer"):
        tbgen.judge(FEN, [], rules="cxa")
    with pytest.raises(tbgen.InputError, match="'dtx' is none of dtm, dtc"):
        tbgen.open_tablebase(".", metric="dtx")
    with pytest.raises(tbgen.InputError, match="unprotected, asian, vietnam; name"):
        tbgen.Rules("cxa")
    with pytest.raises(tbgen.InputError, match="'WXF' is none of none"):
        tbgen.RuleSet("WXF")  # type: ignore[arg-type]


def test_a_rule_set_takes_names_of_rules() -> None:
    assert tbgen.RuleSet("asian") == tbgen.RuleSet(tbgen.Rules.WXF)  # type: ignore[arg-type]


def test_names_of_the_implementation_are_not_listed() -> None:
    others = set(dir(tbgen)) - set(tbgen.__all__)
    assert not [name for name in others if not name.startswith("__")]
