# mypy: allow-untyped-defs, allow-untyped-calls
"""Positions: one on a board, with its moves; many as numbers, in lists and sets.

    set_up       put the pieces of a slot on the board
    list_moves   the moves by `tbgen.rules`, and their *child slots*: the slots that they lead to
    best_move    the largest number in the child slots, for one place of a row
    slot_after   the canonical slot after a quiet move
    Ranges       lists of nodes for tasks
    Lists        lists that a kernel writes
    set_bit      bit sets of numbers; also `has_bit`
    make_filter  approximate sets of nodes; also `may_contain`

In complete planes (`complete`), a move is illegal if its child slot holds 0 with the opponent to
move. A legal quiet move gives check if its child slot holds 0 with the mover to move. Threads that
write one bit set write different bytes, because their ranges of leads end at multiples of eight
slots. The package's docstring defines nodes, and describes the parameters of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import by_pointer, part
from tbgen.indexing.slots import slot_of_squares
from tbgen.indexing.squares import EMPTY, piece_side
from tbgen.rules.moves import piece_moves
from tbgen.verify.arrays import Arrays, Flags, NodeList, Numbers
from tbgen.verify.index import EYE, FIRST_SLOT, MIRRORED, NOWHERE, SOURCE, TARGET, open_row
from tbgen.verify.values import orders_of_keys


@part
def set_up(slot, state, index):
    """Put the position of a slot into `state`: what `open_row` sets, and `piece_on`.

    Returns the slot and the slot of the mirror image, each relative to the first slot of its lead.
    """
    lead, within = slot // index.lead_slots, slot % index.lead_slots
    row, place = within // index.row_slots, within % index.row_slots
    last, square = index.attackers.size - 1, index.square_of_place[place]
    _, image, _, _, _ = open_row(lead, row, state, index)
    state.attacker_squares[last] = square
    state.board[square] = index.attackers[last]
    for p in range(state.piece_squares.size):
        state.piece_on[state.piece_squares[p]] = p
    return within, image + index.mirrored_place[place]


@part
def list_moves(side, base, within, image, state, index):
    """Write a side's pseudo-legal moves to `sources`, `targets` and `children` of `state`.

    Returns their number. `state` must hold the position: a row by `open_row`, and the innermost
    attacker on the board and in `attacker_squares`.
    """
    count, k, last = 0, 0, index.attackers.size - 1
    place = within % index.row_slots
    for n in range(state.step_counts[side]):
        step = state.steps[side, n]
        code = state.board[step[TARGET]]
        if code != EMPTY and piece_side(code) == side:
            continue
        if step[EYE] != NOWHERE and state.board[step[EYE]] != EMPTY:
            continue
        state.sources[count], state.targets[count] = step[SOURCE], step[TARGET]
        state.children[count] = step[FIRST_SLOT] + (image if step[MIRRORED] else within)
        count += 1
    while index.attackers_of[side, k] != NOWHERE:
        m = index.attackers_of[side, k]
        at = base + state.other_terms[m]
        if m != last:
            at += place
        found = piece_moves(state.board, state.attacker_squares[m], state.targets, count)
        for n in range(count, found):
            state.sources[n] = state.attacker_squares[m]
            state.children[n] = at + index.term_after[state.line[m], state.targets[n]]
        count = found
        k += 1
    return count


@part
def best_move(side, place, base, at, image, numbers, state, index):
    """Return the largest number in `numbers` that a move of a side leads to; 0 without legal moves.

    `state` must have a row (`open_row`). The innermost attacker is put on `place`, then removed.

    at, image : int, as returned by `open_row`
    """
    last, square = index.attackers.size - 1, index.square_of_place[place]
    state.attacker_squares[last] = square
    state.board[square] = index.attackers[last]
    best, plane = np.int64(0), (1 - side) * index.slots
    mirrored = image + index.mirrored_place[place]
    for n in range(list_moves(side, base, at + place, mirrored, state, index)):
        best = max(best, np.int64(numbers[plane + state.children[n]]))
    state.board[square] = EMPTY
    return best


@part
def has_unique_slots(lead, index):
    """Return whether each position of a lead has a single slot.

    Otherwise the mirror image of a position, or the position with identical pieces exchanged, may
    have another slot.

    lead : int
    """
    return index.twin == NOWHERE and not index.self_mirrored[lead]


@part
def slot_after(n, state, index):
    """Return the canonical slot of the position after a quiet move that `list_moves` has listed.

    `state.children[n]` may be another slot of that position (`has_unique_slots`). The position
    before the move must be in `state` (`set_up`).

    n : int, index of the move in `state.sources`
    """
    after = state.children[n]
    if has_unique_slots(after // index.lead_slots, index):
        return after
    mover = state.piece_on[state.sources[n]]
    state.piece_squares[mover] = state.targets[n]
    after = slot_of_squares(state.piece_squares, index.descriptor)
    state.piece_squares[mover] = state.sources[n]
    return after


@part
def load_key(side, slot, index, arrays):
    """Return the key of the value stored for a slot and a side to move, as `stored_keys`."""
    return arrays.values.keys[side, arrays.ranks[side * index.slots + slot]]


Ranges = Sequence[Callable[[], Numbers]]
"""Non-empty sequence of functions, each of which returns the nodes that one task examines.

