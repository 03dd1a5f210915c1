"""The engine that `serve` starts: no module comes from the current directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tbgen.board.http import RequestError
from tbgen.cli import opponent
from tbgen.cli.opponent import Opponent
from tbgen.indexing import Position

START = Position.from_fen("4k4/9/9/9/9/9/9/9/9/3RK4 w")


@pytest.mark.parametrize("name", ["tbgen.py", "click.py", "numpy.py"])
def test_what_is_planted_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text("open('ran', 'w')\nraise SystemExit\n")
    monkeypatch.chdir(tmp_path)
    # A first move may wait for a compiler; whether modules are planted is known before.
    monkeypatch.setattr(opponent, "PATIENCE", 3.0)
    engine = Opponent(tmp_path, "none")
    try:
        engine(START, [])
    except RequestError:
        pass
    finally:
        engine.close()
    assert not (tmp_path / "ran").exists()
