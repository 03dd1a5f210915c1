"""State of a build between two steps, and its checkpoint, from which another process resumes.

    BuildState    arrays of a build, and the last finished step
    Checkpoint    storage of the state of one build
    resumed       the state that an interrupted build has saved

    checkpoint  =  head (JSON)
                   of each side     unknown, losable, front: records of sets, compressed
                                    waiting positions, with codes; the journal
                   of each search   its memory: two sets

Each is a section: records, each a *part* after its chunk and code, and an empty part at the end.
The index and its moves are computed again from the material. The `Checkpoint` decides where the
bytes are, and checks their table and program.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from struct import Struct
from typing import Protocol

from tbgen.compiling.folder import source_digest
from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import SearchState
from tbgen.retrograde.initialisation import SortedPositions
from tbgen.retrograde.journal import Waiting
from tbgen.retrograde.propagation import Propagation
from tbgen.rows.records import KeptRecords
from tbgen.rows.sets import Sets
from tbgen.rows.storage import Storage
from tbgen.tables.codes import CodeSpace

_KEY = Struct("<IIB")
"""Header of a record: its chunk, its code (0 in sets), and whether it is compressed."""

_END = b""

Piece = tuple[int, int, bool, bytes]
"""A record of a section: its chunk, its code, whether it is compressed, and its bytes."""

Report = Callable[[str, int, int, int], None]
"""Progress: phase, order, plies, positions settled."""


def program() -> str:
    """Return the digest of the sources that can read a state."""
    return source_digest()


class Checkpoint(Protocol):
    """Storage of the state of one build."""

    def load(self) -> Iterator[bytes] | None:
        """Return the parts of the saved state; None without one."""

    def is_due(self) -> bool:
        """Return whether the state should be saved now; called after each step."""

    def save(self, parts: Iterable[bytes]) -> None:
        """Save a state in place of any other."""


@dataclass
class BuildState:
    """State of a build: its arrays, and the last finished step.

    report : called as report(phase, order, 0, 0) when a phase begins
    checkpoint : storage of this state, if any
    order, number : the last order, and its last finished step (`Propagation.steps`)
    changed : whether that order has settled any positions
    chase_patterns : number of direct wins by chase, by order searched
    search_states : of the searches, in the order in which they are made; none before order 1
    """

    propagation: Propagation
    report: Report
    checkpoint: Checkpoint | None = None
    order: int = 0
    number: int = 0
    changed: bool = False
    chase_patterns: dict[int, int] = field(default_factory=dict)
    search_states: Sequence[SearchState] = ()
    _unread: Iterator[bytes] | None = None
    """Unread parts of a checkpoint: the states of its searches."""

    def propagate(self, order: int) -> bool:
        """Propagate an order, or what is left of it, and save the state whenever that is due.

        Returns whether the order has settled any positions.
        """
        self.report("propagation", order, 0, 0)
        if order > self.order:
            self.order, self.number, self.changed = order, 0, False
        for number, settled in self.propagation.steps(order, self.number):
            self.number = number
            self.changed |= settled > 0
            if self.checkpoint is not None and self.checkpoint.is_due():
                self.report("saving the state", order, 0, 0)
                self.checkpoint.save(self.parts())
                self.report("propagation", order, 0, 0)
        return self.changed

    def parts(self) -> Iterator[bytes]:
        """Iterate over the state's parts; it must not change before the last one is read."""
        patterns = sorted(self.chase_patterns.items())
        codes = [sorted(journal.codes) for journal in self.propagation.journals]
        order_starts = self.propagation.order_starts
        head = [self.order, self.number, self.changed, patterns, codes, order_starts]
        yield json.dumps(head).encode()
        for section in self._sections():
            for chunk, code, packed, record in section:
                yield _KEY.pack(chunk, code, packed) + record
            yield _END

    def _sections(self) -> Iterator[Iterable[Piece]]:
        p = self.propagation
        for side in Side:
            for rows in (p.unknown, p.losable):
                yield _pieces_of(p.sets.packed(rows[side], Storage()))
            yield _pieces_of(p.sets.packed(p.fronts[side].rows, Storage()))
            yield (
                (chunk, code, packed, record)
                for code, chunk, packed, record in p.waiting[side].pieces()
            )
            yield ((chunk, 0, True, piece) for chunk, piece in p.journals[side].pieces())
        for one in self.search_states:
            assert one.offending is not None, "each has searched before order 1 is propagated"
            assert one.open is not None
            yield _pieces_of(one.offending)
            yield _pieces_of(one.open)

    def add_searches(self, search_states: Sequence[SearchState]) -> None:
        """Add the states of the searches, which are empty, and fill them from a checkpoint."""
        self.search_states = search_states
        if self._unread is None:
            return
        storage = self.propagation.sets.workers.storage
        for one in search_states:
            one.offending = _set_of(_section(self._unread), storage)
            one.open = _set_of(_section(self._unread), storage)
        _end(self._unread)
        self._unread = None


def resumed(
    checkpoint: Checkpoint | None, sets: Sets, code_space: CodeSpace, report: Report
) -> BuildState | None:
    """Return the saved state without its searches (`BuildState.add_searches`); None without one.

    checkpoint : of the same material, rules and code space; its parts are not checked
    """
    parts = None if checkpoint is None else checkpoint.load()
    if parts is None:
        return None
    report("reading the state", 0, 0, 0)
    order, number, changed, patterns, codes, order_starts = json.loads(next(parts))
    storage = sets.workers.storage
    red, black = (SortedPositions(sets.empty(), Waiting(storage)) for _ in Side)
    unknown = sets.empty(), sets.empty()
    p = Propagation(sets, unknown, (red, black), code_space, partial(report, "propagation"))
    for side in Side:
        for rows in (p.unknown, p.losable):
            sets.add(_set_of(_section(parts), Storage()), rows[side])
        sets.put(_set_of(_section(parts), Storage()), p.fronts[side])
        for chunk, code, packed, record in _section(parts):
            p.waiting[side].put_back(code, chunk, packed, record)
        p.journals[side].codes.update(codes[side])
        for chunk, _, _, piece in _section(parts):
            p.journals[side].put_back(chunk, piece)
    p.order_starts = [[(pieces, size) for pieces, size in places] for places in order_starts]
    if not order:
        _end(parts)
    report("resuming", order, max(0, number - (order > 0)), 0)
    unread = parts if order else None
    return BuildState(p, report, checkpoint, order, number, changed, dict(patterns), _unread=unread)


def _section(parts: Iterator[bytes]) -> Iterator[Piece]:
    """Yield the records of the next section of `parts`, up to the empty part that ends it."""
    while (part := next(parts)) != _END:
        chunk, code, packed = _KEY.unpack_from(part)
        yield chunk, code, bool(packed), part[_KEY.size :]


def _end(parts: Iterator[bytes]) -> None:
    """Check that a state has no more parts; reading its end closes its file."""
    assert next(parts, None) is None, "a state has more parts than it should"


def _pieces_of(members: KeptRecords) -> Iterator[Piece]:
    """Return the records of a set."""
    return ((chunk, 0, packed, piece) for chunk, packed, piece in members.pieces())


def _set_of(section: Iterator[Piece], storage: Storage) -> KeptRecords:
    """Return the set that a section contains; its records stay compressed."""
    members = KeptRecords(storage)
    for chunk, _, packed, piece in section:
        members.put_back(chunk, packed, piece)
    return members
