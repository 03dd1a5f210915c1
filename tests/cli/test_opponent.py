"""The engine as the board's opponent: legal moves, and a process that may end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tbgen.board.knowledge.puzzles import NoReplyError
from tbgen.cli.opponent import Opponent
from tbgen.indexing import Position
from tbgen.rules import legal_moves

FEN = "3k1a3/9/9/9/9/9/9/9/4n4/4KR3 w"


def test_the_opponent_plays_legal_moves(tmp_path: Path) -> None:
    opponent = Opponent(tmp_path, "wxf")
    try:
        start = position = Position.from_fen(FEN)
        moves = []
        for _ in range(3):
            move = opponent(start, moves)
            assert move in legal_moves(position)
            moves.append(move)
            position = position.after(*move)
    finally:
        opponent.close()


def test_a_killed_process_is_restarted(tmp_path: Path) -> None:
    opponent = Opponent(tmp_path, "wxf")
    try:
        start = Position.from_fen(FEN)
        assert opponent(start, []) in legal_moves(start)
        process = opponent._process
        assert process is not None
        process.kill()
        process.wait()
        assert opponent(start, []) in legal_moves(start)
        assert opponent._process is not process
    finally:
        opponent.close()


def test_a_missing_answer_is_a_one_line_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tbgen.cli.opponent.REPLY_SECONDS", 0.2)
    opponent = Opponent(tmp_path, "wxf")
    opponent._command = ["sleep", "60"]
    with pytest.raises(NoReplyError, match="does not answer"):
        opponent(Position.from_fen(FEN), [])
    assert opponent._process is None
    opponent._command = [str(tmp_path / "nothing")]
    with pytest.raises(NoReplyError, match="does not answer"):
        opponent(Position.from_fen(FEN), [])


def test_files_of_the_current_directory_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine imports no module from the current directory, unlike Python by default."""
    for name in ("click", "numpy", "tbgen"):
        (tmp_path / f"{name}.py").write_text("import pathlib\npathlib.Path('planted').touch()\n")
    monkeypatch.chdir(tmp_path)
    opponent = Opponent(tmp_path, "wxf")
    try:
        assert opponent(Position.from_fen(FEN), [])
    finally:
        opponent.close()
    assert not (tmp_path / "planted").exists()
