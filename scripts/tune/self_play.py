# mypy: allow-untyped-defs, allow-untyped-calls
"""Generate training positions for the evaluation by games of the engine against itself.

    python scripts/tune/self_play.py OUT.npz [--games 1000] [--nodes 500] [--seed 1]

Every game begins with random plies from the opening array. Openings whose score exceeds
`EVEN_SCORE` for either side are dropped. A game ends by mate, by the rules of repetition, after
`QUIET_PLIES` without a capture, or after `AGREED_PLIES` in a row with a score above `DECIDED` for
either side; `MOST_PLIES` without an end are a draw. Only quiet positions are stored: the side to
move is not in check, its best move is no capture, and the score is no certain win or loss.

OUT has arrays of one row per position: `boards` uint8 (n, 90), `sides` int8 (n,), `scores` int16
(n,) of the search, and `results` int8 (n,), 1 for a win, 0 a draw, -1 a loss, both for Red; `games`
int32 (n,) numbers the games. The same seed gives the same file.

A whole game is one kernel, the driver of the search included, since Python would take most of the
time with so few nodes a move. A thousand games take about 20 seconds.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tbgen.compiling.jit import borrowing_kernel
from tbgen.engine.search import transposition
from tbgen.engine.search.generation import generate
from tbgen.engine.search.safety import is_safe
from tbgen.engine.search.scores import INFINITE, MAX_EVALUATION
from tbgen.engine.search.searcher import Searcher
from tbgen.engine.search.state import GAME_PLIES, MAX_PLY, PLIES, STATE, Shared, begin, push
from tbgen.engine.search.tree import search_root
from tbgen.indexing import START_FEN, Position
from tbgen.indexing.squares import EMPTY, SQUARES
from tbgen.probing import NumbaTables
from tbgen.referee import record
from tbgen.rules.board import MAX_MOVES
from tbgen.tables import Rules, Tablebase
from tbgen.tables.rule_sets import RuleSet

LEAST_RANDOM, MOST_RANDOM = 4, 11
"""Least and largest number of random plies before the engine plays."""
QUIET_PLIES = 80
MOST_PLIES = GAME_PLIES - MOST_RANDOM - 1
EVEN_SCORE = 250
"""Largest absolute score, in centipawns, with which an opening is used."""
DECIDED, AGREED_PLIES = 1_500, 6
"""A game ends after `AGREED_PLIES` plies in a row with a score above `DECIDED` for either side. The
side that the last score favours is the winner.
"""
WINDOW, WIDEST = 25, 1_000
"""Half width of the first search window around the previous depth's score, and the half width from
which the window has no limits.
"""
NO_GAME = -1


@borrowing_kernel
def _moves_of_root(state, moves):
    """Write the legal moves of the root, the last position of the game; returns their number.

    state : `State`, inout
    moves : int32 (MAX_MOVES,), out; each is source << 7 | target
    """
    row, side, ply = state.root, state.root_side, state.root - state.root
    captures = generate(state, row, side, ply, ply, ply == 0)
    count, legal = generate(state, row, side, ply, captures, ply != 0), np.int64(0)
    for i in range(count):
        move = np.int64(state.moves[0, i])
        if is_safe(state, row, side, move >> 7, move & 127):
            moves[legal] = move
            legal += 1
    return legal


@borrowing_kernel
def _play_at_root(state, move):
    """Play a move of the game, so that the position after it becomes the root.

    state : `State`, inout
    move : int64; source << 7 | target
    """
    push(state, state.root, state.root_side, move >> 7, move & 127)
    state.root += 1
    state.root_side = 1 - state.root_side


@borrowing_kernel
def _think(states, shared, moves, nodes):
    """Search the root by iterative deepening; returns the last score and the best move.

    The score is for the side to move. The move is source << 7 | target.

    states : `State` (1,), inout
    shared : `Shared`, inout
    moves : int32 (n,), inout; legal moves of the root, which the search sorts
    nodes : int64; number of nodes after which the search stops
    """
    state = states[0]
    state.generation = (state.generation + 1) % 128
    for ply in range(PLIES):
        state.killers[ply, 0] = state.killers[ply, 1] = 0
        state.played[ply] = 0
    state.nodes = state.stop = 0
    state.node_limit = nodes
    found, best, depth = np.int64(0), np.int64(0), np.int64(1)
    while depth < MAX_PLY:
        low, high, width = np.int64(-INFINITE), np.int64(INFINITE), np.int64(WINDOW)
        if depth > 1 and abs(found) <= MAX_EVALUATION:
            low, high = found - width, found + width
        while True:
            score = np.int64(search_root(states, shared, moves, np.int64(0), depth, low, high))
            if state.stop != 0 or low < score < high:
                break
            width *= 4
            if width >= WIDEST:
                low, high = np.int64(-INFINITE), np.int64(INFINITE)
            elif score <= low:
                low = score - width
            else:
                high = score + width
        if state.pv_length[0] == 0:
            break
        found, best = score, np.int64(state.pv[0, 0])
        if state.stop != 0:
            break
        depth += 1
    return found, best


@borrowing_kernel
def _play_game(states, shared, no_moves, chosen, nodes, moves, boards, sides, scores):
    """Play a game; returns the number of positions kept, and the result for Red: 1, 0 or -1.

    The number is `NO_GAME` if the random opening is dropped (as in `SelfPlay.play`).

    states : `State` (1,), inout; row 0 of its `boards` holds the start, Red to move
    shared : `Shared`, inout
    no_moves : int32 (0,), in; an empty array
    chosen : int64 (plies,), in; random numbers that choose the moves of the opening
    nodes : int64; limit of nodes for a move
    moves : int32 (MAX_MOVES,), scratch
    boards : uint8 (MOST_PLIES, 90), out; positions kept
    sides : int8 (MOST_PLIES,), out; sides to move
    scores : int16 (MOST_PLIES,), out; scores of the search, for Red
    """
    state = states[0]
    begin(states, no_moves, np.int64(0))
    for number in chosen:
        count = _moves_of_root(state, moves)
        if count == 0:
            return np.int64(NO_GAME), np.int64(0)
        _play_at_root(state, np.int64(moves[number % count]))
    kept, quiet, agreed = np.int64(0), np.int64(0), np.int64(0)
    for ply in range(MOST_PLIES):
        row, sign = state.root, 1 - 2 * state.root_side
        count = _moves_of_root(state, moves)
        if count == 0:
            return kept, -sign
        score, move = _think(states, shared, moves[:count], nodes)
        if ply == 0 and abs(score) > EVEN_SCORE:
            return np.int64(NO_GAME), np.int64(0)
        agreed += 1
        if abs(score) <= DECIDED:
            agreed = np.int64(0)
        if agreed >= AGREED_PLIES:
            if score < 0:
                sign = -sign
            return kept, sign
        quiet += 1
        if state.boards[row, move & 127] != EMPTY:
            quiet = np.int64(0)
        elif state.log[row, record.CHECKED] == 0 and abs(score) <= MAX_EVALUATION:
            for square in range(SQUARES):
                boards[kept, square] = state.boards[row, square]
            sides[kept], scores[kept] = state.root_side, sign * score
            kept += 1
        _play_at_root(state, move)
        verdict = record.judge_record(
            state.boards,
            state.ids,
            state.log,
            state.root,
            state.root_side,
            state.offences,
            2,
            state.chase_rules,
            ply < 0,
            (state.scratch[0], state.scratch[1]),
        )
        if verdict == record.DRAW or quiet >= QUIET_PLIES:
            break
        if verdict == record.RED_WINS:
            return kept, np.int64(1)
        if verdict == record.BLACK_WINS:
            return kept, np.int64(-1)
    return kept, np.int64(0)


class SelfPlay:
    """Player of training games, in which each move is searched with `nodes` nodes.

    After `play`, the first rows of `boards`, `sides` and `scores` hold the positions kept of the
    game, as in `_play_game`.
    """

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._states = np.zeros(1, STATE)
        self._states["offences"] = Rules.WXF.offences
        self._states["chase_rules"] = RuleSet(Rules.WXF).chase_rules
        no_tables = NumbaTables(Tablebase(rules=Rules.WXF), ()).buffers
        self._shared = Shared(transposition.new_table(1), no_tables)
        self._start = np.frombuffer(Position.from_fen(START_FEN).board, np.int8)
        # Kernels that a search calls are compiled first, separately: see `Searcher`.
        Searcher(hash_mebibytes=1).warm_up()
        self._moves = np.zeros(MAX_MOVES, np.int32)
        self.boards = np.zeros((MOST_PLIES, SQUARES), np.uint8)
        self.sides = np.zeros(MOST_PLIES, np.int8)
        self.scores = np.zeros(MOST_PLIES, np.int16)

    def play(self, rng: np.random.Generator) -> tuple[int, int]:
        """Play games until one is valid; return its number of positions and its result for Red.

        A game is dropped if in its random opening a side has no legal move, or if the position
        after the opening scores above `EVEN_SCORE` for either side. The result is 1, 0 or -1.
        """
        while True:
            self._shared.table[:] = 0
            for name in ("history", "followups", "countermoves"):
                self._states[name] = 0
            self._states["boards"][0, 0] = self._start
            chosen = rng.integers(1 << 40, size=rng.integers(LEAST_RANDOM, MOST_RANDOM + 1))
            kept, result = _play_game(
                self._states, self._shared, np.zeros(0, np.int32), chosen,
                self._nodes, self._moves, self.boards, self.sides, self.scores,
            )  # fmt: skip
            if kept != NO_GAME:
                return int(kept), int(result)


def main() -> None:
    """Play the games, and write the positions kept to the file OUT."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", type=int, default=1_000)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, player = np.random.default_rng(options.seed), SelfPlay(options.nodes)
    columns: dict[str, list[NDArray[np.generic]]] = defaultdict(list)
    for number in range(options.games):
        kept, result = player.play(rng)
        columns["boards"].append(player.boards[:kept].copy())
        columns["sides"].append(player.sides[:kept].copy())
        columns["scores"].append(player.scores[:kept].copy())
        columns["results"].append(np.full(kept, result, np.int8))
        columns["games"].append(np.full(kept, number, np.int32))
        if number % 1_000 == 999:
            print(f"{number + 1} games, {sum(map(len, columns['sides']))} positions", flush=True)
    np.savez_compressed(
        options.out, **{name: np.concatenate(each) for name, each in columns.items()}
    )


if __name__ == "__main__":
    main()
