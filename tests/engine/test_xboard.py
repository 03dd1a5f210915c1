"""A game in a real GUI: xboard with its adapter, on a virtual display."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.commands import ANSWER_SECONDS, ENGINE

GAMES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"])
MISSING = [name for name in ("xboard", "uci2wb", "Xvfb") if not shutil.which(name, path=GAMES)]

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {' '.join(MISSING)}")

NEAR_MATE = "4k4/9/9/9/9/9/9/R8/9/R2K5 w - - 0 1"


@pytest.fixture
def screen() -> Iterator[str]:
    """Yield the name of a virtual X display, such as `:99`."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [shutil.which("Xvfb", path=GAMES) or "", "-displayfd", str(writing)],
        pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(writing)
    with os.fdopen(reading) as told:
        number = told.readline().strip()
    assert number
    yield f":{number}"
    server.terminate()
    server.wait()


def test_xboard_plays_a_game(screen: str, tmp_path: Path, loaded: object) -> None:
    """xboard plays a game between two copies of the engine, and saves Red's win.

    The first position is one in which Red mates.
    """
    (tmp_path / "start.fen").write_text(NEAR_MATE + "\n")
    adapter = f"{shutil.which('uci2wb', path=GAMES)} -c {ENGINE}"
    saved = tmp_path / "game.pgn"
    kernels = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    subprocess.run(
        [shutil.which("xboard", path=GAMES) or "", "-variant", "xiangqi",
         "-fcp", adapter, "-scp", adapter, "-fd", tmp_path, "-sd", tmp_path, "-depth", "4",
         "-lpf", tmp_path / "start.fen", "-mg", "1", "-sgf", saved,
         "-popupExitMessage", "false"],
        env={**os.environ, "DISPLAY": screen, "HOME": str(tmp_path), "XDG_CACHE_HOME": kernels},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=ANSWER_SECONDS, check=True,
    )  # fmt: skip
    game = saved.read_text(errors="replace")
    assert '[Result "1-0"]' in game
    assert "forfeit" not in game.lower()
