"""Errors of users and disks: one line, a hint, the right exit status."""

from __future__ import annotations

import errno
import importlib
import json
import os
import signal
import socket
import struct
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from tbgen.cli import main
from tbgen.cli.command import Command, describe
from tbgen.cli.options import rules_option, tables_option
from tbgen.indexing import InputError
from tbgen.indexing.errors import excerpt
from tbgen.tables import (
    LimitExceededError,
    MissingTableError,
    Rules,
    RuleSet,
    RulesMismatchError,
)
from tests.helpers.commands import start

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
KRKN = "3k5/9/9/9/9/9/9/9/n8/R3K4 w"


def run(*arguments: str | Path, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def assert_says(result: Result, status: int, *words: str) -> None:
    """Check that a command ended with `status`, and printed one error line and at most one hint.

    Each of `words` must be in one of the two lines.
    """
    assert result.exit_code == status, result.output
    lines = result.stderr.splitlines()
    assert [line.split(":")[0] for line in lines] in (["error"], ["error", "hint"])
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr


# -- positions ---------------------------------------------------------------------------------

BAD_POSITIONS = {
    "empty": ("", "empty"),
    "unknown letter": ("3k5/9/9/9/9/9/9/9/9/X3K4 w", "X"),
    "two kings": ("3kk4/9/9/9/9/9/9/9/9/R3K4 w", "2 kings"),
    "no king": ("9/9/9/9/9/9/9/9/9/R3K4 w", "0 kings"),
    "too many pieces": ("3k5/9/9/9/9/9/9/9/9/RRR1K4 w", "3 pieces"),
    "impossible square": ("3k5/9/9/9/9/9/9/9/9/A3K4 w", "cannot stand on a0"),
    "short rank": ("3k5/9/9/9/9/9/9/9/8/R3K4 w", "rank"),
    "long rank": ("3k5/9/9/9/9/9/9/9/9/R3K5 w", "rank"),
    "nine ranks": ("3k5/9/9/9/9/9/9/9/R3K4 w", "ten ranks, not 9"),
    "side": ("3k5/9/9/9/9/9/9/9/9/R3K4 x", "side to move"),
    "kings face": ("4k4/9/9/9/9/9/9/9/9/R3K4 w", "face each other"),
    "other side in check": ("R2k5/9/9/9/9/9/9/9/9/4K4 w", "is in check"),
    "not a position": ("hello", "hello"),
}


@pytest.mark.parametrize("command", ["probe", "line"])
@pytest.mark.parametrize(("text", "word"), BAD_POSITIONS.values(), ids=BAD_POSITIONS)
def test_bad_positions(tables_dir: Path, command: str, text: str, word: str) -> None:
    result = run(command, text, "--tables", tables_dir, "--rules", "check")
    assert_says(result, 2, word, "hint: ")
    assert result.stdout == ""
    as_json = run(command, text, "--tables", tables_dir, "--rules", "check", "--json")
    assert as_json.exit_code == 2
    found = json.loads(as_json.stdout)
    assert set(found) == {"input", "error", "hint"}
    assert found["input"] == text
    assert word in found["error"] + found["hint"]


@pytest.mark.parametrize(
    "arguments", [("probe", "--bogus"), ("nothing",), ("line", "--plies", "0", "x"), ("serve", "x")]
)
def test_usage_errors_are_json_too(arguments: tuple[str, ...]) -> None:
    found = json.loads(run(*arguments, "--json").stdout)
    assert set(found) == {"input", "error", "hint"}
    assert found["error"]
    assert run(*arguments).stdout == ""


@pytest.mark.parametrize("nasty", ["\x1b]0;title\x07", "\n\r\x85", "\u202e\udcff"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("stats", "K{}K"),
        ("stats", "{}"),
        ("build", "KR{}NK"),
        ("verify", "KRK{}x"),
        ("convert", "3k{}"),
        ("convert", "{}"),
        ("convert", "3k5/9/9/{}/9/9/9/9/9/R3K4 w"),
        ("convert", f"{KRK[:-1]}{{}}x"),
        ("convert", f"{KRK} - - 0 {{}}x"),
        ("convert", "1,2,3,4,5,6-{}"),
        ("convert", "9\n{}\n9"),
        ("convert", KRK, "--move", "{}"),
        ("convert", KRK, "--move", "a0{}b0"),
        ("convert", KRK, "--move", "a0{}b0", "--read", "iccs"),
        ("convert", KRK, "--move", "a0{}b0", "--read", "zh"),
        ("judge", "{}", "a0b0"),
        ("judge", KRK, "x{}"),
        ("ls", "--tables", "/nowhere{}"),
        ("ls", "--rules", "{}"),
        ("ls", "--{}"),
        ("{}",),
    ],
)
def test_quoted_input_stays_on_its_line(arguments: tuple[str, ...], nasty: str) -> None:
    """Input that a message quotes cannot start a new line, nor send control codes to a terminal."""
    result = run(*(argument.replace("{}", nasty) for argument in arguments))
    assert_says(result, 2)
    assert all(line.isprintable() for line in result.stderr.split("\n"))


def test_quotations() -> None:
    assert excerpt("a\x1bb") == "'a\\x1bb'"
    assert excerpt(" 9\n9 ") == "'9 9'"
    assert excerpt(" ") == "' '"
    assert excerpt("\n\n") == "'\\n'"
    assert excerpt("") == "''"
    assert excerpt("x" * 40) == f"'{'x' * 40}'"
    assert excerpt("x" * 41) == f"'{'x' * 37}...'"
    assert len(excerpt("\0" * 1000)) == 42


# -- usage -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("probe",), "POSITION"),
        (("probe", KRK, "--nonsense"), "--nonsense"),
        (("nonsense",), "nonsense"),
        (("probe", KRK, "--rules", "chess"), "chess"),
        (("probe", KRK, "--orders", "-1"), "-1"),
        (("probe", KRK, "--notation", "pgn"), "pgn"),
        (("line", KRK, "--plies", "0"), "0"),
        (("stats",), "MATERIAL"),
        (("stats", "KXK"), "X"),
        (("stats", "KRRRK"), "3 R"),
        (("stats", "R"), "R"),
    ],
)
def test_usage(tables_dir: Path, arguments: tuple[str, ...], word: str) -> None:
    tables = ("--tables", tables_dir) if len(arguments) > 1 else ()
    assert_says(run(*arguments, *tables), 2, word)


