"""Two users of one machine: one reads the tables of the other, and runs none of its code."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.commands import AS_NOBODY, NOBODY, TBGEN, run

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes, and the time of the last change in ns, of each file by name."""
    return {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in folder.iterdir()}


def test_a_guest_reads_the_tables_and_changes_nothing(tables_dir: Path) -> None:
    where = ["--rules", "check", "--tables", tables_dir]
    before = contents(tables_dir)
    for words in (["ls"], ["probe", KRK], ["stats", "KRKN"]):
        assert run(*AS_NOBODY, TBGEN, *words, *where).stdout == run(TBGEN, *words, *where).stdout
    for words in (["build", "KRKR"], ["pack", "KRK"]):
        refused = run(*AS_NOBODY, TBGEN, *words, *where, status=2).stderr.splitlines()
        assert refused[0].startswith("error: Permission denied: ")
        assert [line[:6] for line in refused[1:]] == ["hint: "]
    assert contents(tables_dir) == before


@pytest.mark.parametrize(("owner", "mode"), [(int(NOBODY), 0o755), (0, 0o777)], ids=["his", "open"])
def test_compiled_code_of_another_user_is_not_loaded(tmp_path: Path, owner: int, mode: int) -> None:
    """Kernels are not loaded from a cache folder that another user owns or may write to.

    A folder that is closed to others replaces it.
    """
    cache, own = tmp_path / "cache", tmp_path / "temporary"
    own.mkdir(mode=0o700)
    environment = {"XDG_CACHE_HOME": str(cache), "TMPDIR": str(own)}

    def kernels() -> dict[str, Any]:
        old = os.umask(0)
        try:
            return json.loads(run(TBGEN, "doctor", "--json", environment=environment).stdout)
        finally:
            os.umask(old)

    usual = Path(kernels()["kernel_cache"]["path"])
    assert usual.parent == cache / "tbgen"
    os.chown(usual, owner, owner)
    usual.chmod(mode)
    found = kernels()
    instead = Path(found["kernel_cache"]["path"])
    assert found["kernel_cache"]["usual"] == str(usual)
    assert own in instead.parents
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (instead, instead.parent)] == [
        0o700, 0o700
    ]  # fmt: skip
