"""Count how many won endgames an engine wins, with tables or without.

    python scripts/match/won_endgames.py --tables egtb --engine uci:built/fairy-stockfish
        [--with egtb] [--count 40] [--nodes 20000] [--seed 1] [--speed]

Starts are random positions of the tables of five men, without `EXCLUDED_MATERIALS`, in which the
side to move wins by the repetition rules, at order 1 to 9. Values are drawn uniformly, however many
positions have them. The engine plays the winner. The defender's moves come from the tables: the
longest resistance, and among such moves one to the position that occurred least in the game.

A game is won by mate, or if the referee decides against the defender. It is not won if the engine
gives up or loses the win by the table, if the referee decides against the engine, if a position
occurs for the third time after the defender's move, or if `--plies` are over. Prints one line of
results, and to stderr the first FEN of every game not won.

`--with DIR` gives the engine its tables (XiangqiTablePath), such as win-draw-loss files of
`tbgen pack`. `--speed` adds nodes a second of processor time, on positions of eight or nine men.
"""

from __future__ import annotations

import random
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from players import Limit, Player, open_player

from tbgen.indexing import Move, Position, Side
from tbgen.play.repetition import is_lost_by, judge_repetition
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.rules import is_legal
from tbgen.tables import Outcome
from tbgen.tables.reader import TableFile

EXCLUDED_MATERIALS = ("KNPKC", "KRNKR", "KCPKN")
"""Materials that are not played, because an earlier measurement used them."""

MEN = 5
ORDERS = range(1, 10)

SPEED_FENS = (
    "3ak4/4a4/9/9/4r4/9/4P4/4B4/3R5/3K1A3 w",
    "2bk5/9/4b4/9/2n6/9/5C3/4N4/9/3AK4 w",
    "4k4/4a4/3a5/4p4/9/2R6/9/9/4p4/3K2B2 w",
)
"""FENs of positions of eight or nine men, to measure the speed of the search."""

SPEED_NODES = 300_000


def won_positions(tables: GameTablebase, count: int, seed: int) -> list[Position]:
    """Choose up to `count` random positions that the side to move wins by the rules of repetition.

    Materials of `MEN` men, without `EXCLUDED_MATERIALS`, take turns in random order; orders are in
    `ORDERS`. Fewer positions are returned if no material yields another one.
    """
    rng = random.Random(seed)
    names = [name.material for name in tables.available() if name.material.men == MEN]
    names = [name for name in names if name.name not in EXCLUDED_MATERIALS]
    found: list[Position] = []
    while names and len(found) < count:
        rng.shuffle(names)
        for name in list(names):
            position = _won_position(tables.table(name), tables, rng)
            if position is None:
                names.remove(name)
            elif len(found) < count:
                found.append(position)
    return found


def _won_position(file: TableFile, tables: GameTablebase, rng: random.Random) -> Position | None:
    """Choose a random position of a table that the side to move wins by the rules of repetition.

    The order is in `ORDERS`. The value is drawn first, uniformly among those that occur, then a
    position with it. Returns None if no position is found.
    """
    decided = []
    for code in sorted(file.occurring_codes(Side.RED) | file.occurring_codes(Side.BLACK)):
        value = file.code_space.decode(code)
        if value.outcome == Outcome.WIN and value.order in ORDERS:
            decided.append(code)
    for code in rng.sample(decided, len(decided)):
        side = rng.choice(tuple(Side))
        slots = np.flatnonzero(file.plane(side) == code)
        for slot in rng.sample(slots.tolist(), min(20, slots.size)):
            position = file.layout.position(slot, side)
            if position is None or not is_legal(position):
                continue
            # Unused slots may have any code, so the position is probed.
            value = tables.probe(position)
            if value.outcome == Outcome.WIN and value.order in ORDERS:
                return position
    return None


