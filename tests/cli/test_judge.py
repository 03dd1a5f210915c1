"""`tbgen judge`: answers, bad input, exit status."""

import itertools
import json
import subprocess
import sys
from unittest.mock import patch

import pytest
from click.testing import CliRunner

from tbgen.cli.judge import _read, judge
from tbgen.cli.streams import Line
from tbgen.referee import repetition_verdict

FEN = "3k5/9/9/1c7/9/2R5r/9/9/9/5K3 w"
LOOP = "c4b4 b6c6 b4c4 c6b6"


def run(*args, **kwargs):
    return CliRunner().invoke(judge, args, **kwargs)


def test_json_has_exactly_the_agreed_keys():
    result = run(FEN, *LOOP.split(), "--json")
    assert result.exit_code == 0
    answer = json.loads(result.stdout)
    assert list(answer) == ["fen", "moves", "verdict", "level", "plies", "reason", "decided"]
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


def test_an_ignored_option_hides_no_error():
    result = run("--tables", "egtb", FEN, "a0a1")
    assert result.exit_code == 2
    assert "there is no piece on a0" in result.stderr


def test_a_file_without_a_game_is_refused(tmp_path):
    empty = tmp_path / "games"
    empty.write_text("\n\n")
    result = run(str(empty))
    assert result.exit_code == 2
    assert "there is no game in" in result.stderr


def test_a_directory_is_refused(tmp_path):
    result = run(str(tmp_path))
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: '{tmp_path}' is a directory\n")


def test_several_files_are_refused(tmp_path):
    first, second = tmp_path / "a.pgn", tmp_path / "b.pgn"
    for path in (first, second):
        path.write_text("1. h2e2 h9g7 1-0\n")
    result = run(str(first), str(second))
    assert result.exit_code == 2
    assert "one file is read at a time" in result.stderr


def test_lines_are_answered_in_order_and_bad_ones_do_not_stop_the_rest():
    lines = [f"{FEN};{LOOP}", "nonsense", "", f"{FEN};c4d5", f"{FEN};c4b4 b6", FEN]
    result = run("-", "--json", input="\n".join(lines) + "\n")
    assert result.exit_code == 2
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(answers) == 5
    assert answers[0]["verdict"] == "black wins"
    assert [answer["line"] for answer in answers] == [1, 2, 4, 5, 6]
    for answer, line in zip(answers[1:4], (lines[1], *lines[3:5]), strict=True):
        assert list(answer) == ["input", "error", "hint", "line"]
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
        (["nonsense"], "ply 1: 'nonsense' is no move"),
        (["missing.pgn"], "there is no file 'missing.pgn'"),
        (["9/9 w", "h2e2"], "ten ranks"),
        ([f"{FEN} w c4b4 moves"], "ply 1: 'w' is no move"),
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


@pytest.mark.parametrize(
    ("notation", "shown"),
    [
        ("zh", ["车七平八  Red ", "炮２平３  Black"]),
        ("zh-hant", ["車七平八  Red ", "炮２平３  Black"]),
        ("wxf", ["R7.8      Red ", "C2.3      Black"]),
        ("fairy", ["c5b5      Red ", "b7c7      Black"]),
    ],
)
def test_plies_are_shown_in_a_notation(notation, shown):
    """Plies are in the notation of --notation, squares and the moves of --json in ICCS."""
    lines = run(FEN, *LOOP.split(), "--notation", notation).stdout.splitlines()
    assert lines[0] == f"   1* {shown[0]}   chase  b6 by b4"
    assert lines[1] == f"   2* {shown[1]}  idle"
    answer = run(FEN, *LOOP.split(), "--notation", notation, "--json").stdout
    assert answer == run(FEN, *LOOP.split(), "--json").stdout


PGN = f"""[Event "a \\"b\\""]
[FEN "{FEN}"]

1. c4b4 {{a note}} b6c6 2. b4c4
c6b6 0-1

[Event "b"]
[FEN "{FEN}"]

1. c4b4 zz *
"""


