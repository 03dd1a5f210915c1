"""Examples in pages without their output: blocks are run or parsed, commands in the text exist.

`test_sessions` runs the examples that are shown with their output. A block in an unknown language
is an error, so that no example is forgotten.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest

from tbgen.cli import COMMANDS, main
from tests.helpers.cprograms import needs_cxx
from tests.helpers.paths import DOCS, ROOT
from tests.helpers.sessions import blocks, steps_of
from tests.helpers.sources import name_of, pages

PAGES = [page for page in pages() if "tests" not in page.parts and page.name != "CHANGELOG.md"]
TRIED = {
    "console": {"*"},  # test_sessions, and the tests of the pages that it names
    "pycon": {"*"},  # test_sessions, tests/probing/test_docs.py
    "js": {"docs/web.md"},  # tests/probing/test_web.py
    "sh": {"*"},  # below: they install, serve, or want other machines
    "powershell": {"docs/install.md", "docs/zh/install.md"},  # wants Windows
    "python": {"docs/tutorial.md", "docs/zh/tutorial.md"},  # test_sessions, test_chinese
    "c": {"docs/engines.md", "docs/zh/engines.md"},  # tests/probing/test_contrib_library.py
    "http": {"docs/http.md"},  # test_openapi
    "nginx": {"docs/board-public.md"},  # tests/board/test_proxy.py
    "ini": {"docs/board-public.md"},
}
"""Pages that may have code blocks, by language of the block; `*` stands for all pages.

The test named beside an entry runs or checks these blocks.
"""

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
COMMAND = re.compile(r"(?<![\w./'-])tbgen ([a-z]+)\b([^|;&]*)")
"""Regular expression for a `tbgen` command in a line of text, with its arguments."""


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def test_every_block_is_tested() -> None:
    untried = [
        f"{name_of(page)}: {language}"
        for page in PAGES
        for language in set(re.findall(r"^ *```(\w+)$", text_of(page), re.MULTILINE))
        if not TRIED.get(language, set()) & {"*", name_of(page)}
    ]
    assert not untried


@cache
def options_of(name: str) -> set[str]:
    """Return every spelling of every option of a command."""
    command = main.get_command(click.Context(main), name)  # type: ignore[attr-defined]
    return {
        "--help",
        *(word for one in command.params for word in (*one.opts, *one.secondary_opts)),
    }


def commands_in(page: Path) -> list[str]:
    """List the commands of a page: lines of `sh` blocks, and `tbgen ...` between backquotes."""
    text = text_of(page).replace(".venv/bin/tbgen", "tbgen")
    without_blocks = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines = re.findall(r"`(tbgen [^`]+)`", re.sub(r"\n\s*", " ", without_blocks))
    return lines + [line for block in blocks(text, "sh") for line in block.splitlines()]


def test_commands_in_the_text_exist() -> None:
    """Every `tbgen` command that a page names exists, with each of its options."""
    wrong = []
    for page in PAGES:
        for line in commands_in(page):
            for name, arguments in COMMAND.findall(re.sub(r"\\?\$\(.*\)", "", line)):
                words = set(re.findall(r"(?<!\S)-[^\s'\"=]+", arguments))
                if name not in COMMANDS:
                    wrong.append(f"{name_of(page)}: {line}")
                else:
                    unknown = words - options_of(name)
                    wrong += [f"{name_of(page)}: {line}: {word}" for word in unknown]
    assert not wrong


def test_shell_blocks_are_well_formed() -> None:
    for page in PAGES:
        for block in blocks(text_of(page), "sh"):
            result = subprocess.run(["sh", "-n", "-c", block], capture_output=True, text=True)
            assert result.returncode == 0, f"{name_of(page)}: {result.stderr}"


def test_extras_exist() -> None:
    for page in PAGES:
        named = re.findall(r"(?:tbgen|\.)\[([a-z,]+)\]", text_of(page))
        extras = {extra for group in named for extra in group.split(",")}
        assert extras <= set(EXTRAS), name_of(page)


def test_every_extra_is_explained() -> None:
    text = text_of(DOCS / "install.md")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(EXTRAS)


@needs_cxx
@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="pkg-config is not installed")
def test_installing_the_c_library(tmp_path: Path) -> None:
    """The console commands of docs/engines.md install the C library and compile a program with it.

    The program is the page's own code, stored as `yours.c`.
    """
    page = text_of(DOCS / "engines.md")
    shutil.copytree(ROOT / "contrib", tmp_path / "contrib")
    code = blocks(page, "c")[0] + (
        'int main(void) { return open_tables("none") != XQ_ERR_IO || open_tables("contrib") < 0; }'
    )
    (tmp_path / "yours.c").write_text(code)
    commands = [command for block in blocks(page, "console") for command, _ in steps_of(block)]
    assert len(commands) > 2
    result = subprocess.run(
        ["sh", "-ec", "\n".join([*commands, "./yours"])],
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