Nodes ascend within the result of a function and from function to function.
"""

_NODES = 1 << 14
"""Most nodes that a function from `split_nodes` returns."""


def split_nodes(nodes: NodeList) -> Ranges:
    """Return functions that return successive parts, of up to `_NODES`, of an ascending list.

    An empty list gives one function, which returns no nodes.
    """
    starts = range(0, max(1, len(nodes)), _NODES)
    return [partial(nodes[start : start + _NODES].astype, np.int64) for start in starts]


def narrow_nodes(nodes: NodeList, slots: int) -> NodeList:
    """Return a copy of nodes of a table with `slots` slots, as uint32 if they fit, else int64."""
    return nodes.astype(np.uint32) if 2 * slots <= 1 << 32 else nodes.astype(np.int64)


_FIRST_CAPACITY = 1 << 15
"""Initial capacity of a list, in entries; if it is too small, the kernel runs again with more."""


@by_pointer
class Lists(NamedTuple):
    """Lists written by a kernel. The last row of a list takes all entries beyond its capacity.

    So a kernel never writes out of bounds; `list_rows` runs it again after an overflow.
    """

    rows: NDArray[np.int64]
    """int64 (lists, capacity + 1, columns): the entries; the last row is spare."""
    counts: NDArray[np.int64]
    """int64 (lists,): the number of entries of each list, including those beyond its capacity."""

    @classmethod
    def make(cls, lists: int, capacity: int, columns: int = 1) -> Lists:
        """Return `lists` empty lists, each for `capacity` entries of `columns` numbers."""
        return cls(np.empty((lists, capacity + 1, columns), np.int64), np.zeros(lists, np.int64))

    def entries(self) -> list[Numbers]:
        """Return the entries of each list, int64 (n, columns); no list may have overflowed."""
        return [rows[:count].copy() for rows, count in zip(*self, strict=True)]


def list_rows(write: Callable[[Lists], object], lists: int, columns: int) -> list[Numbers]:
    """Run a kernel that writes lists, and return the entries of each list, int64 (n, columns).

    If the entries do not fit, the kernel runs again, with empty lists of larger capacity.

    write : calls the kernel with the lists to write
    lists, columns : number of lists, and numbers per entry
    """
    capacity = _FIRST_CAPACITY
    while True:
        found = Lists.make(lists, capacity, columns)
        write(found)
        if found.counts.max() <= capacity:
            return found.entries()
        capacity = int(found.counts.max())


@part
def new_row(lists, which):
    """Count one more entry of list `which`, and return the index of its row in `lists.rows[which]`.

    Entries beyond the capacity all get the spare last row.
    """
    row = lists.counts[which]
    lists.counts[which] += 1
    return min(row, lists.rows.shape[1] - 1)


@part
def add_node(lists, which, node):
    """Append a node to the list number `which`, whose entries have one column."""
    lists.rows[which, new_row(lists, which), 0] = node


def make_filter(nodes: Numbers) -> NDArray[np.uint8]:
    """Return a filter of nodes, for `may_contain`: a bit set of nodes modulo its number of bits.

    uint8 (bytes,); the number of bytes is a power of two, more than twice the number of nodes.
    """
    size = 1 << (2 * len(nodes)).bit_length()
    bits = np.zeros(size, np.uint8)
    for some in split_nodes(nodes):
        numbers = some() % (8 * size)
        np.bitwise_or.at(bits, numbers >> 3, (1 << (numbers & 7)).astype(np.uint8))
    return bits


@part
def may_contain(listed, node):
    """Return False if a node is certainly not in the list of a filter (`make_filter`).

    listed : uint8 (bytes,), the filter
    """
    return has_bit(listed, node & (8 * listed.size - 1))


@part
def set_bit(bits, number):
    """Add a number to a bit set. bits : uint8 (n / 8,), inout; number : int."""
    bits[number >> 3] |= np.uint8(1 << (number & 7))


@part
def has_bit(bits, number):
    """Return whether a bit set contains a number. bits : uint8 (n / 8,); number : int."""
    return (bits[number >> 3] >> (number & 7)) & 1 != 0


@part
def index_of(numbers, number):
    """Return the index of a number in a list, NOWHERE if it is not there.

    numbers : int64 (n,), ascending; number : int
    """
    at = np.searchsorted(numbers, number)
    return at if at < numbers.size and numbers[at] == number else NOWHERE


def stored_ranks(nodes: NodeList, arrays: Arrays) -> NDArray[np.unsignedinteger]:
    """Return the ranks stored for nodes, (n,), or the marks that have replaced them."""
    nodes = nodes.astype(np.int64, copy=False)
    ranks: NDArray[np.unsignedinteger] = arrays.ranks[nodes % 2 * arrays.slots + nodes // 2]
    return ranks


def stored_keys(nodes: NodeList, arrays: Arrays) -> Numbers:
    """Return the keys of the values stored for nodes, int64 (n,).

    Once marks have replaced ranks (`mark_planes`), the keys have the outcome and the order of the
    values, but not their plies.
    """
    keys: Numbers = arrays.values.keys[nodes % 2, stored_ranks(nodes, arrays)]
    return keys


def stored_orders(nodes: NodeList, arrays: Arrays) -> Numbers:
    """Return the orders of the values stored for nodes, int64 (n,); `NEVER` for draws."""
    return np.concatenate(
        [orders_of_keys(stored_keys(some(), arrays)) for some in split_nodes(nodes)]
    )


def in_check(nodes: Numbers, arrays: Arrays) -> Flags:
    """Return whether the side to move of each node is in check, bool (n,).

    Nodes must be legal positions; a check makes them illegal with the other side to move.
    """
    return stored_ranks(nodes ^ 1, arrays) == 0
