"""Classes of practical endgames, as in handbooks, from the statistics of tables.

    won    例胜   the attacker, to move, wins more than 98 % of the positions
    drawn  例和   more than 98 % of the positions are drawn with the attacker to move
    open   不定   all others

The attacker is the side named first in the material. Statistics alone are needed, so that hundreds
of endgames take a second.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from tbgen.indexing import Material, Side
from tbgen.tables import Outcome, TableStatistics
from tbgen.tables.statistics import SideCounts

CLASS_SHARE = 0.98
"""Share of won or drawn positions above which an endgame is in that class (as for Jih-tung Pai)."""

CLASSES = ("won", "open", "drawn")
"""Classes of endgames, from best to worst for the attacker."""


@dataclass(frozen=True, slots=True)
class HandbookEntry:
    """An endgame of the handbook: `material.first` attacks, `material.second` defends.

    `kind` is one of `CLASSES`. `wins`, `draws` and `losses` are shares (0 to 1) of the legal
    positions with the attacker to move. `longest` is the number of plies of the attacker's longest
    win of order 0, whoever is to move; 0 without such wins. `by_rules` is the share of both sides'
    positions that the rules of repetition decide. `other_kind` and `other_wins` are class and share
    of wins under other rules; None if there is no such table.
    """

    material: Material
    kind: str
    wins: float
    draws: float
    losses: float
    longest: int
    by_rules: float
    other_kind: str | None = None
    other_wins: float | None = None

    @property
    def changed(self) -> bool:
        """Return whether the endgame has another class under the other rules."""
        return self.other_kind is not None and self.other_kind != self.kind


def outcome_class(legal: int, wins: int, draws: int) -> str:
    """Return the class (`CLASSES`), from numbers of positions with the attacker to move."""
    if wins > CLASS_SHARE * legal:
        return "won"
    if draws > CLASS_SHARE * legal:
        return "drawn"
    return "open"


def class_of(counts: SideCounts) -> str:
    """Return the class of an endgame, from a table's statistics with the attacker to move."""
    return outcome_class(counts.legal, counts.wins, counts.draws)


def handbook_entry(figures: TableStatistics, other: TableStatistics | None = None) -> HandbookEntry:
    """Return the handbook entry of a table, computed from its statistics `figures`.

    other : statistics of the same material under other rules, or None
    """
    counts = figures.red_to_move
    legal = counts.legal or 1
    # Draws with Black to move match, too; with 0 plies they do not change the maximum.
    wins = [
        line.exact.plies
        for line in figures.histogram
        if not line.order and (line.side == Side.RED) == (line.outcome == Outcome.WIN)
    ]
    return HandbookEntry(
        Material.parse(figures.material),
        class_of(counts),
        counts.wins / legal,
        counts.draws / legal,
        counts.losses / legal,
        max(wins, default=0),
        figures.rule_decided_rate,
        None if other is None else class_of(other.red_to_move),
        None if other is None else other.red_to_move.wins / (other.red_to_move.legal or 1),
    )


def chapters(entries: Iterable[HandbookEntry]) -> dict[str, list[HandbookEntry]]:
    """Return the entries of each attacking army, by the army's name (`KRN`).

    Armies are sorted by number of pieces, then by `Army.strength`, the smaller first. The entries
    of an army are sorted by class (best for the attacker first), then by the defending army, in the
    same way as the attacking armies.
    """

    def place(entry: HandbookEntry) -> tuple[int, tuple[int, ...], int, int, tuple[int, ...]]:
        first, second = entry.material.first, entry.material.second
        kind = CLASSES.index(entry.kind)
        return sum(first.strength), first.strength, kind, sum(second.strength), second.strength

    armies = groupby(sorted(entries, key=place), lambda entry: entry.material.first.name)
    return {army: list(chapter) for army, chapter in armies}
