"""Commands that read tables: their JSON, text, exit status and imports."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result

import tbgen
from tbgen.cli import COMMANDS, main
from tbgen.cli.streams import MAX_TEXT, LiveLine
from tbgen.indexing import Position
from tbgen.indexing.rulesets import CHINESE, SYNONYMS, Rules
from tbgen.notation import POSITION_STYLES, format_position, parse_move
from tests.helpers.strategies import random_position
from tests.house.test_packaging import packages

MATE_IN_ONE = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
MATED = "3k5/9/9/9/9/9/9/9/9/3RK4 b"
DIRECT_WIN = "9/9/4k4/9/9/9/9/9/1n7/R2K5 w"
DRAW = "3k1a3/9/9/9/9/9/9/9/9/4K4 w"

ROOT_KEYS = {
    "fen", "material", "rules", "metric", "side", "outcome", "value", "order", "plies",
    "in_check", "reason", "moves",
}  # fmt: skip
MOVE_KEYS = {
    "move", "outcome", "value", "order", "plies", "capture", "check", "best", "reason",
}  # fmt: skip
STATS_KEYS = {
    "material", "rules", "metric", "orders_limit", "index_size", "legal", "red_to_move",
    "black_to_move", "draws", "max_distance", "max_rule_distance", "rule_decided",
    "rule_decided_rate", "orders", "longest", "bytes_on_disk", "build_seconds",
}  # fmt: skip


@pytest.fixture
def run(tables_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Function that runs `tbgen` with arguments on the shared tables, which have two rule sets."""
    monkeypatch.setenv("TBGEN_TABLES", str(tables_dir))

    def run(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(main, list(arguments), input=stdin)

    return run


def answer(result: Result, status: int = 0) -> dict[str, Any]:
    """Return the JSON object on stdout, which must be its only line; check the exit status."""
    assert result.exit_code == status, result.stderr
    assert len(result.stdout.splitlines()) == 1
    return json.loads(result.stdout)


# -- the group ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_is_current(name: str) -> None:
    command = main.get_command(main.make_context("tbgen", ["doctor"]), name)  # type: ignore[attr-defined]
    assert command is not None
    assert command.name == name
    assert COMMANDS[name].endswith(".")
    shown = CliRunner().invoke(main, [name, "-h"])
    assert shown.exit_code == 0
    assert ("--json" in shown.output) == (name != "engine")  # which speaks UCI and UCCI
    assert ("--tables" in shown.output) == (name not in ("convert", "diagram", "judge"))
    for option in command.params:
        if option.name == "rules":
            chinese = [CHINESE] if name == "judge" else []
            assert set(option.type.choices) == {*map(str, Rules), *SYNONYMS, *chinese}
    assert CliRunner().invoke(main, [name, "--help"]).output == shown.output


def test_help_and_version(run: Any) -> None:
    shown = run("-h")
    assert shown.exit_code == 0
    assert run("--help").output == shown.output
    assert all(f"  {name} " in shown.output for name in COMMANDS)
    assert run("--version").output == f"tbgen {tbgen.__version__}\n"
    assert run().exit_code == 2
    assert run("nonsense").exit_code == 2


@pytest.mark.parametrize("command", [(), ("probe",), ("build",)])
def test_help_without_docstrings_names_the_reason(command: tuple[str, ...]) -> None:
    words = [sys.executable, "-OO", "-m", "tbgen", *command, "--help"]
    shown = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "\nPython's -OO, or PYTHONOPTIMIZE=2, removed text from this help.\n" in shown.stdout


def test_a_zip_file_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "program.zip"
    with ZipFile(archive, "w") as zipped:
        for name, folder in packages().items():
            for path in folder.glob("*.py"):
                zipped.write(path, f"{name.replace('.', '/')}/{path.name}")
    words = [sys.executable, "-P", "-m", "tbgen", "--version"]
    environment = {**os.environ, "PYTHONPATH": str(archive)}
    shown = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert shown.stderr == "error: tbgen cannot run from a zip file: unpack or install it\n"
    assert shown.returncode == 2


def imported_by(arguments: tuple[str, ...], tables: Path) -> set[str]:
    """Return the names of the modules that a command, run in a new process, has imported."""
    code = (
        "import sys; from tbgen.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "TBGEN_TABLES": str(tables)},
    )
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("probe", MATE_IN_ONE, "--rules", "check"),
        ("line", DIRECT_WIN, "--rules", "check", "--json"),
        ("stats", "KRKN", "--rules", "none"),
        ("ls",),
        ("doctor",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_reading_commands_do_not_import_numba(arguments: tuple[str, ...], tables_dir: Path) -> None:
    modules = imported_by(arguments, tables_dir)
    assert "tbgen.cli" in modules
    assert "numba" not in modules
    if arguments == ("--help",):
        assert "numpy" not in modules
        assert not {f"tbgen.cli.{name}" for name in COMMANDS} & modules


# -- probe -------------------------------------------------------------------------------------


def test_probe_json(run: Any) -> None:
    found = answer(run("probe", MATE_IN_ONE, "--rules", "check", "--json"))
    assert set(found) >= ROOT_KEYS
    assert found["fen"] == f"{MATE_IN_ONE} - - 0 1"
    assert (found["material"], found["rules"], found["metric"]) == ("KRK", "check", "dtm")
    assert (found["side"], found["outcome"], found["in_check"]) == ("red", "win", False)
    assert (found["value"], found["order"], found["plies"]) == (1, 0, 1)
    best = found["moves"][0]
    assert all(set(move) >= MOVE_KEYS for move in found["moves"])
    assert (best["outcome"], best["value"], best["order"], best["plies"]) == ("win", 0, 0, 0)
    assert best["best"]
    assert [m["best"] for m in found["moves"]].count(True) == 2


def test_probe_of_a_mated_side(run: Any) -> None:
    found = answer(run("probe", MATED, "--rules", "none", "--json"))
    assert (found["outcome"], found["value"], found["plies"]) == ("loss", 0, 0)
    assert (found["in_check"], found["moves"]) == (True, [])


def test_probe_of_a_draw_has_no_distance(run: Any) -> None:
    found = answer(run("probe", DRAW, "--json"))
    assert (found["outcome"], found["value"], found["plies"]) == ("draw", 0, None)
    assert {move["plies"] for move in found["moves"]} == {None}


def test_probe_of_a_rule_win(run: Any) -> None:
    found = answer(run("probe", DIRECT_WIN, "--rules", "check", "--json"))
    assert (found["outcome"], found["value"], found["order"]) == ("win", 255, 1)
    assert found["moves"][0]["value"] == 254
    assert answer(run("probe", DIRECT_WIN, "--rules", "none", "--json"))["order"] == 0


@pytest.mark.parametrize("style", POSITION_STYLES)
@pytest.mark.parametrize("notation", ["iccs", "wxf", "zh"])
def test_probe_reads_and_writes_every_notation(run: Any, style: str, notation: str) -> None:
    position = Position.from_fen(MATE_IN_ONE)
    text = format_position(position, style)
    options = ("--rules", "check", "--notation", notation, "--json")
    found = answer(run("probe", text, *options))
    assert found["fen"] == position.fen
    for move in found["moves"]:
        parse_move(position, move["move"], notation)


def test_convert_joins_the_words_of_a_position(run: Any) -> None:
    words = MATE_IN_ONE.split()
    assert run("convert", *words).output == run("convert", MATE_IN_ONE).output
    assert len(words) > 1


def test_convert_reads_a_position_a_line(run: Any) -> None:
    fens = [f"{MATE_IN_ONE} - - 0 1", "9/9/4k4/9/9/9/9/9/1n7/R2K5 b - - 0 1"]
    pai = run("convert", "-", "--to", "pai", stdin="\n\n".join(fens)).output
    assert run("convert", "-", stdin=pai).output.splitlines() == fens
    found = run("convert", "-", "--json", stdin=f"{fens[0]}\n3k5/9 w\n{fens[1]}\n")
    assert found.exit_code == 2
    first, wrong, last = map(json.loads, found.output.splitlines())
    assert (first["fen"], last["fen"]) == (*fens,)
    assert [first["line"], wrong["line"], last["line"]] == [1, 2, 3]
    assert wrong["input"] == "3k5/9 w"
    assert wrong["error"]


@pytest.mark.parametrize("wrong", ["garbage", "rnbakabnx", "9", "3k5/9 w", "?"])
def test_convert_reports_a_bad_first_line(run: Any, wrong: str) -> None:
    found = run("convert", "-", stdin=f"{wrong}\nnonsense\n{MATE_IN_ONE}\n")
    assert (found.exit_code, found.stdout) == (2, f"{MATE_IN_ONE} - - 0 1\n")
    assert re.findall(r"line (\d): ", found.stderr) == ["1", "2"]


@pytest.mark.parametrize("beginning", ["", "3k5/"])
def test_convert_ends_at_an_overlong_first_line(run: Any, beginning: str) -> None:
    found = run("convert", "-", stdin=f"{beginning}{'x' * MAX_TEXT}\n{MATE_IN_ONE}\n")
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith("error: the line has more than 1 MiB")


def test_convert_reads_a_board_of_many_lines(run: Any) -> None:
    board = run("convert", MATE_IN_ONE, "--to", "board").output
    assert run("convert", "-", stdin=board).output == f"{MATE_IN_ONE} - - 0 1\n"
    two = run("convert", "-", stdin=board + board)
    assert two.exit_code == 2
    assert "standard input has too many lines for a board" in two.stderr


def test_convert_reads_no_moves_from_an_illegal_position(run: Any) -> None:
    illegal = "4k4/9/9/9/9/9/9/9/9/4RK3 w"
    assert run("convert", illegal).exit_code == 0
    moved = run("convert", illegal, "--move", "车五进九")
    assert moved.exit_code == 2
    assert "Black is in check but Red is to move" in moved.stderr


def test_probe_joins_the_words_of_a_position(run: Any) -> None:
    whole = run("probe", MATE_IN_ONE, "--rules", "check").output
    assert run("probe", *MATE_IN_ONE.split(), "--rules", "check").output == whole
    underscored = MATE_IN_ONE.replace(" ", "_")
    assert run("probe", underscored, "--rules", "check").output == whole


def test_probe_lines(run: Any) -> None:
    lines = [MATE_IN_ONE, "", "nonsense", "4k4/9/9/9/9/9/9/9/9/R3K4 w", MATED]
    result = run("probe", "-", "--rules", "check", "--json", stdin="\n".join(lines) + "\n")
    assert result.exit_code == 2
    objects = [json.loads(line) for line in result.stdout.splitlines()]
    assert [o.get("outcome", "error") for o in objects] == ["win", "error", "error", "loss"]
    assert [o["line"] for o in objects] == [1, 3, 4, 5]
    for bad, source in zip(objects[1:3], lines[2:4], strict=True):
        assert set(bad) == {"input", "error", "hint", "line"}
        assert bad["input"] == source
    text = run("probe", "-", "--rules", "check", stdin="\n".join(lines) + "\n")
    assert text.exit_code == 2
    assert len(text.stdout.splitlines()) == 2
    assert text.stderr.startswith("line 3: error: ")


def test_probe_lines_exit_with_the_worst_status(run: Any) -> None:
    missing = "3k5/9/9/9/9/9/9/9/9/RR2K4 w"
    options = ("probe", "-", "--rules", "check", "--json")
    assert run(*options, stdin=f"{MATE_IN_ONE}\n").exit_code == 0
    assert run(*options, stdin=f"{missing}\n{MATE_IN_ONE}\n").exit_code == 1
    assert run(*options, stdin=f"{missing}\nnonsense\n{missing}\n").exit_code == 2


def test_probe_answers_in_input_order(run: Any) -> None:
    rng = random.Random(2)
    fens = [random_position(rng, ["KRKN", "KPK", "KRK"]).fen for _ in range(60)]
    result = run("probe", "-", "--rules", "check", "--json", stdin="\n".join(fens))
    assert [json.loads(line)["fen"] for line in result.stdout.splitlines()] == fens


# -- line --------------------------------------------------------------------------------------


def test_line_json(run: Any) -> None:
    found = answer(run("line", "4k4/9/9/9/9/9/9/9/9/R2K5 w", "--rules", "none", "--json"))
    assert set(found) >= ROOT_KEYS
    assert found["ending"] in ("mate", "stalemate")
    assert found["winner"] == "red"
    assert found["loop_start"] is None
    assert len(found["moves"]) == found["plies"]
    assert [move["side"] for move in found["moves"]][:2] == ["red", "black"]
    position = Position.from_fen(found["fen"])
    for move in found["moves"]:
        position = position.after(*parse_move(position, move["move"]))
        assert move["fen"] == position.fen


def test_line_with_a_loop(run: Any) -> None:
    found = answer(run("line", DIRECT_WIN, "--rules", "check", "--json"))
    assert (found["ending"], found["winner"], found["loop_start"]) == ("loop", "red", 0)
    assert "Black" in found["end"]
    shown = run("line", DIRECT_WIN, "--rules", "check").output
    assert shown.count("then for ever:") == 1
    assert found["end"] in shown


def test_line_limited(run: Any) -> None:
    long = "4k4/9/9/9/9/9/9/9/9/R2K5 w"
    found = answer(run("line", long, "--rules", "none", "--plies", "2", "--json"))
    assert (len(found["moves"]), found["ending"], found["winner"]) == (2, "cut", None)


# -- stats, ls, doctor -------------------------------------------------------------------------


def test_stats_json(run: Any, tables_dir: Path) -> None:
    found = answer(run("stats", "krn-k", "--rules", "check", "--json"), 1)
    assert set(found) == {"input", "error", "hint"}
    found = answer(run("stats", "kn v kr".replace(" ", ""), "--rules", "check", "--json"))
    assert set(found) >= STATS_KEYS
    assert (found["material"], found["orders_limit"]) == ("KRKN", None)
    assert found["legal"] == found["red_to_move"]["legal"] + found["black_to_move"]["legal"]
    # Fang, Hsu & Hsu, Table 1.
    assert (found["legal"], found["draws"], found["max_distance"]) == (380325, 609, 26)
    assert found["bytes_on_disk"] == (tables_dir / "KRKN.check.dtm.xqt").stat().st_size
    assert found["build_seconds"] > 0
    assert "histogram" not in found
    (order,) = found["orders"]
    assert (order["check_patterns"], order["chase_patterns"]) == (312, 0)
    rate = f"({found['rule_decided_rate']:.1%})"
    assert rate in run("stats", "KRKN", "--rules", "check").output
    bars = answer(run("stats", "KRKN", "--rules", "check", "--histogram", "--json"))["histogram"]
    assert sum(bar["positions"] for bar in bars) == found["legal"]
    for entry in found["longest"]:
        probed = answer(run("probe", entry["fen"], "--rules", "check", "--json"))
        assert (probed["value"], probed["order"]) == (entry["value"], entry["order"])


def test_nouns_after_one_are_in_the_singular(run: Any, tmp_path: Path) -> None:
    where = ("--rules", "check", "--orders", "1", "--tables", str(tmp_path))
    planned = run("plan", "KPK", "--workers", "1", *where)
    run("build", "KRKN", *where)
    proven = run("verify", "KRKN", "--plain", *where[2:])
    shown = [planned, proven, run("stats", "KRKN", *where)]
    assert [result.exit_code for result in shown] == [0, 0, 0]
    for phrase in ("1 of 1 table to", " 1 table, ", "most 1 order,", "1 order searched", "1 ply;"):
        assert any(phrase in result.stdout for result in shown), phrase
    for result in shown:
        assert not re.search(r"(?<![\d.,])1 (direct |possible )?\w+s\b", result.stdout)


def test_stats_of_a_material_without_a_table(run: Any) -> None:
    result = run("stats", "KAKB", "--rules", "check")
    assert result.exit_code == 2
    assert "has no table" in result.stderr


@pytest.mark.parametrize("command", [["build", "KRKN"], ["probe", "3k5/9/9/9/9/9/9/9/9/R3K4 w"]])
def test_the_chinese_rules_have_no_tables(run: Any, command: list[str]) -> None:
    result = run(*command, "--rules", CHINESE)
    assert result.exit_code == 2
    assert "chinese has no tables" in result.stderr.splitlines()[0]
    assert "`tbgen judge`" in result.stderr.splitlines()[0]


@pytest.mark.parametrize("name", SYNONYMS)
def test_other_names_of_rule_sets(run: Any, name: str) -> None:
    """A synonym selects its rule set (here wxf), and messages use the rule set's own name."""
    result = run("stats", "KRKN", "--rules", name)
    assert result.exit_code == 1
    assert "build KRKN --rules wxf" in result.stderr


def test_ls(run: Any, tables_dir: Path) -> None:
    found = answer(run("ls", "--json"))
    assert found["directory"] == str(tables_dir)
    assert {table["material"] for table in found["tables"]} == {"KRK", "KNK", "KPK", "KRKN"}
    assert len(found["tables"]) == 8
    assert all(len(table["digest"]) == 32 for table in found["tables"])
    assert len(answer(run("ls", "--rules", "none", "--json"))["tables"]) == 4
    assert answer(run("ls", "--orders", "1", "--json"))["tables"] == []
    shown = run("ls").output.splitlines()
    assert shown[0].startswith("material")
    assert shown[-1].startswith("8 tables, ")


def test_ls_shows_which_file_it_reads(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ls` shows which file it reads, since a file modified after its proof may take minutes."""
    updates: list[str] = []
    monkeypatch.setattr(LiveLine, "update", lambda self, text: updates.append(text))
    run("ls")
    assert len(updates) == 8
    assert updates[0].startswith("1 of 8: ")


def test_doctor(run: Any, tables_dir: Path) -> None:
    found = answer(run("doctor", "--json"))
    assert found["tbgen"] == tbgen.__version__
    assert set(found["packages"]) >= {"numpy", "numba", "zstandard", "click"}
    assert found["cores"] >= 1
    assert found["memory"]["total"] > 0
    assert found["tables"]["path"] == str(tables_dir)
    assert found["tables"]["tables"] == 8
    assert found["tables"]["free_bytes"] > 0
    assert found["kernel_cache"]["writable"] is True
    assert found["problems"] == []
    assert "kernel cache" in run("doctor").output


def test_doctor_reports_wrong_results_of_numba(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.njit", lambda function: lambda number: number)
    found = answer(run("doctor", "--numba", "--json"), status=1)
    assert found["problems"] == ["numba gives wrong results: install another version of it"]


def test_doctor_counts_only_tables_that_exist(run: Any, tables_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "KRK.check.dtm.xqt").symlink_to(tables_dir / "KRK.check.dtm.xqt")
    (tmp_path / "KNK.check.dtm.xqt").symlink_to(tmp_path / "missing")
    found = answer(run("doctor", "--tables", str(tmp_path), "--json"))
    assert found["tables"]["tables"] == 1
    assert "1 table, " in run("doctor", "--tables", str(tmp_path)).output


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root reads everything")
def test_doctor_reports_a_directory_that_is_not_readable(run: Any, tmp_path: Path) -> None:
    tmp_path.chmod(0)
    result = run("doctor", "--tables", str(tmp_path), "--json")
    tmp_path.chmod(0o700)
    assert "cannot be written" in answer(result, 1)["problems"][0]


def test_doctor_finds_a_directory_that_is_not_writable(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    result = run("doctor", "--tables", str(file), "--json")
    assert "cannot be written" in answer(result, 1)["problems"][0]
