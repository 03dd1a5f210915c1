"""Attacks that count as chases: legal captures, roots, new and answered attacks.

    attacks  ->  threatens(board, Q, V, ..)        points 1-5: Q x V is legal and wins material
             ->  is_new_attack(before, after, ..)  point 6:    the move created this threat
             ->  is_answered(replied, ..)          point 7:    the reply removed this threat

A move that gives no check *chases* a piece V, the victim, if it creates a threat of a piece Q, the
attacker, to capture V, and the reply removes this threat. Points are those of docs/referee.md,
section 2; `chase_rules` has a rule set's choices in these points, as bits (`Chases.word`). A
*root* of V is a piece of V's side that can legally recapture after Q x V. The functions are scalar
(`tbgen.system.scalar`); they try moves on the given board and restore it.
"""

from __future__ import annotations

from tbgen.indexing.rulesets import (
    CHASED,
    CHASERS,
    EVEN_EXCHANGES,
    NEW_BY_VICTIM,
    PAWNS_AT_HOME,
    UNANSWERED,
    protected_bit,
)
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules.attacks import attacks, find_king, in_check, is_attacked, kings_face
from tbgen.rules.board import MutableBoard, is_own_half
from tbgen.rules.moves import is_safe_after
from tbgen.system.scalar import scalar


@scalar
def _has(chase_rules: int, bit: int) -> bool:
    """Return whether bit number `bit` is set in `chase_rules`."""
    return (chase_rules >> int(bit)) & 1 != 0


@scalar
def may_chase(code: int, chase_rules: int) -> bool:
    """Return whether a piece may chase, by its type (point 1); False for `EMPTY`."""
    return code != EMPTY and _has(chase_rules, CHASERS + piece_kind(code))


