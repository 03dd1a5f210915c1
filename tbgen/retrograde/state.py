"""State of a build between two steps, and its checkpoint, from which another process resumes.

    BuildState    arrays of a build, and the last finished step
    Checkpoint    storage of the state of one build
    resume_state  read the state that an interrupted build has saved

A checkpoint is a sequence of *parts* (bytes). The first is the head, numbers as JSON
(`BuildState.parts`). Then come sections:

    for each side     unknown, losable, frontier: three sets; waiting positions; the journal
    for each search   the two sets of its `SearchState`

A section has a part for each record, or each segment of a journal (header `_KEY`, then compressed
bytes), and an empty part at its end. `Checkpoint` ensures that parts fit the table and the program.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from struct import Struct
from typing import Protocol

from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import SearchState
from tbgen.retrograde.journal import Waiting
from tbgen.retrograde.propagation import Propagation, Report
from tbgen.rows.records import Bytes, Records, StoredRecords, packer, unpacked
from tbgen.rows.sets import Rows, Sets
from tbgen.rows.storage import Storage
from tbgen.tables.codes import CodeSpace

_KEY = Struct("<II")
"""Header of a part: chunk of the record, and code of its positions (0 in sets and journals)."""

_END = b""

Entry = tuple[int, int, bytes]
"""A record, or segment of a journal: its chunk, its code as in `_KEY`, and its compressed bytes."""


class Checkpoint(Protocol):
    """Storage of the state of one build."""

    def load(self) -> Iterator[bytes] | None:
        """Return the parts of the saved state, or None if there is none from which to resume."""

    def is_due(self) -> bool:
        """Return whether the state should be saved now; called after each step."""

    def save(self, parts: Iterable[bytes]) -> None:
        """Replace the saved state; if this fails, the old one is kept."""


@dataclass
class BuildState:
    """State of a build: its arrays, and the last finished step.

    order, step : the last order begun, and its last finished step (`Propagation.steps`)
    changed : whether that order has settled any positions
    chase_patterns : map from each order searched to its number of direct wins by chase
    search_states : of all searches for loops; empty before order 1
    """

    propagation: Propagation
    report: Report
    checkpoint: Checkpoint | None = None
    order: int = 0
    step: int = 0
    changed: bool = False
    chase_patterns: dict[int, int] = field(default_factory=dict)
    search_states: Sequence[SearchState] = ()
    _unread: Iterator[bytes] | None = None
    """Parts of the checkpoint that `add_searches` has still to read."""

    def propagate(self, order: int) -> bool:
        """Make the remaining steps of an order, saving the state when due; return `changed`.

        Raises `LimitExceededError` if a value has no code, and the errors of `Checkpoint.save`.
        """
        self.report("propagation", order, 0, 0)
        if order > self.order:
            self.order, self.step, self.changed = order, 0, False
        for step, settled in self.propagation.steps(order, self.step):
            self.step = step
            self.changed |= settled > 0
            if self.checkpoint is not None and self.checkpoint.is_due():
                self.report("saving the state", order, 0, 0)
                self.checkpoint.save(self.parts())
                self.report("propagation", order, 0, 0)
        return self.changed

    def parts(self) -> Iterator[bytes]:
        """Yield the checkpoint's parts; the state must not change before the last part is read."""
        patterns = sorted(self.chase_patterns.items())
        codes = [sorted(journal.codes) for journal in self.propagation.journals]
        order_starts = self.propagation.order_starts
        head = [self.order, self.step, self.changed, patterns, codes, order_starts]
        yield json.dumps(head).encode()
        for section in self._sections():
            for chunk, code, record in section:
                yield _KEY.pack(chunk, code) + record
            yield _END

    def _sections(self) -> Iterator[Iterable[Entry]]:
        """Yield the entries of each section, in the order of the module docstring."""
        p = self.propagation
        for side in Side:
            for rows in (p.unknown[side], p.losable[side], p.frontiers[side].rows):
                yield _set_entries(p.sets, rows)
            waiting = p.waiting[side]
            yield chain.from_iterable(_entries(waiting.records(c), c) for c in waiting.codes)
            yield ((chunk, 0, segment) for chunk, segment in p.journals[side].segments())
        for one in self.search_states:
            assert one.after_offence is not None, "each has searched before order 1 is propagated"
            assert one.possible_losses is not None
            yield _entries(one.after_offence)
            yield _entries(one.possible_losses)

    def add_searches(self, search_states: Sequence[SearchState]) -> None:
        """Set `search_states` to new, empty states; if resuming, fill them from the checkpoint.

        Raises `ValueError` for a checkpoint with more parts.
        """
        self.search_states = search_states
        if self._unread is None:
            return
        storage = self.propagation.sets.workers.storage
        for one in search_states:
            one.after_offence = _read_set(self._unread, storage)
            one.possible_losses = _read_set(self._unread, storage)
        _require_end(self._unread)
        self._unread = None


