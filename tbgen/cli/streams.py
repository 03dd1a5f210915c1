"""Text on the standard streams and in files, with any content and in any locale; a live line.

Input is decoded as UTF-8, with or without byte order mark. All lines that are not UTF-8 have one
encoding: that of the locale, GB 18030 or Big5, whichever yields the most characters that occur in
Chinese game records. To choose it, a file is read whole. The lines of standard input are decoded
one by one, each in the encoding that is chosen from the lines up to it. A line that is invalid in
the chosen encoding is decoded by another one, or gets replacement characters.

Ctrl-Z (1A), the end of a file under DOS, is removed from the end of a line. Input in UTF-16, and a
text or line of more than `MAX_TEXT` bytes, are refused by `InputError`.
"""

from __future__ import annotations

import codecs
import contextlib
import itertools
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

import click

from tbgen.indexing.errors import InputError

if TYPE_CHECKING:
    from tqdm import tqdm

MAX_TEXT = 1 << 20
"""Maximum bytes of a text or line; a game of a thousand moves has a hundredth of that."""

_BEGINNING = 80
"""Number of bytes of an overlong line that are kept as its text."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Line(NamedTuple):
    """A line of input; `number` counts from 1.

    If the line has more than `MAX_TEXT` bytes, `is_whole` is False and `text` only its beginning.
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

    Raises `InputError`, as for standard input that is overlong or UTF-16.
    """
    text = " ".join(words)
    if text != "-":
        return text
    data = sys.stdin.buffer.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise _too_long("standard input")
    _refuse_utf_16(data)
    decoder = _Decoder()
    decoder.count(data)
    return _without_end_mark(decoder.decode(data))


def read_lines(file: BinaryIO | None = None) -> Iterator[Line]:
    """Yield the lines of a file, or of stdin, without blank lines and comments (`% ...`).

    Spaces at the ends are removed. A file is read twice: first to find its encoding. Raises
    `InputError` for UTF-16.
    """
    decoder = _Decoder()
    if file is not None:
        for _, data, _ in _data_lines(file):
            decoder.count(data)
        file.seek(0)
    for number, data, is_whole in _data_lines(sys.stdin.buffer if file is None else file):
        if file is None:
            decoder.count(data)
        text = _without_end_mark(decoder.decode(data)).strip()
        if text and not text.startswith("%"):
            yield Line(number, text, is_whole)


def _data_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (number, bytes, whether these are the whole line) for each line of a stream.

    Yields only the beginning of an overlong line, before reading the rest of it.
    """
    for number in itertools.count(1):
        data = stream.readline(MAX_TEXT + 1)
        if not data:
            return
        if number == 1:
            _refuse_utf_16(data)
        is_whole = len(data) <= MAX_TEXT
        yield number, data if is_whole else data[:_BEGINNING], is_whole
        while len(data) >= MAX_TEXT and not data.endswith(b"\n"):
            data = stream.readline(MAX_TEXT)


def _without_end_mark(text: str) -> str:
    return text.rstrip().rstrip("\x1a")


def _too_long(what: str) -> InputError:
    return InputError(f"{what} has more than {MAX_TEXT >> 20} MiB", "end each text with a newline")


def pad(text: str, width: int) -> str:
    """Pad `text` to `width` columns of a terminal; Chinese characters take two columns each."""
    return text + " " * (width - sum(2 if ord(c) > 0x2E7F else 1 for c in text))


def json_text(answer: object) -> str:
    """Return JSON on one line; in ASCII if stdout's encoding lacks a character.

    Lone surrogates, to which Python decodes invalid bytes of arguments, become U+FFFD.
    """
    text = _SURROGATE.sub("\ufffd", json.dumps(answer, ensure_ascii=False))
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return json.dumps(json.loads(text))
    return text


def _refuse_utf_16(data: bytes) -> None:
    """Raise `InputError` if the beginning of a text is UTF-16.

    Without a byte order mark, two or more bytes are then 0, all at odd or all at even places.
    """
    encoding = ""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and len(data) > 2:
        encoding = "utf-16"
    even, odd = data[::2].count(0), data[1::2].count(0)
    if max(even, odd) > 1 and min(even, odd) == 0:
        encoding = "utf-16le" if odd else "utf-16be"
    if encoding:
        hint = f"iconv -f {encoding} -t utf-8 converts it"
        raise InputError("the text is UTF-16, not UTF-8", hint)


class _Decoder:
    """Decoder of the lines of one input (see the module's docstring).

    `encoding` is chosen for lines that are not UTF-8, from the lines counted so far; empty until
    the counts of GB 18030 and Big5 first differ.
    """

    def __init__(self) -> None:
        self.encoding = ""
        self._counts: Counter[str] = Counter()

    def count(self, data: bytes) -> None:
        """Count characters of game records in a line that is not UTF-8, and choose `encoding`."""
        if _decoded(data, "utf-8-sig") is not None:
            return
        from tbgen.notation.chinese import count_characters  # rarely needed

        for encoding in _encodings():
            self._counts[encoding] += count_characters(_decoded(data, encoding) or "")
        if self._counts["gb18030"] != self._counts["big5hkscs"]:
            self.encoding = max(self._counts, key=self._counts.__getitem__)

    def decode(self, data: bytes) -> str:
        text = _decoded(data, "utf-8-sig")
        if text is not None and (not self.encoding or text.isascii()):
            return text
        from tbgen.notation.chinese import is_chinese

        # A short line in GB 18030 or Big5 may be valid UTF-8, but of letters such as Greek ones.
        if text is not None and is_chinese(text):
            return text
        for encoding in _encodings(self.encoding):
            if (text := _decoded(data, encoding)) is not None:
                return text
        return data.decode(sys.stdin.encoding, "replace")


def _encodings(first: str = "") -> list[str]:
    """Return the encodings to try for lines that are not UTF-8, beginning with `first`."""
    tried = (first, sys.stdin.encoding, "gb18030", "big5hkscs")
    return list(dict.fromkeys(filter(None, tried)))


def _decoded(data: bytes, encoding: str) -> str | None:
    """Return the text of bytes in an encoding; None if they are invalid in it."""
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode(encoding)
    return None


class LiveLine:
    """A line on stderr that is overwritten, if stderr is a terminal; use as a `with` block."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(bar_format="{desc}", leave=False)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()

    @property
    def is_shown(self) -> bool:
        """True if the line is displayed, since stderr is a terminal."""
        return self._bar is not None

    def update(self, text: str) -> None:
        """Replace the text of the line, if there is one."""
        if self._bar is not None:
            self._bar.set_description_str(text)

    def print(self, text: str) -> None:
        """Print a permanent line on stderr, above the live one if there is one."""
        if self._bar is not None:
            self._bar.write(text, file=sys.stderr)
        else:
            click.echo(text, err=True)

    def clear(self) -> None:
        """Clear the line before other output, if there is one."""
        if self._bar is not None:
            self._bar.clear()
