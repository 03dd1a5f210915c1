"""Errors of tables and of probing: each has its facts as attributes, and a one-line message."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tbgen.system.units import counted
from tbgen.tables.names import DEFAULT_TABLES
from tbgen.tables.rule_sets import UNKNOWN_RULES, RuleSet


class TablebaseError(Exception):
    """Base class of errors of tables and of probing."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle class, `args` and attributes: `__init__` has other parameters than `args`."""
        return partial(type(self).__new__, type(self)), self.args, vars(self)


def command_for(verb: str, material: str, rule_set: RuleSet) -> str:
    """Return the shell command `tbgen VERB` for a material under a rule set, without a directory.

    verb : `build` or `pack`
    """
    command = f"tbgen {verb} {material}"
    if rule_set.rules is not None:
        command += f" --rules {rule_set.rules}"
    if not rule_set.minor_chases:
        command += " --no-minor-chases"
    if rule_set.orders:
        command += f" --orders {rule_set.orders}"
    return command


class MissingTableError(TablebaseError, KeyError):
    """A table, or with `wdl` a win-draw-loss file, of this material and rule set is missing.

    Also a `KeyError`, so that a tablebase may be used like a mapping. `material` names the
    materials of all missing files, separated by blanks. `directories` are those searched. `command`
    is the shell command that makes the files. `message` and `command` name no directory, so that
    answers over HTTP may contain them; `str` of the error names directories.
    """

    def __init__(
        self,
        material: str,
        rule_set: RuleSet = UNKNOWN_RULES,
        directories: Sequence[Path] = (),
        *,
        wdl: bool = False,
    ) -> None:
        self.material = material
        self.rule_set = rule_set
        self.directories = tuple(directories)
        what, verb = ("win-draw-loss file", "pack") if wdl else ("table", "build")
        self.command = command_for(verb, material, rule_set)
        under = ""
        if rule_set.rules is not None:
            under = f" under the rules '{rule_set.rules}'"
        if rule_set.orders:
            under += f" with at most {counted(rule_set.orders, 'order')}"
        names, found = map(str, directories), material.replace(" ", ", ")
        where = f" in {' or '.join(names)}" if directories else ""
        self.message = f"there is no {what} of {found}{under}"
        option = ""
        if len(directories) == 1 and str(directories[0]) != DEFAULT_TABLES:
            option = f" --tables {shlex.quote(str(directories[0]))}"
        super().__init__(f"{self.message}{where}; run: {self.command}{option}")

    def __str__(self) -> str:
        """Return the message; `KeyError` would put it in quotes."""
        return str(self.args[0])


class RulesMismatchError(TablebaseError):
    """Files of several rule sets or metrics, of which the caller has chosen none.

    `subject` says of what there are several, as in `several rule sets`; `present` are the names
    found; `remedy` says how to choose one.
    """

    def __init__(self, subject: str, present: Sequence[str], remedy: str) -> None:
        self.subject = subject
        self.present = tuple(present)
        self.remedy = remedy
        super().__init__(f"{subject}: {', '.join(present)} are present; {remedy}")


class IllegalPositionError(TablebaseError):
    """A position that is not legal (`reason`); a table has an arbitrary value for it."""

    def __init__(self, fen: str, reason: str) -> None:
        self.fen = fen
        self.reason = reason
        super().__init__(f"{reason}: {fen}")


class UnsupportedMaterialError(TablebaseError):
    """A material that needs no table, or is too large for one."""

    def __init__(self, material: str, reason: str) -> None:
        self.material = material
        self.reason = reason
        super().__init__(f"{material} cannot have a table: {reason}")


class CorruptTableError(TablebaseError):
    """A damaged table file, or one that holds another table than its name says.

    `block` is the number of the damaged block, Red's first; None for other damage.
    """

    def __init__(self, file: Path, reason: str, block: int | None = None) -> None:
        self.file = file
        self.reason = reason
        self.block = block
        where = f"{file.name}, block {block}" if block is not None else file.name
        remedy = "pack" if file.name.endswith(".wdl.xqt") else "build"
        super().__init__(
            f"{where}: {reason}; the file is damaged, remove it and {remedy} or fetch it again"
        )


class FormatVersionError(TablebaseError):
    """A table file in a format newer than this reader, or with the number of a newer rule set.

    `what` is `format` or `rule set`; `version` is its number, `supported` the highest known one.
    """

    def __init__(self, file: Path, version: int, supported: int, what: str = "format") -> None:
        self.file = file
        self.version = version
        self.supported = supported
        self.what = what
        super().__init__(
            f"{file.name} has {what} {version}, this reader knows {what}s up to {supported}; "
            "update tbgen"
        )
