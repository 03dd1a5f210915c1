"""Write docs/commands.md: the commands with their arguments and options, from `tbgen.cli`.

    python scripts/docs/commands.py

Details and examples are left to `tbgen COMMAND --help`, the options of the commands in
`DESCRIBED_ELSEWHERE` to their pages. `tests/docs/test_generated.py` compares the file.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from click import Argument, Choice, Command, Context, IntRange, Option, Parameter

from tbgen.cli import COMMANDS, main
from tbgen.cli.lessons import LESSONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "commands.md"

HEAD = """# Commands

Reference for users of the command line, written by `python scripts/docs/commands.py`.
`tbgen COMMAND --help` adds details and examples. [Common options](#common-options) are described
once for all commands. Every command but `engine` has `--json`: one JSON object on stdout.
"""

COMMON = """## Common options

MATERIAL is a material, a pattern, a set or a `@FILE` ([which](cluster.md#which-tables)); commands
with `MATERIAL...` also have `--men` and `--attackers`. POSITION is in any
[notation](notations.md); `probe`, `convert` and `judge` read standard input for `-`. *Table
options* are `--tables`, `--rules`, `--minor-chases`, `--orders` and `--metric`.
"""

FOOT = """
## In a shell

An error is one line on stderr and a hint; with `--json` also an object on stdout.
`TBGEN_TRACEBACK=1` adds the traceback.

Exit status: 0 ok; 1 findings (a mismatch, a missing table, a failed verification); 2 usage, bad
input, no space or no memory; 3 a corrupt file; 130 interrupted. With `build --keep-going` it is
that of the first table that failed.

To complete commands, options and choices by Tab, write one line: in `~/.bashrc` (bash 4.4 or later)
`eval "$(_TBGEN_COMPLETE=bash_source tbgen)"`, in `~/.zshrc` the same with `zsh_source`, in
`~/.config/fish/completions/tbgen.fish` `_TBGEN_COMPLETE=fish_source tbgen | source`.
"""

MATERIAL_OPTIONS = ("--men", "--attackers")
"""Options of every command that takes several materials; the page describes them once."""

TABLE_OPTIONS = ("--tables", "--rules", "--minor-chases", "--orders", "--metric")
"""Options that select tables in a directory; the page describes them once."""

DESCRIBED_ELSEWHERE = {"find"}
"""Commands whose own options are described on their own page."""

RULES_MEANINGS = re.compile(r": none = [^.]*\.")
"""Regular expression for the list of all rule sets with their meanings in a help text.

The page has a link in its place.
"""


def kind(parameter: Parameter) -> str:
    """Return the text for an option's value, after a space: choices or metavar; "" for a flag."""
    if isinstance(parameter, Option) and parameter.is_flag:
        return ""
    if isinstance(parameter.type, Choice):
        return " " + "|".join(parameter.type.choices)
    if isinstance(parameter.type, IntRange):
        return f" {parameter.metavar or 'N'}"
    return f" {parameter.metavar or parameter.type.name.upper()}"


def names(option: Option) -> str:
    """Return the spelling of an option: `--out, -o FILE`, `--flip/--no-flip`."""
    plain = ", ".join(sorted(option.opts, key=len, reverse=True))
    return "/".join([plain, *option.secondary_opts]) + kind(option)


def arguments(command: Command) -> str:
    """Return the arguments of a command as its usage line shows them, each after a space."""
    words = []
    for argument in command.params:
        if isinstance(argument, Argument):
            word = argument.metavar or (argument.name or "").upper()
            many = argument.nargs == -1 and "..." not in word
            words.append(f"{word}..." if many else word)
    return " ".join(["", *words])


def item(option: Option) -> str:
    """Return the item of a Markdown list that describes an option."""
    text = option.help or f"Default: {option.show_default}."
    text = RULES_MEANINGS.sub(" ([rule sets](repetition.md#rule-sets)).", text)
    return f"- `{names(option)}`: {' '.join(text.split())}"


def options(command: Command) -> dict[str, str]:
    """Map the longest name of each option of a command, without hidden ones, to its list item."""
    return {
        max(option.opts, key=len): item(option)
        for option in command.params
        if isinstance(option, Option) and not option.hidden
    }


def common_items(commands: dict[str, Command]) -> dict[str, list[str]]:
    """Map the text of each option that several commands share to the commands' names.

    The text is the option's list item on the page, as returned by `item`. An option is shared
    only if its whole text is the same, including the default.
    """
    users: dict[str, list[str]] = {}
    for name, command in commands.items():
        for line in options(command).values():
            users.setdefault(line, []).append(name)
    return {line: names for line, names in users.items() if len(names) > 1}


def common_options(shared: dict[str, list[str]]) -> Iterator[str]:
    """Yield the lines of the section on shared options; `shared` is from `common_items`.

    If the default of an option differs between commands, the commands are named after each default
    but the most common one.
    """
    yield COMMON
    defaults: dict[str, dict[str, list[str]]] = {}
    for line, users in sorted(shared.items()):
        text, _, default = line.partition(" Default: ")
        defaults.setdefault(text, {})[default.removesuffix(".")] = users
    uses = Counter(text.split()[1] for text in defaults)
    for text, several in defaults.items():
        *few, (usual, most) = sorted(several.items(), key=lambda one: len(one[1]))
        said = [f"{default} ({', '.join(users)})" for default, users in few]
        said += [f"else {usual}" if few else usual] if usual else []
        named = f" ({', '.join(most)})" if uses[text.split()[1]] > 1 else ""
        yield f"{text}{' Default: ' * bool(said)}{', '.join(said)}{'.' * bool(said)}{named}"


def section(name: str, command: Command, shared: dict[str, list[str]]) -> Iterator[str]:
    """Yield the lines of a command's section; of options in `shared` it has at most the names."""
    page = LESSONS[name].page.removeprefix("docs/")
    yield f"## {name}\n"
    said = COMMANDS[name].removesuffix(".")
    yield f"`tbgen {name}{arguments(command)}`: [{said}]({page}).\n"
    rows = options(command)
    own = [line for line in rows.values() if line not in shared]
    if name in DESCRIBED_ELSEWHERE:
        yield "Its conditions are described there.\n"
    elif own:
        yield "\n".join([*own, ""])
    said = {"--json", *(MATERIAL_OPTIONS if "MATERIAL..." in arguments(command) else ())}
    common = [option for option, line in rows.items() if line in shared and option not in said]
    named = [f"`{option}`" for option in common]
    if set(TABLE_OPTIONS) <= set(common):
        named = ["table options", *(f"`{each}`" for each in common if each not in TABLE_OPTIONS)]
    if named:
        yield f"Common: {', '.join(named)}.\n"


def page() -> str:
    """Return the whole page."""
    lines = [HEAD]
    context = Context(main)
    commands = {
        name: main.get_command(context, name)  # type: ignore[attr-defined]
        for name in COMMANDS
    }
    shared = common_items(commands)
    described = {line: users for line, users in shared.items() if "`--json`" not in line}
    for name, command in commands.items():
        lines.extend(section(name, command, shared))
    lines.extend(common_options(described))
    return "\n".join(lines) + "\n" + FOOT


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