def resume_state(
    checkpoint: Checkpoint | None, sets: Sets, code_space: CodeSpace, report: Report
) -> BuildState | None:
    """Return the saved state, or None if there is none.

    The states of searches are read later, by `BuildState.add_searches`. Raises `ValueError` for a
    state before order 1 with more parts.

    checkpoint : of the same material, rules and code space, which `Checkpoint` ensures
    report : called with the phases "reading the state" and, afterwards, "resuming" with order and
        plies, if there is a state
    """
    parts = None if checkpoint is None else checkpoint.load()
    if parts is None:
        return None
    report("reading the state", 0, 0, 0)
    order, step, changed, patterns, codes, order_starts = json.loads(next(parts))
    storage = sets.workers.storage
    sorted_positions = [(sets.empty(), Waiting(storage)) for _ in Side]
    p = Propagation(sets, (sets.empty(), sets.empty()), sorted_positions, code_space, report)
    for side in Side:
        for rows in (p.unknown, p.losable):
            sets.add(_read_set(parts, Storage()), rows[side])
        sets.put(_read_set(parts, Storage()), p.frontiers[side])
        for chunk, code, record in _section(parts):
            p.waiting[side].add(code, chunk, unpacked(record))
        p.journals[side].codes.update(codes[side])
        for chunk, _, segment in _section(parts):
            p.journals[side].append_segment(chunk, segment)
    p.order_starts = [[(segments, size) for segments, size in cursors] for cursors in order_starts]
    if not order:
        _require_end(parts)
    report("resuming", order, max(0, step - (order > 0)), 0)
    unread = parts if order else None
    return BuildState(p, report, checkpoint, order, step, changed, dict(patterns), _unread=unread)


def _require_end(parts: Iterator[bytes]) -> None:
    """Read to the end of `parts`, which closes its file; raises `ValueError` for another part."""
    if next(parts, None) is not None:
        raise ValueError("a state has more parts than it should")


def _section(parts: Iterator[bytes]) -> Iterator[Entry]:
    """Yield the entries of the next section of `parts`, up to the empty part that ends it."""
    while (part := next(parts)) != _END:
        chunk, code = _KEY.unpack_from(part)
        yield chunk, code, part[_KEY.size :]


def _set_entries(sets: Sets, members: Rows) -> list[Entry]:
    """Return the records of a set as entries of a section, compressed by all threads."""
    entries: list[Entry] = []

    def add(chunk: int, record: Bytes) -> None:
        entries.append((chunk, 0, packer.compress(record.data)))

    sets.record(members, add)
    return entries


def _entries(records: Records, code: int = 0) -> Iterator[Entry]:
    """Yield records as entries of a section, all with `code` (0 for a set)."""
    for chunk, of_chunk in records[:]:
        for record in of_chunk:
            yield chunk, code, packer.compress(record.data)


def _read_set(parts: Iterator[bytes], storage: Storage) -> StoredRecords:
    """Return the set that the next section of `parts` contains."""
    members = StoredRecords(storage)
    for chunk, _, record in _section(parts):
        members.add(chunk, unpacked(record))
    return members
