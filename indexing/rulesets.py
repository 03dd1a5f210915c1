"""Repetition rules as data: the offences of each rule set, and the definition of a chase.

    name         used by                             checks  chases  a chase is
    none         servers without repetition rules    -       -
    check        "AllowChase", many servers          lose    -
    wxf          WXF 2018; Asian (AXF), Vietnam      lose    lose    a piece's new attack on another
                                                                     piece; the reply answers it
    computer     Pikafish, most analysis by engines  lose    lose    an attack on a piece that was
                                                                     not attacked; a check anywhere
                                                                     in the loop voids it
    taiwan       Taiwan                              lose    lose    as wxf, also of pawns at home
    unprotected  some sites for players              lose    lose    as wxf, of unprotected pieces
                                                                     only

A piece is *protected* if it has a *root*: a piece of its side that can legally recapture on its
square. *Minor pieces* are advisors and elephants. *Point 1* and so on are points of
docs/referee.md, section 2; the source is WXF 2018.

Each rule set is one `Terms`. Solver, proof, referee, engine and the C reader use the number of
offences that lose (`Rules.offences`) and the bits of `Chases.word`. To add a set, see
docs/architecture.md, "How to add a rule set".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from tbgen.indexing.errors import InputError, excerpt
from tbgen.indexing.squares import PieceType
from tbgen.system.scalar import scalar

Kinds: TypeAlias = tuple[PieceType, ...]
"""A set of piece types."""

ATTACKERS: Kinds = (PieceType.ROOK, PieceType.KNIGHT, PieceType.CANNON)
GUARDS: Kinds = (PieceType.ADVISOR, PieceType.ELEPHANT)
ABLE_TO_CHASE: Kinds = (*GUARDS, *ATTACKERS)
"""Piece types of which a rule set chooses its chasers; solver and proof examine no others.

Unlike elsewhere, `ATTACKERS` here excludes pawns.
"""

CHASERS, CHASED, PROTECTED = 0, 7, 20
"""Numbers of the first bits of three fields in `Chases.word`.

CHASERS, CHASED : piece types that chase, and piece types that are chased, 7 bits each
PROTECTED : pairs of types where the first chases the second even if the second is protected, 6 x 6
    bits (`protected_bit`)
