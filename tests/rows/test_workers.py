"""Work divided into ranges covers every number once, for any total."""

import pytest

from tbgen.rows.workers import Workers


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("total", [0, 1, 2, 1000])
def test_ranges_cover_every_number_once(total: int, threads: int) -> None:
    """`Workers.run` passes each number below the total to exactly one call.

    A total of 0 occurs when a search has no candidates.
    """
    seen: list[int] = []
    with Workers(threads) as workers:
        workers.run(lambda first, last, thread: seen.extend(range(first, last)), total)
    assert sorted(seen) == list(range(total))
