"""Reasons for verdicts, in words for players, with the article of the rules.

    Conduct of each side over the span  ->  "Red's rook chases the cannon on every move, ..."

Articles ("art.") are those of the Asian rules, whose verdicts WXF 2018 keeps; D numbers are the
diagrams of the rule book. docs/referee.md discusses them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tbgen.indexing.rulesets import CHECK_VOIDS, Rules
from tbgen.indexing.squares import PieceType, Side, piece_kind, square_name
from tbgen.referee import record
from tbgen.referee.game import Game, Pairs

_ARTICLES = {
    (PieceType.CANNON, PieceType.ROOK): "art. 15",
    (PieceType.KNIGHT, PieceType.ROOK): "art. 20",
    (PieceType.ROOK, PieceType.CANNON): "art. 18",
    (PieceType.ROOK, PieceType.ROOK): "art. 24",
    (PieceType.KNIGHT, PieceType.KNIGHT): "art. 24",
    (PieceType.CANNON, PieceType.CANNON): "art. 24",
}
"""The article that forbids a perpetual chase, by (kind of chaser, kind of victim)."""


@dataclass(frozen=True, slots=True, order=True)
class TrackedPiece:
    """A chaser or a victim, named by its square at the start of the span.

    `is_only` is True if its side has no other piece of the kind.
    """

    square: int
    kind: PieceType
    is_only: bool


@dataclass(frozen=True, slots=True)
class Conduct:
    """Summary of the checks and chases of one side over a span.

    level : gravity of the side's offence (`record.ALLOWED`)
    plies, checks, chasing : numbers of the side's plies, of those that give check, and of those
        that chase
    pairs : pairs (chaser, victim) of each victim that every ply of the side chases
        (`record.common_victims`), sorted by the victim's square; none if the side has given a check
    is_voided : True if no chase counts, because the span contains a check (`CHECK_VOIDS`)
    """

    side: Side
    level: int
    plies: int
    checks: int
    chasing: int
    pairs: tuple[tuple[TrackedPiece, TrackedPiece], ...]
    is_voided: bool = False

    @classmethod
    def of_side(
        cls, game: Game, chases: list[Pairs], start: int, side: Side, rules: Rules
    ) -> Conduct:
        """Return the conduct of a side in the span from `start` to the end of the game.

        chases : the chases of each ply of the game
        """
        end = game.plies
        first = start if game.last.side == side else start + 1
        span = (game.boards, game.ids, game.log, start, end, first)
        level = record.side_level(*span, rules.offences, game.chase_rules, game.scratch)
        checks = record.count_checks(game.log, first, end)
        other_checks = record.count_checks(game.log, 2 * start + 1 - first, end)
        common = 0
        if not checks:
            common = record.common_victims(*span, game.chase_rules, game.scratch)
        pieces = {}
        for code, square in game.positions[start].pieces():
            is_only = game.boards[start].count(code) == 1
            piece = TrackedPiece(square, PieceType(piece_kind(code)), is_only)
            pieces[game.ids[start][square]] = piece
        pairs = {
            (pieces[game.ids[ply + 1][attacker]], pieces[game.ids[ply + 1][victim]])
            for ply in range(first, end, 2)
            for attacker, victim in chases[ply]
            if common >> game.ids[ply + 1][victim] & 1
        }
        return cls(
            side=side,
            level=level,
            plies=(end - first + 1) // 2,
            checks=checks,
            chasing=sum(bool(chases[ply]) for ply in range(first, end, 2)),
            pairs=tuple(sorted(pairs, key=lambda pair: (pair[1], pair[0]))),
            is_voided=bool(checks + other_checks and game.chase_rules & CHECK_VOIDS),
        )

    @property
    def chasers(self) -> tuple[PieceType, ...]:
        """Kinds of the pieces that chase `victims`, sorted, one entry for each piece."""
        return tuple(sorted(chaser.kind for chaser in {chaser for chaser, _ in self.pairs}))

    @property
    def victims(self) -> tuple[TrackedPiece, ...]:
        """Pieces that every ply of the side chases."""
        return tuple(dict.fromkeys(victim for _, victim in self.pairs))

    @property
    def is_idle(self) -> bool:
        """Return whether no ply of the side checks or chases."""
        return not self.checks and not self.chasing

    @property
    def article(self) -> str:
        """Article of the rules on the conduct, or point of docs/referee.md; empty for none."""
        if self.checks == self.plies:
            return "art. 6"
        if self.is_voided:
            return ""
        if self.victims:
            own = _ARTICLES.get((self.chasers[0], self.victims[0].kind))
            if len(set(self.chasers)) == 1 and own in ("art. 15", "art. 20"):
                return own  # for one cannon or two, one knight or two
            if len(self.chasers) > 1:
                return "art. 33"
            return own or ("no real root, point 4b" if self.chasers[0].is_attacker else "point 4")
        if self.checks and self.chasing:
            return "art. 12"
        return "art. 32" if self.chasing == self.plies else ""

    def clause(self) -> str:
        """Return the conduct as a clause, such as `Red checks on every move`."""
        name = self.side.name.title()
        if self.checks == self.plies:
            return f"{name} checks on every move"
        if self.victims:
            chasers = _join(
                kind.name.lower() + ("s" if self.chasers.count(kind) > 1 else "")
                for kind in dict.fromkeys(self.chasers)
            )
            verb = "chases" if len(self.chasers) == 1 else "chase"
            victims = _join(
                f"the {victim.kind.name.lower()}"
                + ("" if victim.is_only else f" that stood on {square_name(victim.square)}")
                for victim in self.victims
            )
            return f"{name}'s {chasers} {verb} {victims} on every move"
        if self.checks and self.chasing:
            return f"{name} mixes checks and chases"
        if self.checks:
            return f"{name} checks on some moves only"
        if self.chasing == self.plies:
            return f"{name} chases different pieces in turn"
        if self.chasing:
            return f"{name} chases on some moves only"
        return f"{name}'s moves are idle"


def explain(conducts: tuple[Conduct, ...], verdict: str, rules: Rules) -> str:
    """Return one sentence: the conduct of both sides, the verdict, and the article that decides.

    Without repetition rules the sentence names no conduct; for some draws it names no article.

    conducts : Red's and Black's; verdict : `Verdict.text`
    """
    red, black = conducts
    if not rules.judges_checks:
        return "the position repeats, and without repetition rules that is a draw"
    offender, other = (red, black) if red.level >= black.level else (black, red)
    if offender.level > other.level:
        what = f"{offender.clause()}, {other.clause()}"
        article = "art. 8" if offender.checks and other.checks else offender.article
        return f"{what}: {verdict.capitalize()} ({article})"
    if offender.level == record.PERPETUAL_CHECK:
        return "both sides check on every move: draw (art. 7)"
    if red.is_idle and black.is_idle:
        return "neither side checks or chases: draw (art. 5)"
    what = f"{red.clause()}, {black.clause()}"
    if offender.level == record.PERPETUAL_CHASE:
        return f"{what}: draw (mutual chase, D48)"
    if not rules.judges_chases:
        return (
            f"{what}, and perpetual chases are allowed here: draw"
            if (red.victims or black.victims)
            else f"{what}: draw (art. 5)"
        )
    if red.is_voided and (red.chasing or black.chasing):
        return f"{what}; with a check in the loop no chase counts: draw"
    articles = dict.fromkeys(filter(None, (red.article, black.article)))
    return f"{what}: draw ({', '.join(articles) or 'art. 5'})"


def _join(names: Iterable[str]) -> str:
    """Join words by commas and a last `and`."""
    *words, last = names
    return f"{', '.join(words)} and {last}" if words else last
