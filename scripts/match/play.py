"""A match between two engines, judged by our referee.

    python scripts/match/play.py uci:tbgen-engine uci:/usr/games/fairy-stockfish --games 100 \
        --seconds 0.1 [--option-1 Hash=64] [--tables egtb] [--save games.txt]

Every opening is some random plies from the opening array, and is played twice with colours
reversed. A game ends by mate or stalemate, by a repetition that the rules decide (with
`--occurrences` of a position, 3 unless said otherwise), by a table where `--tables` has one, and
is drawn after 120 plies without a capture. An illegal move loses, and so does an engine that ends.
Printed are the games of the first engine, its score with the standard error over pairs of games,
and the difference in Elo that this stands for; at the end the processor time of each engine for a
move, its start included, which says how equal limits of nodes were. `--save` keeps a line per game:
engines, result, why it ended, FEN and moves; a match that was stopped goes on behind the games that
the file has.

What the rules of repetition are worth, by games between the engine that knows all of them and the
engine that knows perpetual checks only:

    python scripts/match/play.py uci:tbgen-engine uci:tbgen-engine --option-2 Rules=check \
        --games 600 --seconds 0.1 --save rules.txt
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from players import Limit, Player, PlayerError, open_player

from tbgen.indexing import START_FEN, InputError, Move, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.referee import Game, Rules, Verdict, verdict_on
from tbgen.rules import is_terminal, legal_moves
from tbgen.tables import TablebaseError

QUIET_PLIES = 120
"""Plies without a capture after which a game is drawn."""


@dataclass(frozen=True, slots=True)
class Judges:
    """What ends a game."""

    rules: Rules
    occurrences: int
    tables: GameTablebase | None

    def verdict(self, game: Game, quiet: int) -> tuple[float, str] | None:
        """Red's points and the reason, if the game is over."""
        last = game.last
        if is_terminal(last):
            return float(last.side == Side.BLACK), "no legal move"
        verdict = verdict_on(game, rules=self.rules, occurrences=self.occurrences)
        if verdict == Verdict.DRAW:
            return 0.5, "repetition"
        if verdict != Verdict.UNDECIDED:
            return float(verdict == Verdict.won_by(Side.RED)), "the rules of repetition"
        if self.tables is not None and quiet == 0:
            try:
                outcome = self.tables.probe(last).outcome
            except TablebaseError:
                outcome = None
            if outcome is not None:
                points = (1 + outcome) / 2
                return points if last.side == Side.RED else 1 - points, "table"
        if quiet >= QUIET_PLIES:
            return 0.5, f"{QUIET_PLIES} plies without a capture"
        return None


def play_game(
    players: tuple[Player, Player],
    opening: list[Move],
    limits: tuple[Limit, Limit],
    judges: Judges,
) -> tuple[float, str, list[Move]]:
    """Red's points, the reason, and the moves of a game; `players` and `limits` by colour."""
    start = Position.from_fen(START_FEN)
    game, moves, quiet = Game.read(start, opening), list(opening), 0
    for player in players:
        player.begin()
    while (ended := judges.verdict(game, quiet)) is None:
        side = game.last.side
        try:
            move = players[side].choose(start, moves, limits[side])
            if move is None:
                return float(side == Side.BLACK), "resigned", moves
            quiet = quiet + 1 if game.last.board[move.target] == EMPTY else 0
            game.push(move)
        except (PlayerError, InputError) as error:
            return float(side == Side.BLACK), f"{players[side].name}: {error}", moves
        moves.append(move)
    return *ended, moves


def random_opening(rng: random.Random, plies: int) -> list[Move]:
    """Random legal plies from the opening array, after which the game goes on."""
    while True:
        position, moves = Position.from_fen(START_FEN), []
        for _ in range(plies):
            legal = legal_moves(position)
            if not legal:
                break
            moves.append(rng.choice(legal))
            position = position.after(*moves[-1])
        if len(moves) == plies and legal_moves(position):
            return moves


def save(path: Path, names: str, points: float, reason: str, moves: list[Move]) -> None:
    """Append a game to a file."""
    text = " ".join(move.iccs for move in moves)
    with path.open("a", encoding="utf-8") as games:
        games.write(f"{names}\t{points}\t{reason}\t{START_FEN}\t{text}\n")


