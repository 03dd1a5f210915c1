"""The live line of commands that take long, on a terminal and off."""

from __future__ import annotations

import sys

import pytest

from tbgen.cli.live import LiveLine


@pytest.mark.parametrize("terminal", [False, True])
def test_what_is_said_stays(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with LiveLine() as line:
        assert line.is_shown == terminal
        line.live("half done")
        line.say("KRK is there")
        line.clear()
    said = capsys.readouterr().err
    assert "KRK is there\n" in said
    assert ("half done" in said) == terminal
