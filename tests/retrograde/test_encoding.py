"""Blocks encoded by the kernel, against the definition of the encoding."""

import numpy as np
import pytest

from tbgen.retrograde.encoding import encode
from tbgen.tables.blocks import encode_filled


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("distinct", [1, 2, 100, 255, 256, 257, 5000])
def test_the_kernel_encodes_as_defined(width: int, distinct: int) -> None:
    rng = np.random.default_rng(distinct)
    values = rng.integers(1, 256**width, distinct)
    for slots in (1, 2, 7, 20000):
        for empty in (0, 0.5, 1):
            codes = rng.choice(values, slots).astype(f"<u{width}")
            codes[rng.random(slots) < empty] = 0
            before = codes.copy()
            assert encode(codes, 128) == encode_filled(codes, 128)
            assert (codes == before).all()
