"""The record of a game, and the verdict on a repetition in it.

    boards[p]  ids[p]  log[p]      after p plies, p = 0 .. plies
      |          |        KEY, FIRST, CHECKED    of the position
      |          |        SOURCE, TARGET, VICTIMS   of the ply played from it
      |          the id (0..31) of the piece on each square, -1 for an empty square
      ninety piece codes

Scalar functions (`tbgen.system.scalar`): the referee calls them on lists, the compiled
`tbgen.referee.history` and the engine on arrays. `tbgen.referee` describes their parameters.

Ids follow the physical pieces; a set of pieces is a bit mask of ids. The chases of a ply are
computed only when a position has repeated, and their victims are cached, because most positions of
a search never need them (D. Tan, N. Watkinson Medina, "Complete Implementation of WXF Chinese Chess
Rules", section 5.1).
"""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence

from tbgen.indexing.rulesets import CHECK_VOIDS, Rules
from tbgen.indexing.squares import EMPTY, SQUARES, PieceType, piece_kind, piece_side
from tbgen.rules.attacks import in_check
from tbgen.rules.board import MutableBoard
from tbgen.rules.chases import is_answered, is_new_attack, may_chase
from tbgen.rules.moves import piece_moves
from tbgen.system.scalar import scalar

Boards = Sequence[MutableBoard]
"""Array or list by position of a game: for each position ninety integers, one for each square."""

Log = Sequence[MutableSequence[int]]
"""A row of `LOG_FIELDS` integers per position of a game."""

Scratch = tuple[MutableSequence[int], MutableSequence[int]]
"""Two buffers for the attackers and victims of `chase_pairs`."""

KEY = 0
"""Log column: sum of `square_key` over the pieces, a hash that different boards rarely share."""
FIRST = 1
"""Log column: index of the first position after the last capture or pawn's advance, 0 without one.
No earlier position can occur again.
"""
CHECKED = 2
"""Log column: 1 if the side to move is in check, else 0."""
SOURCE = 3
TARGET = 4
"""Log columns: the squares of the ply played from the position; arbitrary for the last position."""
VICTIMS = 5
"""Log column: ids (bit mask) of the pieces that the ply chases, or `NOT_COMPUTED`."""
LOG_FIELDS = 6

NOT_COMPUTED = -1

MAX_PAIRS = 192
"""Upper bound of the chases of a ply: 10 chasers (no king, no pawn) times 15 victims are 150."""
PAIRS_ROOM = MAX_PAIRS + 17
"""Length of a buffer for `chase_pairs`: `MAX_PAIRS`, and scratch for the moves of one piece."""

NO_REPLY = -1
"""Value of `reply` if no reply has been played yet; then every new attack counts as a chase."""

NO_SPAN = -1
"""Returned by `find_span` when the last position has not occurred often enough."""

UNDECIDED, DRAW, RED_WINS, BLACK_WINS = -1, 0, 1, 2
"""Verdicts as integers, the same as the members of `tbgen.referee.verdict.Verdict`."""

NO_OFFENCE, CHECKS_ONLY = Rules.NONE.offences, Rules.CHECK.offences
"""Values of `Rules.offences`: no repetition loses (`NO_OFFENCE`), or only perpetual check loses."""

ALLOWED, PERPETUAL_CHASE, PERPETUAL_CHECK = 0, 1, 2
"""Levels of offence; the side with the higher level loses."""


@scalar
def square_key(code: int, square: int) -> int:
    """Return the term of a square in the hash `KEY` of a position; 0 for an empty square."""
    if code == EMPTY:
        return 0
    number = 90 * code + square + 1
    return number * number * number


@scalar
def start_record(boards: Boards, ids: Boards, log: Log, side: int) -> None:
    """Initialise `ids[0]` and `log[0]` for the board in `boards[0]`, with `side` to move.

    SOURCE and TARGET are set when a ply is played.
    """
    board, names = boards[0], ids[0]
    key, count = 0, 0
    for square in range(SQUARES):
        names[square] = -1
        if board[square] != EMPTY:
            names[square] = count
            count += 1
            key += square_key(board[square], square)
    row = log[0]
    row[KEY], row[FIRST], row[CHECKED] = key, 0, int(in_check(board, side))
    row[VICTIMS] = NOT_COMPUTED


@scalar
def append_ply(
    boards: Boards, ids: Boards, log: Log, ply: int, side: int, source: int, target: int
) -> None:
    """Play `source`-`target` by `side` from position `ply`, and write position `ply + 1`.

    The move must be legal, and row `ply + 1` must exist in all three arrays.
    """
    append_unchecked(boards, ids, log, ply, source, target)
    log[ply + 1][CHECKED] = int(in_check(boards[ply + 1], 1 - side))


