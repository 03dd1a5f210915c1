"""The referee: verdicts on repeated positions, and why.

    record   the game as the rules see it: scalar functions, one source for Python and kernels
    verdict  judge(position, moves) -> Judgement
    reasons  the judgement in words
    history  push, pop and judge at speed (compiled; imported only when asked for)

What attacks and chases is in `tbgen.rules`; nothing here knows of tables.
"""

from tbgen.referee.verdict import Judgement, Label, Ply, Verdict, judge
from tbgen.tables.names import Rules

__all__ = ["Judgement", "Label", "Ply", "Rules", "Verdict", "judge"]
