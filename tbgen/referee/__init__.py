"""The referee: verdicts on repeated positions, with reasons.

    record   the game as lists or arrays, and the verdict on it: scalar functions
    game     a game read into such a record, with push and pop; positions as books print them
    verdict  judge(position, moves) -> Judgement
    chinese  verdicts under the Chinese rules, where they are certain
    kills    threats to mate, and to gain material, by checks and captures
    reasons  the judgement in words
    history  push, pop and judge at speed (compiled; imported only on demand)

A *ply* is one move of one side. A *span* is the part of a game between two occurrences of a
position. The *level* of a side over a span is the gravity of its offence (`record.ALLOWED`): 2
perpetual check, 1 perpetual chase, 0 no offence under the rules. `judge_chinese` has other levels.

Attacks and chases are in `tbgen.rules`. A `Game` holds `Rules` and the option `minor_chases` as
`chase_rules`, the bits of the definition of a chase.

Parameters of kernels, unless a kernel says otherwise:
    boards : Boards (positions, 90), piece codes by position and square
    ids : Boards (positions, 90), the id of the piece on each square, -1 for an empty square
    log : Log (positions, LOG_FIELDS), a row of integers by position
    plies : int, the plies played; the last position is `boards[plies]`
    ply, reply : int, the number of a ply: the index of the position before it; `reply` may be
        `record.NO_REPLY`
    start, end : int, the first and the last position of a span
    first_ply : int, the first ply of a side in a span: `start` or `start + 1`
    one, other : int, two positions
    side : int, 0 Red, 1 Black
    source, target, square : int, a square, 0 to 89
    code : int, a piece code, or `EMPTY`
    offences : int, `Rules.offences`
    occurrences : int, 2 or more: the number of times that a position must have occurred
    chase_rules : int, bits of the rule set (`tbgen.indexing.rulesets`)
    draw_is_enough : bool, whether the answer may be "at least a draw"
    attackers, victims : int (PAIRS_ROOM,), out: squares of the chasing and the chased pieces
    scratch : tuple of two int (PAIRS_ROOM,), buffers for `attackers` and `victims`
    level_red, level_black : int, a level of offence
"""

from tbgen.indexing.rulesets import Rules
from tbgen.referee.chinese import chinese_verdict, judge_chinese
from tbgen.referee.game import Diagram, Game
from tbgen.referee.verdict import (
    Judgement,
    Label,
    Ply,
    Verdict,
    judge,
    judge_game,
    repetition_verdict,
)

__all__ = [
    "Diagram", "Game", "Judgement", "Label", "Ply", "Rules", "Verdict", "chinese_verdict", "judge",
    "judge_chinese", "judge_game", "repetition_verdict",
]  # fmt: skip