@pytest.mark.parametrize("way", ["file", "-"])
def test_each_game_of_a_pgn_is_judged(tmp_path, way):
    file = tmp_path / "games.pgn"
    file.write_text(PGN)
    result = run(str(file)) if way == "file" else run("-", input=PGN)
    assert result.exit_code == 2
    assert result.stdout.startswith("black wins: Red's rook")
    assert result.stderr.startswith("game 2: error: ply 2: 'zz' is no move\n")
    result = run(str(file), "--json") if way == "file" else run("-", "--json", input=PGN)
    first, second = map(json.loads, result.stdout.splitlines())
    assert first["moves"] == LOOP.split()
    assert [first["game"], second["game"]] == [1, 2]
    assert second["input"] == PGN[PGN.index('[Event "b"]') :].strip().replace("\n\n", "\n")


@pytest.mark.parametrize(
    "text",
    [
        f"1. {LOOP}",
        f"{FEN};{LOOP}",
        f"{FEN}; 1. {LOOP} 0-1",
        f"{FEN} - - 0 1 moves {LOOP}",
        f"position fen {FEN} moves {LOOP}",
    ],
)
def test_a_game_is_read_alike_from_arguments_a_file_and_standard_input(tmp_path, text):
    text = text if "/" in text else f'[FEN "{FEN}"] {text}'
    file = tmp_path / "game"
    file.write_text(f"\ufeff{text}\n", "utf-8")
    answers = [run(*text.split()), run(text), run(str(file)), run("-", input=f"\ufeff{text}\n")]
    for answer in answers:
        assert answer.exit_code == 0, answer.stderr
        assert "black wins" in answer.stdout


def test_a_line_without_a_fen_among_lines_with_one(tmp_path):
    file = tmp_path / "games"
    file.write_text(f"{FEN}\n{FEN};c4b4\n1. h2e2\n")
    for result in (run(str(file)), run("-", input=file.read_text())):
        assert (result.exit_code, result.stdout.count("undecided")) == (2, 2)
        assert result.stderr.startswith("line 3: error: the line does not begin with a FEN")


@pytest.mark.parametrize("heading", ["; collected", "{collected}", "[DhtmlXQ]"])
def test_standard_input_may_begin_with_a_comment(heading):
    result = run("-", input=f'{heading}\n[FEN "{FEN}"]\n1. {LOOP[:9]}\n2. {LOOP[10:]}\n')
    assert (result.exit_code, "Verdict: black wins" in result.stdout) == (0, True)


def test_a_text_may_begin_with_a_fen_on_a_line_of_its_own(tmp_path):
    file = tmp_path / "game"
    for note in (" {a note\nof two lines}", "\n（二\n行\n）", " *", ""):
        file.write_text(f"{FEN}{note}\n1. {LOOP[:9]}\n2. {LOOP[10:]}\n", "utf-8")
        assert "Verdict: black wins" in run(str(file)).stdout
        assert "Verdict: black wins" in run("-", input=file.read_text("utf-8")).stdout


def test_text_before_the_games_of_a_file_is_one_bad_game(tmp_path):
    file = tmp_path / "games"
    file.write_text(f'Games of the club\n[FEN "{FEN}"]\n{LOOP}\n\n[FEN "{FEN}"]\n{LOOP}\n')
    result = run(str(file))
    assert (result.exit_code, result.stdout.count("black wins")) == (2, 2)


def test_gb_18030_and_big5_are_read_and_utf_16_is_named(tmp_path):
    file = tmp_path / "game"
    file.write_bytes("1. 炮二平五 马8进7".encode("gb18030"))
    assert json.loads(run(str(file), "--json").stdout)["moves"] == ["h2e2", "h9g7"]
    file.write_bytes("（紅先）\n1. 炮二平五 馬8進7".encode("big5"))
    assert json.loads(run(str(file), "--json").stdout)["moves"] == ["h2e2", "h9g7"]
    file.write_bytes("1. 炮二平五 马8进7".encode("utf-16"))
    result = run(str(file))
    assert (result.exit_code, "UTF-16" in result.stderr) == (2, True)
    for encoding in ("utf-16le", "utf-16be"):
        file.write_bytes("1. 炮二平五 马8进7".encode(encoding))
        result = run(str(file))
        assert (result.exit_code, f"iconv -f {encoding} " in result.stderr) == (2, True)


@pytest.mark.parametrize("end", ["\x1a", "\r\n\x1a", " \x1a\r\n"])
def test_ctrl_z_may_end_a_text(tmp_path, end):
    file = tmp_path / "games"
    for text in (f"1. h2e2{end}", f"{FEN};c4b4{end}"):
        file.write_bytes(text.encode())
        for result in (run(str(file)), run("-", input=text)):
            assert (result.exit_code, result.stderr) == (0, "")


