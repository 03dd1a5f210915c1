"""Standard streams that are closed or full, and a removed working directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tbgen.cli.command import Command
from tbgen.cli.streams import MAX_TEXT
from tbgen.compiling.folder import source_digest
from tbgen.indexing import InputError
from tbgen.tables.rule_sets import MAX_ORDERS, RuleSet

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
FULL = ("error: No space left on device", 2)
CLOSED = ("error: Bad file descriptor", 2)


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of shell in a folder; the line can call `tbgen` like an installed command."""
    tbgen = f'tbgen() {{ {sys.executable} -P -m tbgen "$@"; }}; '
    return subprocess.run(["sh", "-c", tbgen + line], cwd=folder, capture_output=True, text=True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"tbgen convert '{KRK}' > /dev/full", FULL),
        (f"tbgen convert '{KRK}' --json > /dev/full", FULL),
        ("tbgen --help > /dev/full", FULL),
        ("tbgen convert --help > /dev/full", FULL),
        ("tbgen --version > /dev/full", FULL),
        ("tbgen convert nonsense --json > /dev/full", ("error: ", 2)),
        ("tbgen convert nonsense --json > /dev/full 2> /dev/full", ("", 2)),
        (f"tbgen convert '{KRK}' >&-", CLOSED),
        (f"tbgen convert '{KRK}' >&- 2>&-", ("", 2)),
        ("tbgen --help >&-", CLOSED),
        ("tbgen convert - <&-", CLOSED),
        ("tbgen probe - <&-", CLOSED),
        ("tbgen judge - <&- >&-", CLOSED),
    ],
)
def test_full_or_closed_streams(tmp_path: Path, line: str, said: tuple[str, int]) -> None:
    result = shell(line, tmp_path)
    assert (result.stdout, result.returncode) == ("", said[1]), result.stderr
    assert "Traceback" not in result.stderr
    assert "Exception" not in result.stderr
    assert len(result.stderr.splitlines()) <= 2
    assert result.stderr.startswith(said[0])


def test_unused_streams_may_be_closed(tmp_path: Path) -> None:
    assert shell(f"tbgen convert '{KRK}' <&-", tmp_path).stdout == f"{KRK} - - 0 1\n"
    assert shell(f"tbgen convert '{KRK}' 2>&-", tmp_path).stdout == f"{KRK} - - 0 1\n"


def test_too_few_descriptors(tmp_path: Path) -> None:
    """`tbgen serve` with too few file descriptors gives one error line and a hint.

    The event loop that cannot be created must not print a message of its own.
    """
    result = shell("ulimit -n 6; tbgen serve --port 0 --no-open --tables .", tmp_path)
    assert (result.stdout, result.returncode) == ("", 2)
    assert result.stderr == (
        "error: Too many open files\n"
        "hint: close other programs, or raise the limit that was set (ulimit -n)\n"
    )


@pytest.mark.parametrize("command", ["ls", "ls --tables x", f"probe '{KRK}'", "doctor", "plan KRK"])
def test_a_removed_working_directory(tmp_path: Path, command: str) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    result = shell(f"rmdir ../gone; tbgen {command}", gone)
    assert "Traceback" not in result.stderr
    if command in ("plan KRK", f"probe '{KRK}'"):
        assert "Errno" not in result.stderr
    else:
        assert "the working directory has been removed" in result.stderr
        assert result.returncode == (1 if command == "doctor" else 2)


def test_invalid_seeds() -> None:
    result = CliRunner().invoke(main, ["dump", "KRK", "--sample", "1", "--seed", "-1"])
    assert (result.exit_code, result.stderr.splitlines()[0][:6]) == (2, "error:")
    whole = CliRunner().invoke(main, ["dump", "KRK", "--seed", "1"])
    assert (whole.exit_code, whole.stderr.splitlines()[0]) == (2, "error: --seed needs --sample")


