"""The oldest and the newest numpy and numba that tbgen supports: the same tables to the byte.

    pyproject.toml   ->   lower bounds, or none   ->   a virtual environment   ->   build   ->
    digests, against docs/digests.csv; which of numba's internals that version has

Kernels are compiled anew in each: some minutes. Packages come from wherever pip is told to look.
What interprets this script is the Python that is tried; nothing has to be installed for it.

    python scripts/reliability/versions.py --only oldest
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from campaign import OK, ROOT, Budget, Tally, complaint, main, run

DIGESTS = ROOT / "docs" / "digests.csv"
MATERIAL, RULES = "KRKN", "wxf"
TABLE = f"{MATERIAL}.{RULES}.dtm.xqt"
_PATIENCE = 3600.0

_REPORT = """
import json, numba, numpy
from sys import argv, version
from tbgen.compiling.internals import HAS_DIGESTS, HAS_PARTS, known_options
from tbgen.tables import TableFile
found = {"python": version.split()[0], "numpy": numpy.__version__, "numba": numba.__version__,
         "HAS_PARTS": HAS_PARTS,
         "HAS_DIGESTS": HAS_DIGESTS, "options": [*known_options(_nrt=0, no_cfunc_wrapper=0)]}
with TableFile(argv[1]) as file:
    found["digest"] = file.header.digest.hex()
print(json.dumps(found))
"""


def requirements(oldest: bool) -> list[str]:
    """What tbgen runs on; with `oldest`, numpy and numba of the lower bounds' series."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    found = []
    for requirement in tomllib.loads(text)["project"]["dependencies"]:
        name, bound = requirement.split(">=")
        found.append(f"{name}=={bound}.*" if oldest and name in ("numpy", "numba") else requirement)
    return found


def expected() -> str:
    """The digest that docs/digests.csv has of the table."""
    with DIGESTS.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["file"] == TABLE:
                return row["digest"]
    sys.exit(f"{DIGESTS} has no {TABLE}")


def try_versions(tally: Tally, oldest: bool) -> None:
    """Install, build, compare."""
    with tempfile.TemporaryDirectory(prefix="tbgen-versions-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        wanted = requirements(oldest)
        command = [python, "-m", "pip", "install", "--quiet", *wanted]
        if subprocess.run(command, stdout=sys.stderr).returncode != 0:
            sys.exit(f"pip cannot install {' '.join(wanted)}")
        environment = {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / "kernels")}
        tables = folder / "tables"
        built = run([python, "-m", "tbgen", "build", MATERIAL, "--rules", RULES,
                     "--tables", str(tables)], environment=environment, patience=_PATIENCE,
                    cwd=folder)  # fmt: skip
        wrong = complaint(built, [OK])
        if wrong is not None:
            tally.finding(f"{' '.join(wanted)}: {wrong}")
            return
        tally.largest("build_seconds", built.seconds)
        report = run(
            [python, "-c", _REPORT, str(tables / TABLE)], environment=environment, cwd=folder
        )
        print(report.stdout.decode().strip(), flush=True)
        tally.count("versions")
        tally.expect(expected() in report.stdout.decode(), f"{' '.join(wanted)}: another table")


def oldest(tally: Tally, budget: Budget, seed: int) -> None:
    """The lower bounds."""
    try_versions(tally, oldest=True)


def newest(tally: Tally, budget: Budget, seed: int) -> None:
    """Whatever pip takes for the newest."""
    try_versions(tally, oldest=False)


PARTS = {"oldest": oldest, "newest": newest}

if __name__ == "__main__":
    main("versions", __doc__, PARTS, 1)
