"""Puzzles made from tables, positions of the day, and moves of opponents of several strengths.

material, aim, level  ->  puzzle: a position with the outcome `aim`; exactly one move keeps it, and
                          that move is no capture
the game so far       ->  state of the puzzle: open, right, lost or solved
facts, a strength     ->  move of an opponent
date                  ->  puzzle of the day; position of the day that repetition decides

The level of a puzzle depends on the number of moves; that of a win also on its length, and on
whether repetition decides (order 1 and above).
Positions of the day are equal for all visitors until midnight (UTC). They are not stored, but
searched for with the number of the day as seed. A search that runs out of time may find another
position.
"""

from __future__ import annotations

import contextlib
import random
from collections import deque
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import islice

from tbgen.board.knowledge.search import positions_of_value, search
from tbgen.board.knowledge.store import Facts, TableStore, winner_of
from tbgen.finding.query import NO_END, Query
from tbgen.indexing import InputError, Material, Move, Position, Side
from tbgen.rules import legal_moves
from tbgen.tables import Outcome, ProbeResult, TablebaseError

SHORTEST = 5
"""Minimum number of plies of a win of order 0 that is used as a puzzle."""

LEVELS = ("easy", "medium", "hard")
"""Levels of difficulty, the easiest first."""

FEW_MOVES, MANY_MOVES = 4, 10
"""Limits on the number of legal moves: above each of them, a puzzle counts as more difficult."""

LONG = 13
"""Number of plies of a win above which a puzzle counts as more difficult."""

PER_ROUND, ROUNDS = 24, 6
"""Limits of `find_puzzle`: positions examined in a round for each query of `_kinds`; rounds."""

SEEDS = 1 << 16
"""Number of different seeds; each round of `find_puzzle` draws one, so that puzzles differ."""

MOST_SEARCHED = 5_000
"""Maximum number of positions that a search of a whole table returns for each query of `_kinds`."""

SEARCH_SECONDS = 20.0
"""Time limit in seconds of a search of a whole table for each query of `_kinds`."""


class NothingFoundError(InputError):
    """Error of a search for a puzzle that finds none."""


class NoReplyError(InputError):
    """Error of an opponent without a move, such as an engine that does not answer."""


