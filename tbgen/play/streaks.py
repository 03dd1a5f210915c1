"""Offences of single moves, and streaks: runs of offences of one side with a common victim.

    move   ->  threats    pairs (attacker, victim): the move's check, or else its new attacks
    reply  ->  offence    victims of the threats that count after the opponent's reply: a check, or
                          chases (under most rules, the attacks that the reply removes)
    moves  ->  streak     victims shared by all offences of a run up to the side's last move

A streak is stored as the set of its shared victims; they are squares, updated when the victims
move. The king is the victim `KING`, chased by checks. A streak is broken by an idle move (one
without offence), which leaves it empty, and by an offence against none of its victims, which begins
the next streak. A capture or a pawn's advance of either side leaves the streaks of both empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tbgen.indexing import Move, Position
from tbgen.indexing.rulesets import CHECK_VOIDS
from tbgen.indexing.squares import EMPTY, PieceType, piece_kind, piece_side
from tbgen.play.repetition import move_between
from tbgen.rules import in_check
from tbgen.rules.chases import is_answered, is_new_attack
from tbgen.tables import Rules, RuleSet

KING = -1
"""Victim of checks, in place of the king's square."""

Victims = frozenset[int]
"""Squares of pieces of one side, or `KING`."""
Threats = frozenset[tuple[int, int]]
"""Checks and attacks of one move: pairs of squares (attacker, victim); `CHECK` for a check."""

CHECK: Threats = frozenset({(KING, KING)})
NO_VICTIMS: Victims = frozenset()
NO_THREATS: Threats = frozenset()


@dataclass(frozen=True, slots=True)
class Offences:
    """Detection of checks, chases and streaks under one rule set."""

    rule_set: RuleSet

    def threats(self, before: Position, move: Move, after: Position) -> Threats:
        """Return the threats of a move that the rules judge: a check, or else new attacks.

        before, after : positions before and after the move
        """
        if self.rule_set.rules in (None, Rules.NONE):
            return NO_THREATS
        if in_check(after):
            return CHECK
        if not self.rule_set.rules.judges_chases:
            return NO_THREATS
        old, new = bytearray(before.board), bytearray(after.board)
        chase_rules = self.rule_set.chase_rules
        return frozenset(
            (attacker, victim)
            for code, attacker in after.pieces()
            if piece_side(code) == before.side
            for other, victim in after.pieces()
            if piece_side(other) != before.side
            if is_new_attack(old, new, *move, attacker, victim, chase_rules)
        )

    def offence(self, threats: Threats, reply: Move, replied: Position) -> Victims:
        """Return the victims of a move, as squares after the reply; `KING` for a check.

        threats : threats of the move
        replied : position after `reply`

        Under most rules an attack is a chase only if the reply removes it (`is_answered`). Under
        rules with `CHECK_VOIDS`, a reply that gives check voids all chases of the move.
        """
        if not threats or threats == CHECK:
            return frozenset(victim for _, victim in threats)
        if self.rule_set.chase_rules & CHECK_VOIDS and in_check(replied):
            return NO_VICTIMS
        board = bytearray(replied.board)
        chased = {
            victim
            for attacker, victim in threats
            if is_answered(board, *reply, attacker, victim, self.rule_set.chase_rules)
        }
        return victims_after(frozenset(chased), reply)

    def streak(self, game: Sequence[Position]) -> Victims:
        """Return the current streak of the side that is to move at the end of a game.

        `game` is the positions, oldest first. Also a gap (two successive positions that no single
        move joins) ends a streak.
        """
        offences: list[tuple[Victims, Move]] = []
        for number in range(len(game) - 1, 1, -2):
            start, made, now = game[number - 2 : number + 1]
            move, reply = move_between(start, made), move_between(made, now)
            if move is None or reply is None:
                break
            if is_irreversible(start, move) or is_irreversible(made, reply):
                break
            offence = self.offence(self.threats(start, move, made), reply, now)
            if not offence:
                break
            offences.append((offence, reply))
        streak = NO_VICTIMS
        for offence, reply in reversed(offences):
            streak = extend_streak(victims_after(streak, reply), offence)[0]
        return streak


def extend_streak(streak: Victims, offence: Victims) -> tuple[Victims, bool]:
    """Add one more offence to a streak; return the new streak, and whether the old one is broken.

    The new streak has the victims (squares after the reply) that streak and offence share. If they
    share none, the streak is broken and restarts with the offence. An empty streak is broken only
    by an idle move, an offence without victims.
    """
    common = streak & offence
    return (common or offence), not common and (bool(streak) or not offence)


def victims_after(victims: Victims, move: Move) -> Victims:
    """Return the squares of the victims after a move of their own side, which may move a victim."""
    if move.source not in victims:
        return victims
    return victims - {move.source} | {move.target}


def is_irreversible(position: Position, move: Move) -> bool:
    """Return whether a move is a capture or a pawn's advance, which no repetition can span."""
    is_pawn = piece_kind(position.board[move.source]) == PieceType.PAWN
    return position.board[move.target] != EMPTY or (is_pawn and move.source % 9 == move.target % 9)
