"""Questions that have no answer, each with what to do about it."""

from __future__ import annotations


class UnansweredError(Exception):
    """A question without an answer, with a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NothingFoundError(UnansweredError):
    """A search that has found nothing."""


class NoReplyError(UnansweredError):
    """An opponent who has no move to give, for now."""
