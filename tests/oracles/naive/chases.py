"""Chases of a move under every rule set, on dictionaries: docs/referee.md, section 2.

`Terms` are the rule sets as data, defined independently. "Point" means a point of that section.
An attacker on square Q (`q`) attacks a victim on square V (`v`). Q x V is the capture.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .movegen import Board, Move, after, is_legal, king_square, kings_face, other, targets


@dataclass(frozen=True)
class Terms:
    """Conditions of a chase that differ between rule sets."""

    chasers: str = "ABNCR"
    """Point 1: letters of the pieces that chase."""
    chased: str = "ABNCRP"
    """Point 2: letters of the pieces that can be chased."""
    pawns_at_home: bool = False
    """Point 2: pawns on their own half can be chased, too."""
    protected: tuple[str, ...] = ("NR", "CR", "AR", "AN", "AC", "BR", "BN", "BC")
    """Point 4a: pairs of letters; a piece of the first chases a protected piece of the second."""
    even_exchanges: bool = False
    """Point 5 does not hold: the victim may be able to capture an attacker of its own type."""
    new_by_victim: bool = False
    """Point 6: an attack is new if its victim was not attacked before."""
    unanswered: bool = False
    """Point 7 does not hold: the reply need not answer the attack."""
    check_voids: bool = False
    """A check anywhere in the loop voids all its chases."""


WXF = Terms()
TERMS = {
    "wxf": WXF,
    "wxf-nominor": replace(WXF, protected=("NR", "CR")),
    "computer": replace(WXF, new_by_victim=True, unanswered=True, check_voids=True),
    "taiwan": replace(WXF, pawns_at_home=True),
    "unprotected": replace(WXF, protected=()),
}
"""Conditions by the names of rule sets in file names."""


def owner(letter: str) -> str:
    """Return the side, `w` or `b`, of a piece given by its FEN letter."""
    return "w" if letter.isupper() else "b"


def checkers(board: Board, side: str) -> set[int]:
    """Return the squares of the pieces that attack a side's king; a king attacks by facing it."""
    king = king_square(board, side)
    found = {
        square
        for square, letter in board.items()
        if owner(letter) != side and king in targets(board, square)
    }
    return found | ({king_square(board, other(side))} if kings_face(board) else set())


def is_victim(letter: str, square: int, terms: Terms) -> bool:
    """Return whether a piece with a letter, on a square, can be chased under `terms` (point 2)."""
    own_half = (square % 10 <= 4) == letter.isupper()
    at_home = letter.upper() == "P" and own_half
    return letter.upper() in terms.chased and (terms.pawns_at_home or not at_home)


def has_root(board: Board, q: int, v: int, through: bool) -> bool:
    """Return whether a piece of V's side, a root, can legally recapture after Q x V (point 4b).

    through : False for the position before a move (point 6). A rook or cannon is then a root only
        if it protects V even while the attacker stands on its own square.
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
    """Return whether the attack of the piece on `q` on the piece on `v` satisfies points 1 to 5.

    `through` is as in `has_root`.
    """
    attacker, victim = board[q], board[v]
    if attacker.upper() not in terms.chasers or not is_victim(victim, v, terms):
        return False
    if owner(attacker) == owner(victim) or v not in targets(board, q):
        return False
    taken, side = after(board, (q, v)), owner(attacker)
    if checkers(taken, side) - checkers(board, side):
        return False
    may_take_back = q in targets(board, v) and is_legal(after(board, (v, q)), side)
    if attacker.upper() == victim.upper() and may_take_back and not terms.even_exchanges:
        return False
    pair = attacker.upper() + victim.upper()
    return pair in terms.protected or not has_root(board, q, v, through)


def chased(board: Board, move: Move, terms: Terms) -> dict[int, frozenset[int]]:
    """Return the squares on which a move chases pieces, each with the squares of its new attackers.

    Point 6 defines new attackers. Squares are those after the move, which must not give check.
    """
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
    """Return whether a reply undoes one of the attacks on V (point 7).

    Always true under rules where point 7 does not apply (`unanswered`).

    board, attackers : the position before the reply, and the squares of V's new attackers
    reply : must not be a capture
    """
    if terms.unanswered:
        return True
    replied = after(board, reply)
    stands = reply[1] if reply[0] == v else v
    return not all(is_worth_taking(replied, q, stands, terms) for q in attackers)
