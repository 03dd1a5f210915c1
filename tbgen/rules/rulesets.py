"""The rule sets that decide what a repetition is worth (DESIGN 2)."""

from __future__ import annotations

from enum import IntEnum


class RuleSet(IntEnum):
    """What a side may not do for ever; each includes the one before."""

    NONE = 0
    """Any repetition is a draw."""
    CHECK = 1
    """Perpetual check loses (Fang, Hsu & Hsu)."""
    WXF = 2
    """Perpetual check and perpetual chase lose (WXF 2018)."""

    @property
    def label(self) -> str:
        """`wxf`, as on the command line."""
        return self.name.lower()

    @classmethod
    def parse(cls, text: str) -> RuleSet:
        """Read `none`, `check` or `wxf`; raises `ValueError`."""
        for rules in cls:
            if rules.label == text.lower():
                return rules
        raise ValueError(f"'{text}' is no rule set; there are none, check and wxf")