def test_lines_of_comment_among_games():
    result = run("-", input=f"% one\n{FEN};c4b4\n% two\n{FEN};c4c6\n")
    assert (result.exit_code, result.stdout.count("undecided")) == (0, 2)


def test_a_bracket_that_stays_open_is_not_waited_for():
    def lines():
        yield Line(1, "(hello")
        yield Line(2, f"{FEN};c4b4")
        raise AssertionError("further lines are read")

    with patch("tbgen.cli.judge.read_lines", lines):
        assert [line.number for line in itertools.islice(_read("-"), 2)] == [1, 2]


def test_tags_end_an_open_bracket(tmp_path):
    file = tmp_path / "games"
    file.write_text('My games (2026\n[Event "x"]\n\n1. h2e2 h9g7 1-0\n')
    assert run(str(file)).stdout.startswith("undecided")


RECORD = "1.炮二平五 馬8進7"
RECORDS = [
    f"{RECORD}\n紅勝\n",
    f"（紅先勝）\n{RECORD}",
    f"紅方：許銀川\n黑方：呂欽\n{RECORD}",
    f"% 許銀川\n{RECORD}\n% 勝\n紅勝",
]


@pytest.mark.parametrize("text", RECORDS)
@pytest.mark.parametrize("encoding", ["big5", "gb18030", "utf-8"])
def test_a_record_has_one_encoding(tmp_path, text, encoding):
    """All lines of a record are read in one encoding, also lines without a move."""
    file = tmp_path / "game"
    file.write_bytes(text.encode(encoding))
    for result in (run(str(file), "--json"), run("-", "--json", input=text.encode(encoding))):
        assert result.exit_code == 0, result.stderr
        assert json.loads(result.stdout)["moves"] == ["h2e2", "h9g7"]


@pytest.mark.parametrize(
    ("encoding", "lines"),
    [
        ("big5", [f"{FEN};車七平八", "砲八平九;呂欽", "勝"]),
        ("gb18030", [f"{FEN};车七平八", "胜", "吕钦"]),  # the second line is valid UTF-8
    ],
)
def test_lines_of_a_stream_keep_the_encoding_of_the_first_one(encoding, lines):
    result = run("-", "--json", input="\n".join(lines).encode(encoding))
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert answers[0]["moves"] == ["c4b4"]
    assert [answer["input"] for answer in answers[1:]] == lines[1:]


def test_a_later_line_of_a_stream_may_choose_another_encoding():
    """In Big5, 華 has the bytes of 地 in GB 18030, which is common in records of games."""
    lines = ["胡榮華", f"{FEN};車七平八", "勝"]
    result = run("-", "--json", input="\n".join(lines).encode("big5"))
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert answers[1]["moves"] == ["c4b4"]
    assert answers[2]["input"] == "勝"
    record = f'[Red "胡榮華"]\n[Black "呂欽"]\n\n{RECORD}\n紅勝\n'
    result = run("-", "--json", input=record.encode("big5"))
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["moves"] == ["h2e2", "h9g7"]


def test_an_earlier_verdict_is_named():
    moves = [*LOOP.split(), "f0f1"]
    decided = json.loads(run(FEN, *moves, "--json").stdout)["decided"]
    assert (decided["ply"], decided["verdict"]) == (4, "black wins")
    assert decided["reason"].startswith("Red's rook chases")
    shown = run(FEN, *moves).stdout
    assert "Verdict: undecided" in shown
    assert "\nAt ply 4: black wins: Red's rook chases" in shown
    assert "; at ply 4: black wins" in run("-", input=f"{FEN};{' '.join(moves)}").stdout
    assert "At ply" not in run(FEN, *LOOP.split()).stdout
    assert json.loads(run(FEN, *moves[:3], "--json").stdout)["decided"] is None


def test_only_positions_that_repeat_are_judged(monkeypatch):
    judged = []
    monkeypatch.setattr(
        "tbgen.cli.judge.repetition_verdict",
        lambda game, **options: judged.append(game.plies) or repetition_verdict(game, **options),
    )
    decided = json.loads(run(FEN, *LOOP.split() * 9, "--occurrences", "9", "--json").stdout)
    assert (judged, decided["decided"]["ply"]) == ([32], 32)


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
