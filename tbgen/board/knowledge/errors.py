"""Errors of questions without an answer, with hints."""

from __future__ import annotations


class UnansweredError(Exception):
    """A question that cannot be answered, with a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NothingFoundError(UnansweredError):
    """A search without results."""


class NoReplyError(UnansweredError):
    """An opponent that cannot give a move now."""
