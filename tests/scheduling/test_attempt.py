"""Errors of a job in another process arrive unchanged: they survive pickling."""

from __future__ import annotations

import errno
import pickle
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from tbgen.building.builder import NotEnoughMemoryError
from tbgen.indexing import InputError
from tbgen.indexing.rulesets import Rules
from tbgen.scheduling.run import attempt
from tbgen.tables.certificates import CertificateError
from tbgen.tables.codes import LimitExceededError
from tbgen.tables.errors import (
    CorruptTableError,
    FormatVersionError,
    IllegalPositionError,
    MissingTableError,
    RulesMismatchError,
    TablebaseError,
    UnsupportedMaterialError,
)
from tbgen.tables.names import TableName
from tbgen.tables.rule_sets import RuleSet
from tbgen.verify.files import ProvenTable, RefutedError


def result_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function as a job in another process would, and return its result or raise its error.

    The call is made in this process, and its outcome is pickled as on the way between processes.
    """
    future: Future[Any] = Future()
    pickle.loads(pickle.dumps(attempt(function, *arguments))).complete(future)
    return future.result(0)


def throw(error: Exception) -> None:
    raise error


@pytest.mark.parametrize(
    "error",
    [
        NotEnoughMemoryError("KRK", 5 << 20, 4 << 20, "free memory"),
        MissingTableError("KRK"),
        InputError("what", "do this"),
        LimitExceededError("too long"),
        OSError(errno.ENOSPC, "No space left on device", "egtb/KRK"),
        ValueError(3, "x"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_keeps_its_type_and_facts(error: Exception) -> None:
    with pytest.raises(type(error)) as caught:
        result_of(throw, error)
    assert type(caught.value) is type(error)
    assert str(caught.value) == str(error)

    def facts(one: Exception) -> dict[str, Any]:
        return {name: value for name, value in vars(one).items() if name != "__notes__"}

    assert facts(caught.value) == facts(error)
    assert getattr(caught.value, "filename", None) == getattr(error, "filename", None)
    assert "test_attempt" in caught.value.__notes__[0]


def test_every_error_of_tables_can_be_pickled() -> None:
    """Errors of tables keep message and attributes when pickled.

    `multiprocessing.Pool` waits for ever for an error that cannot be unpickled.
    """
    name = TableName.parse("KRK.check.dtm.xqt")
    assert name is not None
    errors: list[TablebaseError] = [
        MissingTableError("KRK", RuleSet(Rules.CHECK, 2)),
        RulesMismatchError("several rule sets", ["check", "wxf"], "say which one to use"),
        IllegalPositionError("a FEN", "kings face"),
        UnsupportedMaterialError("KRK", "too large"),
        CorruptTableError(Path("KRK.xqt"), "bad digest", 3),
        FormatVersionError(Path("KRK.xqt"), 9, 3),
        CertificateError(Path("KRK.json"), "no JSON"),
        NotEnoughMemoryError("KRK", 5 << 20, 4 << 20, "free memory"),
        RefutedError(ProvenTable(name, "a digest", None, None)),
    ]
    assert {type(error) for error in errors} == set(TablebaseError.__subclasses__())
    for error in errors:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_a_result_is_returned() -> None:
    assert result_of(divmod, 7, 2) == (3, 1)
