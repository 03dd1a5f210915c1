"""Fixtures of the board's tests: a browser, and a client of the board on the demo's tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tbgen import open_tablebase
from tests.helpers.board_server import browser, demo

if TYPE_CHECKING:
    from starlette.testclient import TestClient


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    found = browser()
    yield found
    found.quit()


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """Client of the board on the demo's tables; some modules define a `client` of their own."""
    # Imported late, since modules skip their tests without the extra `web`.
    from starlette.testclient import TestClient

    from tbgen.board.web.routes import create_app

    with open_tablebase(demo().tables) as tables:
        yield TestClient(create_app(tables, demo().tables))
