"""Sources of files: an address of a web server, or a directory of this machine.

    https://example.org/egtb   any server that serves files; with ranges, what was cut is continued
    /mnt/egtb                  a directory

Only http and https are spoken, also where a server sends elsewhere.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from tbgen import __version__
from tbgen.indexing.errors import excerpt
from tbgen.tables.files import open_to_read

TIMEOUT_SECONDS = 30.0
"""How long a server may say nothing."""

_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)")


class SourceError(OSError):
    """A source that does not give a file; `strerror` says which, and why."""


class Stream:
    """Bytes on their way; what goes wrong with them is a `SourceError`."""

    def __init__(self, stream: BinaryIO | http.client.HTTPResponse, what: str) -> None:
        self._stream = stream
        self._what = what

    def read(self, most: int) -> bytes:
        """Some of the next bytes, `most` at most; none at the end."""
        with _told(self._what):
            return self._stream.read(most)


class Source(Protocol):
    """Source of files by name."""

    def reading(
        self, file: str, offset: int
    ) -> contextlib.AbstractContextManager[tuple[Stream, int]]:
        """The bytes of a file from an offset on, or from 0: which it is comes along.

        Raises `SourceError`, also while the bytes are read.
        """


def source_of(address: str) -> Source:
    """The source of an address, or of a path."""
    if re.match(r"https?://", address, re.IGNORECASE | re.ASCII):
        return WebSource(address)
    return DirectorySource(Path(address))


class DirectorySource:
    """A directory of this machine."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __str__(self) -> str:
        """The directory."""
        return str(self._directory)

    @contextlib.contextmanager
    def reading(self, file: str, offset: int) -> Iterator[tuple[Stream, int]]:
        """The bytes of a file from an offset on."""
        what = f"{self}/{file}"
        with _told(what):
            opened = os.fdopen(open_to_read(self._directory / file), "rb")
        with opened:
            opened.seek(offset)
            yield Stream(opened, what), offset


class WebSource:
    """A folder of a web server."""

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        # No handler but these: neither files nor ftp, wherever a redirection leads.
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(), urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(), urllib.request.HTTPRedirectHandler(),
            urllib.request.HTTPErrorProcessor(), urllib.request.HTTPDefaultErrorHandler(),
        ):  # fmt: skip
            self._opener.add_handler(handler)

    def __str__(self) -> str:
        """The address."""
        return self._address

    @contextlib.contextmanager
    def reading(self, file: str, offset: int) -> Iterator[tuple[Stream, int]]:
        """The bytes of a file from an offset on, or from 0 where the server knows no ranges."""
        address = f"{self._address}/{urllib.parse.quote(file)}"
        headers = {"User-Agent": f"tbgen/{__version__}", "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
        with _told(address):
            request = urllib.request.Request(address, headers=headers)
            answer = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        if answer is None:
            raise SourceError(0, f"{excerpt(address, 80)}: no way to get it")
        with answer:
            partial = offset and answer.status == 206
            if partial and not _begins_at(answer, offset):
                raise SourceError(0, f"{excerpt(address, 80)}: another range than was asked for")
            yield Stream(answer, address), offset if partial else 0


def _begins_at(answer: http.client.HTTPResponse, offset: int) -> bool:
    """Return whether the bytes of a part begin where they were asked to."""
    match = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    return match is not None and int(match[1]) == offset


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    """Errors of all layers below as one that says what was asked for."""
    try:
        yield
    except SourceError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        raise SourceError(0, f"{excerpt(what, 80)}: the server says {error.code}") from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise SourceError(0, f"{excerpt(what, 80)}: {reason or type(error).__name__}") from None
