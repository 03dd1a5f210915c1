"""Proof search, by which the engine proves wins: proven positions are won in the tables.

The attacker is to move at the root, and may win; its opponent is the defender. A node with the
proof number 0 is a win, one with the disproof number 0 is none. An idle move gives no check.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tbgen.engine.resources import Resources
from tbgen.engine.search import graph as proof_graph
from tbgen.engine.search import proof_search, scores
from tbgen.engine.search.graph import estimate
from tbgen.engine.search.prover import winning_move
from tbgen.engine.search.searcher import Searcher
from tbgen.engine.search.state import MAX_PLY, STATE, begin
from tbgen.indexing import Move, Position
from tbgen.play.tablebase import GameTablebase, open_tablebase
from tbgen.probing import NumbaTables
from tbgen.referee import Rules, Verdict, judge
from tbgen.rules import is_legal, is_terminal, legal_moves
from tbgen.system.platform import resident_bytes
from tbgen.tables import Outcome, Tablebase
from tbgen.tables.rule_sets import RuleSet
from tests.engine.test_search import short_wins
from tests.helpers.built import built
from tests.helpers.strategies import played

CHECK = RuleSet(Rules.CHECK)
pytestmark = pytest.mark.usefixtures("loaded")
ROOM = 1 << 18


@pytest.fixture(scope="module")
def krkn(tables_dir: Path) -> GameTablebase:
    return open_tablebase(tables_dir, rules="check")


def graph_of(
    position: Position, nodes: int, tables: NumbaTables | None = None, moves: tuple[Move, ...] = ()
) -> tuple[proof_graph.Graph, Move | None]:
    """Run the proof search on a position, and return its graph and the move proven to win.

    The move is None if no win is proven.

    nodes : limit of the search, in positions
    tables : tables that the search probes; None for none
    moves : moves after `position`, which have been played; the search starts after them
    """
    states = np.zeros(1, STATE)
    states["boards"][0, 0] = np.frombuffer(position.board, np.int8)
    played = np.array([move.source << 7 | move.target for move in moves], np.int32)
    begin(states, played, int(position.side))
    states["offences"], states["node_limit"] = Rules.CHECK.offences, 1 << 40
    if tables is not None:
        states["table_pieces"] = max(material.men for material in tables.materials)
    tables = tables or NumbaTables(Tablebase(rules=Rules.CHECK), ())
    graph = proof_graph.new_graph(ROOM)
    scratch = np.zeros(ROOM, np.int8), np.zeros((2, MAX_PLY), np.int64)
    proof_search.prove(states, tables.buffers, graph, *scratch, nodes)
    return graph, winning_move(graph, 0)


def nodes_of(graph: proof_graph.Graph, root: Position) -> dict[int, Position]:
    """Return the position of each node of a proof graph, by playing the moves from the root."""
    found, todo = {0: root}, [0]
    while todo:
        number = todo.pop()
        first = graph.nodes[number].first_edge
        for edge in range(first, first + max(0, graph.nodes[number].children)):
            child, move = int(graph.children[edge]), int(graph.moves[edge])
            if child not in found:
                found[child] = found[number].after(move >> 7, move & 127)
                todo.append(child)
    return found


@pytest.mark.parametrize("names", [(), ("KRK", "KNK")], ids=["without tables", "with tables"])
def test_proven_positions_are_won(krkn: GameTablebase, names: tuple[str, ...]) -> None:
    """In every node marked as won, the tables give the win to the side to move at the root.

    The stored outcome is a win if that side is to move in the node, otherwise a loss.
    """
    tables, proven = NumbaTables(krkn, names), Counter[int]()
    for position in short_wins(krkn, True, 2 if names else 8) + short_wins(krkn, False, 1):
        for _ in range(2 if names else 1):
            tables.load_wanted()
            graph, _ = graph_of(position, 20_000, tables if names else None)
        reached = nodes_of(graph, position)
        won = [number for number in reached if graph.nodes[number].status == proof_graph.WON]
        for number, known in zip(
            won, krkn.probe_many(reached[number] for number in won), strict=True
        ):
            expected = Outcome.LOSS if graph.nodes[number].defender else Outcome.WIN
            assert known.outcome == expected, reached[number].fen
            proven[known.order] += 1
    assert proven[0] > 20
    assert proven[1] > 0 or names


@pytest.mark.parametrize("names", [(), ("KRK", "KNK")], ids=["without tables", "with tables"])
def test_no_win_by_the_rules_is_missed(krkn: GameTablebase, names: tuple[str, ...]) -> None:
    """Proof search finds wins by the rules of repetition.

    Regression: five of these wins were missed while outdated proof numbers were kept.
    """
    tables = NumbaTables(krkn, names)
    for position in short_wins(krkn, True, 14):
        for _ in range(2 if names else 1):
            tables.load_wanted()
            _, move = graph_of(position, 150_000, tables if names else None)
        assert move is not None, position.fen
        reached = krkn.probe(position.after(*move))
        assert reached.outcome == Outcome.LOSS


@pytest.mark.parametrize(
    "fen",
    [
        "9/5k3/9/9/9/2N6/9/9/2NK5/9 w",
        "5P3/3k4C/9/9/9/9/9/3A5/3K5/9 w",
        "3kC4/9/8C/9/9/9/9/9/9/4K4 w",
    ],
    ids=["two knights", "cannon and pawn", "two cannons"],
)
def test_no_mate_is_missed(fen: str) -> None:
    """Proof search finds mates against a bare king.

    The king always has one or two moves, so all moves look equally good. Regressions: in the first
    two positions the search repeated a line that had become too long, and gave up after a thousand
    positions. In the third it kept results of lines that only close loops.
    """
    _, move = graph_of(Position.from_fen(fen), 60_000)
    assert move is not None


# A graph by hand: W, the prospective winner, answers the checks of O.
#   W0 - O1 - W2 - O3 - W0      a loop of checks, closed on the way down
#              W4 - O3           another path to its last node, without W0
LOOP = {0: [1], 1: [2, 4], 2: [3], 3: [0], 4: [3]}


def graph_by_hand(children: dict[int, list[int]], checked: set[int]) -> proof_graph.Graph:
    """Return a proof graph built from the list of children of each node.

    checked : numbers of the nodes in check; in nodes of odd number the defender is to move
    """
    graph = proof_graph.new_graph(len(children))
    for number in children:
        node = graph.nodes[proof_graph.add(graph, number + 1, number in checked, number % 2)]
        node.first_edge = graph.counts[proof_graph.EDGES]
        node.children = len(children[number])
        for child in children[number]:
            graph.children[graph.counts[proof_graph.EDGES]] = child
            graph.counts[proof_graph.EDGES] += 1
        graph.expanded[graph.counts[proof_graph.EXPANDED]] = number
        graph.counts[proof_graph.EXPANDED] += 1
    return graph


def estimate_way(graph: proof_graph.Graph, way: list[int], loop: int = 1) -> list[tuple[int, int]]:
    """Compute proof and disproof numbers of the nodes on a path, from its end to its start.

    way : numbers of the nodes on the path
    loop : place on the path, counted from 1; from there on the defender checks with every move,
        and the attacker with none

    Returns (proof number, disproof number) of each node, in the order of the path.
    """
    for place, number in enumerate(way, 1):
        graph.nodes[number].place = place
    for place in range(len(way), 0, -1):
        estimate(graph, np.array(way), way[place - 1], place, loop)
        graph.nodes[way[place - 1]].place = 0
    return graph.nodes[way][["proof", "disproof"]].tolist()


def test_a_closed_loop_is_won_only_on_its_own_path() -> None:
    """A closed loop counts as won only on the path on which it was closed.

    The loop is a win if the defender checks with every move, and none if one of its moves is idle.
    """
    nothing, never = 0, proof_graph.INFINITE
    graph = graph_by_hand(LOOP, {0, 2, 4})
    assert estimate_way(graph, [0, 1, 2, 3])[2:] == [(nothing, never)] * 2
    # The same path again, before its end: the results still hold.
    assert estimate_way(graph, [0, 1])[1] == (1, 1)
    assert estimate_way(graph, [4]) == [(1, 1)]
    # On a path whose last idle move is after W0, they do not hold.
    graph = graph_by_hand(LOOP, {0, 2, 4})
    assert estimate_way(graph, [0, 1, 2, 3])[3] == (nothing, never)
    assert estimate_way(graph, [0, 1, 2], loop=3)[2] == (1, 1)
    graph = graph_by_hand(LOOP, {2, 4})
    assert estimate_way(graph, [0, 1, 2, 3])[3] == (never, nothing)
    assert estimate_way(graph, [4]) == [(1, 1)]


def test_large_sums_decide_nothing() -> None:
    """Proof numbers are limited below infinity, so that sums alone prove nothing.

    A node reached by two moves is counted twice, so the numbers double at every level.
    """
    graph = graph_by_hand(LOOP, set())
    graph.nodes.proof[[2, 4]] = proof_graph.INFINITE - 1
    estimate(graph, np.array([1]), 1, 1, 1)
    assert graph.nodes[["proof", "disproof"]][1].tolist() == (proof_graph.INFINITE - 1, 1)


def test_a_stopped_proof_declares_no_unfinished_pattern() -> None:
    """A search that is stopped early does not report a pattern of perpetual checks.

    A pattern is what remains after all nodes that leave the loops are removed; a stop leaves more.
    """
    states = np.zeros(1, STATE).view(np.recarray)
    inside = np.zeros(ROOM, np.int8)
    for stopped in (1, 0):
        graph = graph_by_hand(LOOP, {0, 2, 4})
        states["stop"] = stopped
        found = proof_graph.find_patterns(states[0], graph, inside)
        assert found == (0 if stopped else len(LOOP))
        assert (graph.nodes.status == proof_graph.WON).all() == (not stopped)


def test_a_stopped_proof_recomputes_no_numbers() -> None:
    states = np.zeros(1, STATE).view(np.recarray)
    path, inside = np.zeros(MAX_PLY, np.int64), np.zeros(ROOM, np.int8)
    for stopped in (1, 0):
        graph = graph_by_hand(LOOP, set())
        states["stop"] = stopped
        proof_search._settle_all(states[0], graph, path, inside, True)
        assert (graph.nodes.proof == 1).all() == stopped


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_new_graph_takes_no_memory_until_used() -> None:
    """In a process that has loaded the engine's kernels, no array of a new graph is cleared."""
    Resources(print)._load()
    before = resident_bytes()
    np.ones(31 << 20, np.int8)  # freed at once: glibc's heap now serves arrays of this size
    for _ in range(3):
        graph = proof_graph.new_graph(1 << 21)
        taken = resident_bytes() - before
        for array in graph:
            array[...] = array[0]
        del graph, array
    assert taken < 8 << 20


