"""Tests of the shared parts of campaigns: complaints about ends, budgets, tallies, statuses."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from tests.faults.campaign import (
    FINDINGS,
    INTERRUPTED,
    OK,
    REFUSED,
    Budget,
    Ended,
    Tally,
    complaint,
    main,
    run,
    tables_of,
    unknown_files,
)
from tests.faults.killing import check_end

LINE = "error: no such thing\nhint: ask for another\n"
TRACEBACK = "Traceback (most recent call last):\nValueError: a bug\n"


def ended(status: int | None, stderr: str = "") -> Ended:
    return Ended(status, b"", stderr, 0.1, 0)


@pytest.mark.parametrize("status", [REFUSED, INTERRUPTED])
def test_one_clear_line_of_failure_is_no_finding(status: int) -> None:
    assert complaint(ended(OK, "a note\n"), [OK]) is None
    assert complaint(ended(status, LINE), [OK, status]) is None
    assert complaint(ended(status, f"1/3 KRK\n{LINE}"), [OK, status]) is None


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (ended(None), "does not end"),
        (ended(REFUSED, TRACEBACK), "traceback: ValueError"),
        (ended(OK, "Exception ignored in: <x>\n"), "traceback"),
        (ended(REFUSED, ""), "0 lines"),
        (ended(REFUSED, "error: \n"), "1 lines"),
        (ended(REFUSED, LINE + LINE), "2 lines"),
        (ended(FINDINGS, LINE), "exit status 1"),
        (ended(-11, ""), "exit status -11"),
    ],
)
def test_every_other_end_is_a_finding(end: Ended, said: str) -> None:
    assert said in str(complaint(end, [OK, REFUSED, INTERRUPTED]))


@pytest.mark.parametrize(
    ("name", "number", "end", "late", "found"),
    [
        ("serve", signal.SIGTERM, ended(OK, "a note\n"), 0, 0),
        ("board", signal.SIGTERM, ended(OK, TRACEBACK), 0, 1),
        ("serve", signal.SIGTERM, ended(INTERRUPTED, LINE), 0, 0),
        ("serve", signal.SIGINT, ended(OK), 0, 1),
        ("dump", signal.SIGTERM, ended(OK), 1, 0),
    ],
)
def test_only_servers_may_end_regularly_by_a_signal(
    name: str, number: signal.Signals, end: Ended, late: int, found: int
) -> None:
    tally = Tally("trial")
    check_end(tally, name, number, 0.5, end)
    assert tally.counts["kills that came too late"] == late
    assert len(tally.findings) == found


def test_a_command_is_run_and_measured() -> None:
    script = "import sys; sys.stdout.write(sys.stdin.read()); print('x', file=sys.stderr); exit(3)"
    found = run([sys.executable, "-c", script], stdin=b"given")
    assert (found.status, found.stdout, found.stderr) == (3, b"given", "x\n")
    assert found.peak > 1 << 20
    endless = run([sys.executable, "-c", "while True: pass"], patience=0.3)
    assert endless.status is None


def test_a_budget_is_spent() -> None:
    budget = Budget(3, None)
    assert [*budget.take_up_to(2)] == [0, 1]
    assert not budget.spent
    assert [*budget.take_up_to(2)] == [0]
    assert budget.spent
    assert not budget.take()
    assert not Budget(3, -1.0).take()


def test_strangers_in_a_directory_of_tables(tmp_path: Path) -> None:
    for name in ("KRK.none.dtm.xqt", "KRK.none.dtm.build.json", "KRK.none.dtm.proof.json",
                 "index.json", ".KRK.none.dtm.lock", "x.tmp", ".index.json.1.tmp"):  # fmt: skip
        (tmp_path / name).write_text(name)
    assert unknown_files(tmp_path) == [".KRK.none.dtm.lock", ".index.json.1.tmp", "x.tmp"]
    assert list(tables_of(tmp_path)) == ["KRK.none.dtm.xqt"]
    assert tables_of(tmp_path / "nowhere") == {}


@pytest.mark.parametrize("right", [True, False])
def test_findings_determine_the_exit_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, right: bool
) -> None:
    def part(tally: Tally, budget: Budget, seed: int) -> None:
        while budget.take():
            tally.count("tries")
        tally.largest("seed", seed)
        tally.expect(right, "something that must not be")

    monkeypatch.setattr(sys, "argv", ["x", "--count", "2", "--seed", "5"])
    with pytest.raises(SystemExit) as caught:
        main("trial", "of the campaigns", {"part": part}, 10)
    assert caught.value.code == (OK if right else FINDINGS)
    said = capsys.readouterr()
    assert '"campaign": "trial part", "tries": 2, "seed": 5' in said.out
    assert f'"findings": {int(not right)}' in said.out
    assert ("must not be" in said.err) != right