@pytest.mark.parametrize("command", ["build", "plan", "stats"])
def test_an_option_of_other_rules(tmp_path: Path, command: str) -> None:
    options = ("--rules", "check", "--no-minor-chases", "--tables", tmp_path)
    assert_says(
        run(command, "KRKN", *options), 2, "'check' leave no choice about chases", "--rules wxf"
    )


def test_several_options(tmp_path: Path) -> None:
    for name in ("KRK.wxf.dtm.xqt", "KRK.wxf-nominor.dtm.xqt"):
        (tmp_path / name).touch()
    result = run("probe", KRK, "--tables", tmp_path)
    assert_says(result, 2, "wxf, wxf-nominor are present", "--minor-chases")


def test_several_rule_sets(tables_dir: Path) -> None:
    result = run("probe", KRK, "--tables", tables_dir)
    assert_says(result, 2, "check, none are present", "--rules")


# -- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["probe", "line"])
def test_missing_table(tables_dir: Path, command: str) -> None:
    fen = "3k5/9/9/9/9/9/9/9/9/RR2K4 w"
    result = run(command, fen, "--tables", tables_dir, "--rules", "check")
    assert_says(result, 1, "KRRK", f"tbgen build KRRK --rules check --tables {tables_dir}")
    unbuilt = run(command, KRK, "--tables", tables_dir, "--rules", "wxf")
    assert_says(unbuilt, 1, "KRK under the rules 'wxf'", "tbgen build KRK --rules wxf")
    stats = run("stats", "KRRK", "--tables", tables_dir, "--rules", "none")
    assert_says(stats, 1, "KRRK", f"tbgen build KRRK --rules none --tables {tables_dir}")


