"""Text through the standard streams, whatever it holds and whatever the locale can write.

    read_text, read_lines    UTF-8, else what the locale says, else replacement characters
    never_fail_to_write      on stdout, escapes for what the locale cannot write
    json_text                JSON that is valid in every encoding

Arguments hold undecodable bytes as lone surrogates, by which files are found; JSON must not.
"""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_text() -> str:
    """All of standard input."""
    return _decode(sys.stdin.buffer.read())


def read_lines() -> Iterator[tuple[int, str]]:
    """Number, from 1, and text of every line of standard input that is not blank."""
    for number, line in enumerate(sys.stdin.buffer, 1):
        text = _decode(line).strip()
        if text:
            yield number, text


def never_fail_to_write() -> None:
    """Have characters that stdout's encoding lacks written as escapes; stderr does so itself."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def json_text(answer: object) -> str:
    """JSON on one line: in characters where stdout can write them all, else in ASCII."""
    text = _SURROGATE.sub("\ufffd", json.dumps(answer, ensure_ascii=False))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(json.loads(text))
    return text


def _decode(data: bytes) -> str:
    """The text of bytes that somebody sends; what is no text becomes replacement characters."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode(sys.stdin.encoding, "replace")