def longest_resistance(
    tables: GameTablebase, game: Sequence[Position], rng: random.Random
) -> Move | None:
    """Choose the defender's move by the tables; None if there is no legal move.

    Among the moves of longest resistance, the choice is random between those to the positions with
    the fewest occurrences in the game.

    game : all positions of the game, the last one with the defender to move
    """
    best = [move for move in tables.probe_root(game[-1]) if move.best]
    fewest = min((game.count(move.after) for move in best), default=0)
    rarest = [move.move for move in best if game.count(move.after) == fewest]
    return rng.choice(rarest) if rarest else None


def play_out(
    tables: GameTablebase, engine: Player, start: Position, limit: Limit, plies: int, seed: int
) -> str:
    """Play a game of at most `plies` plies, and return its result in words.

    "won"; "thrown away" (after the engine's move, the tables have no win for it); "judged" (the
    referee decides against the engine); "repeated" (the defender's move repeats a position for the
    third time); "open" (the plies are over); "gave up". The engine plays the side to move in
    `start`, with `limit` for each move. `seed` is for the defender's choices.
    """
    rng = random.Random(seed)
    game: list[Position] = [start]
    moves: list[Move] = []
    engine.begin()
    while len(moves) < plies // 2 * 2:
        defends = game[-1].side != start.side
        if defends:
            move = longest_resistance(tables, game, rng)
        else:
            move = engine.choose(start, moves, limit)
        if move is None:
            return "won" if defends else "gave up"
        moves.append(move)
        game.append(game[-1].after(*move))
        verdict = judge_repetition(game, tables.rule_set)
        if is_lost_by(verdict, start.side.other):
            return "won"
        if is_lost_by(verdict, start.side):
            return "judged"
        if defends and game.count(game[-1]) > 2:
            return "repeated"
        if not defends and tables.probe(game[-1]).outcome != Outcome.LOSS:
            return "thrown away"
    return "open"


def nodes_a_second(engine: Player) -> float:
    """Measure an engine's nodes a second of processor time on `SPEED_FENS` (Linux only)."""
    used = 0.0
    for fen in SPEED_FENS:
        engine.begin()
        engine.choose(Position.from_fen(fen), [], Limit(nodes=1000))
        before = engine.cpu_seconds()
        engine.choose(Position.from_fen(fen), [], Limit(nodes=SPEED_NODES))
        used += engine.cpu_seconds() - before
    return SPEED_NODES * len(SPEED_FENS) / used


def parsed() -> Namespace:
    """Parse the command line."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=Path, required=True, help="tables to judge by")
    parser.add_argument("--engine", required=True, help="PROTOCOL:COMMAND, as in play.py")
    parser.add_argument("--with", dest="own", type=Path, metavar="DIR", help="the engine's tables")
    parser.add_argument("--rules", default="wxf")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=20_000, help="for each move; 20000")
    parser.add_argument("--plies", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", action="store_true", help="measure nodes a second too")
    return parser.parse_args()


def main() -> None:
    """Play the games, and print one line of results."""
    given = parsed()
    options = {"EGTBRules": given.rules, "XiangqiTablePath": str(given.own)} if given.own else {}
    endings: Counter[str] = Counter()
    limit = Limit(nodes=given.nodes)
    with open_tablebase(given.tables, rules=given.rules) as tables:
        starts = won_positions(tables, given.count, given.seed)
        engine = open_player(given.engine, options)
        for number, start in enumerate(starts):
            ending = play_out(tables, engine, start, limit, given.plies, given.seed + number)
            endings[ending] += 1
            if ending != "won":
                print(f"{ending}: {start.fen}", file=sys.stderr)
    lost = ", ".join(f"{count} {ending}" for ending, count in endings.items() if ending != "won")
    words = [f"{engine.name}, {given.own or 'no tables'}: {endings['won']} of {len(starts)} won"]
    words += [f"({lost})"] if lost else []
    words += [f"{engine.table_moves} moves met tables"]
    if given.speed:
        words += [f"{nodes_a_second(engine) / 1000:.0f} thousand nodes a CPU second"]
    engine.close()
    print("; ".join(words))


if __name__ == "__main__":
    main()
