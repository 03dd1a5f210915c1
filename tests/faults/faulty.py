"""A disk that fails on request: the library faults.c, and the environment that preloads it.

    Disk(folder).environment(under, calls, at, error)   ->   for `campaign.run`
    Disk(folder).calls(...)                             ->   number of calls of an undisturbed run

Needs gcc and a dynamic linker that preloads libraries: Linux.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.faults.campaign import Ended, run

SOURCE = Path(__file__).with_name("faults.c")
HALF = 0
"""Value in place of an error number: the call writes half of its bytes, without an error."""


def missing_tool() -> str | None:
    """Return a message that names what is missing to simulate faults; None if nothing is."""
    if not sys.platform.startswith("linux"):
        return "libraries are preloaded on Linux only"
    return None if shutil.which("gcc") else "gcc is not installed"


class Disk:
    """Disk with simulated faults: the library faults.c, compiled into a folder of the caller."""

    def __init__(self, folder: Path) -> None:
        self._library = folder / "faults.so"
        self._log = folder / "calls"
        command = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
        subprocess.run([*command, SOURCE, "-o", self._library, "-ldl"], check=True)

    def environment(
        self, under: Path | str, calls: Sequence[str], at: int = 0, error: int = HALF,
        *, lasts: bool = False,
    ) -> dict[str, str]:  # fmt: skip
        """Return environment variables that make one call of a command fail.

        under : part of the path of the files whose calls count
        calls : kinds of calls that count, as faults.c lists them
        at : number of the failing call among those that count, from 1; 0 for none
        error : a number of `errno`, or `HALF`
        lasts : all later calls that count fail, too
        """
        return {
            **self.harmless,
            "FAULT_UNDER": str(under),
            "FAULT_CALLS": ",".join(calls),
            "FAULT_AT": str(at),
            "FAULT_ERROR": str(error),
            "FAULT_LASTS": str(int(lasts)),
        }

    @property
    def harmless(self) -> dict[str, str]:
        """Return environment variables that load faults.c but make no call fail.

        A forked process can set the variables of faults later.
        """
        return {"LD_PRELOAD": str(self._library)}

    def calls(
        self, command: list[str | bytes], under: Path | str, calls: Sequence[str],
        run: Callable[..., Ended] = run, **how: str,
    ) -> tuple[Ended, int]:  # fmt: skip
        """Run a command without faults; return its result and the number of calls that count.

        These are calls of the kinds `calls` on files whose path contains `under`.

        run : `campaign.run`, or that of a warm interpreter
        how : environment variables to add
        """
        self._log.unlink(missing_ok=True)
        environment = {**how, **self.environment(under, calls), "FAULT_LOG": str(self._log)}
        ended = run(command, environment=environment)
        return ended, max(map(int, self._log.read_text().split()), default=0)