def test_the_suggested_build_names_a_directory_only_if_the_user_did(
    tables_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TBGEN_TABLES", str(tables_dir))
    result = run("stats", "KRRK", "--rules", "check")
    assert result.stderr.splitlines()[1] == "hint: run: tbgen build KRRK --rules check"


def test_a_suggested_build_has_the_directory_in_quotes_and_the_metric(tmp_path: Path) -> None:
    directory = tmp_path / "my tables"
    result = run("stats", "KRRK", "--rules", "check", "--metric", "dtc", "--tables", directory)
    suggested = f"tbgen build KRRK --rules check --tables '{directory}' --metric dtc"
    assert_says(result, 1, f"run: {suggested}")


def test_no_tables_directory(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert_says(run("probe", KRK, "--tables", nowhere), 1, "KRK", "tbgen build KRK")
    assert_says(run("ls", "--tables", nowhere), 2, "nowhere", "check the path")
    assert not nowhere.exists()


def test_no_table_of_the_selected_materials(tables_dir: Path) -> None:
    """`ls` for materials without a table notes that the directory has others; exit status 0."""
    result = run("ls", "KCCKPPP", "--tables", tables_dir)
    assert result.exit_code == 0
    assert result.stderr == f"{tables_dir} has tables, but none of those selected\n"


def test_an_address_that_cannot_be_listened_on(tmp_path: Path) -> None:
    pytest.importorskip("uvicorn")
    serve = ("serve", "--no-open", "--tables", tmp_path, "--port")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert_says(run(*serve, port), 2, f"port {port}", "--port 0")
    assert_says(run(*serve, "0", "--host", "192.0.2.1"), 2, "192.0.2.1", "--host")


def test_tables_directory_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    for command in (("probe", KRK), ("stats", "KRK"), ("ls",), ("plan", "KRK"), ("build", "KRK")):
        assert_says(run(*command, "--tables", file), 2, "Not a directory", "name a directory")


def copy_of(tables_dir: Path, tmp_path: Path, change: object) -> Path:
    """Copy the tables under check rules, change the copy of KRKN's, and return that file's path.

    change : function of the bytes (bytearray) that returns the new bytes
    """
    for file in tables_dir.glob("*.check.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    path = tmp_path / "KRKN.check.dtm.xqt"
    path.write_bytes(change(bytearray(path.read_bytes())))  # type: ignore[operator]
    return path


def newer(data: bytearray) -> bytearray:
    data[8:10] = struct.pack("<H", 99)
    return data


def all_blocks_altered(data: bytearray) -> bytearray:
    for at in range(200, len(data) - 2000, 100):
        data[at] ^= 0x55
    return data


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda data: data[:100], "shorter than a header"),
        (lambda data: data[:-1000], "does not fit"),
        (lambda data: bytearray(), "shorter"),
        (lambda data: b"\0" * len(data), "does not begin"),
        (all_blocks_altered, "checksum"),
        (newer, "format 99"),
    ],
    ids=["header cut", "cut", "empty", "zeros", "altered", "newer"],
)
def test_corrupt_tables(tables_dir: Path, tmp_path: Path, change: object, word: str) -> None:
    path = copy_of(tables_dir, tmp_path, change)
    before = path.read_bytes()
    for command in ("probe", "line"):
        result = run(command, KRKN, "--tables", tmp_path)
        assert_says(result, 3, "KRKN.check.dtm.xqt", word, str(path))
    lines = run("probe", "-", "--tables", tmp_path, "--json", stdin=f"{KRKN}\n{KRK}\nbad\n")
    assert lines.exit_code == 3
    assert ["error" in json.loads(line) for line in lines.stdout.splitlines()] == [1, 0, 1]
    # Neither the file nor its neighbours are changed.
    assert path.read_bytes() == before
    assert run("probe", KRK, "--tables", tmp_path).exit_code == 0


def test_unreadable_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refuse)
    assert_says(run("probe", KRK, "--tables", tmp_path), 2, "Permission denied", str(tmp_path))


