"""`tbgen convert`: answers, JSON, standard input, and exit statuses."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner, Result

from tbgen.cli.convert import convert
from tbgen.indexing import START_FEN
from tbgen.notation import POSITION_STYLES

PAI = "4K44B49994n495k399"


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(convert, list(arguments), input=stdin)


@pytest.mark.parametrize("source", POSITION_STYLES)
@pytest.mark.parametrize("target", POSITION_STYLES)
def test_any_direction(source: str, target: str) -> None:
    first = run(START_FEN, "--to", source)
    second = run("-", "--to", target, stdin=first.output)
    assert first.exit_code == second.exit_code == 0
    assert second.output == run(START_FEN, "--to", target).output


def test_viewpoint() -> None:
    assert run(PAI, "--to", "pai", "--viewpoint", "black").output == f"{PAI}:\n"
    assert run(f"{PAI}0:", "--to", "pai").output == f"{PAI}0:\n"
    assert run(f"{PAI}0:", "--to", "pai", "--viewpoint", "red").output == f"{PAI}0\n"
    assert run(f"{PAI}:", "--to", "board").output.startswith("0 . .")


def test_side() -> None:
    assert run(PAI, "--to", "pai", "--side", "black").output == f"{PAI}0\n"


def test_json() -> None:
    result = run(PAI, "--to", "six", "--move", "马五进四", "--notation", "wxf", "--json")
    answer = json.loads(result.stdout)
    assert result.exit_code == 0
    assert answer["from"] == "pai"
    assert answer["to"] == "six"
    assert answer["side"] == "black"
    assert answer["material"] == "KNKA"
    assert answer["moves"] == [
        {
            "input": "马五进四",
            "text": "H5+4",
            "iccs": "e4f6",
            "fairy": "e5f7",
            "wxf": "H5+4",
            "zh": "马五进四",
            "zh-hant": "馬五進四",
        }
    ]


def test_moves_follow_each_other() -> None:
    result = run(START_FEN, "--move", "h2e2", "--move", "h9g7", "--notation", "wxf")
    assert result.output == "C2.5 H8+7\n"


def test_fairy_moves_on_request() -> None:
    assert run(START_FEN, "--move", "h3e3", "--read", "fairy").output == "h2e2\n"
    assert run(START_FEN, "--move", "h3e3").exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("",),
        (f"{START_FEN} extra",),
        (START_FEN, "--move", "h2h8"),
        (START_FEN, "--move", "C9.9"),
        (START_FEN, "--move", "炮九平九"),
        ("1,2,3",),
    ],
)
def test_bad_input(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["error", "hint"]
    as_json = run(*arguments, "--json")
    assert as_json.exit_code == 2
    assert set(json.loads(as_json.stdout)) == {"input", "error", "hint"}
    assert as_json.stderr == result.stderr


def test_usage() -> None:
    assert run(PAI, "--to", "pgn").exit_code == 2
    assert run().exit_code == 2
    assert run("-h").exit_code == 0
