"""Ctrl-C, SIGTERM and SIGHUP at any moment: one line, exit status 130, no files left.

A server ends with status 0 on SIGTERM.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from tbgen.cli import main
from tests.helpers.commands import STOPS, start

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"

IN_AN_IMPORT = "os.kill(os.getpid(), {stop}); time.sleep(30)"
IN_SOURCE = """
exec("os.kill(os.getpid(), {stop}); time.sleep(30)")
"""
IN_A_DESTRUCTOR = """
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), {stop})
        time.sleep(0.01)
Dropped()
time.sleep(30)
"""


@pytest.mark.parametrize(
    "moment", [IN_AN_IMPORT, IN_SOURCE, IN_A_DESTRUCTOR], ids=["import", "source", "destructor"]
)
@pytest.mark.parametrize(("imported", "command"), [("click", "doctor"), ("zstandard", "verify")])
@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_during_imports(
    tmp_path: Path, stop: signal.Signals, imported: str, command: str, moment: str
) -> None:
    """A stop signal while modules load ends the program with one error line and status 130.

    Python drops exceptions that are raised in destructors and other callbacks at that time.
    """
    source = "import os, time\n" + moment.format(stop=int(stop))
    (tmp_path / imported).with_suffix(".py").write_text(source)
    process = start(command, path=tmp_path)
    assert process.communicate(timeout=20) == ("", "error: interrupted\n")
    assert process.returncode == 130


@pytest.mark.parametrize(("arguments", "shown"), [(["--json"], "interrupted"), ([], None)])
def test_ctrl_c_while_a_command_is_loaded(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], shown: str | None
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(main), "get_command", interrupt)
    result = CliRunner().invoke(main, ["probe", KRK, *arguments])
    assert (result.exit_code, result.stderr) == (130, "error: interrupted\n")
    assert (json.loads(result.stdout)["error"] if result.stdout else None) == shown


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_during_a_command(tables_dir: Path, stop: signal.Signals) -> None:
    process = start("probe", "-", "--tables", tables_dir, "--rules", "check")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{KRK}\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(stop)
    _, stderr = process.communicate(timeout=20)
    assert (process.returncode, stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP])
def test_a_stop_leaves_no_incomplete_file(
    tmp_path: Path, tables_dir: Path, stop: signal.Signals
) -> None:
    process = start("dump", "KRKN", "--tables", tables_dir, "--rules", "check",
                    "--out", tmp_path / "rows.csv")  # fmt: skip
    deadline = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    process.send_signal(stop)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_ends_a_server_properly(tables_dir: Path, stop: signal.Signals) -> None:
    process = start("serve", "--tables", tables_dir, "--rules", "check", "--port", "0", "--no-open",
                    "--json")  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(stop)
    _, stderr = process.communicate(timeout=20)
    if stop == signal.SIGTERM:  # the regular end of a service
        assert (process.returncode, stderr) == (0, "")
        return
    assert process.returncode == 130
    assert stderr.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in stderr


def test_ignored_signals_stay_ignored(tables_dir: Path) -> None:
    """A command ignores SIGHUP if its parent process does, as under `nohup`."""
    command = [sys.executable, "-m", "tbgen", "probe", "-", "--tables", str(tables_dir),
               "--rules", "check"]  # fmt: skip
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(2):
        process.stdin.write(f"{KRK}\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGHUP)
    process.communicate(timeout=20)
    assert process.returncode == 0
