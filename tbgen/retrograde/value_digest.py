# mypy: allow-untyped-defs, allow-untyped-calls
"""Digest of a finished table's values, independent of its file.

    tile of codes  ->  a word for each legal position, in index order  ->  SHA-256 of each lead
    SHA-256 of all leads, Red's side, then Black's                     ->  16 bytes

A *word* is 32 bits: outcome, plies and order. A *tile* has one or more leads, read at once. Leads
are hashed separately, since files have their own order of leads. Only canonical slots count. The
definition is in docs/format.md, "Digest of the values". Parameters of kernels: `tbgen.retrograde`.
"""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.squares import Side
from tbgen.retrograde.legality import legal_row
from tbgen.retrograde.supporting import SupportingTable
from tbgen.rows.bitsets import has
from tbgen.rows.frame import is_canonical, make_frame
from tbgen.rows.workers import Workers
from tbgen.tables.blocks import Codes
from tbgen.tables.codes import CodeSpace, LimitExceededError, value_columns
from tbgen.tables.names import TableName

_VERSION = 1

_PLIES_AT, _ORDER_AT = 2, 17
"""Bit offsets of plies and order in a word, after two bits of the outcome."""

_MOST_ORDERS = (1 << (32 - _ORDER_AT)) - 1

_HASH_BYTES = 32


@borrowing_kernel
def _k_select(lead_0, lead_1, side, words, area, frame, ends):
    """Move the words of the canonical slots of legal positions to the front of `words`.

    words : uint32 (slots of the leads [lead_0, lead_1),), inout; at first those of all slots
    ends : int64 (leads of the range,), out; end in `words` of the words kept of each lead
    """
    mids = frame.mids
    at, slot = 0, 0
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            lo, hi = legal_row(lead, mid, side, frame)
            for inner in range(area.size):
                square = area[inner]
                if has(lo, hi, square) and is_canonical(lead, mid, square, frame):
                    # In place: the write index never passes the read index.
                    words[at] = words[slot + inner]
                    at += 1
            slot += area.size
        ends[lead - lead_0] = at


def _words_of(codes: Codes, space: CodeSpace) -> NDArray[np.uint32]:
    """Return the word of each code, uint32 (n,); a slot without a position gets that of a draw.

    Raises `LimitExceededError` for orders above 32767.
    """
    outcome, order, plies = value_columns(np.where(codes == 0, space.draw, codes), space)
    if (order > _MOST_ORDERS).any():
        raise LimitExceededError(f"order {order.max()} has no word of 32 bits")
    return (outcome + 1 | plies << _PLIES_AT | order << _ORDER_AT).astype(np.uint32)


def value_digest(table: SupportingTable, name: TableName, *, threads: int = 1) -> bytes:
    """Return the digest of a table's values: 16 bytes, from its name and values only.

    Each thread takes four bytes for each slot of a tile. Raises the errors of reading the table,
    and `LimitExceededError` for orders above 32767.
    """
    layout, space = table.layout, table.code_space
    assert layout.inner is not None, "a material with a table has an attacker"
    area = np.array(layout.inner.area, np.int64)
    frame = make_frame(layout, with_moves=False)
    lead_slots, words_of = layout.mids * layout.inner_size, partial(_words_of, space=space)
    digest = hashlib.sha256(f"values {_VERSION} {name} {layout.slots}".encode("ascii"))
    with Workers(threads) as workers:
        for side in Side:
            hashes = bytearray(_HASH_BYTES * frame.leads)

            def add(
                first: int, last: int, _: int, side: Side = side, hashes: bytearray = hashes
            ) -> None:
                for number in range(first, last):
                    for slot, words in table.tile(side, number, words_of):
                        lead = slot // lead_slots
                        ends = np.empty(len(words) // lead_slots, np.int64)
                        _k_select(lead, lead + len(ends), int(side), words, area, frame, ends)
                        _hash_leads(words, ends, lead, hashes)

            workers.run(add, table.tiles(side))
            digest.update(hashes)
    return digest.digest()[:16]


def _hash_leads(words: np.ndarray, ends: np.ndarray, lead: int, hashes: bytearray) -> None:
    """Write the SHA-256 of each lead's words to `hashes`, for some consecutive leads.

    words, ends : as `_k_select` writes them
    lead : the first of these leads
    hashes : 32 bytes for each lead of the table, out
    """
    content, start = words.astype("<u4", copy=False).data.cast("B"), 0
    for end in (4 * ends).tolist():
        found = hashlib.sha256(content[start:end]).digest()
        hashes[_HASH_BYTES * lead : _HASH_BYTES * (lead + 1)] = found
        start, lead = end, lead + 1
