"""Proofs: all that a graph calls won, the tables call won, too; and a win once proven is played."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tbgen.engine.search import graph as proof_graph
from tbgen.engine.search import proving, scores
from tbgen.engine.search.searcher import Searcher
from tbgen.engine.search.state import MAX_PLY, STATE, begin
from tbgen.indexing import Move, Position
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing import NumbaTables
from tbgen.referee import Rules, Verdict, judge
from tbgen.rules import is_terminal
from tbgen.tables import Outcome, Tablebase
from tbgen.tables.names import RuleSet
from tests.engine.test_search import short_wins

CHECK = RuleSet(Rules.CHECK)
pytestmark = pytest.mark.usefixtures("loaded")
ROOM = 1 << 16


@pytest.fixture(scope="module")
def krkn(tables_dir: Path) -> GameTablebase:
    return open_tablebase(tables_dir, rules="check")


def graph_of(
    position: Position, nodes: int, tables: NumbaTables | None = None, moves: tuple[Move, ...] = ()
) -> tuple[proof_graph.Graph, int]:
    """The graph of a position, or of a game's last one, and what `prove` says."""
    states = np.zeros(1, STATE)
    states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
    played = np.array([move.source << 7 | move.target for move in moves], np.int32)
    begin(states, played, int(position.side))
    states["rules"], states["node_limit"] = Rules.CHECK.number, 1 << 40
    if tables is not None:
        states["table_pieces"] = max(material.men for material in tables.materials)
    tables = tables or NumbaTables(Tablebase(rules=Rules.CHECK), ())
    graph = proof_graph.new_graph(ROOM)
    scratch = np.zeros(ROOM, np.int8), np.zeros((2, MAX_PLY), np.int64)
    return graph, int(proving.prove(states, tables.buffers, graph, *scratch, nodes))


def nodes_of(graph: proof_graph.Graph, root: Position) -> dict[int, Position]:
    """The positions of a graph, by its moves from the root."""
    found, todo = {0: root}, [0]
    while todo:
        number = todo.pop()
        first, children = graph.nodes[number, [proof_graph.FIRST_CHILD, proof_graph.CHILDREN]]
        for edge in range(first, first + max(0, children)):
            child, move = int(graph.children[edge]), int(graph.moves[edge])
            if child not in found:
                found[child] = found[number].after(move >> 7, move & 127)
                todo.append(child)
    return found


@pytest.mark.parametrize("names", [(), ("KRK", "KNK")], ids=["without tables", "with tables"])
def test_what_is_proven_is_won(krkn: GameTablebase, names: tuple[str, ...]) -> None:
    """Every position of the graph that is called won, for whoever is to move in it."""
    tables, proven = NumbaTables(krkn, names), Counter[int]()
    for position in short_wins(krkn, True, 12) + short_wins(krkn, False, 2):
        for _ in range(2 if names else 1):
            tables.load_wanted()
            graph, _ = graph_of(position, 20_000, tables if names else None)
        for number, reached in nodes_of(graph, position).items():
            node = graph.nodes[number]
            if node[proof_graph.STATUS] == proof_graph.WON:
                expected = Outcome.LOSS if node[proof_graph.OPPONENT] else Outcome.WIN
                known = krkn.probe(reached)
                assert known.outcome == expected, reached.fen
                proven[known.order] += 1
    assert proven[0] > 50
    assert proven[1] > 0 or names


def test_history_is_no_part_of_a_proof() -> None:
    """What has stood on the board before can not be led to again: a referee may call it a draw."""
    there = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")
    texts = ("a0a1", "d9d8", "a1a0", "d8d9", "a0b0", "d9d8")
    wander = tuple(Move.from_iccs(text) for text in texts)
    graph, _ = graph_of(there, 2_000, moves=wander)
    seen = [there]
    for move in wander:
        seen.append(seen[-1].after(*move))
    root = seen.pop()
    for number, position in nodes_of(graph, root).items():
        if position in seen:
            assert graph.nodes[number, proof_graph.STATUS] == proof_graph.LOST
    assert any(position in seen for position in nodes_of(graph, root).values())


def test_a_win_that_is_proven_is_played(searcher: Searcher, krkn: GameTablebase) -> None:
    """Against the longest resistance of the tables: to mate, or to the referee's verdict."""
    searcher.use_tables(NumbaTables(krkn, ["KRK", "KNK"]))
    for start in short_wins(krkn, True, 2):
        game, moves = [start], []
        winner = start.side
        while not is_terminal(game[-1]) and len(moves) < 120:
            if krkn.probe(game[-1]).material.men < 4:
                break
            verdict = judge(start, moves, rules=Rules.CHECK, occurrences=3).verdict
            assert verdict in (Verdict.UNDECIDED, Verdict.won_by(winner))
            if verdict == Verdict.won_by(winner):
                break
            if game[-1].side == winner:
                assert krkn.probe(game[-1]).outcome == Outcome.WIN
                searcher.forgive()
                *_, last = searcher.think(game, moves, nodes=30_000, rule_set=CHECK)
                move = last.lines[0].moves[0]
            else:
                best = krkn.best_move(game[-1], game[:-1])
                assert best is not None
                move = best.move
            moves.append(move)
            game.append(game[-1].after(*move))
        assert krkn.probe(game[-1]).outcome == (
            Outcome.WIN if game[-1].side == winner else Outcome.LOSS
        )


def test_a_proof_is_below_what_the_referee_says() -> None:
    assert scores.MAX_EVALUATION < scores.PROVEN_WIN < scores.VERDICT_WIN - MAX_PLY
    assert scores.is_decided(scores.PROVEN_WIN)
    assert scores.mate_plies(scores.PROVEN_WIN) is None
    assert scores.centipawns(scores.MAX_EVALUATION) < scores.centipawns(scores.PROVEN_WIN)
