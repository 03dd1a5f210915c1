"""The state of a solver between two steps, as bytes: another process goes on there.

    Course    how far a solver has come: what it has, and what it has done
    Keeper    who keeps the state now and then, and has what an earlier attempt left

    state  =  head (JSON)
              of each side     unknown, losable, unwon, front: records of sets, compressed
                               what waits, with codes; the journal
              of each search   what it knows: two sets, and what has been won since

Each is a section: records, each a *part* with its chunk and code before it, and an empty part at
the end. What follows from the material (the index, its moves) is made anew. Where the bytes are,
and what they are good for (which table, by which program), is for the keeper to know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Protocol

import numpy as np

from tbgen.compiling.folder import source_digest
from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import Memory
from tbgen.retrograde.initialisation import Sorted
from tbgen.retrograde.journal import Waiting
from tbgen.retrograde.propagation import Propagation, Report, Rest
from tbgen.rows.records import PackedRows
from tbgen.rows.sets import Rows, Sets
from tbgen.rows.storage import Storage
from tbgen.tables.codes import CodeSpace

_KEY = Struct("<IIB")
"""Before each record: its chunk, its code or 0, and whether it is compressed."""

_END = b""

Piece = tuple[int, int, bool, bytes]
"""Chunk, code, whether it is compressed, and the record."""


def program() -> str:
    """Return the digest of the sources that a state can be read by."""
    return source_digest()


class Keeper(Protocol):
    """Owner of a solver's saved state."""

    def left(self) -> Iterator[bytes] | None:
        """The parts that an earlier attempt has left; None without any."""

    def is_due(self) -> bool:
        """Return whether the state should be kept now; asked after each step."""

    def keep(self, parts: Iterable[bytes]) -> None:
        """Keep a state in place of any other."""


@dataclass
class Course:
    """Progress of a solver: its arrays, and the last finished step.

    order, number, changed : as `Propagation.run` counts: the last step that was made
    chase_patterns : direct wins by chase of each order that was searched
    memories : of the searches, in the order in which they are made; none before order 1
    """

    propagation: Propagation
    order: int = 0
    number: int = 0
    changed: bool = False
    chase_patterns: dict[int, int] = field(default_factory=dict)
    memories: Sequence[Memory] = ()
    _left: Iterator[bytes] | None = None

    def parts(self) -> Iterator[bytes]:
        """The state, to be kept; the solver rests until the last part is taken."""
        patterns = sorted(self.chase_patterns.items())
        codes = [sorted(journal.codes) for journal in self.propagation.journals]
        head = [self.order, self.number, self.changed, patterns, codes]
        yield json.dumps(head).encode()
        for section in self._sections():
            for chunk, code, packed, record in section:
                yield _KEY.pack(chunk, code, packed) + record
            yield _END

    def _sections(self) -> Iterator[Iterable[Piece]]:
        p = self.propagation
        for side in Side:
            for rows in (p.unknown, p.losable, p.unwon):
                yield _pieces_of(_packed(p.sets, rows[side]))
            yield _pieces_of(_packed(p.sets, p.fronts[side].rows))
            yield (
                (chunk, code, packed, record)
                for code, chunk, packed, record in p.waiting[side].pieces()
            )
            yield ((chunk, 0, True, piece) for chunk, piece in p.journals[side].pieces())
        for memory in self.memories:
            assert memory.offending is not None, "each has searched before order 1 is propagated"
            assert memory.open is not None
            yield _pieces_of(memory.offending)
            yield _pieces_of(memory.open)
            yield (
                (chunk, 0, False, record.tobytes())
                for chunk, records in memory.won.records[:]
                for record in records
            )

    def take_up_searches(self, memories: Sequence[Memory]) -> None:
        """Take over searches that know nothing yet; they are told what was left of them."""
        self.memories = memories
        if self._left is None:
            return
        storage = self.propagation.sets.workers.storage
        for memory in memories:
            memory.offending = _set_of(_section(self._left), storage)
            memory.open = _set_of(_section(self._left), storage)
            for chunk, _, _, record in _section(self._left):
                memory.won.add(chunk, np.frombuffer(record, np.uint8))
        _end(self._left)
        self._left = None


def take_up(
    parts: Iterator[bytes], sets: Sets, code_space: CodeSpace, report: Report, rest: Rest
) -> Course:
    """The course of a solver as its state has it, but for the searches (`take_up_searches`).

    parts : as `Course.parts` has given them for the same material, rules and code space; they are
        believed
    """
    order, number, changed, patterns, codes = json.loads(next(parts))
    storage = sets.workers.storage
    red, black = (Sorted(sets.empty(), sets.empty(), Waiting(storage)) for _ in Side)
    p = Propagation(sets, (red, black), code_space, report, rest)
    for side in Side:
        for rows in (p.unknown, p.losable, p.unwon):
            sets.add(_set_of(_section(parts), Storage()), rows[side])
        sets.put(_set_of(_section(parts), Storage()), p.fronts[side])
        for chunk, code, packed, record in _section(parts):
            p.waiting[side].put_back(code, chunk, packed, record)
        p.journals[side].codes.update(codes[side])
        for chunk, _, _, piece in _section(parts):
            p.journals[side].put_back(chunk, piece)
    if not order:
        _end(parts)
    return Course(p, order, number, changed, dict(patterns), _left=parts if order else None)


def _section(parts: Iterator[bytes]) -> Iterator[Piece]:
    """The records of the next section."""
    while (part := next(parts)) != _END:
        chunk, code, packed = _KEY.unpack_from(part)
        yield chunk, code, bool(packed), part[_KEY.size :]


def _end(parts: Iterator[bytes]) -> None:
    """See that a state is at its end; whoever holds a file for it closes that."""
    assert next(parts, None) is None, "a state has more parts than it should"


def _packed(sets: Sets, rows: Rows) -> PackedRows:
    """A set, compressed, in memory: it is wanted for a moment."""
    packed = PackedRows(Storage())
    sets.record(rows, packed.add)
    return packed


def _pieces_of(members: PackedRows) -> Iterator[Piece]:
    """The records of a set."""
    return ((chunk, 0, True, piece) for chunk, piece in members.pieces())


def _set_of(section: Iterator[Piece], storage: Storage) -> PackedRows:
    """The set that a section has, compressed."""
    members = PackedRows(storage)
    for chunk, _, _, piece in section:
        members.put_back(chunk, piece)
    return members