# -- messages and statuses of errors -----------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (click.UsageError("no"), 2),
        (InputError("bad", "mend it"), 2),
        (MemoryError(), 2),
        (OSError(errno.ENOSPC, "No space left on device", "egtb/x\n"), 2),
        (OSError(errno.EROFS, "Read-only file system", "egtb/x"), 2),
        (OSError(errno.EFBIG, "File too large", "egtb/x"), 2),
        (OSError("strange"), 2),
        (MissingTableError("KRK", RuleSet(Rules.NONE)), 1),
        (RulesMismatchError("several rule sets", ["a", "b"], "choose"), 2),
        (LimitExceededError("order 1000"), 2),
    ],
)
def test_describe(error: BaseException, status: int) -> None:
    failure = describe(error)
    assert failure is not None
    assert failure.status == status
    assert failure.message
    assert "\n" not in failure.message + failure.hint


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("/x/backend.so: failed to map segment from shared object"),
        ImportError("libx.so: cannot create capability list: Cannot allocate memory"),
        RuntimeError("can't start new thread"),
    ],
)
def test_every_form_of_memory_error_is_described(error: Exception) -> None:
    """Every exception that stands for a lack of memory gives the same message and status 2.

    With too little address space, libraries may fail to load or raise other errors.
    """
    wrapped = OSError("could not load the compiler")
    wrapped.__context__ = error
    for found in (describe(error), describe(wrapped)):
        assert found is not None
        assert (found.status, found.message) == (2, "there is not enough memory")
    for other in (ImportError("no module"), RuntimeError("a bug")):
        assert describe(other) is None


def test_memory_too_short_to_load_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> None:
        raise MemoryError

    monkeypatch.setattr(importlib, "import_module", fail)
    assert_says(run("probe", KRK), 2, "there is not enough memory", "close other programs")


def test_bugs_are_not_described() -> None:
    assert describe(ZeroDivisionError("a bug")) is None


def raising(error: BaseException) -> click.Command:
    @click.command(cls=Command)
    @tables_option
    @rules_option("check")
    def command(tables: Path, rules: str) -> None:
        raise error

    return command


def test_commands_report_uncaught_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    full = OSError(errno.ENOSPC, "No space left on device", "egtb/x")
    assert_says(CliRunner().invoke(raising(full), []), 2, "No space left on device: egtb/x")
    assert_says(CliRunner().invoke(raising(MemoryError()), []), 2, "memory")
    assert_says(CliRunner().invoke(raising(KeyboardInterrupt()), []), 130, "interrupted")
    bug = CliRunner().invoke(raising(ZeroDivisionError("a bug")), [])
    assert isinstance(bug.exception, ZeroDivisionError)
    monkeypatch.setenv("TBGEN_TRACEBACK", "1")
    shown = CliRunner().invoke(raising(full), [])
    assert (shown.exit_code, "Traceback" in shown.stderr) == (2, True)


# -- real processes ----------------------------------------------------------------------------


def test_a_broken_pipe_is_silent(tables_dir: Path) -> None:
    process = start("probe", "-", "--tables", tables_dir, "--rules", "check", "--json")
    assert process.stdout is not None
    process.stdout.close()
    _, stderr = process.communicate(f"{KRK}\n" * 200)
    assert stderr == ""
    assert process.returncode != 0


def test_interrupted(tables_dir: Path) -> None:
    process = start("probe", "-", "--tables", tables_dir, "--rules", "check")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{KRK}\n")
    process.stdin.flush()
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate()
    assert process.returncode == 130
    assert stderr == "error: interrupted\n"


@pytest.mark.parametrize(
    "command", [("ls",), ("probe", KRK), ("stats", "KRK"), ("verify", "KRK"), ("build", "KRKN")]
)
def test_a_pipe_named_like_a_table(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Commands refuse a named pipe in place of a table file, and do not wait for data from it."""
    path = tmp_path / "KRK.none.dtm.xqt"
    os.mkfifo(path)
    os.mkfifo(path.with_name("KRK.none.dtm.build.json"))
    signal.alarm(60)
    try:
        result = run(*command, "--tables", tmp_path, *(["--rules", "none"] * (len(command) > 1)))
    finally:
        signal.alarm(0)
    assert result.exit_code == 2
    assert f"error: not a regular file: {path}" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_directory(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    assert_says(run("build", "KRK", "--tables", tmp_path), 2, "Permission denied")


def test_full_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that runs out of disk space reports it and leaves no incomplete file."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "KRK")

    monkeypatch.setattr(os, "fsync", fail)
    result = run("build", "KRK", "--tables", tmp_path, "--rules", "none")
    assert result.exit_code == 2
    assert "error: No space left on device" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(tmp_path.glob("*.xqt")) == []
    assert list(tmp_path.glob("*.tmp")) == []