def test_without_memory_for_proofs_the_search_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """One note tells the user, also after several searches."""

    def refuse(nodes: int) -> proof_graph.Graph:
        raise MemoryError

    monkeypatch.setattr("tbgen.engine.search.prover.new_graph", refuse)
    notes: list[str] = []
    searcher = Searcher(hash_mebibytes=1, on_note=notes.append)
    position = Position.from_fen("3k5/4a4/9/9/9/9/9/9/9/R3K4 w")
    for _ in range(2):
        searcher.clear_stop()
        *_, last = searcher.think([position], [], nodes=5_000)
        assert last.lines[0].moves[0] in legal_moves(position)
    assert notes == ["no memory for proofs of wins: the engine searches without them"]


def test_a_pattern_does_not_depend_on_earlier_proofs() -> None:
    """A leaf belongs to no pattern, even if its number had a flag in the graph of another proof."""
    states = np.zeros(1, STATE).view(np.recarray)
    graph = graph_by_hand({0: [1], 1: [2], 2: []}, {0, 2})
    graph.nodes.children[2], graph.counts[proof_graph.EXPANDED] = -1, 2
    inside = np.ones(ROOM, np.int8)
    assert proof_graph.find_patterns(states[0], graph, inside) == 0
    assert (graph.nodes.status == proof_graph.OPEN).all()


