"""Work divided into ranges covers every number once, for any total."""

import pytest

from tbgen.rows.workers import Workers


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("total", [0, 1, 2, 1000, 4800])
def test_ranges_cover_every_number_once(total: int, threads: int) -> None:
    """`Workers.run` passes each number below the total to one call, and never an empty range.

    A total of 0 occurs when a search has no candidates. Kernels write at the first number of their
    range, so an empty range would write beyond an array.
    """
    seen: list[range] = []
    with Workers(threads) as workers:
        workers.run(lambda first, last, thread: seen.append(range(first, last)), total)
    assert all(seen)
    assert sorted(number for numbers in seen for number in numbers) == list(range(total))
