"""Invalid UTF-8, and locales without Chinese: every line is answered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"
NO_TEXT = [b"\xff\xfe", b"caf\xe9 w", b"\xc5\xda\xb6\xfe", b"\xed\xa0\x80", b"\0\x1b[2J"]
LOCALES = {
    "strict": {"PYTHONIOENCODING": "utf-8:strict"},
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "gbk": {"PYTHONIOENCODING": "gbk"},
}
WRITTEN = {"strict": "utf-8", "C": "ascii", "gbk": "gbk"}
"""For each locale tested, the encoding of the JSON that `tbgen` prints."""

pytestmark = pytest.mark.parametrize("locale", LOCALES)


def tbgen(
    locale: str, *arguments: str | bytes, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run `tbgen` in a new process under a locale, and check that it prints no traceback.

    A command run in the test's own process would not use the locale's encoding.
    """
    result = subprocess.run(
        [sys.executable, "-m", "tbgen", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **LOCALES[locale]},
    )
    assert b"Traceback" not in result.stderr
    return result


@pytest.mark.parametrize("as_json", [False, True])
def test_every_line_is_answered(tables_dir: Path, locale: str, as_json: bool) -> None:
    options = ["--json"] if as_json else []
    lines = [KRK.encode(), *NO_TEXT, KRK.encode()]
    tables = ["--tables", str(tables_dir), "--rules", "check"]
    probed = tbgen(locale, "probe", "-", *tables, *options, stdin=b"\n".join(lines))
    games = [line + b";a0a1" for line in lines]
    judged = tbgen(locale, "judge", "-", *options, stdin=b"\n".join(games))
    for result in (probed, judged):
        assert result.returncode == 2
        answers = result.stdout.decode(WRITTEN[locale]).splitlines()
        if as_json:
            bad = ["error" in json.loads(line) for line in answers]
            assert bad == [False] + [True] * len(NO_TEXT) + [False]
        else:
            assert len(answers) == 2
            assert result.stderr.count(b": error: ") == len(NO_TEXT)


def test_json_is_valid(locale: str) -> None:
    text = b"caf\xe9 \xc5\xda \xed\xa0\x80 \xff"
    for result, more in (
        (tbgen(locale, "convert", "-", "--json", stdin=text), {"line"}),
        (tbgen(locale, "ls", "--tables", b"/no/" + text, "--json"), set()),
    ):
        assert result.returncode == 2
        answer = json.loads(result.stdout.decode(WRITTEN[locale]))
        assert set(answer) == {"input", "error", "hint"} | more
        assert not any("\ud800" <= c <= "\udfff" for c in str(answer))


def test_chinese_moves(locale: str) -> None:
    move = ["convert", KRK, "--move", "a0a1", "--notation", "zh"]
    shown = tbgen(locale, *move)
    escaped = rb"\u8f66\u4e5d\u8fdb\u4e00"
    readings = (escaped.decode(), "车九进一")
    assert shown.returncode == 0
    assert shown.stdout.decode("gbk" if locale == "gbk" else "utf-8").strip() in readings
    assert (shown.stdout.strip() == escaped) <= (locale == "C")
    answer = json.loads(tbgen(locale, *move, "--json").stdout.decode(WRITTEN[locale]))
    assert answer["moves"][0]["text"] == "车九进一"


def test_input_is_utf_8_or_gb_18030(locale: str) -> None:
    game = f"{KRK};车九进一"
    for encoding in ("utf-8", "utf-8-sig", "gbk"):
        assert tbgen(locale, "judge", "-", stdin=game.encode(encoding)).returncode == 0
