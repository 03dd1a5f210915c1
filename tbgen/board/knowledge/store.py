"""Access of the board to tables: answers about games and materials, the expensive ones cached.

    positions, moves  ->  Facts(result, moves, suggested, judgement)
    materials         ->  statistics of their tables, and the status of their proofs

A missing table is no error for `probe` and `probe_game`: the facts that need it are None. `line`,
`statistics`, `proof` and `proof_so_far` raise `MissingTableError`. Thread-safe.
"""

from __future__ import annotations

import contextlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from threading import Lock, Thread
from typing import Any, TypeVar

from tbgen import __version__
from tbgen.answers.mechanism import Mechanism, find_mechanism
from tbgen.board.knowledge.builds import BuildProgress, BuildService, Cost
from tbgen.indexing import InputError, Material, Move, Position, Side
from tbgen.indexing.squares import EMPTY
from tbgen.play.choice import choose
from tbgen.play.mainline import Mainline
from tbgen.play.preference import RootMove
from tbgen.play.tablebase import GameTablebase
from tbgen.referee import Game, Judgement, Rules, Verdict, judge, judge_game, repetition_verdict
from tbgen.rules import check_legal, in_check, legal_moves
from tbgen.tables import (
    Metric,
    MissingTableError,
    Outcome,
    ProbeResult,
    RuleSet,
    TablebaseError,
    TableName,
    TableStatistics,
    UnsupportedMaterialError,
    read_build_record,
)
from tbgen.tables.build_records import build_record_path
from tbgen.tables.certificates import certificate_path
from tbgen.tables.proofs import Proofs, ProofStatus
from tbgen.tables.statistics import LongestPosition

MAX_LINE = 1000
"""Greatest number of plies of a line of best play."""

MAX_CACHED = 128
"""Maximum number of answers that `TableStore.cached` keeps; statistics and proofs do not count."""

RESULTS = {Side.RED: "1-0", Side.BLACK: "0-1", None: "1/2-1/2"}
"""Results in PGN by winner, None for a draw."""

Cached = TypeVar("Cached")

ReplyFunction = Callable[[Position, Sequence[Move]], Move]
"""Function (first position, moves of the game) -> move; raises `NoReplyError` if it has none."""


@dataclass(frozen=True)
class GameEnd:
    """End of a game: the winner (None for a draw), and the reason."""

    winner: Side | None
    why: str
    """Reason "mate", "stalemate", "repetition", or "barren" if no attacker is left."""


@dataclass(frozen=True)
class Facts:
    """Last position of a game and the known facts about it.

    result : value of the position; None if the table is missing
    moves : all legal moves, best first; without the table, captures may still have values
    missing : the error if the table is missing, else None
    suggested : move to play, given the history; None if no move is known to be best
    judgement : the referee's verdict if the position is a repetition, else None
    forbidden : judgement of each move that loses at once by repetition
    rules : rule set of the judgements
    """

    position: Position
    result: ProbeResult | None
    moves: Sequence[RootMove]
    missing: MissingTableError | UnsupportedMaterialError | None = None
    suggested: RootMove | None = None
    judgement: Judgement | None = None
    forbidden: Mapping[Move, Judgement] = field(default_factory=dict)
    rules: Rules = Rules.WXF

    @property
    def over(self) -> GameEnd | None:
        """End of the game, on the board or by the referee's verdict; None if the game goes on."""
        if not self.moves:
            why = "mate" if in_check(self.position) else "stalemate"
            return GameEnd(self.position.side.other, why)
        if self.judgement is not None and self.judgement.verdict != Verdict.UNDECIDED:
            winners = {Verdict.RED_WINS: Side.RED, Verdict.BLACK_WINS: Side.BLACK}
            return GameEnd(winners.get(self.judgement.verdict), "repetition")
        return None if self.position.material.needs_table else GameEnd(None, "barren")

    @property
    def final(self) -> str:
        """Result as in PGN: that of the game if it is over, else of best play; `*` if unknown."""
        if self.over is not None:
            return RESULTS[self.over.winner]
        if self.result is None:
            return "*"
        return RESULTS[winner_of(self.position.side, self.result.outcome)]


