"""Rule sets of tables: repetition rules, a limit on orders, and chases by minor pieces.

A value has *order* 0, or 1 and more if a repetition rule decides it (`codes.Value`). *Minor pieces*
are advisors and elephants; a piece is *protected* if it can be recaptured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tbgen.indexing.errors import InputError, integer
from tbgen.indexing.rulesets import Rules

MAX_ORDERS = 2**32 - 1
"""Largest limit on orders that a file can store."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules under which a table's values hold; tables of different rule sets never mix.

    `rules` is None if unknown. `orders` is the limit on orders, None without one. `minor_chases` is
    True if an advisor or elephant chases a protected rook, knight or cannon that it attacks. Only
    `wxf` leaves this choice; under other known rules `minor_chases` must be True, and has no
    effect. Raises `InputError` if it is False there, for unknown names of rules, and for a limit
    that is no integer from 1 to `MAX_ORDERS`.
    """

    rules: Rules | None
    orders: int | None = None
    minor_chases: bool = True

    def __post_init__(self) -> None:
        if self.rules is not None and not isinstance(self.rules, Rules):
            object.__setattr__(self, "rules", Rules(self.rules))  # a name, such as "asian"
        if self.orders is not None:
            object.__setattr__(self, "orders", integer(self.orders, "orders"))
            if not 1 <= self.orders <= MAX_ORDERS:
                raise InputError(
                    f"{self.orders} is no limit on orders: it is from 1 to {MAX_ORDERS}",
                    "leave --orders out: all orders are searched",
                )
        if not self.minor_chases and not (
            self.rules is None or self.rules.leaves_minor_chases_open
        ):
            raise InputError(
                f"the rules '{self.rules}' leave no choice about chases by minor pieces",
                "leave --no-minor-chases out, or ask for --rules wxf",
            )

    @property
    def known_rules(self) -> Rules:
        """The rules; raises `InputError` if they are unknown."""
        if self.rules is None:
            raise InputError("the rules of the table are unknown", "name them, such as --rules wxf")
        return self.rules

    @property
    def choice(self) -> bool | None:
        """`minor_chases` if the rules leave this choice open, else None."""
        open_choice = self.rules is not None and self.rules.leaves_minor_chases_open
        return self.minor_chases if open_choice else None

    @property
    def chase_rules(self) -> int:
        """Definition of a chase as bits (`Chases.word`); that of `wxf` if the rules are unknown."""
        return (self.rules or Rules.WXF).chase_rules(minor_chases=self.minor_chases)

    @property
    def options(self) -> int:
        """Field `options` of a file's header: 1 if `choice` is True, 0 if it is False or None."""
        return int(self.choice or False)

    @property
    def unlimited(self) -> RuleSet:
        """This rule set without a limit on orders."""
        return replace(self, orders=None)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __str__(self) -> str:
        """Return `wxf`, `check-o1`, `wxf-nominor-o2`, as in file names; `None` if rules is None."""
        limit = f"-o{self.orders}" if self.orders else ""
        return f"{self.rules}{'' if self.minor_chases else '-nominor'}{limit}"


UNKNOWN_RULES = RuleSet(None)
"""Unknown rule set, such as that of a tablebase without tables and without a chosen rule set."""


@dataclass(frozen=True, slots=True)
class RuleChoice:
    """Filter of rule sets. None in a field admits any value.

    `orders` admits rule sets with this limit on orders, or without a limit if it is 0.
    """

    rules: Rules | None = None
    orders: int | None = None
    minor_chases: bool | None = None

    def admits(self, found: RuleSet) -> bool:
        """Return whether a rule set agrees with every part of the choice that is not None."""
        return (
            self.rules in (None, found.rules)
            and (self.orders is None or (self.orders or None) == found.orders)
            and self.minor_chases in (None, found.minor_chases)
        )

    @property
    def rule_set(self) -> RuleSet:
        """Rule set to assume before any table of an admitted rule set is known.

        Parts that are None become unknown rules, no limit, minor chases. Raises like `RuleSet`.
        """
        return RuleSet(self.rules, self.orders or None, self.minor_chases is not False)
