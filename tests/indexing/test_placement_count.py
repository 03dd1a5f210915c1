"""The count of a material's placements by formula, against a count over the whole index."""

import numpy as np
import pytest

from tbgen.indexing import Material, Side
from tbgen.indexing.layout import Layout
from tbgen.indexing.placement_count import count_placements


@pytest.mark.parametrize("name", ["KPK", "KRK", "KRKA"])
def test_the_count_agrees_with_single_slots(name: str) -> None:
    layout = Layout.of(Material.parse(name))
    used = 0
    for slot in range(layout.slots):
        position = layout.position(slot, Side.RED)
        used += position is not None and layout.slot(position) == slot
    assert used == count_placements(layout)


@pytest.mark.parametrize("name", ["KPK", "KPPK", "KPKBB"])
def test_the_count_agrees_with_slots_in_bulk(name: str) -> None:
    layout = Layout.of(Material.parse(name))
    sound = layout.squares_of_slots(np.arange(layout.slots))[1]
    assert sound.sum() == count_placements(layout)
