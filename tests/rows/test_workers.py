"""Work in ranges: all of it, once, whatever its size."""

import pytest

from tbgen.rows.workers import Workers


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("total", [0, 1, 2, 1000])
def test_every_number_once(total: int, threads: int) -> None:
    """A search may find nothing to do: no candidates are a total of 0."""
    seen: list[int] = []
    with Workers(threads) as workers:
        workers.run(lambda first, last, thread: seen.extend(range(first, last)), total)
    assert sorted(seen) == list(range(total))
