"""Probing: values of positions from directories of table files.

    position  ->  material, colours swapped if need be  ->  table file  ->  slot  ->  value
                                                        or win-draw-loss file  ->  outcome

The caller checks that a position is legal: for an illegal position the value is arbitrary.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Any, Self, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from tbgen.indexing import Material, Position, as_position
from tbgen.indexing.errors import InputError, enum_member
from tbgen.indexing.material import as_material
from tbgen.indexing.rulesets import Rules
from tbgen.tables.batches import Boards, look_up
from tbgen.tables.cache import DEFAULT_CACHE_BYTES, BlockCache, CacheInfo
from tbgen.tables.catalogue import Catalogue
from tbgen.tables.codes import DRAW, Outcome, value_columns
from tbgen.tables.errors import MissingTableError, RulesMismatchError
from tbgen.tables.files import is_gone
from tbgen.tables.names import (
    SUFFIX,
    Metric,
    Options,
    TableName,
    WdlName,
    parse_name,
    tables_directory,
)
from tbgen.tables.outcomes import OUTCOMES, outcomes_of
from tbgen.tables.reader import ProbeResult, TableFile, require_index, result_of
from tbgen.tables.rule_sets import UNKNOWN_RULES, RuleChoice, RuleSet
from tbgen.tables.statistics import TableStatistics
from tbgen.tables.wdl import WdlFile

DEFAULT_MAX_OPEN = 128
DEFAULT_HELD_BYTES = 1 << 30

Default = TypeVar("Default")
Name = TypeVar("Name", TableName, WdlName)


class Tablebase:
    """Table files of one rule set, opened on first use.

    `rules`, `orders` (a limit; 0 for tables without one) and `minor_chases` choose the rule set
    (`RuleSet`); None admits any. If several rule sets remain, probing raises `RulesMismatchError`.
    `metric` chooses between two tables of one material; a single table is used whatever its metric.
    `InputError` is raised for unknown names, for an impossible limit, and for `minor_chases` False
    under rules without this choice.

    All methods are thread-safe. At most `max_open` files are open, beside those held by `hold_wdl`
    or used by a caller. Opening a file again takes 0.25 ms, ten times as long as a probe. Cached
    blocks take about `cache_bytes` at most. A pickled tablebase opens the same files, with an empty
    cache.
    """

    def __init__(
        self,
        *,
        rules: Rules | str | None = None,
        orders: int | None = None,
        minor_chases: bool | None = None,
        metric: Metric | str | None = None,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
        max_open: int = DEFAULT_MAX_OPEN,
    ) -> None:
        choice = RuleChoice(
            None if rules is None else enum_member(Rules, rules), orders, minor_chases
        )
        self._catalogue = Catalogue(choice, None if metric is None else enum_member(Metric, metric))
        self._cache = BlockCache(cache_bytes)
        self._max_open = max(1, max_open)
        self._open: OrderedDict[TableName | WdlName, TableFile | WdlFile] = OrderedDict()
        self._held: set[TableFile | WdlFile | None] = set()
        self._closed = False
        self._lock = RLock()
        self.directories: list[Path] = []
        """Directories whose tables were added."""
        self.checkpoint: Callable[[], None] = lambda: None
        """Function called in the probing thread before each use of a table.

        It may raise an exception to cancel long work.
        """

    @classmethod
    def open(cls, path: Path | str | None = None, **options: Unpack[Options]) -> Self:
        """Return a tablebase of the files in one directory: $TBGEN_TABLES or `egtb` if None.

        options : keyword arguments of the class

        Raises `InputError` like the class, and the errors of `add_directory`.
        """
        tablebase = cls(**options)
        tablebase.add_directory(tables_directory() if path is None else path)
        return tablebase

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle options and paths; raises `ValueError` after `close`."""
        with self._lock:
            self._require_open()
            options = asdict(self._catalogue.choice) | {"metric": self.metric}
            options |= {"cache_bytes": self._cache.budget, "max_open": self._max_open}
            paths = [path.absolute() for path in self._catalogue.paths.values()]
            return partial(type(self), **options), (), (self.directories, paths)

    def __setstate__(self, state: tuple[list[Path], list[Path]]) -> None:
        """Add the directories and files of a pickled tablebase."""
        directories, paths = state
        self.directories += directories
        for path in paths:
            self.add_file(path)

    def add_directory(self, path: Path | str) -> int:
        """Add the tables and win-draw-loss files of a directory, and return the number of new ones.

        Files are recognised by name (`names.py`). A name that was added before keeps its first
        file. Subdirectories are ignored. Raises `OSError` if there is no such directory,
        `InputError` for an empty text, and `ValueError` after `close`.
        """
        if path == "":  # to `Path`, it is the working directory
            raise InputError("the path of the tables is empty", "name a directory, such as egtb")
        added, files = 0, sorted(Path(path).iterdir())
        if Path(path) not in self.directories:
            self.directories.append(Path(path))
        for file in files:
            name = parse_name(file.name)
            if name is not None and file.exists() and not file.is_dir():
                added += self._add(name, file)
        return added

    def forget_removed(self, *damaged: Path) -> None:
        """Forget files that are gone or whose paths are in `damaged`.

        Files that have been replaced or overwritten are opened again at their next use.
        """
        with self._lock:
            for name, path in list(self._catalogue.paths.items()):
                file = self._open.get(name)
                if path in damaged or is_gone(path):
                    self._forget(name)
                elif file is not None and not file.is_same_file(path):
                    self._drop(name)

    def add_file(self, path: Path | str) -> None:
        """Add one file, unless another of its name was added before.

        Raises `ValueError` if its name is none of a table or win-draw-loss file, or after `close`.
        """
        path = Path(path)
        name = parse_name(path.name)
        if name is None:
            raise ValueError(f"'{path.name}' is no name of a table, such as KRNKR.none.dtm{SUFFIX}")
        self._add(name, path)

    def _add(self, name: TableName | WdlName, path: Path) -> bool:
        with self._lock:
            self._require_open()
            return self._catalogue.add(name, path)

    def _forget(self, name: TableName | WdlName) -> None:
        """Remove a file from the tablebase, without closing it; the caller holds the lock."""
        self._catalogue.remove(name)
        self._drop(name)

    def _drop(self, name: TableName | WdlName) -> None:
        """Remove the open file of a name, if any, without closing it; the caller holds the lock."""
        file = self._open.pop(name, None)  # not closed: another thread may be reading
        self._held.discard(file)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._catalogue.paths)} files>"

    def available(self) -> list[TableName]:
        """List the names of all tables added, of any rules, fewest pieces first."""
        return self._names(TableName)

    def available_wdl(self) -> list[WdlName]:
        """List the names of all win-draw-loss files added, of any rules, fewest pieces first."""
        return self._names(WdlName)

    def _names(self, kind: type[Name]) -> list[Name]:
        with self._lock:
            names = [name for name in self._catalogue.paths if isinstance(name, kind)]
        return sorted(names, key=lambda name: (name.material.men, name.filename))

    def path(self, name: TableName | WdlName) -> Path:
        """Return the path of a file that was added; raises `KeyError` for other names."""
        return self._catalogue.paths[name]

    @property
    def metric(self) -> Metric | None:
        """Metric to use if a material has tables of both metrics; None if the user chose none."""
        return self._catalogue.metric

    @property
    def cache_info(self) -> CacheInfo:
        """Statistics of the block cache."""
        return self._cache.info

    # -- choosing and opening ----------------------------------------------------------------

    @property
    def rule_set(self) -> RuleSet:
        """Rule set of probes; its `rules` are None if unknown. Raises `RulesMismatchError`."""
        with self._lock:
            return self._catalogue.rule_set()

    def table(self, material: Material | str) -> TableFile:
        """Return the open file of a material's table.

        Raises `MissingTableError`, `UnsupportedMaterialError`, `RulesMismatchError`,
        `CorruptTableError`, `FormatVersionError` and `OSError`; `MaterialError` for a text that is
        no material, and `ValueError` after `close`.
        """
        with self._lock:
            file = self._opened(self.table_name(material))
            assert isinstance(file, TableFile)
            return file

    def table_name(self, material: Material | str) -> TableName:
        """Return the name of the file that `table` opens, without opening it.

        Raises like `table`, except errors of opening.
        """
        material = self._requested(material)
        with self._lock:
            self._require_open()
            name = self._catalogue.table_name(material)
            if name is None:
                require_index(material)
                rule_set = self._catalogue.rule_set(material)
                raise MissingTableError(material.name, rule_set, self.directories)
            return name

    def _requested(self, material: Material | str) -> Material:
        self.checkpoint()
        return as_material(material)

    def wdl_file(self, material: Material | str) -> WdlFile | None:
        """Return the open win-draw-loss file of a material; None if it has none.

        Raises like `table`, except `MissingTableError` and `UnsupportedMaterialError`.
        """
        material = self._requested(material)
        with self._lock:
            self._require_open()
            name = self._catalogue.wdl_name(material)
            if name is None:
                return None
            with contextlib.suppress(MissingTableError):
                file = self._opened(name)
                assert isinstance(file, WdlFile)
                return file
            return None

    def _require_open(self) -> None:
        """Raise `ValueError` after `close`; the caller holds the lock."""
        if self._closed:
            raise ValueError("the tablebase has been closed")

    def _opened(self, name: TableName | WdlName) -> TableFile | WdlFile:
        """Return a file that has been added, opened if necessary; the caller holds the lock.

        A file that is gone is forgotten, and `MissingTableError` raised.
        """
        file = self._open.get(name)
        if file is not None:
            self._open.move_to_end(name)
            return file
        kind = TableFile if isinstance(name, TableName) else WdlFile
        try:
            file = kind(self._catalogue.paths[name], self._cache, name=name)
        except FileNotFoundError:  # removed since it was added
            self._forget(name)
            raise MissingTableError(name.material.name, name.rule_set, self.directories) from None
        self._open[name] = file
        # Dropped, not closed: another thread may be reading. Without references a file is closed.
        beyond = len(self._open) - len(self._held) - self._max_open
        if beyond > 0:
            loose = (other for other, each in self._open.items() if each not in self._held)
            for other in list(itertools.islice(loose, beyond)):
                del self._open[other]
        return file

    # -- probing -----------------------------------------------------------------------------

    def probe(self, position: Position | str) -> ProbeResult:
        """Return the value of a legal position, given as `Position` or FEN.

        Raises `PositionError` for an invalid FEN, and the errors of `table`.
        """
        position = as_position(position)
        material = position.material
        if not material.needs_table:
            return self._draw_without_table(material)
        file = self.table(material)
        return result_of(file, file.code(*file.place(position)))

    @overload
    def get(self, position: Position | str) -> ProbeResult | None: ...
    @overload
    def get(self, position: Position | str, default: Default) -> ProbeResult | Default: ...
    def get(self, position: Position | str, default: object = None) -> object:
        """Return the result of `probe`, or `default` if the table is missing."""
        try:
            return self.probe(position)
        except MissingTableError:
            return default

    def probe_wdl(self, position: Position | str) -> Outcome:
        """Return the outcome of a legal position, from a win-draw-loss file or else from a table.

        Raises like `probe`.
        """
        position = as_position(position)
        material = position.material
        if not material.needs_table:
            return Outcome.DRAW
        file = self.wdl_file(material)
        if file is None:
            return self.probe(position).outcome
        return file.outcome(*file.place(position))

    @overload
    def get_wdl(self, position: Position | str) -> Outcome | None: ...
    @overload
    def get_wdl(self, position: Position | str, default: Default) -> Outcome | Default: ...
    def get_wdl(self, position: Position | str, default: object = None) -> object:
        """Return the result of `probe_wdl`, or `default` if neither file is present."""
        try:
            return self.probe_wdl(position)
        except MissingTableError:
            return default

    def probe_many(self, positions: Iterable[Position | str]) -> list[ProbeResult]:
        """Return the values of legal positions, in their order; raises like `probe`.

        For all positions with the same pieces and side to move, each block is read at most once.
        """
        parsed = list(map(as_position, positions))
        boards = np.frombuffer(b"".join(position.board for position in parsed), np.uint8)
        sides = np.array([position.side for position in parsed], np.int64)
        results: dict[int, ProbeResult] = {}
        for numbers, file, codes in look_up(boards, sides, self.table):
            known = {code: result_of(file, code) for code in np.unique(codes).tolist()}
            for number, code in zip(numbers.tolist(), codes.tolist(), strict=True):
                results[number] = known[code]
        return [
            results.get(number) or self._draw_without_table(position.material)
            for number, position in enumerate(parsed)
        ]

    def probe_wdl_boards(self, boards: Boards, sides: NDArray[Any]) -> NDArray[np.int8]:
        """Return outcomes (n,) of legal positions: 1 win, 0 draw, -1 loss.

        boards : uint8 (n, 90), piece codes by square, 0 for an empty square
        sides : (n,), the side to move: 0 Red, 1 Black

        Raises like `probe` and `batches.checked`; `InputError` for boards that are no positions.
        """
        outcomes = np.zeros(np.size(sides), np.int8)
        for numbers, file, codes in look_up(
            boards, sides, lambda each: self.wdl_file(each) or self.table(each)
        ):
            if isinstance(file, TableFile):
                codes = outcomes_of(codes, file.code_space)
            outcomes[numbers] = codes.astype(np.int8) - np.int8(OUTCOMES.draw)
        return outcomes

    def probe_boards(
        self, boards: Boards, sides: NDArray[Any]
    ) -> tuple[NDArray[np.int8], NDArray[np.uint32], NDArray[np.uint32]]:
        """Return outcomes (1 win, 0 draw, -1 loss), orders and plies of legal positions, each (n,).

        Parameters and errors are those of `probe_wdl_boards`. A draw has order 0 and 0 plies.
        """
        outcomes = np.zeros(np.size(sides), np.int8)
        orders, plies = np.zeros(np.size(sides), np.uint32), np.zeros(np.size(sides), np.uint32)
        for numbers, file, codes in look_up(boards, sides, self.table):
            values = value_columns(codes, file.code_space)
            outcomes[numbers], orders[numbers], plies[numbers] = values
        return outcomes, orders, plies

    def _draw_without_table(self, material: Material) -> ProbeResult:
        rule_set = UNKNOWN_RULES
        with contextlib.suppress(RulesMismatchError):
            rule_set = self.rule_set
        return ProbeResult(DRAW.outcome, DRAW.number, 0, None, material, rule_set, None)

    def hold_wdl(
        self, *materials: Material | str, max_bytes: int = DEFAULT_HELD_BYTES
    ) -> tuple[Material, ...]:
        """Keep win-draw-loss files, decompressed, in memory for `probe_wdl_boards`.

        materials : materials whose files to hold; by default all that have a win-draw-loss file
        max_bytes : limit on the files of this call, including those held already

        A file takes at most 0.4 bytes a slot. A missing file, and one that does not fit into the
        rest of `max_bytes`, is skipped. Returns the materials that were not skipped. Raises like
        `wdl_file`, and errors of reading.
        """
        chosen = materials or dict.fromkeys(name.material for name in self.available_wdl())
        held = []
        for material in chosen:
            file = self.wdl_file(material)
            if file is None or file.held_bytes > max_bytes:
                continue
            max_bytes -= file.held_bytes
            with self._lock:
                self._held.add(file)
            if not file.is_held:
                file.hold()
            held.append(file.header.spec.name.material)
        return tuple(held)

    def stats(self, material: Material | str) -> TableStatistics:
        """Return the statistics stored in a material's table; raises like `table`."""
        return self.table(material).statistics

    # -- closing -----------------------------------------------------------------------------

    def close(self) -> None:
        """Close all files; using a table then raises `ValueError`."""
        with self._lock:
            self._closed = True
            for file in self._open.values():
                file.close()
            self._open.clear()
            self._held.clear()
            self._cache.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
