"""Scripts parse their arguments by argparse, and have a help text; CI runs existing ones."""

from __future__ import annotations

import ast
import re

from tests.helpers.paths import ROOT
from tests.helpers.sessions import blocks
from tests.helpers.sources import name_of, python_files, tree_of

SCRIPTS = [path for path in python_files("scripts") if "__main__" in path.read_text("utf-8")]


def test_scripts_use_argparse_with_help() -> None:
    """All scripts parse their arguments by argparse, and their docstring is the help text.

    The docstring shows how to run the script. A script without arguments that does not parse them
    would answer `--help` by its work, such as writing a page.
    """
    for path in SCRIPTS:
        name, text = name_of(path), path.read_text("utf-8")
        assert "sys.argv" not in text, name
        assert "import click" not in text, name
        if "from tests.faults.campaign import" not in text:  # its `main` parses them
            assert re.search(r"\.parse_args\(|= arguments\(|\barguments\(__doc__", text), name
            assert re.search(r"(description=|arguments\()__doc__", text), name
            assert f"python {name}" in (ast.get_docstring(tree_of(path)) or ""), name


def test_the_certification_job_runs_existing_scripts() -> None:
    """.ci/certify names only existing scripts, and runs the tests marked certification.

    It includes the checks of versions and of dependencies.
    """
    lane = (ROOT / ".ci" / "certify").read_text("utf-8")
    named = re.findall(r"scripts/[a-z_/]+\.py", lane)
    assert {"scripts/certify/versions.py", "scripts/certify/dependencies.py"} <= {*named}
    assert all((ROOT / name).exists() for name in named)
    assert "-m pytest -m certification" in lane


def test_the_readme_has_the_test_command_of_ci() -> None:
    """The last line of .ci/run is the README's command for the tests."""
    last = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1]
    assert last.endswith("-m pytest")
    assert last in blocks((ROOT / "README.md").read_text("utf-8"), "sh")[1]
