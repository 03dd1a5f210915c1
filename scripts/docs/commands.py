"""Write docs/commands.md: every command with its arguments, options and examples, from the program.

    python scripts/docs/commands.py

What is written comes from the commands themselves (`tbgen.cli`), so that the page says what
`--help` says. `tests/docs/test_generated.py` keeps it current.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from click import Argument, Choice, Command, Context, IntRange, Option, Parameter

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tbgen.cli import COMMANDS, main  # noqa: E402
from tbgen.cli.lessons import LESSONS  # noqa: E402

PAGE = ROOT / "docs" / "commands.md"

HEAD = """# Commands

Reference for users of the command line, written by `python scripts/docs/commands.py` from
`tbgen COMMAND --help`. Options that several commands have are in
[Common options](#common-options); tables, exit status and completion are under
[In a shell](#in-a-shell).
"""

ARGUMENTS = "## Common arguments\n"

COMMON = """
## Common options

| option | |
|---|---|"""

FOOT = """
## In a shell

All commands use the tables of `--tables DIR` (else `$TBGEN_TABLES`, else `./egtb`) under
`--rules`; tables of different rules or options never mix.

Exit status: 0 ok, 1 findings (a mismatch, a missing table, a failed verification), 2 usage or bad
input, no space or no memory, 3 a corrupt file, 130 interrupted; with `build --keep-going` that of
the first table that failed. An error is one line on stderr and a hint; with `--json`
also an object on stdout. `TBGEN_TRACEBACK=1` adds the traceback. At a terminal `build`, `probe`
and `verify` end with a suggestion; pipes and files get the answer alone.

**Completion.** One line in the shell's own file lets Tab complete commands, options and choices:

| shell | file | line |
|---|---|---|
| bash 4.4 or later | `~/.bashrc` | `eval "$(_TBGEN_COMPLETE=bash_source tbgen)"` |
| zsh | `~/.zshrc` | `eval "$(_TBGEN_COMPLETE=zsh_source tbgen)"` |
| fish | `~/.config/fish/completions/tbgen.fish` | `_TBGEN_COMPLETE=fish_source tbgen \\| source` |
"""


def kind(parameter: Parameter) -> str:
    """The value that an option takes: its choices, else its name for it; nothing for a flag."""
    if isinstance(parameter, Option) and parameter.is_flag:
        return ""
    if isinstance(parameter.type, Choice):
        return " " + "|".join(parameter.type.choices)
    if isinstance(parameter.type, IntRange):
        return f" {parameter.metavar or 'N'}"
    return f" {parameter.metavar or parameter.type.name.upper()}"


def names(option: Option) -> str:
    """The spelling of an option: `--out, -o FILE`, `--flip/--no-flip`."""
    plain = ", ".join(sorted(option.opts, key=len, reverse=True))
    return "/".join([plain, *option.secondary_opts]) + kind(option)


def arguments(command: Command) -> str:
    """The arguments in the usage line."""
    words = []
    for argument in command.params:
        if isinstance(argument, Argument):
            word = argument.metavar or (argument.name or "").upper()
            many = argument.nargs == -1 and not word.endswith("...")
            words.append(f"{word}..." if many else word)
    return " ".join(["", *words])


def cell(text: str) -> str:
    """Text inside a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def row(option: Option) -> str:
    """The row of a table about an option."""
    text = option.help or f"Default: {option.show_default}."
    return f"| `{cell(names(option))}` | {cell(text)} |"


def options(command: Command) -> dict[str, str]:
    """The rows of a command's options by their first name."""
    return {
        max(option.opts, key=len): row(option)
        for option in command.params
        if isinstance(option, Option)
    }


def common_rows(commands: dict[str, Command]) -> dict[str, list[str]]:
    """Rows that several commands share, with the names of these commands."""
    users: dict[str, list[str]] = {}
    for name, command in commands.items():
        for line in options(command).values():
            users.setdefault(line, []).append(name)
    return {line: names for line, names in users.items() if len(names) > 1}


def common_options(shared: dict[str, list[str]]) -> Iterator[str]:
    """The section on shared options; defaults that differ name their commands."""
    yield COMMON
    defaults: dict[str, dict[str, list[str]]] = {}
    for line, users in sorted(shared.items()):
        text, _, default = line.removesuffix(" |").partition(" Default: ")
        defaults.setdefault(text, {})[default] = users
    uses = Counter(text.split()[1] for text in defaults)
    for text, several in defaults.items():
        named = len(several) > 1 or uses[text.split()[1]] > 1
        said = [
            (f"Default: {default}" if default else "").removesuffix(".")
            + (f" ({', '.join(users)})" if named else "")
            for default, users in several.items()
        ]
        yield f"{text} {'; '.join(said)} |".replace("  ", " ")


def paragraphs(command: Command) -> list[str]:
    """The help of a command by paragraphs, without its exit status."""
    texts = [" ".join(text.split()) for text in (command.help or "").strip().split("\n\n")]
    return [text for text in texts if not text.startswith("Exit status: ")]


def common_paragraphs(commands: Iterable[Command]) -> list[str]:
    """Paragraphs of help that several commands share."""
    count = Counter(text for command in commands for text in paragraphs(command))
    return [text for text, number in count.items() if number > 1]


def section(
    name: str, command: Command, shared: dict[str, list[str]], said: list[str]
) -> Iterator[str]:
    """The section of a command; rows of `shared` and paragraphs of `said` are left out."""
    yield f"## {name}\n"
    yield f"`tbgen {name}{arguments(command)}`\n"
    texts = paragraphs(command)
    yield from (f"{text}\n" for text in texts if text not in said)
    if any(text in said for text in texts):
        yield "Arguments: see [common arguments](#common-arguments).\n"
    yield "| option | |\n|---|---|"
    rows = options(command)
    yield from (line for line in rows.values() if line not in shared)
    common = ", ".join(f"`{option}`" for option, line in rows.items() if line in shared)
    yield f"| {common} | [common options](#common-options) |"
    lesson = LESSONS[name]
    yield "\n| example | |\n|---|---|"
    for line, meaning in lesson.examples:
        yield f"| `{cell(line)}` | {cell(meaning)} |"
    page = lesson.page.removeprefix("docs/")
    yield f"\nMore: [{page}]({page})\n"


def page() -> str:
    """The whole page."""
    lines = [HEAD, "| command | does |\n|---|---|"]
    lines.extend(f"| [{name}](#{name}) | {cell(does)} |" for name, does in COMMANDS.items())
    lines.append("")
    context = Context(main)
    commands = {
        name: main.get_command(context, name)  # type: ignore[attr-defined]
        for name in COMMANDS
    }
    shared = common_rows(commands)
    said = common_paragraphs(commands.values())
    for name, command in commands.items():
        lines.extend(section(name, command, shared, said))
    lines += [ARGUMENTS, "\n\n".join(said)]
    lines.extend(common_options(shared))
    return "\n".join(lines) + "\n" + FOOT


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
