"""Packages as published: built, complete, and working without the repository."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from urllib.request import urlopen

import pytest

pytest.importorskip("build")
pytest.importorskip("twine")

import tbgen
from tests.helpers.commands import Engine, answer, run, served
from tests.helpers.paths import ROOT
from tests.house.test_packaging import SETTINGS, packages

KRK = "3k5/9/9/9/9/9/9/9/9/R3K4 w"


def copy_to(folder: Path) -> Path:
    """Copy the repository, without generated files, to a new folder; return its path.

    Packages are built in the copy, since building leaves folders behind.
    """
    ignored = shutil.ignore_patterns(
        ".git",
        ".venv",
        ".*cache",
        "build",
        "*.egg-info",
        "__pycache__",
        "egtb",
        "site",
        "node_modules",
    )
    return shutil.copytree(ROOT, folder, ignore=ignored)


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that is built from it.

    The build tools come from the index of packages.
    """
    folder = tmp_path_factory.mktemp("packed")
    copy = copy_to(tmp_path_factory.mktemp("sources") / "copy")
    command = [sys.executable, "-m", "build", "--outdir", folder, copy]
    built = subprocess.run(command, capture_output=True, text=True)
    said = built.stdout + built.stderr
    if built.returncode and ("connection" in said.lower() or "No matching distribution" in said):
        pytest.skip("the index of packages is not to be reached")
    assert built.returncode == 0, said[-2000:]
    assert "would be ignored" not in said
    assert "Deprecat" not in said
    return folder


@pytest.fixture(scope="module")
def wheel(packed: Path) -> Path:
    """Return the path of the wheel in `packed`."""
    (found,) = packed.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the commands of the wheel, installed into a new environment.

    All packages besides tbgen are those of the environment that runs the tests.
    """
    environment = tmp_path_factory.mktemp("elsewhere") / "venv"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index",
        "--quiet", wheel)  # fmt: skip
    own = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout.strip()
    # .pth files in a folder named by a .pth file are ignored, so editable installs are not found.
    Path(own, "others.pth").write_text(sysconfig.get_path("purelib"))
    return environment / "bin"


def test_the_wheel_is_complete(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}"
        for package, folder in packages().items()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert names == expected


def test_the_wheel_works_elsewhere(programs: Path, tables_dir: Path, tmp_path: Path) -> None:
    command, where = programs / "tbgen", ("--rules", "check", "--tables", tables_dir)
    version = run(command, "--version", folder=tmp_path)
    assert version.stdout == f"tbgen {tbgen.__version__}\n"
    lies = run(programs / "python", "-c", "import tbgen; print(tbgen.__file__)", folder=tmp_path)
    assert Path(lies.stdout).is_relative_to(programs.parent)
    assert answer(command, "probe", KRK, *where)["value"] == 1
    assert answer(command, "plan", "KRKNA", *where)["tables"]
    complete = run(command, folder=tmp_path, environment={"_TBGEN_COMPLETE": "bash_source"})
    assert "complete" in complete.stdout
    with (
        served(tables_dir, "--rules", "check", program=command) as url,
        urlopen(f"{url}/static/board.js", timeout=60) as script,
    ):
        assert script.read()
    engine = Engine("uci", tables_dir, [programs / "tbgen-engine"])
    engine.say("setoption name Rules value check")
    assert " tbhits 1 " in engine.move(f"fen {KRK}", [])[1][-1]
    engine.close()


def test_twine_accepts_the_packages(packed: Path) -> None:
    files = sorted(packed.iterdir())
    checked = run(sys.executable, "-m", "twine", "check", "--strict", *files)
    assert checked.stdout.count("PASSED") == len(files) == 2


def test_the_source_distribution_is_complete(packed: Path) -> None:
    (archive,) = packed.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    folders = (
        ".ci",
        "docs",
        "tests",
        "scripts",
        "contrib",
        *map(str, SETTINGS["package-dir"].values()),
    )
    assert {
        path.relative_to(ROOT).as_posix()
        for path in (
            *ROOT.glob("*.md"),
            *(path for folder in folders for path in (ROOT / folder).rglob("*")),
        )
        if path.is_file() and path.suffix != ".pyc"
    } <= names
