"""Test tbgen with the lowest and the newest version of every dependency in pyproject.toml.

`--only` chooses parts. A part is a function that records failures in the `Tally` that it is given;
its other arguments, `budget` and `seed`, are not used.

    quick     some tests with the lowest versions of tbgen's dependencies, except numba; these
              versions come before the installed packages on Python's path
    oldest    lowest versions of tbgen's dependencies, in a new environment: a build, whose
              digest is compared with docs/digests.csv, and wrong command lines, each of which must
              be answered by a one-line error
    newest    the same with the newest versions that pip installs
    extras    lowest versions of everything, extras and developer tools included: ruff, mypy, and
              tests of each extra

All but `quick` compile kernels anew, which takes some minutes. Packages come from pip's index.
`oldest` and `newest` need no package besides the Python that runs this script; `quick` and `extras`
need the extra `dev`. The usual test run covers the newest versions of the extras.

    python scripts/certify/versions.py --only oldest
"""

from __future__ import annotations

import csv
import itertools
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults.campaign import OK, REFUSED, Budget, Tally, complaint, main, run
from tests.helpers.paths import ROOT

DIGESTS = ROOT / "docs" / "digests.csv"
MATERIAL, RULES = "KRKN", "wxf"
TABLE = f"{MATERIAL}.{RULES}.dtm.xqt"
EXTRAS = ("web", "cluster", "parquet", "png", "notebook", "docs", "dev")
_TIMEOUT_SECONDS = 3600.0

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+(\[\w+\])?)>=(?P<least>[\d.]+)(,<[\d.]+)?")

QUICK_TESTS = (
    "tests/tables/test_format.py", "tests/cli/test_judge.py", "tests/cli/test_live.py",
    "tests/cli/test_commands.py",
)  # fmt: skip
"""Tests that `quick` runs: tests of code that uses the replaced packages, without kernels."""

EXTRAS_TESTS = (
    "tests/board/test_api.py", "tests/board/test_fuzz.py", "tests/board/test_browser.py",
    "tests/building/test_exchange.py", "tests/cli/test_diagram.py", "tests/docs/test_notebooks.py",
    "tests/docs/test_schemas.py", "tests/docs/test_site.py", "tests/journeys/test_wheel.py",
    "tests/notation/test_oracles.py",
    "tests/oracles/test_naive_movegen.py", "tests/probing/test_dump.py",
    "tests/scheduling/test_cluster.py",
)  # fmt: skip
"""Tests that `extras` runs; together they use each dependency of the extras."""

_REPORT = """
import json, numba, numpy
from sys import argv, version
from tbgen.compiling import jit
from tbgen.tables import TableFile
found = {"python": version.split()[0], "numpy": numpy.__version__, "numba": numba.__version__,
         "internals": jit.internals is not None}
with TableFile(argv[1]) as file:
    found["digest"] = file.header.digest.hex()
print(json.dumps(found))
"""


def lower_ends(*extras: str) -> list[str]:
    """List the lowest versions of tbgen's dependencies and of those of `extras`.

    Items are like `NAME==VERSION`, sorted. Exits if a dependency is not written `NAME>=VERSION`.
    """
    found = set()
    for requirement in requirements(*extras):
        match = _REQUIREMENT.fullmatch(requirement)
        if match is None:
            sys.exit(f"{requirement}: write it as NAME>=VERSION in pyproject.toml")
        found.add(f"{match['name']}=={match['least']}")
    return sorted(found)


