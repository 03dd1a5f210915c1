"""Write docs/commands.md: every command with its arguments, options and examples, from the program.

    python scripts/docs/commands.py

What is written comes from the commands themselves (`tbgen.cli`), so that the page says what
`--help` says. `tests/docs/test_generated.py` keeps it current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from click import Argument, Choice, Command, Context, IntRange, Option, Parameter

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tbgen.cli import COMMANDS, main  # noqa: E402
from tbgen.cli.lessons import LESSONS  # noqa: E402

PAGE = ROOT / "docs" / "commands.md"

HEAD = """# Commands

Written by `python scripts/docs/commands.py` from the program itself; `tbgen COMMAND --help` says
the same. What they have in common is [at the end](#in-a-shell).
"""

FOOT = """
## In a shell

Which tables are meant is the same everywhere: `--tables DIR` (else `$TBGEN_TABLES`, else
`./egtb`) and `--rules`; tables of different rules or options never mix.

Exit status of all commands: 0 ok, 1 findings (a mismatch, a missing table, a failed verification),
2 usage or bad input, 3 a corrupt file, 130 interrupted. Errors are one line on stderr and a hint;
with `--json`, stdout has them as an object, too. `TBGEN_TRACEBACK=1` shows where it came from.

At a terminal `build`, `probe` and `verify` end with what may come next; to pipes and files they
write answers alone.

**Completion.** One line in the shell's own file lets Tab complete commands, options and choices:

| shell | file | line |
|---|---|---|
| bash 4.4 or later | `~/.bashrc` | `eval "$(_TBGEN_COMPLETE=bash_source tbgen)"` |
| zsh | `~/.zshrc` | `eval "$(_TBGEN_COMPLETE=zsh_source tbgen)"` |
| fish | `~/.config/fish/completions/tbgen.fish` | `_TBGEN_COMPLETE=fish_source tbgen \\| source` |
"""


def kind(parameter: Parameter) -> str:
    """What an option takes: its choices, else its name for it; nothing for a flag."""
    if isinstance(parameter, Option) and parameter.is_flag:
        return ""
    if isinstance(parameter.type, Choice):
        return " " + "|".join(parameter.type.choices)
    if isinstance(parameter.type, IntRange):
        return f" {parameter.metavar or 'N'}"
    return f" {parameter.metavar or parameter.type.name.upper()}"


def names(option: Option) -> str:
    """How an option is written: `--out, -o FILE`, `--flip/--no-flip`."""
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


def section(name: str, command: Command) -> Iterator[str]:
    """What the page says of a command."""
    yield f"## {name}\n"
    yield f"`tbgen {name}{arguments(command)}`\n"
    for paragraph in (command.help or "").strip().split("\n\n"):
        yield f"{' '.join(paragraph.split())}\n"
    yield "| option | |\n|---|---|"
    for option in command.params:
        if isinstance(option, Option) and option.help:
            yield f"| `{cell(names(option))}` | {cell(option.help)} |"
        elif isinstance(option, Option):
            yield f"| `{cell(names(option))}` | Default: {option.show_default}. |"
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
    for name in COMMANDS:
        command = main.get_command(context, name)  # type: ignore[attr-defined]
        lines.extend(section(name, command))
    return "\n".join(lines) + FOOT


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
