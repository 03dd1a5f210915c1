"""Errors of requests to the board that have no answer, with a hint for the visitor."""

from __future__ import annotations


class UnansweredError(Exception):
    """Base class of errors of unanswered requests; `hint` says what to try instead, or is empty."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NothingFoundError(UnansweredError):
    """Error of a search for a puzzle that finds none."""


class NoReplyError(UnansweredError):
    """Error of an opponent without a move, such as an engine that does not answer."""