def requirements(*extras: str) -> list[str]:
    """List tbgen's requirements and those of `extras`, as written in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [project["optional-dependencies"][extra] for extra in extras]
    return [*project["dependencies"], *itertools.chain(*named)]


def expected() -> str:
    """Return the digest of `TABLE`, the table to build, in docs/digests.csv; exit if missing."""
    with DIGESTS.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["file"] == TABLE:
                return row["digest"]
    sys.exit(f"{DIGESTS} has no {TABLE}")


def installed(folder: Path, wanted: list[str]) -> str:
    """Create a virtual environment in `folder`/venv, and return the path of its interpreter.

    wanted : packages to install there, as arguments of pip; a failure ends the script
    """
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    install([python, "-m", "pip", "install"], wanted)
    return python


def install(command: list[str], wanted: list[str]) -> None:
    """Run the pip command line `command` with the packages `wanted` added; exit if it fails."""
    options = ["--quiet", "--no-compile"]
    if subprocess.run([*command, *options, *wanted], stdout=sys.stderr).returncode != 0:
        sys.exit(f"pip cannot install {' '.join(wanted)}")


def build_a_table(tally: Tally, folder: Path, python: str) -> None:
    """Build a table, compare its digest with the known one, and run three wrong command lines.

    They must end with a one-line error and exit status 2. After a failed build they are not tried.

    tally : gets a finding for each violation
    folder : for the table and compiled kernels
    python : path of the interpreter that runs tbgen
    """
    environment = {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / "kernels")}
    tables = folder / "tables"
    command = [python, "-m", "tbgen"]
    built = run([*command, "build", MATERIAL, "--rules", RULES, "--tables", str(tables)],
                environment=environment, patience=_TIMEOUT_SECONDS, cwd=folder)  # fmt: skip
    wrong = complaint(built, [OK])
    if wrong is not None:
        tally.finding(f"build: {wrong}")
        return
    tally.largest("build_seconds", built.seconds)
    for mistake in (["build", "--nonsense"], ["probe", "nonsense"], ["nonsense"]):
        wrong = complaint(run([*command, *mistake], environment=environment), [REFUSED])
        tally.expect(wrong is None, f"{' '.join(mistake)}: {wrong}")
    report = run([python, "-c", _REPORT, str(tables / TABLE)], environment=environment, cwd=folder)
    print(report.stdout.decode().strip(), flush=True)
    tally.count("versions")
    tally.expect(expected() in report.stdout.decode(), "another table")


def run_tests(tally: Tally, python: str, environment: Mapping[str, str], *options: str) -> None:
    """Run pytest with `options` by the interpreter `python`, with variables `environment` added.

    Adds the number of passed tests to `tally`. If pytest fails, prints the output, adds a finding.
    """
    command = [python, "-m", "pytest", "-p", "no:cacheprovider", *options]
    ended = run(command, environment=environment, patience=_TIMEOUT_SECONDS, cwd=ROOT)
    said = ended.stdout.decode("utf-8", "replace")
    if ended.status != OK:
        print(said, ended.stderr, sep="\n", file=sys.stderr, flush=True)
    tally.count("tests", sum(map(int, re.findall(r"(\d+) passed", said))))
    tally.expect(ended.status == OK, "tests fail")


def quick(tally: Tally, budget: Budget, seed: int) -> None:
    """Run `QUICK_TESTS` with the lowest versions of tbgen's dependencies but numba.

    These versions are in a folder that comes first on Python's path.
    """
    with tempfile.TemporaryDirectory(prefix="tbgen-versions-") as folder:
        wanted = [each for each in lower_ends() if not each.startswith("numba==")]
        command = [sys.executable, "-m", "pip", "install", "--no-deps", "--target", folder]
        install(command, wanted)
        run_tests(tally, sys.executable, {"PYTHONPATH": folder}, "-n", "0", *QUICK_TESTS)


def oldest(tally: Tally, budget: Budget, seed: int) -> None:
    """Build a table with the lowest versions of tbgen's dependencies (`build_a_table`)."""
    with tempfile.TemporaryDirectory(prefix="tbgen-versions-") as name:
        build_a_table(tally, Path(name), installed(Path(name), lower_ends()))


def newest(tally: Tally, budget: Budget, seed: int) -> None:
    """Build a table with the newest versions that pip installs (`build_a_table`)."""
    with tempfile.TemporaryDirectory(prefix="tbgen-versions-") as name:
        build_a_table(tally, Path(name), installed(Path(name), requirements()))


def extras(tally: Tally, budget: Budget, seed: int) -> None:
    """Run ruff, mypy and tests with the lowest versions of all dependencies, extras included.

    mypy's lowest version checks against this interpreter's packages, not their lowest versions.
    """
    with tempfile.TemporaryDirectory(prefix="tbgen-versions-") as name:
        folder = Path(name)
        lowest = lower_ends(*EXTRAS)
        python = installed(folder, lowest)
        for tool in (["check", "."], ["format", "--check", "."]):
            ended = run([python, "-m", "ruff", *tool], cwd=ROOT)
            tally.expect(ended.status == OK, f"ruff {tool[0]}: {ended.stdout.decode()[-500:]}")
        # With the numpy of this interpreter, since the oldest one has fewer type annotations.
        command = [sys.executable, "-m", "pip", "install", "--target", str(folder / "mypy")]
        install(command, [each for each in lowest if each.startswith("mypy==")])
        ended = run(
            [sys.executable, "scripts/typecheck.py"], cwd=ROOT,
            environment={"PYTHONPATH": str(folder / "mypy")},
        )  # fmt: skip
        tally.expect(ended.status == OK, f"mypy: {ended.stdout.decode()[-500:]}")
        environment = {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / "kernels")}
        run_tests(tally, python, environment, "-n", "2", *EXTRAS_TESTS)


PARTS = {"quick": quick, "oldest": oldest, "newest": newest, "extras": extras}
"""Functions of the parts, by name."""

if __name__ == "__main__":
    main("versions", __doc__, PARTS, 1)
