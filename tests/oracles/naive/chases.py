"""Chases by a move under every rule set, on dictionaries: docs/referee.md, section 2.

`Terms` are the rule sets as data, in words of their own. Points are those of that section; Q is
the attacker, V the victim, each by its square, S the side of Q.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .movegen import Board, Move, after, is_legal, king_square, kings_face, other, targets


@dataclass(frozen=True)
class Terms:
    """Terms of a chase under a rule set."""

    minor_chases: bool = True
    """Point 4a: advisors and elephants chase protected rooks, knights and cannons."""
    new_by_victim: bool = False
    """Point 6: new is an attack on a piece that nobody attacked; point 7 does not matter."""
    check_voids: bool = False
    """A check anywhere in the loop: nobody in it chases."""
    pawns_at_home: bool = False
    """Point 2: pawns on their own half are chased, too."""
    unprotected_only: bool = False
    """Point 4a does not hold: who has a root is not chased."""


WXF = Terms()
TERMS = {
    "wxf": WXF,
    "wxf-nominor": replace(WXF, minor_chases=False),
    "computer": replace(WXF, new_by_victim=True, check_voids=True),
    "taiwan": replace(WXF, pawns_at_home=True),
    "unprotected": replace(WXF, unprotected_only=True),
}
"""By the names that rule sets have in the names of files."""


def owner(letter: str) -> str:
    """The side of a piece."""
    return "w" if letter.isupper() else "b"


def checkers(board: Board, side: str) -> set[int]:
    """The squares of the pieces that attack a side's king; a king does by facing it."""
    king = king_square(board, side)
    found = {
        square
        for square, letter in board.items()
        if owner(letter) != side and king in targets(board, square)
    }
    return found | ({king_square(board, other(side))} if kings_face(board) else set())


def is_victim(letter: str, square: int, terms: Terms) -> bool:
    """Point 2: no king is chased, and no pawn on its own half, unless the rules say so."""
    own_half = (square % 10 <= 4) == letter.isupper()
    at_home = letter.upper() == "P" and own_half
    return letter.upper() != "K" and (terms.pawns_at_home or not at_home)


def is_unequal(attacker: str, victim: str, terms: Terms) -> bool:
    """Point 4a: V is worth taking even if it is protected."""
    if terms.unprotected_only:
        return False
    pair = (attacker.upper(), victim.upper())
    if pair in (("N", "R"), ("C", "R")):
        return True
    return terms.minor_chases and pair[0] in "AB" and pair[1] in "RNC"


def has_root(board: Board, q: int, v: int, through: bool) -> bool:
    """Point 4b: a piece of V's side can legally take back after Q x V.

    Unless `through`, a rook or cannon counts only if it protects V with Q where it stands.
    """
    taken = after(board, (q, v))
    protected = {**board, v: board[q]}
    for root, letter in board.items():
        if owner(letter) == owner(board[q]) or root == v or v not in targets(taken, root):
            continue
        if letter.upper() in "RC" and not through and v not in targets(protected, root):
            continue
        if is_legal(after(taken, (root, v)), owner(board[q])):
            return True
    return False


def is_worth_taking(board: Board, q: int, v: int, terms: Terms, *, through: bool = True) -> bool:
    """Points 1 to 5 for the pieces on two squares; `through` is for `has_root`."""
    attacker, victim = board[q], board[v]
    if attacker.upper() in "KP" or not is_victim(victim, v, terms):
        return False
    if owner(attacker) == owner(victim) or v not in targets(board, q):
        return False
    taken, side = after(board, (q, v)), owner(attacker)
    if checkers(taken, side) - checkers(board, side):
        return False
    may_take_back = q in targets(board, v) and is_legal(after(board, (v, q)), side)
    if attacker.upper() == victim.upper() and may_take_back:
        return False
    return is_unequal(attacker, victim, terms) or not has_root(board, q, v, through)


def chased(board: Board, move: Move, terms: Terms) -> dict[int, frozenset[int]]:
    """The victims of a move that gives no check, and who attacks each of them anew (point 6)."""
    source, target = move
    moved = after(board, move)
    side = owner(board[source])
    found: dict[int, set[int]] = {}
    for v, letter in moved.items():
        if owner(letter) == side:
            continue
        if terms.new_by_victim and any(
            is_worth_taking(board, q, v, terms) for q in board if owner(board[q]) == side
        ):
            continue
        for q, attacker in moved.items():
            if owner(attacker) != side or not is_worth_taking(moved, q, v, terms):
                continue
            before = source if q == target else q
            if terms.new_by_victim or not is_worth_taking(board, before, v, terms, through=False):
                found.setdefault(v, set()).add(q)
    return {v: frozenset(attackers) for v, attackers in found.items()}


def is_answered(board: Board, attackers: frozenset[int], v: int, reply: Move, terms: Terms) -> bool:
    """Point 7: the reply, no capture, undoes one of the attacks on V."""
    if terms.new_by_victim:
        return True
    replied = after(board, reply)
    stands = reply[1] if reply[0] == v else v
    return not all(is_worth_taking(replied, q, stands, terms) for q in attackers)
