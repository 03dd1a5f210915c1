"""A build that is killed repeatedly, resumes each time, and ends with proven tables."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

from tests.helpers.commands import TBGEN, answer, run

BUILD = ("build", "KRKNA", "--rules", "wxf", "--jobs", "1", "--save-state", "0.000001")
STATE = ".KRKNA.wxf.dtm.state"


def kill_in_the_middle(directory: Path, chance: random.Random) -> bool:
    """Build until a new checkpoint of the last table is written, and kill the build soon after.

    The delay is random, up to 50 ms. Returns False if the build ended by itself before.
    """
    command = [TBGEN, *BUILD, "--tables", directory]
    state = directory / STATE
    before = state.stat().st_mtime_ns if state.exists() else 0
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            if state.exists() and state.stat().st_mtime_ns != before:
                time.sleep(chance.random() / 20)
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    return process.returncode != 0


def test_a_killed_build_is_resumed_and_proven(tmp_path: Path) -> None:
    chance = random.Random(2)
    assert [kill_in_the_middle(tmp_path, chance) for _ in range(2)] == [True, True]
    listed = answer(TBGEN, "ls", "--tables", tmp_path)["tables"]
    assert "KRKNA" not in {table["material"] for table in listed}
    assert {"KRKN", "KRKA"} <= {table["material"] for table in listed}
    resumed = run(TBGEN, *BUILD, "--tables", tmp_path)
    assert "1 built" in resumed.stderr
    assert not list(tmp_path.glob(".*"))
    proven = answer(TBGEN, "verify", "KRKNA", "--closure", "--jobs", "1", "--tables", tmp_path)
    assert {table["proof"]["status"] for table in proven["tables"]} == {"proven"}
    run(TBGEN, "verify", "KRKNA", "--digests", "--tables", tmp_path)
