"""Check the licences and known advisories of the installed dependencies.

    installed dependencies of tbgen, direct and indirect   ->   licences, compared with a list
                                                           ->   pip-audit, if it is installed

Dependencies of tbgen and of its extra `web` are needed: each must have a permissive licence and no
known advisory. Those of the extra `dev` are only listed, because they are not distributed.
Advisories need pip-audit and a network. If they are unknown, `advisories_said` in the JSON output
has the reason; only `--advisories` makes this a failure.

    python scripts/certify/dependencies.py --advisories
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

PERMISSIVE = (
    "MIT", "BSD", "Apache", "ISC", "PSF", "Python Software Foundation", "MPL", "Mozilla Public",
    "Zlib", "0BSD", "CC0", "Unlicense", "HPND", "BSL", "Boost",
)  # fmt: skip
"""Words in the names of accepted licences.

These licences require at most a notice, or the source of changes.
"""

MIT_GRANT = "Permission is hereby granted, free of charge, to any person obtaining a copy"
"""Beginning of the text of the MIT licence, after the copyright line."""

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_INNERMOST = re.compile(r"\(([^()]*)\)")


class Package(NamedTuple):
    """An installed dependency of tbgen; `licence` is its licence as text, else "not stated"."""

    name: str
    version: str
    licence: str
    needed: bool
    """True for a dependency of tbgen or its extra `web`, False for one of `dev` only."""


def packages() -> list[Package]:
    """List the installed dependencies of tbgen with its extras `web` and `dev`, also indirect."""
    needed = _closure({"", "web"})
    every = _closure({"", "web", "dev"})
    return [
        Package(name, metadata.version(name), _licence(name), name in needed)
        for name in sorted(every - {"tbgen"})
    ]


def _closure(extras: set[str]) -> set[str]:
    """Return the names of tbgen and its installed dependencies, direct and indirect.

    extras : extras of tbgen whose dependencies count; "" stands for those that need no extra

    Extras of the dependencies are ignored.
    """
    found: set[str] = set()
    waiting = [("tbgen", extras)]
    while waiting:
        name, wanted = waiting.pop()
        if name in found:
            continue
        try:
            requirements = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        for requirement in requirements:
            match = _NAME.match(requirement)
            extra = re.search(r"extra\s*==\s*[\"']([^\"']+)", requirement)
            if match and (extra[1] if extra else "") in wanted:
                waiting.append((re.sub(r"[-_.]+", "-", match[0]).lower(), {""}))
    return found


def _licence(name: str) -> str:
    """Return the name of a package's licence, from the first source that has one.

    Sources in order: the metadata fields License-Expression, Classifier (several joined by commas)
    and License (60 characters of line 1), then MIT in a licence file; "not stated" if none has one.
    """
    about = metadata.metadata(name)
    expression = about.get("License-Expression")
    if expression:
        return str(expression)
    classified = [
        line.rsplit(" :: ", 1)[1]
        for line in about.get_all("Classifier") or []
        if line.startswith("License :: ") and " :: " in line[11:]
    ]
    text = (about.get("License") or "").strip().splitlines()
    return ", ".join(classified) or (text[0][:60] if text else _licence_of_text(name))


def _licence_of_text(name: str) -> str:
    """Return "MIT" if a licence file of the package has the MIT text, else "not stated"."""
    distribution = metadata.distribution(name)
    for file in distribution.metadata.get_all("License-File") or []:
        text = distribution.read_text(f"licenses/{file}") or distribution.read_text(file) or ""
        if MIT_GRANT in " ".join(text.split()):
            return "MIT"
    return "not stated"


def is_permissive(licence: str) -> bool:
    """Return whether one of the alternatives in a licence expression is permissive.

    Alternatives are joined by OR or a comma, the licences of an alternative by AND; parentheses
    group. In a permissive alternative every licence contains a word of `PERMISSIVE`.
    """
    while _INNERMOST.search(licence):
        licence = _INNERMOST.sub(lambda group: "MIT" if is_permissive(group[1]) else "", licence)
    return any(
        all(any(word in part for word in PERMISSIVE) for part in choice.split(" AND "))
        for choice in re.split(r" OR |, ", licence)
    )


def advisories(needed: list[Package]) -> tuple[int | None, str]:
    """Run pip-audit on `needed`; return the number of packages with advisories, and their list.

    The list is a text like `NAME VERSION: ID, ID; NAME ...`. If pip-audit is missing or fails, the
    result is None and the reason.
    """
    # First beside this interpreter, whose environment may not be activated; then on the path.
    beside = str(Path(sys.executable).parent)
    program = shutil.which("pip-audit", path=beside) or shutil.which("pip-audit")
    if program is None:
        return None, "pip-audit is not installed"
    command = [program, "--format", "json", "--progress-spinner", "off", "--no-deps"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("".join(f"{package.name}=={package.version}\n" for package in needed))
        listed.flush()
        result = subprocess.run(
            [*command, "--disable-pip", "--requirement", listed.name],
            capture_output=True,
            text=True,
        )
    try:
        found = json.loads(result.stdout)["dependencies"]
    except (ValueError, KeyError):
        return None, (result.stderr.strip().splitlines() or ["no answer"])[-1][:200]
    concerned = [
        f"{one['name']} {one['version']}: {', '.join(known['id'] for known in one['vulns'])}"
        for one in found
        if one.get("vulns")
    ]
    return len(concerned), "; ".join(concerned)


def main() -> int:
    """Print the packages and a JSON summary; return the exit status.

    The status is 1 if a needed package has a known advisory or no permissive licence, or with
    `--advisories` if pip-audit gave no result.
    """
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--advisories", action="store_true", help="fail if they are unknown")
    arguments = parser.parse_args()
    found = packages()
    wrong = []
    for package in found:
        good = is_permissive(package.licence)
        use = "needed" if package.needed else "tests"
        if package.needed and not good:
            wrong.append(package.name)
        mark = "" if good else "  <- asks more"
        print(f"{package.name:24} {package.version:12} {use:7} {package.licence}{mark}")
    known, words = advisories([package for package in found if package.needed])
    print(json.dumps({"packages": len(found), "needed": sum(p.needed for p in found),
                      "licences_not_allowed": wrong, "advisories": known,
                      "advisories_said": words}))  # fmt: skip
    return int(bool(wrong) or bool(known) or (known is None and arguments.advisories))


if __name__ == "__main__":
    sys.exit(main())
