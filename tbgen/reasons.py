"""Why a position or a move is worth what it is, in words; units are always said.

    Red mates in 9 plies (5 moves)                        order 0, distance to mate
    Red mates or converts in 3 plies (2 moves)            order 0, distance to conversion
    Red forces a perpetual check by Black, order 3, in 9 plies
    draw

One ply is a move of one side; one move, in brackets, is a move of the winner.
"""

from __future__ import annotations

from tbgen.indexing import Position, Side
from tbgen.mainline import Ending, Mainline
from tbgen.preference import RootMove, is_direct_win
from tbgen.rules import in_check
from tbgen.tables import Metric, Outcome, ProbeResult, Rules, Value


def distance(plies: int) -> str:
    """`9 plies (5 moves)`, the winner's moves in brackets."""
    moves = (plies + 1) // 2
    return f"{_count(plies, 'ply', 'plies')} ({_count(moves, 'move', 'moves')})"


def explain_position(position: Position, result: ProbeResult) -> str:
    """What the value of a position means."""
    mover, waiting = _name(position.side), _name(position.side.other)
    value = result.exact
    if value.outcome == Outcome.DRAW:
        if not result.material.needs_table:
            return "draw: neither side has a piece that can attack"
        return "draw"
    offence = _offence(result.rules)
    if value.outcome == Outcome.WIN:
        if is_direct_win(result):
            return f"{waiting} is forced into {offence}, order {value.order}, already"
        if value.order:
            return (
                f"{mover} forces a {offence} by {waiting}, order {value.order}, "
                f"in {_count(value.plies, 'ply', 'plies')}"
            )
        return f"{mover} {_goal(result.metric)} in {distance(value.plies)}"
    if value.order:
        return (
            f"{mover} loses by {offence}, order {value.order}, "
            f"in {_count(value.plies, 'ply', 'plies')}"
        )
    if value.plies == 0:
        if in_check(position):
            return f"{mover} is mated"
        return f"{mover} is stalemated, which loses"
    return f"{mover} loses: {waiting} {_goal(result.metric)} in {distance(value.plies)}"


def explain_move(root: ProbeResult, move: RootMove) -> str:
    """What a move achieves for the side that makes it, in the position with the value `root`."""
    worth, after = move.worth, move.result
    if worth is None or after is None:
        return f"no table of {move.missing}"
    if worth.outcome == Outcome.DRAW:
        if move.capture and not after.material.needs_table:
            return "draw: leaves no piece that can attack"
        return "draw"
    if move.ends_game:
        return "mates" if move.check else "stalemates, which wins"
    if worth.outcome == Outcome.WIN:
        if move.converts:
            return f"converts into a won {after.material}"
        if is_direct_win(root) and worth.order == root.order and not move.capture:
            return f"keeps the {_offence(root.rules)}, order {worth.order}"
        if worth.order:
            return f"forces a {_offence(root.rules)}, {_order(worth)}"
        return f"{_goal(_metric(root, after))} in {distance(worth.plies)}"
    if move.converts:
        return f"loses: converts into a lost {after.material}"
    if worth.order:
        return f"loses by {_offence(root.rules)}, {_order(worth)}"
    goal = "mated" if _metric(root, after) == Metric.DTM else "mated or converted"
    return f"loses: {goal} in {distance(worth.plies)}"


def explain_line(line: Mainline) -> str:
    """How a line ends."""
    final, mover = line.final, _name(line.final.side)
    if line.ending == Ending.MATE:
        return f"{mover} is mated: {_name(final.side.other)} wins"
    if line.ending == Ending.STALEMATE:
        return f"{mover} is stalemated: {_name(final.side.other)} wins"
    if line.ending == Ending.DRAW:
        return "draw: neither side can force anything"
    if line.ending == Ending.CUT:
        return "cut off: there are more moves"
    if line.ending == Ending.UNKNOWN:
        return f"no table of {line.missing}: the line cannot be followed further"
    if line.verdict is None:
        return "the position repeats: draw"
    return f"the moves repeat: {line.verdict.reason}"


def _goal(metric: Metric | None) -> str:
    return "mates or converts" if metric == Metric.DTC else "mates"


def _metric(root: ProbeResult, after: ProbeResult) -> Metric | None:
    """What a distance counts to that was taken over from a supporting table."""
    return Metric.DTC if Metric.DTC in (root.metric, after.metric) else Metric.DTM


def _offence(rules: Rules | None) -> str:
    return "perpetual check or chase" if rules == Rules.WXF else "perpetual check"


def _order(value: Value) -> str:
    return f"order {value.order}, in {_count(value.plies, 'ply', 'plies')}"


def _name(side: Side) -> str:
    return side.name.title()


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
