"""`tbgen judge`: answers, bad input, exit status."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tbgen.cli.judge import judge

FEN = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w"
LOOP = "c4b4 b6c6 b4c4 c6b6"


def run(*args, **kwargs):
    return CliRunner().invoke(judge, args, **kwargs)


def test_json_has_exactly_the_agreed_keys():
    result = run(FEN, *LOOP.split(), "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert list(answer) == ["fen", "moves", "verdict", "level", "plies", "reason"]
    assert answer["fen"] == FEN + " - - 0 1"
    assert answer["moves"] == LOOP.split()
    assert answer["verdict"] == "black wins"
    assert answer["level"] == {"red": 1, "black": 0}
    assert answer["plies"][0] == {
        "move": "c4b4",
        "side": "red",
        "label": "chase",
        "chased": ["b6"],
        "by": ["b4"],
    }
    assert "rook chases the cannon" in answer["reason"]


def test_lines_are_answered_in_order_and_bad_ones_do_not_stop_the_rest():
    lines = [f"{FEN};{LOOP}", "nonsense", "", f"{FEN};c4d5", f"{FEN};c4b4 b6", FEN]
    result = run("-", "--json", input="\n".join(lines) + "\n")
    assert result.exit_code == 2
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(answers) == 5
    assert answers[0]["verdict"] == "black wins"
    for answer, line in zip(answers[1:4], (lines[1], *lines[3:5]), strict=True):
        assert list(answer) == ["input", "error", "hint"]
        assert answer["input"] == line
        assert "\n" not in answer["error"]
        assert answer["hint"]
    assert answers[4]["verdict"] == "undecided"


def test_good_lines_exit_with_0():
    result = run("-", input=f"{FEN};{LOOP}\n{FEN};c4b4,b6c6\n")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith("black wins: Red's rook")
    assert result.stdout.splitlines()[1].startswith("undecided: ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nonsense"], "fields"),
        (["4k4/9/9/9/9/9/9/9/9/4K4 w"], "the kings face each other"),
        ([FEN, "c4d5"], "the rook on c4 cannot reach d5"),
        ([FEN, "c4b4", "b6"], "ply 2: 'b6' is no move"),
    ],
)
def test_bad_input_is_one_line_and_a_hint_on_stderr(args, message):
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    error, hint = result.stderr.splitlines()
    assert error.startswith("error: ")
    assert message in error
    assert hint.startswith("hint: ")
    answer = json.loads(run(*args, "--json").stdout)
    assert list(answer) == ["input", "error", "hint"]


def test_moves_in_other_notations():
    result = run(FEN, "R7.8", "c2.3", "車八平七", "C3.2", "--json")
    assert json.loads(result.stdout)["moves"] == LOOP.split()


def test_usage_errors():
    assert run().exit_code == 2
    assert run("-", "c4b4").exit_code == 2
    assert run(FEN, "--rules", "cxa").exit_code == 2
    assert run(FEN, "--occurrences", "1").exit_code == 2


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ([], "black wins"),
        (["--rules", "check"], "draw"),
        (["--rules", "none"], "draw"),
        (["--occurrences", "3"], "undecided"),
        (["--no-minor-chases"], "black wins"),
        (["--rules", "chinese"], "undecided"),
    ],
)
def test_options(options, verdict):
    result = run(FEN, *LOOP.split(), "--json", *options)
    assert json.loads(result.stdout)["verdict"] == verdict


def test_judging_and_help_do_not_import_numba():
    code = (
        "import sys\nfrom tbgen.cli.judge import judge\n"
        "judge(sys.argv[1:], standalone_mode=False)\n"
    )
    check = code.replace("judge(sys", "try:\n    judge(sys").rstrip() + (
        "\nexcept SystemExit:\n    pass\nsys.exit('numba' in sys.modules)\n"
    )
    for args in ([FEN, *LOOP.split()], ["--help"]):
        done = subprocess.run([sys.executable, "-c", check, *args], capture_output=True)
        assert done.returncode == 0, done.stderr