def level_of(position: Position, result: ProbeResult) -> str:
    """Return the level of a puzzle with the value `result`, one of `LEVELS`."""
    choices = len(legal_moves(position))
    points = (choices > FEW_MOVES) + (choices > MANY_MOVES)
    if result.outcome == Outcome.DRAW:
        return LEVELS[points]
    points += 2 * ((result.plies or 0) > LONG) + 2 * (result.order > 0)
    return LEVELS[min(2, points // 2)]


def find_puzzle(
    store: TableStore,
    material: Material,
    aim: Outcome = Outcome.WIN,
    seed: int | None = None,
    level: str = "",
) -> Position:
    """Return a random puzzle from a sample of a table.

    Wins of order 0 have at least `SHORTEST` plies. Raises `NothingFoundError` if the sample has no
    puzzle, and like `Tablebase.probe`.

    aim : a win or a draw, for the side to move
    seed : seed of the random choice: equal seeds give equal puzzles, unless a search ends early for
        lack of time; None for a random seed
    level : one of `LEVELS`, "" for any
    """
    chance, kinds = random.Random(seed), _kinds(aim, level)
    for _ in range(ROUNDS):
        number = chance.randrange(SEEDS)
        found = [positions_of_value(store, material, kind, number, PER_ROUND) for kind in kinds]
        positions = [position for each in found for position in each.positions]
        for position in chance.sample(positions, len(positions)):
            if level and level_of(position, store.tables.probe(position)) != level:
                continue
            moves = store.tables.probe_root(position)
            good = [move for move in moves if move.outcome == aim]
            known = len(moves) > 1 and all(move.outcome is not None for move in moves)
            if known and len(good) == 1 and not good[0].capture:
                return position
        if all(each.share == 1 for each in found):
            break
    raise NothingFoundError("no puzzle was found", "try another endgame")


def search_puzzle(
    store: TableStore, material: Material, aim: Outcome = Outcome.WIN, level: str = ""
) -> Position:
    """Return a puzzle as `find_puzzle` does, but search the whole table, for a limited time.

    Raises like `search`, and `NothingFoundError` if no puzzle is found. The error's hint suggests
    another level if one has a puzzle, else another endgame.
    """
    chance, is_whole = random.Random(), True
    for kind in _kinds(aim, level):
        wanted = replace(kind, only=True, quiet=True)
        found = search(store, material, wanted, 0, MOST_SEARCHED, SEARCH_SECONDS)
        is_whole &= found.share == 1
        for position in chance.sample(found.positions, len(found.positions)):
            if not level or level_of(position, store.tables.probe(position)) == level:
                return position
    if level:
        search_puzzle(store, material, aim)  # raises without a puzzle of any level
    hint = "try another level" if level else "try another endgame"
    if is_whole:
        raise NothingFoundError(f"{material} has no such puzzle", hint)
    raise NothingFoundError(f"no such puzzle of {material} was found", hint)


def _kinds(aim: Outcome, level: str) -> list[Query]:
    """Return queries for positions with outcome `aim` that may be puzzles of a level ("": any)."""
    if aim == Outcome.DRAW:
        return [Query(outcome=aim)]
    plies = (LONG + 1 if level == LEVELS[-1] else SHORTEST, LONG if level == LEVELS[0] else NO_END)
    kinds = [Query(outcome=aim, orders=(1, NO_END)), Query(outcome=aim, orders=(0, 0), plies=plies)]
    return kinds[1:] if level == LEVELS[0] else kinds


def state_of(facts: Facts, human: Side, task: str, *, begun: bool) -> str:
    """Return the state of a puzzle after the game so far: "open", "right", "lost" or "solved".

    open : the outcome is kept and no move has been made (`begun`), or the value is unknown
    right : the task is a win, which is kept so far
    lost : the outcome to keep is gone, by the table or by the end of the game
    solved : `human` has won the game; or the task is a draw, and a draw or better is kept after the
        first move

    human : the side that must keep the outcome `task`, "win" or "draw"
    """
    if facts.over is not None:
        winner = facts.over.winner
    elif facts.result is not None:
        winner = winner_of(facts.position.side, facts.result.outcome)
    else:
        return "open"
    if facts.over is not None and winner == human:
        return "solved"
    if winner != human and (task == "win" or winner is not None):
        return "lost"
    if not begun:
        return "open"
    return "solved" if task == "draw" else "right"


BEGINNER_SHARE = 0.25
"""Probability that a beginner plays a random legal move, which may change the outcome."""


def answer(facts: Facts, strength: str, chance: random.Random | None = None) -> Move:
    """Return the opponent's move in a position, at the strength "best", "varied" or "beginner".

    "best" plays the suggested move, which `facts` must have. "varied" plays a random move that
    keeps the outcome. "beginner" plays any random move with probability `BEGINNER_SHARE`, else like
    "varied". Both leave out moves that lose at once by repetition; if none is left, they play the
    suggested move.
    """
    assert facts.suggested is not None
    if strength == "best":
        return facts.suggested.move
    chance = chance or random.Random()
    allowed = [move for move in facts.moves if move.move not in facts.forbidden]
    if strength == "beginner" and chance.random() < BEGINNER_SHARE:
        return chance.choice(allowed or [facts.suggested]).move
    keeping = [move for move in allowed if move.outcome == facts.suggested.outcome]
    return chance.choice(keeping or [facts.suggested]).move


SECONDS = 1.0
"""Time limit in seconds of the search of one table in `rules_of_the_day`."""

FEWEST_MEN = 4
"""Fewest pieces, kings included, of a table that gives puzzles of the day."""

ATTEMPTS = 4
"""Maximum number of tables tried for a position of the day."""

DAILY_STRIDE = 7
"""Step in the list of tables from one day's puzzle to the next: neighbouring tables are similar."""

ONLY_BY_RULES = Query(outcome=Outcome.WIN, orders=(1, NO_END), differs=True)
"""Query for positions of the day: wins by repetition that are no wins under another rule set."""


def today() -> date:
    """Return the date in UTC."""
    return datetime.now(UTC).date()


def comparable(store: TableStore) -> list[Material]:
    """Return the materials with a table of the rule set in use, and one in `TableStore.others`.

    Empty as long as no table has determined the rule set in use.
    """
    if store.tables.rule_set.rules is None:
        return []
    others = {name.material for tables in store.others() for name in tables.available()}
    return [material for material in store.materials() if material in others]


def rules_of_the_day(store: TableStore, day: date) -> Position | None:
    """Return the day's position that is won by repetition, but is no win under another rule set.

    At most `ATTEMPTS` tables are searched. None if no position is found.
    """
    number = day.toordinal()

    def is_decided(material: Material) -> bool:
        with contextlib.suppress(TablebaseError, OSError):
            return store.statistics(material)[0].rule_decided > 0
        return False

    def find() -> Position | None:
        materials = deque(material for material in comparable(store) if material.both_armed)
        materials.rotate(-number)
        for material in islice(filter(is_decided, materials), ATTEMPTS):
            with contextlib.suppress(TablebaseError, OSError):
                found = positions_of_value(store, material, ONLY_BY_RULES, number, 1, SECONDS)
                if found.positions:
                    return found.positions[0]
        return None

    return store.cached(("rules of the day", day), find)


def materials_of_puzzles(store: TableStore) -> list[Material]:
    """Return the materials that have a table and at least `FEWEST_MEN` pieces."""
    return [material for material in store.materials() if material.men >= FEWEST_MEN]


def puzzle_of_the_day(store: TableStore, day: date) -> Position | None:
    """Return the puzzle of a day: a position in which exactly one move wins.

    At most `ATTEMPTS` tables are searched; None if they have no puzzle. Tables with attackers on
    both sides come first: against a side without attackers, many moves often win.
    """
    number = day.toordinal()

    def find() -> Position | None:
        materials = deque(materials_of_puzzles(store))
        materials.rotate(-number * DAILY_STRIDE)
        spread = islice(materials, 0, None, max(1, len(materials) // (4 * ATTEMPTS)))
        tried = sorted(spread, key=lambda material: not material.both_armed)
        for material in tried[:ATTEMPTS]:
            with contextlib.suppress(NothingFoundError, TablebaseError, OSError):
                return find_puzzle(store, material, seed=number)
        return None

    return store.cached(("puzzle of the day", day), find)
