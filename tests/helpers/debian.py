"""Sources of Debian packages, for tests against other programs."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LISTED = Path("/etc/apt/sources.list.d/debian.sources")


def source_of(package: str, folder: Path) -> Path:
    """Download a package's upstream source, unpack it below `folder`; return the new folder.

    Skips the test if it does not run as root on Debian, or if the download fails.
    """
    if shutil.which("apt-get") is None or not LISTED.exists() or os.getuid() != 0:
        pytest.skip("Debian's sources cannot be listed here")
    own = folder / f"{package}-source"
    lists = own / "lists"
    (lists / "partial").mkdir(parents=True)
    # The system's list, with sources instead of packages.
    text = LISTED.read_text("utf-8").replace("Types: deb\n", "Types: deb-src\n")
    (own / "own.sources").write_text(text, encoding="utf-8")
    options = [
        f"Dir::Etc::sourceparts={own}",
        "Dir::Etc::sourcelist=-",
        f"Dir::State::lists={lists}",
    ]
    apt = ["apt-get", "-qq", *(word for option in options for word in ("-o", option))]
    for command in (["update"], ["source", "--download-only", package]):
        if subprocess.run([*apt, *command], cwd=own, capture_output=True).returncode:
            pytest.skip("Debian's sources cannot be reached")
    archive = next(own.glob("*.orig.tar.[gx]z"))
    subprocess.run(["tar", "-xf", archive.name], cwd=own, check=True)
    return next(path for path in own.iterdir() if path.is_dir() and path != lists)
