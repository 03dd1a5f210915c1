"""Repetition rules as data: the offences of each rule set, and what counts as a chase.

    name       who plays by it                     checks  chases  a chase is
    none       servers without repetition rules    -       -
    check      "AllowChase", many servers          lose    -
    wxf        WXF 2018; Asian (AXF), Vietnam      lose    lose    a new attack of one piece on
                                                                   another that the reply answers
    computer   Pikafish, most analysis by engines  lose    lose    an attack on a piece that nobody
                                                                   attacked before; a check
                                                                   anywhere in the loop voids it

A set is its offences and its chase rules, a word of the bits below. Solver, proof, referee and
engine are handed that word and ask for the property that they need, never for the name of a set.
A new set is a member here, with its properties; `MINOR_CHASES` is a choice that `wxf` leaves open.

Source: WXF 2018; docs/referee.md, section 2, has the points that the comments name.
"""

from __future__ import annotations

from enum import StrEnum

MINOR_CHASES = 1
"""An advisor or elephant that attacks a protected rook, knight or cannon chases it (point 4a)."""
NEW_BY_VICTIM = 2
"""An attack is new if no piece attacked the victim before, whichever does now (point 6); whether
the reply answers it does not matter (point 7)."""
CHECK_VOIDS = 4
"""A check by either side, anywhere in the loop, makes that nobody in it chases."""


class Rules(StrEnum):
    """Repetition rules (docs/referee.md); files store the place in this list: append only."""

    NONE = "none"
    CHECK = "check"
    WXF = "wxf"
    COMPUTER = "computer"

    @classmethod
    def _missing_(cls, value: object) -> Rules | None:
        """Return the set that another name stands for."""
        return SYNONYMS.get(str(value))

    @property
    def number(self) -> int:
        """The byte that files store."""
        return list(Rules).index(self)

    @property
    def meaning(self) -> str:
        """The worth of a repetition, in a few words."""
        return _MEANINGS[self]

    @property
    def judges_checks(self) -> bool:
        """True if perpetual check loses."""
        return self != Rules.NONE

    @property
    def judges_chases(self) -> bool:
        """True if perpetual chase loses."""
        return self in _CHASE_RULES

    @property
    def leaves_minor_chases_open(self) -> bool:
        """True if `MINOR_CHASES` is a choice of its own under these rules."""
        return self == Rules.WXF

    def chase_rules(self, *, minor_chases: bool = True) -> int:
        """Return the chase rules as a word of bits; those of `wxf` where chases are no offence."""
        word = _CHASE_RULES.get(self, MINOR_CHASES)
        return word if minor_chases else word & ~MINOR_CHASES


_CHASE_RULES = {
    Rules.WXF: MINOR_CHASES,
    Rules.COMPUTER: MINOR_CHASES | NEW_BY_VICTIM | CHECK_VOIDS,
}
"""The chase rules of each set under which perpetual chase loses."""

_MEANINGS = {
    Rules.NONE: "a draw",
    Rules.CHECK: "perpetual check loses",
    Rules.WXF: "perpetual check and perpetual chase lose",
    Rules.COMPUTER: "the same as Pikafish has it",
}

SYNONYMS = {"asian": Rules.WXF, "vietnam": Rules.WXF}
"""Other names of a set: the Asian rules of 2017 are those of the WXF in another order."""

CHINESE = "chinese"
"""The rules of the CXA (2020), which are no set: no table can hold them (docs/exact.md)."""