"""
PAWNS_AT_HOME, NEW_BY_VICTIM, UNANSWERED, EVEN_EXCHANGES, CHECK_VOIDS = (
    1 << b for b in range(14, 19)
)
"""Bits of `Chases.word`; each is set if the field of `Chases` with this name is True."""


@dataclass(frozen=True, slots=True)
class Chases:
    """Definition of a chase, by the points in which sets differ; the defaults are `wxf`.

    chasers : piece types that can chase, of `ABLE_TO_CHASE` (point 1)
    chased : piece types that can be chased, never kings (point 2)
    pawns_at_home : whether a pawn on its own half can be chased (point 2)
    protected : pairs (attackers, victims) of types: attackers that chase these victims even if the
        victims are protected (point 4a)
    even_exchanges : whether an attack on a piece of the same type counts even if the victim could
        capture the attacker (point 5)
    new_by_victim : True if an attack is new only if no piece attacked the victim before the move;
        False if only the attacking piece must not have attacked the victim before (point 6)
    unanswered : whether a chase counts even if the reply does not answer it (point 7)
    check_voids : whether one check by either side in a loop voids all chases in the loop

    Raises `ValueError` for kings or pawns among `chasers`, and for kings among `chased`.
    """

    chasers: Kinds = ABLE_TO_CHASE
    chased: Kinds = (*ABLE_TO_CHASE, PieceType.PAWN)
    pawns_at_home: bool = False
    protected: tuple[tuple[Kinds, Kinds], ...] = (
        ((PieceType.KNIGHT, PieceType.CANNON), (PieceType.ROOK,)),
        (GUARDS, ATTACKERS),
    )
    even_exchanges: bool = False
    new_by_victim: bool = False
    unanswered: bool = False
    check_voids: bool = False

    def __post_init__(self) -> None:
        """Reject chasers and chased pieces that solver and proof do not examine."""
        if not set(self.chasers) <= set(ABLE_TO_CHASE) or PieceType.KING in self.chased:
            raise ValueError("kings and pawns cannot chase, and kings cannot be chased")

    @property
    def word(self) -> int:
        """All fields packed as bits of one integer, which compiled code tests."""
        flags = {
            PAWNS_AT_HOME: self.pawns_at_home,
            NEW_BY_VICTIM: self.new_by_victim,
            UNANSWERED: self.unanswered,
            EVEN_EXCHANGES: self.even_exchanges,
            CHECK_VOIDS: self.check_voids,
        }
        bits = [CHASERS + kind for kind in self.chasers] + [CHASED + kind for kind in self.chased]
        bits += [
            protected_bit(attacker, victim)
            for attackers, victims in self.protected
            for attacker in attackers
            for victim in victims
        ]
        return sum(1 << bit for bit in bits) + sum(bit for bit, is_set in flags.items() if is_set)


@scalar
def protected_bit(attacker_kind: int, victim_kind: int) -> int:
    """Return the index of the bit of `Chases.word` that is set if the pair is in `protected`.

    attacker_kind, victim_kind : int, `PieceType`, no king
    """
    return PROTECTED + 6 * (attacker_kind - 1) + victim_kind - 1


@dataclass(frozen=True, slots=True)
class Terms:
    """Names of a rule set, and its definition of a chase.

    `meaning` and `in_chinese` state the result of a repetition in a few words. `option` is the
    value of the engine option `Repetition Rule`. `chases` is None if perpetual chase is no offence.
    `without_minor_chases` is the definition in which minor pieces do not chase protected pieces, if
    the rules leave this open, else None.
    """

    meaning: str
    in_chinese: str
    option: str
    chases: Chases | None = None
    without_minor_chases: Chases | None = None


class Rules(StrEnum):
    """Repetition rules (docs/referee.md). Files store a member's index: only append members."""

    NONE = "none"
    CHECK = "check"
    WXF = "wxf"
    COMPUTER = "computer"
    TAIWAN = "taiwan"
    UNPROTECTED = "unprotected"

    @classmethod
    def _missing_(cls, value: object) -> Rules:
        """Return the rule set of a synonym, such as `asian`; raises `InputError` with all names."""
        if str(value) in SYNONYMS:
            return SYNONYMS[str(value)]
        names = ", ".join([*cls, *SYNONYMS])
        raise InputError(f"{excerpt(str(value))} is none of {names}", "name one")

    @property
    def terms(self) -> Terms:
        """Names and definition of a chase."""
        return _TERMS[self]

    @property
    def number(self) -> int:
        """Index among all members, stored in files as one byte."""
        return list(Rules).index(self)

    @property
    def meaning(self) -> str:
        """Result of a repetition, in a few words."""
        return self.terms.meaning

    @property
    def judges_checks(self) -> bool:
        """True if perpetual check loses: under every set but `none`."""
        return self is not Rules.NONE

    @property
    def judges_chases(self) -> bool:
        """True if perpetual chase loses."""
        return self.terms.chases is not None

    @property
    def offences(self) -> int:
        """Number of offences that lose: 0, 1 (perpetual check), or 2 (also perpetual chase)."""
        return self.judges_checks + self.judges_chases

    @property
    def leaves_minor_chases_open(self) -> bool:
        """True if the rules leave open whether minor pieces chase protected pieces."""
        return self.terms.without_minor_chases is not None

    def chase_rules(self, *, minor_chases: bool = True) -> int:
        """Return the definition of a chase as bits (`Chases.word`).

        If no chase loses, that of `wxf` is returned.

        minor_chases : whether minor pieces chase protected pieces, if the rules leave this open
        """
        terms = self.terms
        chases = terms.chases if minor_chases else terms.without_minor_chases or terms.chases
        return (chases or Chases()).word


_TERMS = {
    Rules.NONE: Terms("repetition is a draw", "循环作和", "NoJudgement"),
    Rules.CHECK: Terms("perpetual check loses", "长将作负", "AllowChase"),
    Rules.WXF: Terms(
        "perpetual check or chase loses",
        "长将长捉作负",
        "AsianRule",
        chases=Chases(),
        without_minor_chases=Chases(protected=Chases().protected[:1]),
    ),
    Rules.COMPUTER: Terms(
        "perpetual check or chase loses, as Pikafish judges it",
        "长将长捉作负（皮卡鱼的判法）",
        "ComputerRule",
        chases=Chases(new_by_victim=True, unanswered=True, check_voids=True),
    ),
    Rules.TAIWAN: Terms(
        "perpetual check or chase loses, also of pawns at home",
        "长将长捉作负，长捉未过河的兵卒亦然",
        "TaiwanRule",
        chases=Chases(pawns_at_home=True),
    ),
    Rules.UNPROTECTED: Terms(
        "perpetual check or chase of an unprotected piece loses",
        "长将、长捉无根子作负",
        "UnprotectedRule",
        chases=Chases(protected=()),
    ),
}

SYNONYMS = {"asian": Rules.WXF, "vietnam": Rules.WXF}
"""Other names of rule sets. The Asian rules of 2017 state those of the WXF in another order."""

CHINESE = "chinese"
"""Name of the CXA rules (2020), which are no rule set: tables cannot hold them (docs/exact.md)."""
