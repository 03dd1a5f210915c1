"""numba settings in the current directory or the environment are ignored."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import tbgen.compiling.jit, numba, sys
numba.core.config.reload_config()
print(numba.config.DISABLE_JIT, repr(getattr(numba.config, "CACHE_LOCATOR_CLASSES", "")),
      sys.modules.get("yaml", ""))
"""


@pytest.mark.parametrize(
    "text", [b"\xff: [", b"disable_jit: 1\ncache_locator_classes: this.Poem\n"]
)
def test_a_settings_file_in_the_current_directory_is_ignored(tmp_path: Path, text: bytes) -> None:
    (tmp_path / ".numba_config.yaml").write_bytes(text)
    result = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True
    )
    assert (result.stdout, result.stderr) == ("0 '' \n", "")


def test_undocumented_environment_variables_are_ignored() -> None:
    strange = {
        "NUMBA_CACHE_LOCATOR_CLASSES": "this.Poem", "NUMBA_NUM_THREADS": "0", "NUMBA_OPT": "many",
        "NUMBA_DISABLE_JIT": "maybe", "NUMBA_BOUNDSCHECK": "-", "NUMBA_DEBUG": "1",
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-m", "tbgen", "doctor", "--numba"],
        env={**os.environ, **strange}, capture_output=True, text=True,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")
    assert "beautiful" not in result.stdout.lower()
