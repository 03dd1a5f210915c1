"""Frames, the arrays by which kernels read a layout, against the layout that they come from."""

from __future__ import annotations

import numpy as np
import pytest

import tbgen.rows.frame as frame_module
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.squares import SQUARES, PieceType, Side
from tbgen.rows.bitsets import MIRROR, NOWHERE
from tbgen.rows.frame import (
    EYE,
    GROUP,
    GROUP_STRIDE,
    KIND,
    MIRRORED,
    SIDE,
    SOURCE,
    TARGET,
    Frame,
    make_frame,
    rank_of,
    with_rank_zero,
)

MATERIALS = ["KRKN", "KRRK", "KNPKA", "KPPKAB", "KPPPK", "KAKR", "KABK"]


@pytest.fixture(params=MATERIALS)
def layout(request: pytest.FixtureRequest) -> Layout:
    return Layout.of(Material.parse(request.param))


@pytest.fixture
def frame(layout: Layout) -> Frame:
    return make_frame(layout)


def test_mids_have_the_squares_of_the_layout(layout: Layout, frame: Frame) -> None:
    first = np.arange(layout.mids) * layout.inner_size
    squares = layout.squares_of_slots(first)[0]
    leads = frame.lead_squares.shape[1]
    assert np.array_equal(frame.mid_squares, squares[:, leads : leads + len(frame.men)])
    codes = [8 * man[SIDE] + man[KIND] + 1 for man in frame.men.tolist()]
    assert codes == list(layout.piece_codes[leads : leads + len(frame.men)])


def test_moves_of_the_defenders_do_not_depend_on_blocks(
    layout: Layout, frame: Frame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frame_module, "_BLOCK", 7)
    in_blocks = make_frame(layout)
    for name in ("move_start", "lead_after", "lead_moves"):
        assert np.array_equal(getattr(in_blocks, name), getattr(frame, name))


def test_lifting_and_placing_a_man_gives_the_mid_of_its_squares(
    layout: Layout, frame: Frame
) -> None:
    known = {tuple(squares): mid for mid, squares in enumerate(frame.mid_squares.tolist())}
    for mid in np.random.default_rng(1).integers(0, layout.mids, 50).tolist():
        for man, (*_, stride, group) in enumerate(frame.men.tolist()):
            rest = with_rank_zero(mid, man, frame)
            assert mid == rest + rank_of(mid, man, frame) * stride
            own = np.flatnonzero(frame.men[:, GROUP] == group)
            assert stride == frame.groups[group, GROUP_STRIDE]
            for square in range(SQUARES):
                squares = frame.mid_squares[mid].copy()
                squares[man] = square
                squares[own] = np.sort(squares[own])
                rank = int(frame.extend[frame.mid_companions[mid, man], square])
                expected = known.get(tuple(squares.tolist()), -1)
                assert (rest + rank * stride if rank >= 0 else -1) == expected


def test_moves_of_leads_move_one_defender(frame: Frame) -> None:
    for side in Side:
        for lead in range(len(frame.lead_squares)):
            before = frame.lead_squares[lead].tolist()
            for m in range(frame.move_start[side, lead], frame.move_start[side, lead + 1]):
                move = frame.lead_moves[m].tolist()
                after = frame.lead_squares[frame.lead_after[m]].tolist()
                if move[MIRRORED]:
                    after = [int(MIRROR[square]) for square in after]
                assert set(before) - set(after) == {move[SOURCE]}
                assert set(after) - set(before) == {move[TARGET]}
                steps = abs(move[SOURCE] - move[TARGET])
                elephant = PieceType.ELEPHANT if steps in (16, 20) else None
                middle = (move[SOURCE] + move[TARGET]) // 2
                assert move[EYE] == (middle if elephant else NOWHERE)
