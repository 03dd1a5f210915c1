"""The referee: verdicts on repeated positions, and why.

    record   the game as the rules see it: scalar functions, one source for Python and kernels
    game     a game read into such a record, which grows and shrinks
    verdict  judge(position, moves) -> Judgement
    chinese  the same under the Chinese rules, where one can be sure
    kills    threats of mate, and of gains, by checks and captures
    reasons  the judgement in words
    history  push, pop and judge at speed (compiled; imported only when asked for)

    diagram  positions that books print and no game reaches

What attacks and chases is in `tbgen.rules`; what a rule set is called, in `tbgen.tables.names`.
Nothing here looks into tables, or chooses moves.

Rules and the option on minor pieces stay apart here and are no `RuleSet`: the labels of plies tell
chases under every rules, so the option has a meaning where a table's rule set leaves no choice.

Parameters of kernels, unless a kernel says otherwise:
    boards : Boards (positions, 90), piece codes by position and square
    ids : Boards (positions, 90), the id of the piece on each square, -1 where there is none
    log : Log (positions, LOG_FIELDS), a row of integers by position
    plies : int, the plies played; the last position is `boards[plies]`
    ply, reply : int, the number of a ply, that of the position it is played from
    start, end : int, the first position of a span and its last
    first_ply : int, the first ply of a side in a span: `start` or `start + 1`
    one, other : int, two positions
    side : int, 0 Red, 1 Black
    source, target, square : int, a square, 0 to 89
    code : int, a piece code, or `EMPTY`
    rules : int, `Rules.number`
    occurrences : int, 2 or more: how often a position must have occurred
    chase_rules : int, bits of the rule set (`tbgen.indexing.rulesets`)
    draw_is_enough : bool, whether the answer may be "at least a draw"
    attackers, victims : int (PAIRS_ROOM,), out
    scratch : tuple of two int (PAIRS_ROOM,), buffers
    mask : int, a set of ids, one bit each
    level_red, level_black : int, a level of offence
"""

from tbgen.indexing.rulesets import Rules
from tbgen.referee.chinese import judge_chinese
from tbgen.referee.game import Game
from tbgen.referee.verdict import Judgement, Label, Ply, Verdict, judge, judge_game, verdict_on

__all__ = [
    "Game",
    "Judgement",
    "Label",
    "Ply",
    "Rules",
    "Verdict",
    "judge",
    "judge_chinese",
    "judge_game",
    "verdict_on",
]
