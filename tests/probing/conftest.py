"""Fixture that compiles C programs once for all processes of a run."""

from __future__ import annotations

import os

import pytest

from tests.helpers.cprograms import share_programs


@pytest.fixture(scope="session", autouse=True)
def _shared_programs(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    # With several processes, the parent of the process's folder is shared by the run.
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    share_programs(folder / "c-programs")