def winner_of(side: Side, outcome: Outcome) -> Side | None:
    """Return the winner if `outcome` is that of `side`; None for a draw."""
    return {Outcome.WIN: side, Outcome.LOSS: side.other}.get(outcome)


class TableStore:
    """Tables of one directory, and answers about them for the board.

    tables : the open tables
    directory : watched for tables that are added, removed or replaced; None for no watching
    workshop : service that estimates the cost of missing tables, and may build them; may be None
    tables_option : option that names the directory, for suggested commands; may be empty
    opponent : function that chooses a move where the tables suggest none; may be None
    compared : another watched directory, with tables of other rule sets to compare with
    """

    def __init__(
        self,
        tables: GameTablebase,
        directory: Path | None = None,
        workshop: BuildService | None = None,
        tables_option: str = "",
        opponent: ReplyFunction | None = None,
        compared: Path | None = None,
    ) -> None:
        self.tables = tables
        self.workshop = workshop
        self.opponent = opponent
        self.tables_option = tables_option
        self._directories = [folder for folder in (directory, compared) if folder is not None]
        self._changed: tuple[tuple[int, int], ...] | None = None
        self._fingerprint = ""
        self._states: dict[TableName, list[tuple[int, int]]] = {}
        self._cache: OrderedDict[Any, Any] = OrderedDict()
        self._cache_lock = Lock()
        self._others: dict[RuleSet, GameTablebase] = {}
        self._statistics: dict[Material, tuple[TableName, TableStatistics, dict[str, Any]]] = {}
        self._proofs = Proofs(self.paths().get)
        self._lock = Lock()
        self._reader: Thread | None = None
        self.readings = 0
        """Number of times that a thread of `start_reading` has read all files."""

    # -- positions and games -----------------------------------------------------------------

    def probe(self, position: Position) -> Facts:
        """Return the value of a position and of its moves, without the facts that need a history.

        Raises like `GameTablebase.probe`, except for a material without a table (`Facts.missing`).
        """
        try:
            return Facts(position, *self.tables.probe_with_moves(position))
        except (MissingTableError, UnsupportedMaterialError) as error:
            check_legal(position)
            return Facts(position, None, self._known_moves(position), missing=error)

    def probe_game(self, positions: Sequence[Position], moves: Sequence[Move]) -> Facts:
        """Probe the last position of a game; add a suggested move and the referee's judgement.

        A move with a good value in the table may lose in this game, by repetition
        (`Facts.forbidden`). `positions` has one item more than `moves`. Raises like `probe` and
        `Game.read`.
        """
        plain, history = self.probe(positions[-1]), positions[:-1]
        suggested = judgement = None
        if plain.result is not None and any(move.best for move in plain.moves):
            suggested = choose(self.tables, plain.position, plain.result, plain.moves, history)
        rules, forbidden = self.rules, {}
        game = Game.read(positions[0], moves, self.tables.rule_set.chase_rules)
        if plain.position in history:
            judgement = judge_game(game, rules=rules)
        seen, lost = set(positions), Verdict.won_by(plain.position.side.other)
        for choice in plain.moves:
            if choice.after in seen:
                game.push(choice.move)
                if repetition_verdict(game, rules=rules) == lost:
                    forbidden[choice.move] = judge_game(game, rules=rules)
                game.pop()
        return replace(
            plain, suggested=suggested, judgement=judgement, forbidden=forbidden, rules=rules
        )

    def mechanism(self, facts: Facts) -> Mechanism | None:
        """Return the offence, a perpetual check or chase, by which the loser of a position loses.

        None at order 0, if the value is unknown, or if `find_mechanism` finds no offence within its
        limit. Raises like `GameTablebase.probe`.
        """
        if facts.result is None or not facts.result.order:
            return None
        position = facts.position
        return self.cached(("mechanism", position), lambda: find_mechanism(self.tables, position))

    def line(self, position: Position, plies: int = MAX_LINE) -> Mainline:
        """Return best play, at most min(`plies`, `MAX_LINE`) plies; raises like `tables.probe`."""
        plies = min(plies, MAX_LINE)
        return self.cached(("line", position, plies), lambda: self.tables.mainline(position, plies))

    def cached(
        self,
        key: Any,
        find: Callable[[], Cached],
        is_complete: Callable[[Cached], bool] = lambda found: True,
    ) -> Cached:
        """Return the value that `find()` computes, cached under `key` until `fingerprint` changes.

        The cache keeps the `MAX_CACHED` values used last, if `is_complete` is true for them;
        callers share them.
        """
        key = key, self.fingerprint
        with self._cache_lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        found = find()
        if is_complete(found):
            with self._cache_lock:
                self._cache[key] = found
                while len(self._cache) > MAX_CACHED:
                    self._cache.popitem(last=False)
        return found

    def _known_moves(self, position: Position) -> list[RootMove]:
        """Return the legal moves, best first; moves without a value come just before losses."""
        found = []
        for move in legal_moves(position):
            after, result = position.after(*move), None
            with contextlib.suppress(UnsupportedMaterialError):
                result = self.tables.get(after)
            found.append(RootMove(
                move, after, result, converts=False, check=in_check(after),
                capture=position.board[move.target] != EMPTY,
                missing=None if result else after.material.name,
            ))  # fmt: skip
        return sorted(found, key=lambda move: move.sort_key)

    def judge(self, start: Position, moves: Sequence[Move]) -> Judgement:
        """Return the judgement of a game under `rules`. Raises like `rules` and `referee.judge`."""
        minor_chases = self.tables.rule_set.minor_chases
        return judge(start, moves, rules=self.rules, minor_chases=minor_chases)

    @property
    def rules(self) -> Rules:
        """Rules of the tables, `wxf` without any; raises `RulesMismatchError` if they differ."""
        return self.tables.rule_set.rules or Rules.WXF

    # -- tables ------------------------------------------------------------------------------

    def others(self) -> list[GameTablebase]:
        """Return a tablebase for each rule set of the directories, except the rule set in use.

        Tables that are limited to some orders are left out. If a material has tables of two
        metrics, the metric chosen for the tables in use is preferred, or DTM if none was chosen.
        """
        _ = self.fingerprint
        metric = self.tables.metric or Metric.DTM
        with self._lock:
            for name, path in self.paths().items():
                rules = name.rule_set
                if rules != self.tables.rule_set and not name.orders:
                    if rules not in self._others:
                        self._others[rules] = GameTablebase(
                            rules=name.rules, orders=0, minor_chases=rules.choice, metric=metric
                        )
                    self._others[rules].add_file(path)
            return list(self._others.values())

    @property
    def build_progress(self) -> BuildProgress | None:
        """Progress of the last build; None before the first one, and without a `BuildService`."""
        return None if self.workshop is None else self.workshop.progress()

    def cost(self, materials: Sequence[Material]) -> Cost | None:
        """Return `BuildService.cost`, cached; None if unknown, and without a `BuildService`."""
        workshop, asked = self.workshop, tuple(materials)
        if workshop is None:
            return None
        return self.cached(("cost", asked), lambda: workshop.cost(asked))

    def paths(self) -> dict[TableName, Path]:
        """Return the paths of all tables, of any rule set, by table name, fewest pieces first."""
        found = {}
        for name in self.tables.available():
            with contextlib.suppress(KeyError):  # removed meanwhile
                found[name] = self.tables.path(name)
        return found

    def available(self) -> list[TableName]:
        """Return a table name per material, of the rule set in use, fewest pieces first."""
        rule_set, metric = self.tables.rule_set, self.tables.metric
        names = [name for name in self.tables.available() if name.rule_set == rule_set]
        chosen = {name.material: name for name in names if name.metric == metric}
        return list({name.material: chosen.get(name.material, name) for name in names}.values())

    def materials(self) -> list[Material]:
        """Return the materials that have a table of the rule set in use, fewest pieces first."""
        return [name.material for name in self.available()]

    def statistics(self, material: Material) -> tuple[TableStatistics, dict[str, Any]]:
        """Return the statistics of a table, and facts about its file as a JSON object.

        The object has `minor_chases`, `bytes_on_disk`, `build_seconds` (None if not recorded) and
        `digest`. Raises like `Tablebase.table`.
        """
        return self._figures_of(material)[1:]

    def proof(self, material: Material) -> ProofStatus:
        """Return the status of a table's proof; raises like `Tablebase.table`."""
        return self._proofs.status(self._figures_of(material)[0])

    def proof_so_far(self, material: Material) -> ProofStatus | None:
        """Return `proof` if it is known without reading whole files; else call `start_reading`."""
        status = self._proofs.status_so_far(self._figures_of(material)[0])
        if status is None:
            self.start_reading()
        return status

    def start_reading(self) -> Thread:
        """Start a thread that reads all statistics and proofs, unless one is running; return it."""

        def read_all() -> None:
            for material in self.all_statistics():
                with contextlib.suppress(TablebaseError, OSError):
                    self.proof(material)
            self.readings += 1

        with self._lock:
            if self._reader is None or not self._reader.is_alive():
                self._reader = Thread(target=read_all, daemon=True)
                self._reader.start()
            return self._reader

    def all_statistics(self, seconds: float = inf) -> dict[Material, TableStatistics]:
        """Return the statistics of every readable table in use, fewest pieces first.

        After `seconds` no further file is read, and only tables with cached statistics are added.
        """
        found, until = {}, time.monotonic() + seconds
        for material in self.materials():
            if time.monotonic() <= until or material in self._statistics:
                with contextlib.suppress(TablebaseError, OSError):
                    found[material] = self.statistics(material)[0]
        return found

    def _figures_of(self, material: Material) -> tuple[TableName, TableStatistics, dict[str, Any]]:
        """Return a table's name and both results of `statistics`; cached until its files change."""
        _ = self.fingerprint
        kept = self._statistics
        if material not in kept:
            file = self.tables.table(material)
            name = file.header.spec.name
            about = {
                "minor_chases": name.rule_set.choice,
                "bytes_on_disk": file.header.file_size,
                "build_seconds": read_build_record(file.path).get("build_seconds"),
                "digest": file.header.digest.hex(),
            }
            kept[material] = name, file.statistics, about
        return kept[material]

    @property
    def fingerprint(self) -> str:
        """Hash of tbgen's version and all files' sizes and times; changes if answers may change.

        Files are examined only if a watched directory has changed. Then tables are added or
        forgotten; after a change all cached proofs are dropped, and statistics of changed tables.
        """
        with self._lock:
            changed = tuple(map(_state, self._directories))
            if changed != self._changed:
                self.tables.forget_removed()
                for directory in self._directories:
                    with contextlib.suppress(OSError):  # removed
                        self.tables.add_directory(directory)
                paths, before = self.paths(), self._states
                self._states = {
                    name: list(map(_state, (path, build_record_path(path), certificate_path(path))))
                    for name, path in paths.items()
                }
                self._fingerprint = sha256(f"{__version__} {self._states}".encode()).hexdigest()
                self._statistics = {
                    material: kept
                    for material, kept in self._statistics.items()
                    if self._states.get(kept[0]) == before.get(kept[0])
                }
                if self._states != before:
                    self._others, self._proofs = {}, Proofs(paths.get)
                self._changed = changed
            return self._fingerprint

    def examine(self) -> None:
        """Let `fingerprint` examine all files if one has changed, also by writing in place."""
        for name, path in self.paths().items():
            if [_state(path)] != self._states.get(name, [])[:1]:
                with self._lock:
                    self._changed = None

    @property
    def first_position(self) -> Position:
        """Position that the board shows first: the longest win of order 0 with Red to move.

        Examines the wins in the statistics of the 64 tables with most pieces; skips those that
        cannot be probed, for example in a damaged table. Without a win, returns a fixed position.
        """

        def find() -> Position:
            wins: list[LongestPosition] = []
            for material in self.materials()[-64:]:
                with contextlib.suppress(TablebaseError, OSError):
                    wins += self.statistics(material)[0].longest
            for win in sorted(wins, key=lambda win: -win.value):
                if win.order == 0 and win.side == Side.RED and win.value % 2:
                    with contextlib.suppress(TablebaseError, OSError, InputError):
                        return self.probe_game([Position.from_fen(win.fen)], []).position
            return Position.from_fen("3k5/9/9/9/9/9/9/9/9/R3K4 w")

        return self.cached("first position", find)


def _state(path: Path) -> tuple[int, int]:
    """Return size and modification time (ns) of a file or directory; zeros if it is missing."""
    with contextlib.suppress(OSError):
        found = path.stat()
        return found.st_size, found.st_mtime_ns
    return 0, 0