def test_positions_of_the_game_do_not_recur_in_a_proof() -> None:
    """Nodes with a position of the game so far are no wins, since a referee may call them draws."""
    there = Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")
    wander = tuple(map(Move.from_iccs, ["a0a1", "d9d8", "a1a0", "d8d9", "a0b0", "d9d8"]))
    graph, _ = graph_of(there, 2_000, moves=wander)
    *seen, root = played(there, wander)
    for number, position in nodes_of(graph, root).items():
        if position in seen:
            assert graph.nodes[number].status == proof_graph.LOST
    assert any(position in seen for position in nodes_of(graph, root).values())


def test_a_proof_does_not_rest_on_values_of_positions_that_may_repeat() -> None:
    """The table of the root's material settles no node: its value ignores the game so far.

    After a capture or a pawn's advance no position of the game can come again.
    """
    position = Position.from_fen("5k3/4an3/9/9/9/9/9/9/3R5/3K5 w")
    with open_tablebase(built("KRKNA", rules="check")) as tables:
        assert tables.probe(position).outcome == Outcome.WIN
        loaded = NumbaTables(tables, ["KRKNA"])
        loaded.preload("KRKNA")
        graph, _ = graph_of(position, 60, loaded)
    children = graph.nodes[1 : graph.nodes[0].children + 1]
    assert (children.status == proof_graph.OPEN).any()