@pytest.mark.parametrize("command", ["build", "plan"])
def test_a_limit_on_orders_that_no_file_can_state(tmp_path: Path, command: str) -> None:
    """A value of --orders that the file format cannot store is refused before anything is built."""
    tables = tmp_path / "tables"
    result = CliRunner().invoke(
        main, [command, "KRK", "--orders", str(MAX_ORDERS + 1), "--tables", str(tables)]
    )
    assert result.exit_code == 2
    assert str(MAX_ORDERS) in result.stderr
    assert not tables.exists()
    for limit in (-1, 0, MAX_ORDERS + 1):
        with pytest.raises(InputError):
            RuleSet(None, limit)


def test_an_unexpected_end_of_file_is_no_interruption() -> None:
    @click.command(cls=Command)
    def command() -> None:
        raise EOFError("a bug")

    result = CliRunner().invoke(command, [])
    assert isinstance(result.exception, EOFError)
    assert "interrupted" not in result.output


def test_doctor_states_why_a_cache_folder_is_not_used(tmp_path: Path) -> None:
    usual = tmp_path / "tbgen" / source_digest()
    usual.mkdir(parents=True)
    usual.chmod(0o777)
    places = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path)}
    doctor = [sys.executable, "-m", "tbgen", "doctor", "--tables", str(tmp_path)]
    found = subprocess.run(doctor, env=os.environ | places, capture_output=True, text=True)
    assert f"{usual}, which cannot be written or is open to other users" in found.stdout


def test_doctor_shows_the_cache_folder_without_a_home(tmp_path: Path) -> None:
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "", "NUMBA_CACHE_DIR": ""}
    environment = {**os.environ, **nowhere, "TMPDIR": str(tmp_path)}
    doctor = [sys.executable, "-m", "tbgen", "doctor", "--tables", str(tmp_path)]
    found = subprocess.run(doctor, env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    own = tmp_path / f"tbgen-{os.getuid()}"
    assert str(own) in found.stdout
    assert "in place of /dev/null/.cache/tbgen" in found.stdout
    own.chmod(0o777)
    found = subprocess.run(doctor, env=environment, capture_output=True, text=True)
    assert found.returncode == 1
    assert "no place for compiled kernels" in found.stderr


@pytest.mark.parametrize("command", ["probe", "judge"])
def test_a_line_without_an_end_is_refused_and_the_next_is_answered(
    tmp_path: Path, command: str
) -> None:
    """A line of 450 MB is refused without being stored, and the next line is answered.

    A limit on memory (`ulimit`) would end a process that stores it.
    """
    options = "-" if command == "judge" else f"- --tables {tmp_path}"
    lines = f"head -c 450000000 /dev/zero; echo; echo nonsense; printf '%0{MAX_TEXT}d' 7"
    result = shell(f"ulimit -v 400000; ({lines}) | tbgen {command} {options} --json", tmp_path)
    assert result.returncode == 2, result.stderr
    long, short, last = map(json.loads, result.stdout.splitlines())
    assert long["error"] == "the line has more than 1 MiB"
    assert len(long["input"]) < 100
    assert short["input"] == "nonsense"
    assert len(last["input"]) == MAX_TEXT  # as long as a line may be
    assert not result.stderr


def test_a_text_without_an_end_is_refused(tmp_path: Path) -> None:
    result = shell("ulimit -v 1500000; tbgen convert - < /dev/zero", tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: the line has more than 1 MiB")


def test_endless_positions_are_answered_at_once(tmp_path: Path) -> None:
    assert "undecided" in shell(f"yes '{KRK}' | tbgen judge - | head -n 1", tmp_path).stdout


@pytest.mark.parametrize("size", ["1\u212a", "9" * 400, "\u0663G"])
def test_invalid_sizes(size: str) -> None:
    """`--memory` refuses a size with a strange unit, too many digits, or foreign digits.

    Tested are the Kelvin sign as unit (its lower case is k), 400 digits (infinite as a float), and
    an Arabic digit.
    """
    result = CliRunner().invoke(main, ["build", "KRK", "--memory", size])
    assert result.exit_code == 2
    assert "is no size" in result.stderr


def test_sizes_have_a_unit(tmp_path: Path) -> None:
    said = CliRunner().invoke(main, ["build", "KRK", "--memory", "200"]).stderr
    assert "'200' is 200 bytes; write 900M" in said
    words = ["build", "KRK", "--memory", "1e9", "--tables", str(tmp_path)]
    assert CliRunner().invoke(main, words).exit_code == 0
