"""Index of placements: each placement has one slot, shared only with its mirror image."""

import random
from itertools import combinations, product

import numpy as np
import pytest

from tbgen.indexing import InputError, Material, MaterialError, Position, Side
from tbgen.indexing.layout import MAX_SLOTS, Layout
from tbgen.indexing.slots import lead_of_squares
from tbgen.indexing.squares import SQUARES, PieceType, area, mirror_square, piece_code

SMALL = ["KK", "KAKB", "KPK", "KRK", "KAAKB"]

LARGE = [
    "KRNKRAA",
    "KRRNNCCKRRN",
    "KPPPKPPP",
    "KPPPPPKPPPPP",
    "KRPPPPPAABBKNCAABB",
    "KCCPPPKCCPPP",
    "KRNCPABKRNPAB",
    "KAABBKAABB",
    "KRRKRR",
    "KNNKNN",
    "KRRNNPPPPPKAABB",
    "KRPKCCPPP",
]


def all_boards(material: Material) -> list[bytes]:
    """Return the boards of all placements of a material, found without `Layout`."""
    groups = []
    for side, army in zip(Side, material.armies, strict=True):
        for kind in PieceType:
            if army.count(kind):
                code = piece_code(side, kind)
                groups.append([(code, c) for c in combinations(area(side, kind), army.count(kind))])
    boards = []
    for placement in product(*groups):
        board = bytearray(SQUARES)
        for code, squares in placement:
            for square in squares:
                board[square] = 0 if board[square] else code
        if sum(map(bool, board)) == material.men:
            boards.append(bytes(board))
    return boards


def mirror_image(board: bytes) -> bytes:
    return bytes(board[mirror_square(square)] for square in range(SQUARES))


@pytest.mark.parametrize(
    "name",
    [*SMALL, *(pytest.param(each, marks=pytest.mark.certification) for each in ("KPPK", "KNNK"))],
)
def test_every_slot_of_small_materials(name: str) -> None:
    layout = Layout.of(Material.parse(name))
    boards = all_boards(Material.parse(name))
    slots = layout.slots_of_boards(np.frombuffer(b"".join(boards), np.uint8).reshape(-1, SQUARES))
    classes: dict[int, set[bytes]] = {}
    for slot, board in zip(slots.tolist(), boards, strict=True):
        classes.setdefault(slot, set()).add(board)
    # Each slot in use belongs to one placement and its mirror image.
    for members in classes.values():
        board = next(iter(members))
        assert members == {board, mirror_image(board)}
    canonical = set()
    for slot in range(layout.slots):
        position = layout.position(slot, Side.RED)
        if position is None:
            continue
        number = layout.slot(position)
        assert position.board in classes[number]
        if number == slot:
            canonical.add(slot)
    assert canonical == set(classes)


def random_board(material: Material, rng: random.Random, centred: bool) -> Position | None:
    """Return a random placement of a material; None if two pieces fall on one square.

    centred : put kings on the central file and pairs of defenders on squares that mirror each
        other; without single defenders, this part of the placement is its own mirror image
    """
    board = bytearray(SQUARES)
    for side, army in zip(Side, material.armies, strict=True):
        for kind in PieceType:
            squares = area(side, kind)
            if centred and kind == PieceType.KING:
                squares = tuple(s for s in squares if s % 9 == 4)
            elif centred and army.count(kind) == 2 and not kind.is_attacker:
                first = rng.choice([s for s in squares if s % 9 != 4])
                squares = (first, mirror_square(first))
            for square in rng.sample(squares, army.count(kind)):
                if board[square]:
                    return None
                board[square] = piece_code(side, kind)
    return Position(bytes(board), rng.choice(list(Side)))


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("centred", [False, True])
def test_random_placements_of_large_materials(name: str, centred: bool) -> None:
    material = Material.parse(name)
    layout = Layout.of(material)
    rng = random.Random(name)
    positions = []
    while len(positions) < 150:
        position = random_board(material, rng, centred)
        if position is not None:
            positions.append(position)
    slots = [layout.slot(position) for position in positions]
    for position, slot in zip(positions, slots, strict=True):
        assert 0 <= slot < layout.slots
        again = layout.position(slot, position.side)
        assert again in (position, position.mirrored())
        assert layout.slot(position.mirrored()) == slot
    boards = np.frombuffer(b"".join(p.board for p in positions), np.uint8).reshape(-1, SQUARES)
    assert layout.slots_of_boards(boards).tolist() == slots
    pieces = np.array([position.swapped().pieces() for position in positions], np.int64)
    codes, squares = pieces[:, :, 0], pieces[:, :, 1]
    assert layout.slots_of_pieces(codes, squares, swapped=True).tolist() == slots


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("centred", [False, True])
def test_leads_of_mirror_images(name: str, centred: bool) -> None:
    layout = Layout.of(Material.parse(name))
    rng = random.Random(name)
    boards = (random_board(Material(*layout.armies), rng, centred) for _ in range(150))
    self_mirrored = layout.self_mirrored
    for position in filter(None, boards):
        mirrored_one = position.mirrored()
        lead, mirrored, symmetric = lead_of_squares(listed(position, layout), layout.descriptor)
        image = lead_of_squares(listed(mirrored_one, layout), layout.descriptor)
        assert lead == layout.slot(position) // (layout.mids * layout.inner_size)
        assert symmetric == self_mirrored[lead]
        assert image == (lead, not mirrored and not symmetric, symmetric)


