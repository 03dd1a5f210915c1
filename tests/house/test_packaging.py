"""What is installed is what is here: every package, and the files that lie beside the code."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

import tbgen
from tests.kits.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETTINGS = PROJECT["tool"]["setuptools"]
FOLDERS = {
    "tbgen": ROOT / "tbgen",
    "tbgen.indexing": ROOT / "indexing",
    "tbgen.tables": ROOT / "tables",
}


def packages() -> dict[str, Path]:
    """Every folder with an `__init__`, by the name it is imported by."""
    found = {}
    for name, folder in FOLDERS.items():
        for init in folder.rglob("__init__.py"):
            found[".".join((name, *init.parent.relative_to(folder).parts))] = init.parent
    return found


def test_every_package_is_installed() -> None:
    assert sorted(SETTINGS["packages"]) == sorted(packages())
    assert {name: str(folder.relative_to(ROOT)) for name, folder in FOLDERS.items()} == (
        SETTINGS["package-dir"]
    )


def test_every_file_beside_the_code_is_installed() -> None:
    missing = []
    for name, folder in packages().items():
        patterns = SETTINGS["package-data"].get(name, [])
        for path in folder.rglob("*"):
            owner = next(p for p in path.parents if (p / "__init__.py").exists())
            if not path.is_file() or owner != folder or path.suffix in (".py", ".pyc"):
                continue
            relative = path.relative_to(folder).as_posix()
            if not any(fnmatch(relative, pattern) for pattern in patterns):
                missing.append(f"{name}: {relative}")
    assert not missing


def test_one_version_everywhere() -> None:
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == PROJECT["project"]["version"] == tbgen.__version__


def copy_to(folder: Path) -> None:
    """What the repository holds, without what was made in it."""
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "egtb", "site")
    shutil.copytree(ROOT, folder, ignore=ignored)


@pytest.mark.certification
def test_the_wheel_is_built_without_complaint(tmp_path: Path) -> None:
    """In a copy, since building leaves folders behind; pip gets setuptools from the index."""
    copy_to(tmp_path / "copy")
    command = [sys.executable, "-m", "pip", "wheel", "--verbose", "--no-deps", "--wheel-dir"]
    result = subprocess.run(
        [*command, str(tmp_path), str(tmp_path / "copy")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    said = result.stdout + result.stderr
    assert "would be ignored" not in said
    assert "Deprecat" not in said
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}"
        for package, folder in packages().items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert names == expected


@pytest.mark.certification
def test_the_source_distribution_is_installed_and_runs(tmp_path: Path) -> None:
    """In an environment of its own, far from the repository; with all that tests and docs need."""
    copy_to(tmp_path / "copy")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    programs = tmp_path / "venv" / "bin"

    def run(*command: str) -> str:
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    run(f"{programs}/pip", "install", "--quiet", "build")
    run(f"{programs}/python", "-m", "build", "--sdist", "--outdir", str(tmp_path), "copy")
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    folders = ("docs", "tests", "scripts", "contrib", *map(str, SETTINGS["package-dir"].values()))
    assert {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    } <= names
    run(f"{programs}/pip", "install", "--quiet", str(archive))
    assert run(f"{programs}/tbgen", "--version").strip() == f"tbgen {tbgen.__version__}"
    run(f"{programs}/tbgen", "build", "KRK", "--rules", "none")
    assert "KRK " in run(f"{programs}/tbgen", "ls")
    assert "complete" in run("env", "_TBGEN_COMPLETE=bash_source", f"{programs}/tbgen")
