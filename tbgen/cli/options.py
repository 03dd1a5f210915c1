"""Options that several commands share, as decorators, and the selected tables.

A command that reads tables uses `table_options` and receives one `Selection`. A command that builds
tables needs one definite rule set, and uses `rule_set_options`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tbgen.indexing.rulesets import CHINESE, SYNONYMS, Rules
from tbgen.notation import MOVE_NOTATIONS
from tbgen.system.platform import usable_cores

# Imported when tables are opened: `convert` and `doctor` open none.
if TYPE_CHECKING:
    from tbgen.indexing import Material
    from tbgen.play.tablebase import GameTablebase
    from tbgen.tables import RuleChoice

DEFAULT_RULES = "wxf"
"""Default rules for building tables and judging games."""

MAX_THREADS = 1024
"""Maximum of threads, and of processes, that a user may request."""

_SIZE = re.compile(
    r"(\d{1,15}(?:\.\d{1,15})?(?:e\d{1,2})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE | re.ASCII
)
_LEAST_SIZE = 1 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(value: str | int) -> int:
    """Parse a number of bytes, at least 1 MiB: `900M`, `1.5GiB`, `1e9`; 1 K is 1024.

    Returns an integer (an option's default) unchanged. Raises `click.BadParameter` for other text.
    """
    if isinstance(value, int):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None or not float(match[1]):
        raise click.BadParameter(f"'{value}' is no size; write 900M or 1.5GiB")
    found = int(float(match[1]) * _UNITS[match[2].upper()])
    if found < _LEAST_SIZE:
        raise click.BadParameter(f"'{value}' is {found:,} bytes; write 900M or 1.5GiB")
    return found


def directory(value: str | Path) -> Path:
    """Return the path of a directory, which may be missing.

    Raises `click.BadParameter` for an empty name and for a broken link.
    """
    if value == "":
        raise click.BadParameter("an empty name is no directory; write . for this one")
    path = Path(value)
    if path.is_symlink() and not path.exists():
        raise click.BadParameter(f"{path} is a link to a directory that is missing")
    return path


def jobs(value: str | int) -> int:
    """Return a number of processes, 1 to `MAX_THREADS`; 0 for `auto`, and for the integer 0.

    Raises `click.BadParameter` for anything else.
    """
    if value in ("auto", 0):
        return 0
    text = str(value)
    if not text.isdecimal() or not 1 <= int(text) <= MAX_THREADS:
        limits = f"1 to {MAX_THREADS}"
        raise click.BadParameter(f"'{text}' is no number of processes; write auto, or {limits}")
    return int(text)


class RulesName(click.Choice[str]):
    """Type of the option `--rules`: name or synonym of a rule set, or `chinese` if allowed."""

    def __init__(self, *, judges: bool = False) -> None:
        """Accept the names of all rule sets with tables; with `judges` also the Chinese rules."""
        self.judges = judges
        super().__init__((*map(str, Rules), *SYNONYMS, *(CHINESE,) * judges))

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the name of a rule set in `Rules`, or `CHINESE`; overrides click's method."""
        if value == CHINESE:
            if self.judges:
                return CHINESE
            message = "chinese has no tables (docs/exact.md); only `tbgen judge` accepts it"
            self.fail(message, param, ctx)
        return str(Rules(super().convert(value, param, ctx)))


def _default_tables() -> str:
    from tbgen.tables.names import DEFAULT_TABLES  # late: slow to load

    return DEFAULT_TABLES


tables_option = click.option(
    "--tables", type=directory, envvar="TBGEN_TABLES", default=_default_tables, metavar="DIR",
    help="The directory of the tables. Default: $TBGEN_TABLES, else ./egtb.",
)  # fmt: skip
"""Decorator that adds `--tables DIR`, as the parameter `tables`: a `Path`."""


def rules_option(default: str | None = None, *, judges: bool = False) -> Callable[..., Any]:
    """Return a decorator that adds `--rules`, as the parameter `rules`: a name.

    default : value of the parameter if the option is not given
    judges : whether `CHINESE` is allowed
    """
    meanings = {str(rules): rules.meaning for rules in Rules} | SYNONYMS
    listed = "; ".join(f"{name} = {meaning}" for name, meaning in meanings.items())
    chinese = "; chinese = the CXA's, where the verdict is certain" if judges else ""
    usual = default or "the only ones present"
    return click.option(
        "--rules",
        type=RulesName(judges=judges),
        default=default,
        help=f"Rules of repetition: {listed}{chinese}. Default: {usual}.",
    )


def minor_chases_option(*, default: bool | None) -> Callable[..., Any]:
    """Return a decorator that adds `--minor-chases`, as the parameter `minor_chases`: a bool.

    default : value of the parameter if the option is not given
    """
    return click.option(
        "--minor-chases/--no-minor-chases",
        default=default,
        help="Under wxf, whether an advisor or elephant that attacks a protected rook, knight or "
        f"cannon chases it. Default: {'it does' if default else 'as the only tables present'}.",
    )


def rule_set_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--tables`, and `--rules --minor-chases --orders` as `rule_set`: a `RuleSet`."""

    @wraps(function)
    def with_rule_set(
        *arguments: Any, rules: str, minor_chases: bool, orders: int, **others: Any
    ) -> Any:
        from tbgen.tables import RuleSet

        rule_set = RuleSet(Rules(rules), orders or None, minor_chases)
        return function(*arguments, rule_set=rule_set, **others)

    limit = click.option(
        "--orders", type=click.IntRange(min=0), default=0, metavar="N",
        help="At most N orders of repetition. Default: no limit.",
    )(with_rule_set)  # fmt: skip
    rules = rules_option(DEFAULT_RULES)(minor_chases_option(default=True)(limit))
    return tables_option(rules)


threads_option = click.option(
    "--threads", type=click.IntRange(1, MAX_THREADS), metavar="N",
    default=min(usable_cores(), MAX_THREADS),
    help="Number of threads. Default: all cores.",
)  # fmt: skip

memory_option = click.option(
    "--memory", type=size, default=0, metavar="SIZE",
    help="Memory limit, as in 2GiB, for all tables together. Default: all that is available.",
)  # fmt: skip
"""Decorator that adds `--memory SIZE`, as the parameter `memory`: bytes, 0 if not given."""

orders_option = click.option(
    "--orders", type=click.IntRange(min=0), metavar="N",
    help="Tables limited to N orders of repetition, 0 = no limit. Default: the only ones present.",
)  # fmt: skip

_metric_option = partial(click.option, "--metric", type=click.Choice(["dtm", "dtc"]))
metric_option = _metric_option(
    help="Distance to mate or to conversion, preferred if a material has tables of both."
)
"""Decorator that adds `--metric`, as the parameter `metric`: "dtm", "dtc", or None."""
only_metric_option = _metric_option(help="List only tables of distances to mate, or to conversion.")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

check_option = click.option(
    "--check", is_flag=True, help="Read each file whole, and compute its digest."
)

notation_option = click.option(
    "--notation", type=click.Choice(MOVE_NOTATIONS), default="iccs",
    help="Notation of moves. Default: iccs (h2e2).",
)  # fmt: skip


@dataclass(frozen=True)
class Selection:
    """Tables of `directory` that options select.

    choice : filter of rule sets
    metric : "dtm" or "dtc", preferred if a material has tables of both; None for no preference
    """

    directory: Path
    choice: RuleChoice
    metric: str | None

    def open(self) -> GameTablebase:
        """Open the selected tables for probing; a missing directory counts as an empty one.

        Raises `InputError` for a choice that no rule set satisfies, and `OSError`.
        """
        from tbgen.play.tablebase import GameTablebase

        opened = GameTablebase(**asdict(self.choice), metric=self.metric)
        if self.directory.exists():
            opened.add_directory(self.directory)
        return opened

    def present(self, opened: GameTablebase, *, wdl: bool = False) -> list[Material]:
        """Return the materials of the tables in `opened`, a result of `open`.

        wdl : whether to return those of win-draw-loss files instead, which have no metric

        Only tables of the rule set of `opened` count. Raises `RulesMismatchError` if there are
        several rule sets.
        """
        rule_set = opened.rule_set
        names = opened.available_wdl() if wdl else opened.available()
        return list(dict.fromkeys(name.material for name in names if name.rule_set == rule_set))


def table_options(
    function: Callable[..., Any], metric_option: Callable[..., Any] = metric_option
) -> Callable[..., Any]:
    """Add `--tables --rules --minor-chases --orders --metric`, as `selection`: a `Selection`."""

    @wraps(function)
    def with_selection(
        *arguments: Any, tables: Path, rules: str | None, minor_chases: bool | None,
        orders: int | None, metric: str | None, **others: Any,
    ) -> Any:  # fmt: skip
        from tbgen.tables import RuleChoice

        choice = RuleChoice(None if rules is None else Rules(rules), orders, minor_chases)
        return function(*arguments, selection=Selection(tables, choice, metric), **others)

    command: Callable[..., Any] = with_selection
    minor = minor_chases_option(default=None)
    for option in (metric_option, orders_option, minor, rules_option(), tables_option):
        command = option(command)
    return command
