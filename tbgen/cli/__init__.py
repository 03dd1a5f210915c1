"""The command line: one module for each command, imported when the command is called.

    options    options that several commands share
    materials  arguments that name materials, singly or as sets
    command    the class of every command: answers on stdout, failures on stderr
    lessons    examples and next steps, for `--help` and for terminals
    progress   progress of a build, on stderr
    proofs     output of `verify`: progress and results of proofs
    streams    text of standard streams, in several encodings; a line on stderr that is overwritten
    workshop   builds that pages of the board request (`serve`)
    opponent   opponent on the board, played by the engine (`serve`)

All other modules are commands, listed in `GROUPS`. A command reads options, calls the packages
below, and prints. `tbgen.answers` has answers, messages and exit statuses, also for the board.
"""

from __future__ import annotations

import importlib

import click
from click.shell_completion import CompletionItem

from tbgen import __version__
from tbgen.cli.command import HELP_NAMES, Group
from tbgen.cli.lessons import FIRST_STEPS, write_lesson

GROUPS = {
    "Tables": {
        "plan": "List the tables that a build would make, with their costs.",
        "build": "Build tables and everything they need.",
        "verify": "Prove finished tables from the rules.",
        "ls": "List the tables present.",
        "stats": "Print statistics of a table.",
        "dump": "Write a table, or a sample of it, as columns: CSV, NumPy, Parquet.",
        "pack": "Write win-draw-loss files of finished tables.",
        "index": "Write an index of a directory of tables, for others to fetch.",
        "fetch": "Fetch tables from an address, and check them.",
    },
    "Positions and games": {
        "probe": "Show the value of a position and of all its moves.",
        "line": "Show best play of both sides to the end.",
        "find": "List all positions of a table that meet conditions.",
        "judge": "Judge a game or a loop under the repetition rules, and label every ply.",
        "convert": "Write a position, or moves from it, in another notation.",
        "diagram": "Draw a position.",
    },
    "Programs": {
        "serve": "Serve the board in a browser, and the HTTP API.",
        "engine": "Run the engine: UCI or UCCI on stdin and stdout.",
        "doctor": "Report on the environment.",
    },
}
"""Commands in `tbgen --help`: title of a group -> name of a command -> its one-line help."""

COMMANDS = {name: text for commands in GROUPS.values() for name, text in commands.items()}


class _LazyGroup(Group):
    """Group of all commands of `tbgen`, which are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"tbgen.cli.{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        longest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), text) for name, text in commands.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_lesson(formatter, FIRST_STEPS)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the matching commands and options; imports no command, as each Tab calls this."""
        found = [name for name in COMMANDS if name.startswith(incomplete)]
        options = click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=COMMANDS[name]) for name in found] + options


@click.group(cls=_LazyGroup, context_settings={"help_option_names": HELP_NAMES})
@click.version_option(__version__, message="tbgen %(version)s")
def main() -> None:
    """Perfect-play endgame tables for xiangqi under the real repetition rules.

    Exit status: 0 ok, 1 findings (a mismatch, a missing table, a failed verification), 2 usage
    or bad input, 3 a corrupt file, 130 interrupted: by Ctrl-C, SIGTERM or SIGHUP.
    """
