"""A warm interpreter, whose forks need not load modules and kernels again.

    Warm(...)       a process that has imported modules, run commands, and waits for requests
    Warm.run(...)   as `campaign.run`, in a fork of it

A fork saves the seconds of loading numba and kernels. It is a process of its own: its streams, its
exit status and its peak of memory are separate. The preloaded library faults.c makes only calls of
the fork fail, not those of the warm interpreter. Faults during loading show only in new processes.
`disks.py --only ways` compares forks with new processes. Run as a script, this module is the warm
interpreter; requests and answers are lines of JSON.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from sys import argv
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults.campaign import PATIENCE, Ended, reap, tbgen
from tests.helpers.commands import restore_signals


class Warm:
    """Client of the warm interpreter; `close` ends the interpreter (for `contextlib.closing`)."""

    def __init__(
        self,
        modules: Sequence[str],
        commands: Sequence[list[str | bytes]] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start the interpreter.

        modules : modules that the interpreter imports
        commands : commands that it runs once, so that forks have everything loaded
        environment : variables added to those of this process
        """
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__], env={**os.environ, **(environment or {})},
            preexec_fn=restore_signals, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._ask({"import": modules})
        for command in commands:
            if self._ask({"load": _words(command)}) != 0:
                sys.exit(f"it fails undisturbed: {_words(command)}")

    def run(
        self,
        command: list[str | bytes],
        *,
        environment: Mapping[str, str] | None = None,
        patience: float = PATIENCE,
    ) -> Ended:
        """Run a `tbgen` command in a fork, and return its result like `campaign.run`.

        environment : variables added in the fork
        patience : timeout in seconds, after which the fork is killed
        """
        with tempfile.NamedTemporaryFile() as out, tempfile.NamedTemporaryFile() as err:
            order = {
                "words": _words(command), "environment": {**(environment or {})},
                "out": out.name, "err": err.name, "patience": patience,
            }  # fmt: skip
            began = time.monotonic()
            status, peak = self._ask(order)
            seconds = time.monotonic() - began
            said = err.read().decode("utf-8", "replace")
            return Ended(status, out.read(), said, seconds, peak)

    def _ask(self, order: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit(f"the warm interpreter has ended: {self._process.wait()}")
        return json.loads(answer)

    def close(self) -> None:
        """End the interpreter."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _words(command: list[str | bytes]) -> list[str]:
    """Return the arguments of `tbgen` in a command line, without the interpreter and its flags."""
    begins = tbgen()
    assert command[: len(begins)] == begins, "only tbgen's own commands can be forked"
    return [os.fsdecode(word) for word in command[len(begins) :]]


# -- the interpreter ---------------------------------------------------------------------------


def serve() -> None:
    """Answer requests, one JSON object per line of standard input; exit when the input ends.

    In a fork, sets `sys.argv` to the requested command and returns at once, so that the caller runs
    it.
    """
    orders = os.fdopen(os.dup(0), "r")
    answers = os.fdopen(os.dup(1), "w")
    _redirect(os.devnull, os.devnull)
    for line in orders:
        order = json.loads(line)
        if "import" in order:
            answer: Any = [importlib.import_module(name).__name__ for name in order["import"]]
        elif "load" in order:
            answer = _load(order["load"])
        else:
            # A fork has only one of several threads, but the locks of all.
            assert threading.active_count() == 1, threading.enumerate()
            pid = os.fork()
            if pid == 0:
                _redirect(order["out"], order["err"])
                os.environ.update(order["environment"])
                _arm()
                argv[:] = ["tbgen", *order["words"]]
                return
            status, usage = reap(pid, order["patience"])
            answer = status, usage.ru_maxrss * 1024
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    sys.exit()


def _redirect(out: str, err: str) -> None:
    """Redirect standard output and error to files, and standard input to /dev/null."""
    for number, path in enumerate((os.devnull, out, err)):
        descriptor = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY)
        os.dup2(descriptor, number)
        os.close(descriptor)


def _load(words: list[str]) -> int:
    """Run a command of `tbgen` in this process, so that its modules and kernels stay loaded.

    Returns the exit status.
    """
    from tbgen.cli import main

    status: int | None = main(words, prog_name="tbgen", standalone_mode=False)
    return status or 0


def _arm() -> None:
    """Let the library faults.c read its environment variables again, if it is preloaded."""
    arm = getattr(ctypes.CDLL(None), "arm_faults", None)
    if arm is not None:
        arm()


if __name__ == "__main__":
    serve()
    from tbgen.__main__ import main

    main()