@scalar
def may_be_victim(code: int, square: int, chase_rules: int) -> bool:
    """Return whether a piece may be chased, by its type; a pawn also by its square (point 2)."""
    if code == EMPTY or not _has(chase_rules, CHASED + piece_kind(code)):
        return False
    if piece_kind(code) != PieceType.PAWN or chase_rules & PAWNS_AT_HOME != 0:
        return True
    return not is_own_half(piece_side(code), square // 9)


@scalar
def _hits_king(board: MutableBoard, source: int, king: int) -> bool:
    """Return whether the piece on `source` attacks the enemy king, or is a king that faces it."""
    if piece_kind(board[source]) == PieceType.KING:
        return kings_face(board)
    return attacks(board, source, king)


@scalar
def is_legal_capture(board: MutableBoard, attacker: int, victim: int) -> bool:
    """Return whether a capture is legal, apart from a check that stands already (point 3).

    The capture may leave the attacker's king under attacks that existed before, but must add none.
    The attacker must attack the victim, and must not be a king.
    """
    side = piece_side(board[attacker])
    if is_safe_after(board, side, attacker, victim):
        return True
    if not in_check(board, side):
        return False
    king = find_king(board, side)
    taking, taken = board[attacker], board[victim]
    for square in range(SQUARES):
        code = board[square]
        if code == EMPTY or piece_side(code) == side or square == victim:
            continue
        stands = _hits_king(board, square, king)
        board[victim] = taking
        board[attacker] = EMPTY
        added = _hits_king(board, square, king) and not stands
        board[attacker] = taking
        board[victim] = taken
        if added:
            return False
    return True


@scalar
def has_root(board: MutableBoard, attacker: int, victim: int, without_xray: bool) -> bool:
    """Return whether the victim has a root, a piece that can legally recapture (point 4b).

    With `without_xray` a rook or cannon counts only if it also protects the victim while the
    attacker is still on its own square (point 6).
    """
    side = piece_side(board[victim])
    taking, taken = board[attacker], board[victim]
    board[victim] = taking
    board[attacker] = EMPTY
    found = False
    # `is_attacked` is cheap, and saves the loop where nothing can recapture.
    for root in range(SQUARES if is_attacked(board, victim, side) else 0):
        code = board[root]
        if (
            code == EMPTY
            or piece_side(code) != side
            or not attacks(board, root, victim)
            or not is_safe_after(board, side, root, victim)
        ):
            continue
        found = True
        if without_xray and (
            piece_kind(code) == PieceType.ROOK or piece_kind(code) == PieceType.CANNON
        ):
            board[attacker] = taking
            board[victim] = taken
            found = attacks(board, root, victim)
            board[victim] = taking
            board[attacker] = EMPTY
        if found:
            break
    board[attacker] = taking
    board[victim] = taken
    return found


@scalar
def is_even_exchange(board: MutableBoard, attacker: int, victim: int) -> bool:
    """Return whether the victim has the attacker's type and could legally capture it (point 5)."""
    return (
        piece_kind(board[attacker]) == piece_kind(board[victim])
        and attacks(board, victim, attacker)
        and is_safe_after(board, piece_side(board[victim]), victim, attacker)
    )


@scalar
def threatens(
    board: MutableBoard, attacker: int, victim: int, without_xray: bool, chase_rules: int
) -> bool:
    """Return whether the attacker threatens the victim: the capture is legal and wins material.

    Points 1 to 5, as `chase_rules` define them. `attacker` and `victim` are any squares; the result
    is False if one is empty or both have pieces of one side.
    """
    taking, taken = board[attacker], board[victim]
    if not may_chase(taking, chase_rules) or not may_be_victim(taken, victim, chase_rules):
        return False
    if piece_side(taking) == piece_side(taken) or not attacks(board, attacker, victim):
        return False
    if chase_rules & EVEN_EXCHANGES == 0 and is_even_exchange(board, attacker, victim):
        return False
    if not is_legal_capture(board, attacker, victim):
        return False
    in_any_case = protected_bit(piece_kind(taking), piece_kind(taken))
    return _has(chase_rules, in_any_case) or not has_root(board, attacker, victim, without_xray)


@scalar
def is_threatened(board: MutableBoard, victim: int, chase_rules: int) -> bool:
    """Return whether any enemy piece threatens the piece on square `victim` (see `threatens`)."""
    for attacker in range(SQUARES):
        if threatens(board, attacker, victim, False, chase_rules):
            return True
    return False


@scalar
def is_new_attack(
    before: MutableBoard,
    after: MutableBoard,
    source: int,
    target: int,
    attacker: int,
    victim: int,
    chase_rules: int,
) -> bool:
    """Return whether the move `source`-`target` created the attacker's threat to the victim.

    Points 1 to 6. The move must give no check. The attacker must not have threatened the victim
    before the move; in this test, roots through the attacker's square do not count. With the bit
    `NEW_BY_VICTIM` no piece may have threatened the victim before, and all roots count.

    before, after : MutableBoard (90,), the boards before and after the move; restored
    attacker, victim : int, squares of `after`
    """
    if not threatens(after, attacker, victim, False, chase_rules):
        return False
    if chase_rules & NEW_BY_VICTIM:
        return not is_threatened(before, victim, chase_rules)
    origin = source if attacker == target else attacker
    return not threatens(before, origin, victim, True, chase_rules)


@scalar
def is_answered(
    replied: MutableBoard, source: int, target: int, attacker: int, victim: int, chase_rules: int
) -> bool:
    """Return whether the reply `source`-`target` removed the attacker's threat to the victim.

    Point 7. If the victim itself moves, its new square is tested. With the bit `UNANSWERED` the
    result is True for any reply.

    replied : MutableBoard (90,), the board after the reply; restored
    attacker, victim : int, squares of the board before the reply
    """
    if target == attacker or chase_rules & UNANSWERED:
        return True
    moved = target if victim == source else victim
    return not threatens(replied, attacker, moved, False, chase_rules)
