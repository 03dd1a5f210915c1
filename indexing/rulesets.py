"""Repetition rules as data: the offences of each rule set, and what counts as a chase.

    name         who plays by it                     checks  chases  a chase is
    none         servers without repetition rules    -       -
    check        "AllowChase", many servers          lose    -
    wxf          WXF 2018; Asian (AXF), Vietnam      lose    lose    a new attack of a piece on
                                                                     another that the reply answers
    computer     Pikafish, most analysis by engines  lose    lose    an attack on a piece that was
                                                                     not attacked; a check anywhere
                                                                     in the loop voids it
    taiwan       Taiwan                              lose    lose    as wxf, also of pawns at home
    unprotected  some sites for players              lose    lose    as wxf, of no protected piece

A set is one `Terms`: its offences, its chase rules, which are a word of the bits below, and how it
is called. Solver, proof, referee and engine are handed that word and ask for the property that they
need, never for the name of a set. A new set is a member of `Rules` with its terms
(docs/architecture.md, "How to add a rule set"); `MINOR_CHASES` is a choice that `wxf` leaves open.

Source: WXF 2018; docs/referee.md, section 2, has the points that the comments name.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MINOR_CHASES = 1
"""An advisor or elephant that attacks a protected rook, knight or cannon chases it (point 4a)."""
NEW_BY_VICTIM = 2
"""An attack is new if no piece attacked the victim before, whichever does now (point 6); whether
the reply answers it does not matter (point 7)."""
CHECK_VOIDS = 4
"""A check by either side, anywhere in the loop, makes that nobody in it chases."""
PAWNS_AT_HOME = 8
"""A pawn on its own half can be chased, too (point 2)."""
UNPROTECTED_ONLY = 16
"""Nobody chases a piece that has a root, whatever attacks it: point 4a is left out."""
CHASE_RULES = (MINOR_CHASES, NEW_BY_VICTIM, CHECK_VOIDS, PAWNS_AT_HOME, UNPROTECTED_ONLY)
"""Every bit of a word of chase rules."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a rule set.

    `meaning` and `in_chinese` say in a few words what a repetition is worth; `option` is the value
    of the engine's option `Repetition Rule`, as GUIs send it where they know the set. `chases` are
    the chase rules, None where perpetual chase is no offence.
    """

    meaning: str
    in_chinese: str
    option: str
    checks_lose: bool = True
    chases: int | None = None
    leaves_minor_chases_open: bool = False


class Rules(StrEnum):
    """Repetition rules (docs/referee.md); files store the place in this list: append only."""

    NONE = "none"
    CHECK = "check"
    WXF = "wxf"
    COMPUTER = "computer"
    TAIWAN = "taiwan"
    UNPROTECTED = "unprotected"

    @classmethod
    def _missing_(cls, value: object) -> Rules | None:
        """Return the set that another name stands for."""
        return SYNONYMS.get(str(value))

    @property
    def terms(self) -> Terms:
        """The terms of the set."""
        return _TERMS[self]

    @property
    def number(self) -> int:
        """The byte that files store."""
        return list(Rules).index(self)

    @property
    def meaning(self) -> str:
        """The worth of a repetition, in a few words."""
        return self.terms.meaning

    @property
    def judges_checks(self) -> bool:
        """True if perpetual check loses."""
        return self.terms.checks_lose

    @property
    def judges_chases(self) -> bool:
        """True if perpetual chase loses."""
        return self.terms.chases is not None

    @property
    def leaves_minor_chases_open(self) -> bool:
        """True if `MINOR_CHASES` is a choice of its own under these rules."""
        return self.terms.leaves_minor_chases_open

    def chase_rules(self, *, minor_chases: bool = True) -> int:
        """Return the chase rules as a word of bits; those of `wxf` where chases are no offence."""
        word = MINOR_CHASES if self.terms.chases is None else self.terms.chases
        return word if minor_chases else word & ~MINOR_CHASES


_TERMS = {
    Rules.NONE: Terms("repetition is a draw", "循环作和", "NoJudgement", checks_lose=False),
    Rules.CHECK: Terms("perpetual check loses", "长将作负", "AllowChase"),
    Rules.WXF: Terms(
        "perpetual check or chase loses",
        "长将长捉作负",
        "AsianRule",
        chases=MINOR_CHASES,
        leaves_minor_chases_open=True,
    ),
    Rules.COMPUTER: Terms(
        "perpetual check or chase loses, as Pikafish judges it",
        "长将长捉作负（Pikafish）",
        "ComputerRule",
        chases=MINOR_CHASES | NEW_BY_VICTIM | CHECK_VOIDS,
    ),
    Rules.TAIWAN: Terms(
        "perpetual check or chase loses, also of pawns at home",
        "长将长捉作负，未过河兵卒亦不可长捉",
        "TaiwanRule",
        chases=MINOR_CHASES | PAWNS_AT_HOME,
    ),
    Rules.UNPROTECTED: Terms(
        "perpetual check or chase of an unprotected piece loses",
        "长将、长捉无根子作负",
        "UnprotectedRule",
        chases=UNPROTECTED_ONLY,
    ),
}

SYNONYMS = {"asian": Rules.WXF, "vietnam": Rules.WXF}
"""Other names of a set: the Asian rules of 2017 are those of the WXF in another order."""

CHINESE = "chinese"
"""The rules of the CXA (2020), which are no set: no table can hold them (docs/exact.md)."""
