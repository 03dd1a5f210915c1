"""Text through the standard streams, whatever it holds and whatever the locale can write.

Input is UTF-8, else what the locale says, else replacement characters; what has no end is refused.
Arguments hold undecodable bytes as lone surrogates, by which files are found; JSON must not.
"""

from __future__ import annotations

import io
import itertools
import json
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from tbgen.indexing.errors import InputError

MAX_TEXT = 1 << 20
"""Bytes of a text, or of one line of many; a game of a thousand moves has a hundredth of them."""

_BEGINNING = 80
"""Bytes that are told of a line that is too long."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Line(NamedTuple):
    """A line of standard input: its number, from 1, and its text, or the beginning of it."""

    number: int
    text: str
    is_whole: bool

    def read(self) -> str:
        """The text; raises `InputError` if it is longer than a line may be."""
        if not self.is_whole:
            raise _too_long("the line")
        return self.text


def read_text() -> str:
    """All of standard input, which is one text; raises `InputError` if it is too long."""
    data = sys.stdin.buffer.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise _too_long("standard input")
    return _decode(data)


def read_lines() -> Iterator[Line]:
    """Every line of standard input that is not blank."""
    stream = sys.stdin.buffer
    for number in itertools.count(1):
        data = stream.readline(MAX_TEXT + 1)
        if not data:
            return
        is_whole = len(data) <= MAX_TEXT
        skipped = data
        while len(skipped) >= MAX_TEXT and not skipped.endswith(b"\n"):
            skipped = stream.readline(MAX_TEXT)
        text = _decode(data if is_whole else data[:_BEGINNING]).strip()
        if text:
            yield Line(number, text, is_whole)


def _too_long(what: str) -> InputError:
    return InputError(f"{what} has more than {MAX_TEXT >> 20} MiB", "end each text with a newline")


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
