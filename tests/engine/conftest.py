"""A search shared by the tests of the engine, with kernels loaded once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tbgen.engine.search.searcher import Searcher


@pytest.fixture(scope="session")
def loaded() -> Searcher:
    """A searcher with loaded kernels, shared by all tests.

    Tests use the fixture `searcher`, which clears the hash table.
    """
    from tbgen.engine.search.searcher import Searcher

    searcher = Searcher(hash_mebibytes=4)
    searcher.warm_up()
    searcher.warm_up_proofs()
    return searcher


@pytest.fixture
def searcher(loaded: Searcher) -> Searcher:
    loaded.clear()
    loaded.clear_stop()
    loaded.use_tables(None)
    return loaded
