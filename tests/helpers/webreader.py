"""The reader for web pages, built once per test run, and its answers in Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.cprograms import CONTRIB
from tests.helpers.paths import ROOT
from tests.helpers.shared import once

_CLANG = next((name for name in ("clang", "clang-14") if shutil.which(name)), None)
_PROBES = ROOT / "tests" / "probing" / "web_probes.mjs"

needs_clang = pytest.mark.skipif(
    _CLANG is None or not list(Path("/usr/include/wasm32-wasi").glob("stdlib.h")),
    reason="clang with wasm-ld and wasi-libc is not installed",
)
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def built_module() -> Path:
    """Return the folder with the WebAssembly module that contrib/js/build.py writes."""

    def build(folder: Path) -> None:
        command = [sys.executable, CONTRIB / "js" / "build.py", folder, "--clang", _CLANG]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if "cannot be downloaded" in done.stderr:
            pytest.skip("the package index cannot be reached for zstd's source")
        assert done.returncode == 0, done.stderr[-2000:]

    return once("web", build)


def ask(module: Path, address: str | None, asked: list[list[Any]], **options: Any) -> list[Any]:
    """Run the WebAssembly module in Node.js, and return its answers to a list of questions.

    address : URL of the folder of tables on a file server; None for no folder
    asked : questions such as `["value", fen]` or `["moves", fen]`; those of `["together", ...]`
        are asked at the same time, those of `["turns", ...]` one after another
    options : options of the module; `rules` is `check` unless given
    """
    words: dict[str, Any] = {
        "module": str(module / "xqprobe.js"),
        "tables": address,
        "asked": asked,
    }
    words["options"] = {"rules": "check", **options}
    command = ["node", "--no-warnings", str(_PROBES)]
    done = subprocess.run(command, input=json.dumps(words), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return list(json.loads(done.stdout))
