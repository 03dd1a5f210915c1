"""Reasons in the reader's language: `tbgen.reasons` in English, the same said in Chinese.

    红方9步（5回合）杀                    order 0, distance to mate
    红方逼黑方长将（3阶），9步后          order 3
    和棋

The Chinese sentences are made from the same values; nothing is decided here.
"""

from __future__ import annotations

from tbgen import reasons
from tbgen.board.i18n import text, traditional
from tbgen.indexing import Position, Side
from tbgen.mainline import Ending, Mainline
from tbgen.preference import RootMove, is_direct_win
from tbgen.referee.record import PERPETUAL_CHECK
from tbgen.rules import in_check
from tbgen.tables import Metric, Outcome, ProbeResult, Rules


def explain_position(position: Position, result: ProbeResult, language: str) -> str:
    """What the value of a position means."""
    if language == "en":
        return reasons.explain_position(position, result)
    return _spell(_position(position, result), language)


def explain_move(root: ProbeResult | None, move: RootMove, language: str) -> str:
    """What a move achieves; without `root` (its table is missing), what it leads to."""
    if root is None and move.result is not None:
        return explain_position(move.after, move.result, language)
    if language == "en":
        # Without a result only the missing table is told, whatever the root.
        return reasons.explain_move(root, move) if root else f"no table of {move.missing}"
    return _spell(_move(root, move), language)


def explain_line(line: Mainline, language: str) -> str:
    """How a line ends."""
    return reasons.explain_line(line) if language == "en" else _spell(_line(line), language)


def explain_distance(plies: int, language: str) -> str:
    """`9 plies (5 moves)`."""
    return reasons.distance(plies) if language == "en" else _spell(_distance(plies), language)


def _spell(chinese: str, language: str) -> str:
    return traditional(chinese) if language == "zh-Hant" else chinese


def _position(position: Position, result: ProbeResult) -> str:
    mover, waiting = _name(position.side), _name(position.side.other)
    value = result.exact
    if value.outcome == Outcome.DRAW:
        return "和棋" if result.material.needs_table else "和棋：双方都没有进攻子力"
    offence = _offence(result.rules)
    if value.outcome == Outcome.WIN:
        if is_direct_win(result):
            return f"{waiting}已被迫{offence}（{value.order}阶）"
        if value.order:
            return f"{mover}逼{waiting}{offence}（{value.order}阶），{value.plies}步后"
        return f"{mover}{_distance(value.plies)}{_goal(result.metric)}"
    if value.order:
        return f"{mover}因{offence}判负（{value.order}阶），{value.plies}步后"
    if value.plies == 0:
        return f"{mover}被将死" if in_check(position) else f"{mover}被困毙，判负"
    return f"{mover}负：{waiting}{_distance(value.plies)}{_goal(result.metric)}"


def _move(root: ProbeResult | None, move: RootMove) -> str:
    worth, after = move.worth, move.result
    if root is None or worth is None or after is None:
        return f"缺少{move.missing}残局库"
    if worth.outcome == Outcome.DRAW:
        barren = move.capture and not after.material.needs_table
        return "和棋：不再有进攻子力" if barren else "和棋"
    if move.ends_game:
        return "将死" if move.check else "困毙，胜"
    offence = _offence(root.rules)
    metric = Metric.DTC if Metric.DTC in (root.metric, after.metric) else Metric.DTM
    if worth.outcome == Outcome.WIN:
        if move.converts:
            return f"转入胜局{after.material}"
        if is_direct_win(root) and worth.order == root.order and not move.capture:
            return f"保持{offence}（{worth.order}阶）"
        if worth.order:
            return f"逼对方{offence}（{worth.order}阶），{worth.plies}步后"
        return f"{_distance(worth.plies)}{_goal(metric)}"
    if move.converts:
        return f"负：转入败局{after.material}"
    if worth.order:
        return f"因{offence}判负（{worth.order}阶），{worth.plies}步后"
    return f"负：{_distance(worth.plies)}被{_goal(metric)}"


def _line(line: Mainline) -> str:
    final, mover = line.final, _name(line.final.side)
    if line.ending == Ending.MATE:
        return f"{mover}被将死：{_name(final.side.other)}胜"
    if line.ending == Ending.STALEMATE:
        return f"{mover}被困毙：{_name(final.side.other)}胜"
    if line.ending == Ending.DRAW:
        return "和棋：双方都无法取胜"
    if line.ending == Ending.CUT:
        return "未完：后面还有着法"
    if line.ending == Ending.UNKNOWN:
        return f"缺少{line.missing}残局库，无法继续"
    if line.winner is None or line.verdict is None:
        return "局面重复，双方均无单方长打：和棋"
    loser = line.winner.other
    offence = "长将" if line.verdict.levels[loser] == PERPETUAL_CHECK else "长捉"
    return f"着法循环：{_name(loser)}{offence}，{_name(line.winner)}胜"


def _distance(plies: int) -> str:
    return f"{plies}步（{(plies + 1) // 2}回合）"


def _goal(metric: Metric | None) -> str:
    return "杀或转换" if metric == Metric.DTC else "杀"


def _offence(rules: Rules | None) -> str:
    return "长将或长捉" if str(rules) == "wxf" else "长将"


def _name(side: Side) -> str:
    return text("zh-Hans", side.name.lower())
