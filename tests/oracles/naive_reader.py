"""A slow table reader written from docs/format.md alone, independent of tbgen.

`value_of(path, fen)` returns (outcome, order, plies) of a legal position with the colours of the
table. Agreement with the real reader shows that the format's description is complete.
"""

from __future__ import annotations

import zlib
from functools import cache
from itertools import combinations
from math import comb, prod
from pathlib import Path

import zstandard

RED_AREAS = {
    "K": [3, 4, 5, 12, 13, 14, 21, 22, 23],
    "A": [3, 5, 13, 21, 23],
    "B": [2, 6, 18, 22, 26, 38, 42],
    "P": [27, 29, 31, 33, 35, 36, 38, 40, 42, 44, *range(45, 90)],
}


def turn(square: int) -> int:
    return 81 - 9 * (square // 9) + square % 9


def mirror(square: int) -> int:
    return square + 8 - 2 * (square % 9)


def area(piece: str) -> list[int]:
    """List the squares on which a piece, given by its FEN letter, may stand."""
    squares = RED_AREAS.get(piece.upper(), list(range(90)))
    return squares if piece.isupper() else sorted(turn(square) for square in squares)


def rank(piece: str, squares: list[int]) -> int:
    places = sorted(area(piece).index(square) for square in squares)
    return sum(comb(place, number) for number, place in enumerate(places, 1))


Defenders = tuple[int, tuple[int, ...], tuple[int, ...]]


@cache
def defenders(red: bool, advisors: int, elephants: int) -> dict[Defenders, int]:
    """Return the ranks (numbers in the format's order) of all placements of a side's defenders.

    These are a king and given numbers of advisors and elephants. A key is (king's square, advisors'
    squares, elephants' squares), with ascending squares.
    """
    king, advisor, elephant = "KAB" if red else "kab"
    ordered = lambda piece, n: sorted(  # noqa: E731
        combinations(area(piece), n), key=lambda squares: rank(piece, list(squares))
    )
    ranks: dict[Defenders, int] = {}
    for k in area(king):
        for a in ordered(advisor, advisors):
            for e in ordered(elephant, elephants):
                if len({k, *a, *e}) == 1 + advisors + elephants:
                    ranks[k, a, e] = len(ranks)
    return ranks


@cache
def mirror_ranks(red: bool, advisors: int, elephants: int) -> list[int]:
    ranks = defenders(red, advisors, elephants)
    flip = lambda squares: tuple(sorted(mirror(square) for square in squares))  # noqa: E731
    return [ranks[mirror(k), flip(a), flip(e)] for k, a, e in ranks]


Index = tuple[list[tuple[int, int]], list[int]]
"""Axes of the index of a material: the leads in order, and the sizes of the other axes.

A lead is a placement of all defenders, here a pair of ranks (Red's, Black's). The sizes are those
of the groups of equal pieces, and of the area of the inner piece, whose squares vary fastest.
"""


def slot_of(pieces: dict[str, list[int]]) -> tuple[int, Index]:
    """Return the slot of a position (squares by FEN letter), and its material's `Index`."""
    counts = {piece: len(squares) for piece, squares in pieces.items()}
    red = True, counts.get("A", 0), counts.get("B", 0)
    black = False, counts.get("a", 0), counts.get("b", 0)
    red_mirror, black_mirror = mirror_ranks(*red), mirror_ranks(*black)

    def defender_rank(side: tuple[bool, int, int], letters: str) -> int:
        k, a, e = (tuple(sorted(pieces.get(letter, []))) for letter in letters)
        return defenders(*side)[k[0], a, e]

    w, b = defender_rank(red, "KAB"), defender_rank(black, "kab")
    if red_mirror[w] < w or (red_mirror[w] == w and black_mirror[b] < b):
        pieces = {piece: [mirror(s) for s in squares] for piece, squares in pieces.items()}
        w, b = red_mirror[w], black_mirror[b]
    symmetric = [other for other, image in enumerate(black_mirror) if other <= image]
    leads = [
        (first, second)
        for first, image in enumerate(red_mirror)
        if first <= image
        for second in (symmetric if image == first else range(len(black_mirror)))
    ]
    lead = leads.index((w, b))

    attackers = [piece for piece in "RNCPrncp" if piece in pieces]
    order = sorted(attackers, key=lambda p: (counts[p] > 1, "NRCP".index(p.upper()), p.islower()))
    inner_piece = order[0]
    groups = [(p, counts[p] - (p == inner_piece)) for p in attackers]
    groups = [(p, count) for p, count in groups if count]

    def within(pieces: dict[str, list[int]]) -> int:
        mid = 0
        inner = area(inner_piece).index(max(pieces[inner_piece]))
        for piece, count in groups:
            squares = sorted(pieces[piece])[:count]
            mid = mid * comb(len(area(piece)), count) + rank(piece, squares)
        return mid * inner_size + inner

    inner_size = len(area(inner_piece))
    sizes = [comb(len(area(piece)), count) for piece, count in groups] + [inner_size]
    best = within(pieces)
    if red_mirror[w] == w and black_mirror[b] == b:
        best = min(best, within({p: [mirror(s) for s in squares] for p, squares in pieces.items()}))
    return lead * prod(sizes) + best, (leads, sizes)


def number(data: bytes, offset: int, size: int) -> int:
    return int.from_bytes(data[offset : offset + size], "little")


def block_of(data: bytes, side: int, slot: int, index: Index) -> tuple[int, int, int]:
    """Return the number of a slot's block, the slot's place in the block, and the block's size.

    Place and size count slots. `data` is the file's content. Each side to move (0 Red, 1 Black) has
    blocks numbered from 0.
    """
    leads, sizes = index
    lead, rest = divmod(slot, prod(sizes))
    at = 140 + 12 * side
    if data[at] == 1:
        lead = sorted(leads, key=lambda pair: (pair[1], pair[0])).index(leads[lead])
    axes = [axis for axis in data[at + 1 : at + 12] if axis != 255]
    tile_leads, block_slots = number(data, 136, 4), number(data, 24, 4)
    tile, lead_in_tile = divmod(lead, tile_leads)
    sizes = [min(tile_leads, len(leads) - tile * tile_leads), *sizes]
    numbers = [0] * len(sizes)
    for axis in range(len(sizes) - 1, 0, -1):
        rest, numbers[axis] = divmod(rest, sizes[axis])
    numbers[0] = lead_in_tile
    assert sorted(axes) == list(range(len(sizes)))
    place = 0
    for axis in axes:
        place = place * sizes[axis] + numbers[axis]
    block, place = divmod(place, block_slots)
    before = tile * -(-tile_leads * prod(sizes[1:]) // block_slots)
    return before + block, place, min(block_slots, prod(sizes) - block * block_slots)


def code_of(data: bytes, side: int, slot: int, index: Index) -> int:
    """Return the code of a slot in a table file or, in format 3, in a win-draw-loss file."""
    assert data[:8] == b"\x89XQT\r\n\x1a\n"
    assert number(data, 8, 2) in (2, 3)
    width = data[10]
    blocks = number(data, 40, 8), number(data, 48, 8)
    table, metadata = number(data, 64, 8), number(data, 72, 8)
    assert number(data, 164, 4) == zlib.crc32(data[table:metadata], zlib.crc32(data[:164]))
    if not blocks[side]:
        return number(data, 56 + 4 * side, 4)
    block, place, in_block = block_of(data, side, slot, index)
    entry = table + 8 * (block + side * blocks[0])
    length, check = number(data, entry, 4), number(data, entry + 4, 4)
    if length == 0:
        return check
    start = 168 + sum(number(data, at, 4) for at in range(table, entry, 8))
    packed = data[start : start + length]
    assert zlib.crc32(packed) == check
    if number(data, 8, 2) == 3:
        plain = length == -(-in_block // 5)
        content = packed if plain else zstandard.ZstdDecompressor().decompress(packed)
        return content[place // 5] // 3 ** (place % 5) % 3 + 1
    content = zstandard.ZstdDecompressor().decompress(packed)
    count = number(content, 0, 2)
    if count == 0:
        return sum(content[2 + plane * in_block + place] << 8 * plane for plane in range(width))
    which = content[2 + count * width + place] if count > 1 else 0
    return number(content, 2 + which * width, width)


def decode(code: int, width: int, span: int) -> tuple[str, int, int]:
    top = 256**width - 1
    draw = (top + 1) // 2
    if code == draw:
        return "draw", 0, 0
    win = code > draw
    order, half = divmod(top - code if win else code - 1, span)
    return ("win" if win else "loss"), order, 2 * half + (win == (order == 0))


def value_of(path: Path, fen: str) -> tuple[str, int, int]:
    """Return (outcome, order, plies) of a position for its side to move, as a file stores it.

    Outcomes are `win`, `draw` and `loss`. Order and plies are 0 for a draw, and for every position
    of a win-draw-loss file.
    """
    board, side = fen.split()[:2]
    pieces: dict[str, list[int]] = {}
    for row, text in enumerate(board.split("/")):
        file = 0
        for letter in text:
            if letter.isdigit():
                file += int(letter)
            else:
                pieces.setdefault(letter, []).append(9 * (9 - row) + file)
                file += 1
    data = path.read_bytes()
    slot, index = slot_of(pieces)
    assert len(index[0]) * prod(index[1]) == number(data, 32, 8)
    code = code_of(data, int(side == "b"), slot, index)
    if number(data, 8, 2) == 3:
        return ("loss", "draw", "win")[code - 1], 0, 0
    return decode(code, data[10], number(data, 16, 4))