def saved_games(path: Path) -> list[tuple[float, str, list[Move]]]:
    """The games of a file: Red's points, the reason, and the moves; a line cut short is removed."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    games = []
    for line in whole.splitlines():
        _, points, reason, _, moves = line.split("\t")
        games.append((float(points), reason, [Move.from_iccs(each) for each in moves.split()]))
    return games


def summary(pairs: list[float]) -> str:
    """The score of the first engine, its standard error over pairs, and the Elo difference."""
    count = len(pairs)
    mean = sum(pairs) / count / 2
    spread = math.sqrt(sum((pair / 2 - mean) ** 2 for pair in pairs) / max(1, count - 1) / count)

    def elo(score: float) -> float:
        score = min(max(score, 1e-3), 1 - 1e-3)
        return 400 * math.log10(score / (1 - score))

    low, high = elo(mean - 2 * spread), elo(mean + 2 * spread)
    return f"score {mean:.3f} +- {spread:.3f}, Elo {elo(mean):+.0f} ({low:+.0f} to {high:+.0f})"


def parse_options(texts: list[str]) -> dict[str, str]:
    """NAME=VALUE as a mapping."""
    return dict(text.split("=", 1) for text in texts)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("engines", nargs=2, metavar="PROTOCOL:COMMAND")
    parser.add_argument("--option-1", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--option-2", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=20, help="an even number")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--nodes-2", type=int, help="of the second engine, if not as many")
    parser.add_argument("--depth", type=int)
    parser.add_argument("--plies", type=int, default=6, help="of the openings")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rules", default="wxf", choices=[rules.value for rules in Rules])
    parser.add_argument("--occurrences", type=int, default=3)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    if not (options.seconds or options.nodes or options.depth):
        options.seconds = 0.1
    return options


def main() -> int:
    """Play the match; exit status 1 if an engine does not start, or another match was saved."""
    options = arguments()
    limits = (
        Limit(options.seconds, options.nodes, options.depth),
        Limit(options.seconds, options.nodes_2 or options.nodes, options.depth),
    )
    tables = open_tablebase(options.tables, rules=options.rules) if options.tables else None
    judges = Judges(Rules(options.rules), options.occurrences, tables)
    try:
        settings = parse_options(options.option_1), parse_options(options.option_2)
        players = [open_player(*each) for each in zip(options.engines, settings, strict=True)]
    except PlayerError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    rng, pairs, reasons = random.Random(options.seed), [], Counter()
    tally: Counter[float] = Counter()
    moves_of = [0, 0]
    saved = saved_games(options.save) if options.save else []
    for number in range(options.games // 2):
        opening, pair = random_opening(rng, options.plies), 0.0
        for first in (Side.RED, Side.BLACK):
            order = 1 if first == Side.RED else -1
            by_colour = players[::order][0], players[::order][1]
            allowed = limits[::order][0], limits[::order][1]
            if saved:
                points, reason, moves = saved.pop(0)
                if moves[: len(opening)] != opening:
                    print(f"error: {options.save} has another match", file=sys.stderr)
                    return 1
            else:
                points, reason, moves = play_game(by_colour, opening, allowed, judges)
                for side in Side:
                    moves_of[players.index(by_colour[side])] += (len(moves) + 1 - side) // 2
                if options.save:
                    names = " - ".join(player.name for player in by_colour)
                    save(options.save, names, points, reason, moves)
            mine = points if first == Side.RED else 1 - points
            pair += mine
            tally[mine] += 1
            reasons[reason] += 1
        pairs.append(pair)
        print(
            f"{2 * number + 2:4} games: +{tally[1.0]} ={tally[0.5]} -{tally[0.0]}, "
            f"{summary(pairs)}", flush=True,
        )  # fmt: skip
    print(f"{players[0].name} against {players[1].name}: {dict(reasons.most_common())}")
    for player, moved in zip(players, moves_of, strict=True):
        print(f"{player.name}: {1000 * player.close() / max(1, moved):.0f} ms of CPU a move")
    return 0


if __name__ == "__main__":
    sys.exit(main())
