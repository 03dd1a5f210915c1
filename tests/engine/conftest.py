"""A searcher (the engine's search with its hash table), shared by the tests of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tbgen.engine.search.searcher import Searcher


@pytest.fixture(scope="session")
def loaded() -> Searcher:
    """Searcher whose kernels are already compiled, shared by all tests.

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