def test_a_proven_win_is_played(searcher: Searcher, krkn: GameTablebase) -> None:
    """The engine wins a position that its search proves, against the longest resistance.

    The tables defend. The game ends by mate, by the referee's verdict, or with a capture, after
    which the winner must still win.
    """
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
                searcher.clear_stop()
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


def quiet_beginning(position: Position) -> tuple[Position, Move] | None:
    """Return a position and a quiet move of the opponent from it into `position`; None if none."""
    opponent = position.side.other
    for move in legal_moves(Position(position.board, opponent)):
        before = Position(position.board, opponent).after(*move)
        earlier, back = Position(before.board, opponent), Move(move.target, move.source)
        if is_legal(earlier) and back in legal_moves(earlier) and earlier.after(*back) == position:
            return earlier, back
    return None


@pytest.mark.parametrize("begins_before", [False, True])
def test_a_proof_is_followed_without_a_search(
    searcher: Searcher, krkn: GameTablebase, begins_before: bool
) -> None:
    """After the opponent's reply, the engine takes its move from the graph of the last proof.

    begins_before : the game begins with a quiet move before the position of the proof
    """
    followed = 0
    for start in short_wins(krkn, True, 6):
        searcher.clear_stop()
        earlier = quiet_beginning(start) if begins_before else None
        game, moves = ([earlier[0], start], [earlier[1]]) if earlier else ([start], [])
        if begins_before != bool(moves):
            continue
        *_, last = searcher.think(game, moves, nodes=60_000, rule_set=CHECK)
        if last.lines[0].score != scores.PROVEN_WIN:
            continue
        moves.append(last.lines[0].moves[0])
        game.append(start.after(*moves[-1]))
        reply = krkn.best_move(game[-1], game[:-1])
        assert reply is not None
        moves.append(reply.move)
        game.append(game[-1].after(*reply.move))
        (known,) = searcher.think(game, moves, nodes=60_000, rule_set=CHECK)
        assert known.lines[0].score == scores.PROVEN_WIN
        assert krkn.probe(game[-1].after(*known.lines[0].moves[0])).outcome == Outcome.LOSS
        followed += 1
    assert followed


def test_a_proof_scores_below_a_verdict() -> None:
    assert scores.MAX_EVALUATION < scores.PROVEN_WIN < scores.VERDICT_WIN - MAX_PLY
    assert scores.is_decided(scores.PROVEN_WIN)
    assert scores.mate_plies(scores.PROVEN_WIN) is None


def test_centipawns_keep_the_order_of_scores() -> None:
    ascending = [
        scores.DRAW, scores.MAX_EVALUATION, scores.PROVEN_WIN, scores.VERDICT_WIN - 9,
        scores.VERDICT_WIN - 1, scores.RULE_WIN - 3 * scores.ORDER_STEP,
        scores.RULE_WIN - scores.ORDER_STEP, scores.TABLE_WIN - 9, scores.TABLE_WIN - 1,
    ]  # fmt: skip
    shown = [scores.centipawns(score) for score in ascending]
    assert shown == sorted(set(shown))
    assert [scores.centipawns(-score) for score in ascending] == [-points for points in shown]