@scalar
def append_unchecked(
    boards: Boards, ids: Boards, log: Log, ply: int, source: int, target: int
) -> None:
    """Play a ply like `append_ply`, but leave column CHECKED of the new row to the caller."""
    before, after = boards[ply], boards[ply + 1]
    names, names_after = ids[ply], ids[ply + 1]
    for square in range(SQUARES):
        after[square] = before[square]
        names_after[square] = names[square]
    code, taken = before[source], before[target]
    after[source], after[target] = EMPTY, code
    names_after[source], names_after[target] = -1, names[source]
    advance = piece_kind(code) == PieceType.PAWN and source % 9 == target % 9
    here, following = log[ply], log[ply + 1]
    following[KEY] = (
        here[KEY] - square_key(code, source) - square_key(taken, target) + square_key(code, target)
    )
    following[FIRST] = ply + 1 if advance or taken != EMPTY else here[FIRST]
    following[VICTIMS] = NOT_COMPUTED
    here[SOURCE], here[TARGET], here[VICTIMS] = source, target, NOT_COMPUTED
    if ply > 0:
        # The victims of the ply before depend on this reply.
        log[ply - 1][VICTIMS] = NOT_COMPUTED


@scalar
def _same_board(boards: Boards, log: Log, one: int, other: int) -> bool:
    """Return whether two positions have the same pieces on the same squares."""
    if log[one][KEY] != log[other][KEY]:
        return False
    first, second = boards[one], boards[other]
    for square in range(SQUARES):  # noqa: SIM110  (kernels have no generators)
        if first[square] != second[square]:
            return False
    return True


@scalar
def find_span(boards: Boards, log: Log, plies: int, occurrences: int) -> int:
    """Return the first position of the span to be judged, which ends at the last position.

    It is the second-latest earlier occurrence of the last position, or the only one. Returns
    `NO_SPAN` if the last position has occurred fewer than `occurrences` times.
    """
    start, earlier = NO_SPAN, 0
    position = plies - 2
    while position >= log[plies][FIRST]:
        if _same_board(boards, log, position, plies):
            earlier += 1
            if earlier <= 2:
                start = position
            if earlier >= 2 and earlier >= occurrences - 1:
                return start
        position -= 2
    return start if earlier >= occurrences - 1 else NO_SPAN


@scalar
def chase_pairs(
    boards: Boards, log: Log, ply: int, reply: int, chase_rules: int,
    attackers: MutableSequence[int], victims: MutableSequence[int],
) -> int:  # fmt: skip
    """Write the chases of a ply to `attackers` and `victims`, as squares after the ply.

    Returns the number of chases, 0 for a ply that gives check. `reply` is `ply + 1`; for the last
    ply of a span it is the first ply of the span, where the loop closes.
    """
    if log[ply + 1][CHECKED]:
        return 0
    before, after = boards[ply], boards[ply + 1]
    source, target = log[ply][SOURCE], log[ply][TARGET]
    side = piece_side(after[target])
    count = 0
    for attacker in range(SQUARES):
        if not may_chase(after[attacker], chase_rules) or piece_side(after[attacker]) != side:
            continue
        for i in range(MAX_PAIRS, piece_moves(after, attacker, victims, MAX_PAIRS)):
            victim = victims[i]
            if after[victim] == EMPTY or not is_new_attack(
                before, after, source, target, attacker, victim, chase_rules
            ):
                continue
            if reply == NO_REPLY or is_answered(
                boards[reply + 1],
                log[reply][SOURCE],
                log[reply][TARGET],
                attacker,
                victim,
                chase_rules,
            ):
                attackers[count] = attacker
                victims[count] = victim
                count += 1
    return count


@scalar
def _victims_of_ply(
    boards: Boards, ids: Boards, log: Log, ply: int, reply: int, chase_rules: int, scratch: Scratch
) -> int:
    """Return the pieces that a ply chases, as bits of ids; `reply` as for `chase_pairs`."""
    mask = 0
    count = chase_pairs(boards, log, ply, reply, chase_rules, scratch[0], scratch[1])
    for i in range(count):
        mask |= 1 << ids[ply + 1][scratch[1][i]]
    return mask


