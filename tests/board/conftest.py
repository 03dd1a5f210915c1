"""Fixture with a browser for the tests of the board."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.board_server import browser


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    found = browser()
    yield found
    found.quit()
