"""Source distributions of the package index, for what is built from other people's sources."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path


def fetch(package: str, member: str, directory: Path, otherwise: str) -> Path:
    """Download and unpack the source distribution of a package; returns one member of it.

    `member` is a path inside of the unpacked folder, and `otherwise` says what to do where nothing
    can be downloaded. Raises `SystemExit` then.
    """
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command = [*pip, "--no-binary", package, "--dest", str(directory), package]
    if subprocess.run(command).returncode:
        raise SystemExit(f"{package} cannot be downloaded: {otherwise}")
    (archive,) = directory.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(directory, filter="data")
    (found,) = directory.glob(f"*/{member}")
    return found
