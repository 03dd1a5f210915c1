"""Text on the standard streams and in files, with any content and in any locale; a live line.

Input is decoded as UTF-8, with or without byte order mark, else in the locale's encoding, else as
GB 18030 or Big5, whichever gives more characters of moves, else with replacement characters. Python
decodes invalid bytes of arguments to lone surrogates, which JSON must not contain. A live line is
overwritten on a terminal.

Input in UTF-16, and a text or line of more than `MAX_TEXT` bytes, are refused by `InputError`. In
JSON a lone surrogate becomes U+FFFD, and all text is ASCII if stdout's encoding lacks a character.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

import click

from tbgen.indexing.errors import InputError

if TYPE_CHECKING:
    from tqdm import tqdm

MAX_TEXT = 1 << 20
"""Most bytes of a text or line; a game of a thousand moves has a hundredth of that."""

_BEGINNING = 80
"""Number of bytes of an overlong line that are kept as its text."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Line(NamedTuple):
    """A line of input; `number` counts from 1.

    A line of more than `MAX_TEXT` bytes has `is_whole` False, and only its beginning as `text`.
    """

    number: int
    text: str
    is_whole: bool = True
    kind: str = "line"
    """Noun for messages: `line`, or `game` for a text of several lines."""

    def read(self) -> str:
        """Return the text; raises `InputError` if the line is overlong."""
        if not self.is_whole:
            raise _too_long("the line")
        return self.text


def position_text(words: Iterable[str]) -> str:
    """Return the text of a position from the words of the command line; `-` is standard input.

    Raises `InputError` if standard input is overlong or UTF-16.
    """
    text = " ".join(words)
    if text != "-":
        return text
    data = sys.stdin.buffer.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise _too_long("standard input")
    _refuse_utf_16(data)
    return _decode(data)


def read_lines(stream: BinaryIO | None = None) -> Iterator[Line]:
    """Yield the lines of a stream, or of stdin, that are not blank, without space at their ends.

    Raises `InputError` for UTF-16.
    """
    stream = sys.stdin.buffer if stream is None else stream
    for number in itertools.count(1):
        data = stream.readline(MAX_TEXT + 1)
        if not data:
            return
        if number == 1:
            _refuse_utf_16(data)
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
    """Write characters that stdout's encoding lacks as escapes; stderr does so by default."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def json_text(answer: object) -> str:
    """Return JSON on one line; in ASCII if stdout's encoding lacks a character.

    Lone surrogates become U+FFFD.
    """
    text = _SURROGATE.sub("\ufffd", json.dumps(answer, ensure_ascii=False))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(json.loads(text))
    return text


def _refuse_utf_16(data: bytes) -> None:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and len(data) > 2:
        raise InputError("the text is UTF-16, not UTF-8", "iconv -f utf-16 -t utf-8 converts it")


def _decode(data: bytes) -> str:
    """Decode bytes of input by the first encoding that fits (see the module's docstring)."""
    for encoding in ("utf-8-sig", sys.stdin.encoding):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode(encoding)
    from tbgen.notation.chinese import count_characters  # rarely needed

    texts = []
    for encoding in ("gb18030", "big5hkscs"):
        with contextlib.suppress(UnicodeDecodeError):
            texts.append(data.decode(encoding))
    return max(texts, key=count_characters, default=data.decode(sys.stdin.encoding, "replace"))


class LiveLine:
    """A line on stderr that is overwritten, if stderr is a terminal; use as a `with` block."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Self:
        """Begin the line if stderr is a terminal."""
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(bar_format="{desc}", leave=False)
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the line."""
        if self._bar is not None:
            self._bar.close()

    @property
    def is_shown(self) -> bool:
        """Return whether stderr is a terminal, so that the line is displayed."""
        return self._bar is not None

    def update(self, text: str) -> None:
        """Replace the text of the line; do nothing without a terminal."""
        if self._bar is not None:
            self._bar.set_description_str(text)

    def print(self, text: str) -> None:
        """Print a permanent line on stderr, above the line that is overwritten if there is one."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            click.echo(text, err=True)

    def clear(self) -> None:
        """Clear the line before other output; do nothing without a terminal."""
        if self._bar is not None:
            self._bar.clear()
