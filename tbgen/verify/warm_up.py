# mypy: allow-untyped-calls
"""Compiling the kernels of a proof once per machine, by two processes.

    this process      those of rows, but for images
    a second process  meanwhile, those of the scalar rules: of checks, of chases and of the witness

They are called on no rows and no positions of a table that says nothing. What is left out here, or
has other types, is compiled when it is first called: ranks and marks of two bytes, and whom the
winner-to-be of a chase chases.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from tbgen.compiling import second
from tbgen.compiling.jit import compile_lock
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.blocks import Codes, NumbersOf
from tbgen.tables.codes import CodeSpace
from tbgen.tables.names import Metric, RuleSet
from tbgen.verify.arrays import NOBODY, Arrays
from tbgen.verify.chase.patterns import ChasePatterns
from tbgen.verify.chase.sieve import sift
from tbgen.verify.checks import Patterns
from tbgen.verify.forward.complete import COUNT_LINES, k_complete, k_repeat
from tbgen.verify.forward.first_pass import FirstPass
from tbgen.verify.forward.index import Row, RowIndex, make_index
from tbgen.verify.forward.judge import Notes, k_judge, k_settle
from tbgen.verify.forward.kinds import k_begin
from tbgen.verify.forward.numbering import number_by_side
from tbgen.verify.forward.settle import FIRST_OFFENCE, forget_states, k_translate, make_marks
from tbgen.verify.loading import gather
from tbgen.verify.positions import examine
from tbgen.verify.report import no_progress
from tbgen.verify.sample import choose_sample

COMPILERS_BYTES = 576 << 20
"""The memory from which two processes compile; 483 MiB were measured together."""


class _Silent:
    """A table that says nothing: of all codes there is only the one of no position."""

    layout = Layout.of(Material.parse("KRK"))
    code_space = CodeSpace(2)
    metric = Metric.DTM

    def tiles(self, side: int) -> int:
        """One, of either side."""
        del side
        return 1

    def tile(self, side: int, number: int, numbers_of: NumbersOf) -> Sequence[tuple[int, Codes]]:
        """No value anywhere."""
        del side, number
        return [(0, np.repeat(numbers_of(np.zeros(1, self.code_space.dtype)), self.layout.slots))]


def is_compiled(rules: Rules) -> bool:
    """Whether `warm_up` has nothing left to do on this machine."""
    return second.is_compiled(_what(rules))


def _what(rules: Rules) -> str:
    """The name of what is compiled."""
    return f"proof-{rules}"


def warm_up(rules: Rules, memory: int | None) -> None:
    """Compile the kernels of proofs by rows by two processes, if there may be two.

    Else nothing is done: each is compiled when it is first called.

    memory : bytes that there are; None for enough
    """
    if is_compiled(rules) or (memory is not None and memory < COMPILERS_BYTES):
        return
    with compile_lock():
        # Somebody else may have compiled while this process waited for the lock.
        if is_compiled(rules):
            return
        others = (compile_checks, compile_chases) if rules.judges_chases else (compile_checks,)
        beside = second.start_beside(*others)
        if beside is not None:
            compile_rows()
            if not beside.wait():
                for compile_here in others:
                    compile_here()
            second.note_compiled(_what(rules))


def compile_rows() -> None:
    """Compile what looks at rows."""
    arrays, index = _load()
    counts = np.zeros((2, COUNT_LINES, arrays.values.own.shape[2]), np.int64)
    row, notes = _row(index, arrays), Notes.make(0, 0)
    k_complete(0, 0, counts, row, index, arrays)
    k_judge(0, 0, notes, row, index, arrays)
    settling = number_by_side(make_marks(arrays.values, seek_chases=True))
    k_begin(0, 0, settling.of_ranks, notes, row, index, arrays)
    arrays = _of_marks(arrays)
    k_translate(arrays.ranks[:0], settling.of_marks[0])
    due = np.zeros((2, 0), np.bool_)
    row = _row(index, arrays)
    k_settle(0, 0, 0, FIRST_OFFENCE, due[0], notes, row, index, arrays, settling.marks[0])


def compile_checks() -> None:
    """Compile the scalar rules of moves and of checks, and what is left of rows."""
    arrays, index = _load()
    k_repeat(0, 0, _row(index, arrays), index, arrays)
    examine(NOBODY, arrays, 1)
    choose_sample(arrays, np.zeros((2, arrays.values.own.shape[2]), np.int64), 1, 1)
    Patterns(_of_marks(arrays), _nobody(), 1)


def compile_chases() -> None:
    """Compile the scalar rules of chases."""
    arrays, index = _load()
    arrays = _of_marks(arrays)
    sift(NOBODY, NOBODY, arrays, index, 1)
    ChasePatterns(arrays, _nobody(), 1, no_progress).check_order(1)


@cache
def _load() -> tuple[Arrays, RowIndex]:
    """The silent table, and the index of its rows."""
    table = _Silent()
    arrays = gather(table, lambda child: table, RuleSet(Rules.WXF), all_kinds=False).arrays
    return arrays, make_index(table.layout)


def _of_marks(arrays: Arrays) -> Arrays:
    """The same when checks have been settled: a byte is enough then."""
    values, numbers = forget_states(make_marks(arrays.values, seek_chases=True).values)
    supports = arrays.supports._replace(ranks=numbers[:0].reshape(0, 2, 2, 0))
    return arrays._replace(ranks=numbers[0, :0], values=values, supports=supports)


def _row(index: RowIndex, arrays: Arrays) -> Row:
    return Row.make(index, len(arrays.men.pieces), arrays.ranks.dtype)


def _nobody() -> FirstPass:
    """A first pass that has found nothing."""
    return FirstPass(
        findings=0, first=None, checkers=NOBODY, checked_wins=NOBODY, chasers=NOBODY, claims=NOBODY,
        held_draws=NOBODY, counts=np.zeros((2, 0), np.int64),
    )  # fmt: skip