def listed(position: Position, layout: Layout) -> list[int]:
    """Return the squares of a position's pieces in the order of `Layout.piece_codes`."""
    pieces = list(position.pieces())
    return [pieces.pop([c for c, _ in pieces].index(code))[1] for code in layout.piece_codes]


@pytest.mark.parametrize("name", LARGE)
def test_random_slots_of_large_materials(name: str) -> None:
    layout = Layout.of(Material.parse(name))
    rng = random.Random(name)
    for _ in range(300):
        slot = rng.randrange(layout.slots)
        position = layout.position(slot, Side.BLACK)
        if position is None:
            continue
        canonical = layout.slot(position)
        again = layout.position(canonical, Side.BLACK)
        assert again is not None
        assert layout.slot(again) == canonical
        assert again in (position, position.mirrored())


def test_sizes() -> None:
    sizes = {"KK": 45, "KRK": 45 * 90, "KPK": 45 * 55, "KNNK": 45 * 90 * 90, "KRNKR": 45 * 90**3}
    for name, size in sizes.items():
        assert Layout.of(Material.parse(name)).slots == size


def test_the_first_and_last_slots() -> None:
    for name in LARGE:
        layout = Layout.of(Material.parse(name))
        for slot in (0, layout.slots - 1):
            layout.position(slot, Side.RED)
        for slot in (-1, layout.slots):
            with pytest.raises(IndexError, match=f"slot {slot} of "):
                layout.position(slot, Side.RED)
            with pytest.raises(IndexError, match="slots beyond"):
                layout.squares_of_slots(np.array([0, slot]))


def test_slots_stay_within_64_bits() -> None:
    assert max(Layout.of(Material.parse(name)).slots for name in LARGE) > 1 << 58
    for name in ("KRRNNCCKRRNNCC", "KRRNNCCPPPPPAABBKRRNNCCPPPPPAABB"):
        with pytest.raises(MaterialError, match="64-bit") as caught:
            Layout.of(Material.parse(name))
        assert int(str(caught.value).split()[2]) > MAX_SLOTS


def test_positions_of_other_armies_have_no_slot() -> None:
    layout = Layout.of(Material.parse("KRKN"))
    own = Position.from_fen("3k5/9/9/9/9/R8/9/4n4/9/4K4 w")
    more = Position.from_fen("3k5/9/9/9/9/R7p/9/4n4/9/4K4 w")
    fewer = Position.from_fen("3k5/9/9/9/9/R8/9/9/9/4K4 w")
    knights = Position.from_fen("3k5/9/9/9/9/N8/9/4n4/9/4K4 w")
    for other in (own.swapped(), more, fewer, knights):
        boards = np.frombuffer(own.board + other.board, np.uint8).reshape(2, SQUARES)
        with pytest.raises(InputError, match="other armies"):
            layout.slot(other)
        with pytest.raises(InputError, match="other armies"):
            layout.slots_of_boards(boards)
    # Together these boards have as many pieces as two positions of KRKN.
    boards = np.frombuffer(more.board + fewer.board, np.uint8).reshape(2, SQUARES)
    with pytest.raises(InputError, match="other armies"):
        layout.slots_of_boards(boards)
    with pytest.raises(InputError, match=r"boards of shape \(90,\); the shape is \(n, 90\)"):
        layout.slots_of_boards(np.frombuffer(own.board, np.uint8))
    with pytest.raises(InputError, match="outside"):
        layout.slots_of_boards(np.roll(np.frombuffer(own.board, np.uint8)[None], 27, axis=1))


def test_unreduced_layouts_distinguish_mirror_images() -> None:
    armies = Material.parse("KRKA").armies
    reduced = Layout.of(Material.parse("KRKA"))
    layout = Layout(armies, reduced.inner, reduced=False)
    boards = all_boards(Material.parse("KRKA"))
    slots = layout.slots_of_boards(np.frombuffer(b"".join(boards), np.uint8).reshape(-1, SQUARES))
    assert len(set(slots.tolist())) == len(boards)
    for board, slot in random.Random(1).sample(list(zip(boards, slots.tolist(), strict=True)), 300):
        position = Position(board, Side.RED)
        assert layout.slot(position) == slot
        assert layout.position(slot, Side.RED) == position