@scalar
def _follow_exchanges(ids: Boards, start: int, end: int, mask: int) -> int:
    """Return the pieces in `mask` that are still chased if the span is repeated for ever.

    mask : int, the pieces that every ply of a side chases in one pass of the span, as bits of ids

    In a span, identical pieces may exchange places. The next pass then chases the piece that stands
    where the victim stood before. After some passes all exchanged pieces are back.
    """
    common, image = mask, mask
    while True:
        moved = 0
        for square in range(SQUARES):
            before = ids[start][square]
            if before >= 0 and image >> before & 1:
                moved |= 1 << ids[end][square]
        image = moved
        common &= image
        if image == mask:
            return common


@scalar
def common_victims(
    boards: Boards, ids: Boards, log: Log, start: int, end: int, first_ply: int, chase_rules: int,
    scratch: Scratch,
) -> int:  # fmt: skip
    """Return the pieces that all plies of one side in a span chase, as bits of ids.

    The plies are `first_ply`, `first_ply + 2`, ... before `end`. Pieces that later passes of the
    span would not chase are left out (`_follow_exchanges`). The victims of a ply are cached in the
    log, except those of the span's last ply, to which the span's first ply is the reply.
    """
    mask = -1
    # Backwards, because the last plies are the likeliest to be cached.
    ply = first_ply + (end - 1 - first_ply) // 2 * 2
    while ply >= first_ply:
        chased = log[ply][VICTIMS]
        if ply + 1 == end:
            chased = _victims_of_ply(boards, ids, log, ply, start, chase_rules, scratch)
        elif chased == NOT_COMPUTED:
            chased = _victims_of_ply(boards, ids, log, ply, ply + 1, chase_rules, scratch)
            log[ply][VICTIMS] = chased
        mask &= chased
        if mask == 0:
            return 0
        ply -= 2
    return _follow_exchanges(ids, start, end, mask)


@scalar
def count_checks(log: Log, first_ply: int, end: int) -> int:
    """Return the number of checks in the plies `first_ply`, `first_ply + 2`, ... before `end`."""
    checks = 0
    for ply in range(first_ply, end, 2):
        checks += log[ply + 1][CHECKED]
    return checks


@scalar
def side_level(
    boards: Boards, ids: Boards, log: Log, start: int, end: int, first_ply: int, offences: int,
    chase_rules: int, scratch: Scratch,
) -> int:  # fmt: skip
    """Return the level of offence (`ALLOWED`, ...) of the side that plays `first_ply` of a span."""
    if offences == NO_OFFENCE:
        return ALLOWED
    checks = count_checks(log, first_ply, end)
    if checks == (end - first_ply + 1) // 2:
        return PERPETUAL_CHECK
    if checks > 0 or offences == CHECKS_ONLY:
        return ALLOWED
    if chase_rules & CHECK_VOIDS and count_checks(log, 2 * start + 1 - first_ply, end) > 0:
        return ALLOWED
    common = common_victims(boards, ids, log, start, end, first_ply, chase_rules, scratch)
    return PERPETUAL_CHASE if common != 0 else ALLOWED


@scalar
def verdict_of(level_red: int, level_black: int) -> int:
    """Return the verdict on a repetition: the side with the higher level loses."""
    if level_red > level_black:
        return BLACK_WINS
    if level_black > level_red:
        return RED_WINS
    return DRAW


@scalar
def judge_record(
    boards: Boards, ids: Boards, log: Log, plies: int, side: int, offences: int, occurrences: int,
    chase_rules: int, draw_is_enough: bool,
    scratch: Scratch,
) -> int:  # fmt: skip
    """Return the verdict on the last position of a game, in which `side` is to move.

    It is `UNDECIDED` before the position has occurred `occurrences` times. With `draw_is_enough`,
    DRAW means "at least a draw": the opponent's chases are not computed if the side to move commits
    no offence. This is for a search whose beta is no higher than a draw (Tan & Watkinson Medina,
    section 5.2).
    """
    start = find_span(boards, log, plies, occurrences)
    if start == NO_SPAN:
        return UNDECIDED
    # The span has an even number of plies, so the side to move plays its first one. If a side
    # only checks, the verdict does not depend on chases.
    half = (plies - start) // 2
    if offences > CHECKS_ONLY and (
        count_checks(log, start, plies) == half or count_checks(log, start + 1, plies) == half
    ):
        offences = CHECKS_ONLY
    own = side_level(boards, ids, log, start, plies, start, offences, chase_rules, scratch)
    if draw_is_enough and own == ALLOWED:
        return DRAW
    other = side_level(boards, ids, log, start, plies, start + 1, offences, chase_rules, scratch)
    return verdict_of(own, other) if side == 0 else verdict_of(other, own)
