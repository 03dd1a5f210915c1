"""Probing of directories: choice of the table, colours, slots, and missing tables."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tbgen.indexing import InputError, Material, Position, Side
from tbgen.indexing.layout import Layout
from tbgen.tables import (
    CodeSpace,
    CorruptTableError,
    Metric,
    MissingTableError,
    Outcome,
    Rules,
    RuleSet,
    RulesMismatchError,
    Tablebase,
    TableFile,
    UnsupportedMaterialError,
    WdlFile,
)
from tbgen.tables.header import TableSpec
from tests.helpers.random_outcomes import random_outcomes, write_outcomes
from tests.helpers.random_tables import Planes, random_planes, spec_of, write

ARMLESS = Position.from_fen("3ak4/9/9/9/9/9/9/9/9/3AKA3 w")
KRK = Position.from_fen("3k5/9/9/9/9/9/9/9/4R4/4K4 w")


def some_positions(material: str, number: int, seed: int = 1) -> list[Position]:
    """Return `number` random positions, legal or not, about half of them with colours exchanged."""
    layout = Layout.of(Material.parse(material))
    rng = np.random.default_rng(seed)
    positions: list[Position] = []
    while len(positions) < number:
        slot, side = int(rng.integers(layout.slots)), Side(int(rng.integers(2)))
        position = layout.position(slot, side)
        if position is not None:
            positions.append(position.swapped() if rng.random() < 0.5 else position)
    return positions


def expected_code(position: Position, planes: Planes) -> int:
    layout = Layout.of(position.material)
    if position.is_swapped:
        position = position.swapped()
    return int(planes[position.side][layout.slot(position)])


def add(directory: Path, spec: TableSpec, seed: int = 1) -> Planes:
    planes = random_planes(spec, seed, empty=0.0)
    write(directory, spec, planes)
    return planes


MATERIALS = {"KRK": 1, "KPK": 2, "KNNK": 1, "KRKR": 4, "KRKAB": 2}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Planes]]:
    path = tmp_path_factory.mktemp("tables")
    planes = {name: add(path, spec_of(name, width)) for name, width in MATERIALS.items()}
    (path / "README.md").write_text("no table")
    return path, planes


def test_probe_reads_the_slot_of_the_position(directory: tuple[Path, dict[str, Planes]]) -> None:
    path, planes = directory
    with Tablebase.open(path, cache_bytes=100_000, max_open=2) as tablebase:
        for name, width in MATERIALS.items():
            codes = spec_of(name, width).codes
            for position in some_positions(name, 100):
                result = tablebase.probe(position)
                assert result.exact == codes.decode(expected_code(position, planes[name]))
                assert result.material.name == name
                assert (result.rules, result.metric) == (Rules.NONE, Metric.DTM)
                assert (result.plies is None) == (result.outcome == Outcome.DRAW)
                shown = "-" if result.outcome == Outcome.DRAW else result.plies
                assert f"<td>{shown}</td>" in result._repr_html_()
                assert tablebase.probe_wdl(position) == result.outcome
                assert tablebase.probe(position.mirrored()) == result
                assert tablebase.get(position) == result


def test_a_colour_swapped_position_has_the_same_value(
    directory: tuple[Path, dict[str, Planes]],
) -> None:
    with Tablebase.open(directory[0]) as tablebase:
        for position in some_positions("KRK", 50) + some_positions("KRKAB", 50):
            assert tablebase.probe(position) == tablebase.probe(position.swapped())


def test_probe_many_agrees_with_probe(directory: tuple[Path, dict[str, Planes]]) -> None:
    positions = [p for name in MATERIALS for p in some_positions(name, 150)] + [ARMLESS] * 3
    np.random.default_rng(3).shuffle(positions)  # type: ignore[arg-type]
    with Tablebase.open(directory[0], cache_bytes=0) as tablebase:
        assert tablebase.probe_many(positions) == [tablebase.probe(p) for p in positions]
        assert tablebase.probe_many([]) == []


def test_batches_refuse_what_is_no_position(directory: tuple[Path, dict[str, Planes]]) -> None:
    """Batch probes raise `InputError` for a batch with an invalid board or side to move.

    An invalid entry must not look like a draw.
    """
    boards = np.frombuffer(KRK.board + ARMLESS.board, np.uint8).reshape(2, 90)
    kings = boards[1] & 7 == 1
    outside = np.vstack([boards[1], np.roll(boards[1], -9)])
    unknown = np.vstack([boards[0], boards[0]])
    unknown[1, 89] = 200
    wrong = [(boards, sides) for sides in ([0, -1], [2, 0], [256, 1], [0], 0)]
    # A conversion to bytes would wrap or cut these to the codes of `boards`.
    wide = boards.astype(np.int64)
    converted = [wide + 256, wide - 256, wide + 0.5, np.where(wide, wide, np.nan)]
    all_wrong = (boards * 0, boards * ~kings, outside, boards[::-1] | 8, unknown)
    wrong += [(board, [1, 0]) for board in (*all_wrong, *converted, boards[:, 1:])]
    with Tablebase.open(directory[0]) as tablebase:
        for dtype in (np.uint8, np.int8, np.int64):
            given = boards.astype(dtype)
            assert tablebase.probe_wdl_boards(given, np.array([1, 0])).shape == (2,)
        for board, sides in wrong:
            with pytest.raises(InputError):
                tablebase.probe_boards(board, np.array(sides))
            with pytest.raises(InputError):
                tablebase.probe_wdl_boards(board, np.array(sides))


def test_threads_share_a_tablebase(directory: tuple[Path, dict[str, Planes]]) -> None:
    path, planes = directory
    # One open file and a small cache: files and blocks are dropped while others read them.
    with Tablebase.open(path, cache_bytes=50_000, max_open=1) as tablebase:

        def read(seed: int) -> None:
            for name, width in MATERIALS.items():
                codes = spec_of(name, width).codes
                for position in some_positions(name, 20, seed):
                    value = codes.decode(expected_code(position, planes[name]))
                    assert tablebase.probe(position).exact == value

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(read, range(12)))
        assert tablebase.cache_info.bytes <= 50_000


def test_blocks_of_a_closed_file_serve_it_when_reopened(
    directory: tuple[Path, dict[str, Planes]],
) -> None:
    """Each probe reopens a file, since only one may be open, but each block is read only once."""
    with Tablebase.open(directory[0], max_open=1) as tablebase:
        for position in [KRK, some_positions("KRKR", 1)[0]] * 20:
            tablebase.probe(position)
        info = tablebase.cache_info
        assert (info.blocks, info.misses, info.hits) == (2, 2, 38)
    assert tablebase.cache_info.blocks == tablebase.cache_info.bytes == 0


def test_materials_without_attackers_are_draws_without_a_table(tmp_path: Path) -> None:
    result = Tablebase().probe(ARMLESS)
    assert (result.outcome, result.value, result.order, result.plies) == (Outcome.DRAW, 0, 0, None)
    assert (result.rules, result.metric) == (None, None)
    assert Tablebase(rules="check").probe(ARMLESS).rules == Rules.CHECK
    for rules in (Rules.NONE, Rules.CHECK):
        add(tmp_path, spec_of("KRK", rules=rules))
    assert Tablebase.open(tmp_path).get_wdl(ARMLESS) == Outcome.DRAW


def test_missing_tables(directory: tuple[Path, dict[str, Planes]]) -> None:
    position = Position.from_fen("3k5/9/9/9/9/9/9/9/4N4/4K4 w")
    with Tablebase.open(directory[0]) as tablebase:
        with pytest.raises(MissingTableError, match="run: tbgen build KNK --rules none"):
            tablebase.probe(position)
        with pytest.raises(KeyError):
            tablebase.probe_many([KRK, position])
        assert tablebase.get(position) is None
        assert tablebase.get(position, "?") == "?"
        assert tablebase.get_wdl(position, Outcome.DRAW) == Outcome.DRAW
        with pytest.raises(MissingTableError):
            tablebase.stats("KNK")
    with pytest.raises(MissingTableError, match=r"run: tbgen build KRK$"):
        Tablebase().probe(KRK)


def test_a_missing_table_is_missing_somewhere(tmp_path: Path) -> None:
    there = tmp_path / "my tables"
    there.mkdir()
    tablebase = Tablebase.open(there, rules="wxf")
    with pytest.raises(MissingTableError) as caught:
        tablebase.probe(KRK)
    assert str(caught.value) == (
        f"there is no table of KRK under the rules 'wxf' in {there}; "
        f"run: tbgen build KRK --rules wxf --tables '{there}'"
    )
    assert tablebase.add_directory(there) == 0
    assert caught.value.directories == tuple(tablebase.directories) == (there,)


def test_the_default_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(tmp_path, spec_of("KRK"))
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.setenv("TBGEN_TABLES", str(tmp_path))
    with Tablebase.open() as named:
        assert named.probe(KRK).material.name == "KRK"
    monkeypatch.setenv("TBGEN_TABLES", "")
    with pytest.raises(FileNotFoundError, match="'egtb'"):
        Tablebase.open()


def test_a_pickled_tablebase_opens_the_same_files(tmp_path: Path) -> None:
    for rules, seed in (("check", 1), ("wxf", 2)):
        add(tmp_path, spec_of("KRK", rules=Rules(rules)), seed)
    tablebase = Tablebase.open(tmp_path, rules="wxf", max_open=3, cache_bytes=9_000)
    result = tablebase.probe(KRK)
    add(tmp_path, spec_of("KPK", rules=Rules.WXF))  # not added
    copied = pickle.loads(pickle.dumps(tablebase))
    assert copied.probe(KRK) == result
    assert copied.available() == tablebase.available()
    assert (copied.directories, copied.cache_info.budget) == ([tmp_path], 9_000)
    tablebase.close()
    with pytest.raises(ValueError, match="closed"):
        pickle.dumps(tablebase)


@pytest.mark.parametrize("kind", [TableFile, WdlFile])
def test_a_pickled_file_opens_the_same_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[TableFile | WdlFile]
) -> None:
    add(tmp_path, spec_of("KRK"))
    write_outcomes(tmp_path, "KRK", random_outcomes("KRK", 2))
    path = tmp_path / f"KRK.none.{'dtm' if kind is TableFile else 'wdl'}.xqt"
    monkeypatch.chdir(tmp_path)
    file = kind(path.name)
    pickled = pickle.dumps(file)
    monkeypatch.chdir("/")
    with pickle.loads(pickled) as copied:
        assert copied.path == path
        assert copied.code(0, 7) == file.code(0, 7)
    file.close()
    with pytest.raises(ValueError, match="closed"):
        pickle.dumps(file)


def test_materials_without_attackers_have_no_table(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedMaterialError, match=r"KAKB cannot .*: without an attacker"):
        Tablebase.open(tmp_path).stats("KAKB")


def test_materials_too_large_for_an_index(directory: tuple[Path, dict[str, Planes]]) -> None:
    with Tablebase.open(directory[0]) as tablebase, pytest.raises(UnsupportedMaterialError):
        tablebase.table("KRRNNCCPPPPPKRRNNCCPPPPP")


def test_available_and_directories(directory: tuple[Path, dict[str, Planes]]) -> None:
    tablebase = Tablebase()
    assert tablebase.available() == []
    assert tablebase.add_directory(directory[0]) == len(MATERIALS)
    assert tablebase.add_directory(str(directory[0])) == 0
    names = [str(name) for name in tablebase.available()]
    assert names == [
        "KPK.none.dtm", "KRK.none.dtm", "KNNK.none.dtm", "KRKR.none.dtm", "KRKAB.none.dtm",
    ]  # fmt: skip
    assert tablebase.path(tablebase.available()[0]) == directory[0] / "KPK.none.dtm.xqt"
    with pytest.raises(FileNotFoundError):
        tablebase.add_directory(directory[0] / "nowhere")
    for add in (tablebase.add_directory, Tablebase.open):
        with pytest.raises(InputError, match="the path of the tables is empty; name a directory"):
            add("")
    assert tablebase.directories == [directory[0]]
    with pytest.raises(ValueError, match="no name of a table"):
        tablebase.add_file(directory[0] / "README.md")


def test_a_single_rule_set_is_chosen_and_several_are_an_error(tmp_path: Path) -> None:
    add(tmp_path, spec_of("KRK", rules=Rules.CHECK))
    with Tablebase.open(tmp_path) as tablebase:
        assert tablebase.rule_set == RuleSet(Rules.CHECK)
        assert tablebase.probe(KRK).rules == Rules.CHECK
    add(tmp_path, spec_of("KRK", rules=Rules.CHECK, orders=1), seed=2)
    add(tmp_path, spec_of("KPK", rules=Rules.WXF), seed=3)
    with Tablebase.open(tmp_path) as tablebase, pytest.raises(RulesMismatchError) as caught:
        tablebase.probe(KRK)
    assert caught.value.present == ("check", "check-o1", "wxf")
    for name, under in (("KPK", "wxf"), ("KRK", "check, check-o1"), ("KNK", "none of them")):
        with (
            Tablebase.open(tmp_path) as tablebase,
            pytest.raises(RulesMismatchError, match=f"say which one to use, {name} under {under}$"),
        ):
            tablebase.stats(name)
    with Tablebase.open(tmp_path, rules="check") as tablebase, pytest.raises(RulesMismatchError):
        tablebase.probe(KRK)
    results = {
        orders: Tablebase.open(tmp_path, rules="check", orders=orders).probe(KRK)
        for orders in (0, 1)
    }
    assert results[0].exact != results[1].exact
    # Tables of other rules are never used.
    with pytest.raises(MissingTableError, match="--rules wxf"):
        Tablebase.open(tmp_path, rules=Rules.WXF).probe(KRK)
    with pytest.raises(MissingTableError, match="--rules none"):
        Tablebase.open(tmp_path, rules="none").probe(KRK)
    with pytest.raises(ValueError, match="axf"):
        Tablebase(rules="axf")


def test_a_folder_named_like_a_table_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "KRK.check.dtm.xqt").mkdir()
    assert Tablebase(rules=Rules.CHECK).add_directory(tmp_path) == 0


def test_tables_of_other_options_never_mix(tmp_path: Path) -> None:
    add(tmp_path, spec_of("KRK", rules=Rules.WXF))
    add(tmp_path, spec_of("KRK", rules=Rules.WXF, minor_chases=False), seed=2)
    add(tmp_path, spec_of("KPK", rules=Rules.WXF, minor_chases=False), seed=3)
    kpk = some_positions("KPK", 1)[0]
    with Tablebase.open(tmp_path) as tablebase, pytest.raises(RulesMismatchError) as caught:
        tablebase.probe(KRK)
    assert caught.value.present == ("wxf", "wxf-nominor")
    with Tablebase.open(tmp_path, minor_chases=True) as on:
        assert on.probe(KRK).rule_set.minor_chases
        with pytest.raises(MissingTableError) as missing:
            on.probe(kpk)
        assert not missing.value.command.endswith("--no-minor-chases")
    with Tablebase.open(tmp_path, minor_chases=False) as off:
        assert off.rule_set == RuleSet(Rules.WXF, minor_chases=False)
        assert not off.probe(KRK).rule_set.minor_chases
        assert off.probe(KRK).exact != Tablebase.open(tmp_path, minor_chases=True).probe(KRK).exact
        assert off.probe(kpk).rules == Rules.WXF
        assert not off.probe(ARMLESS).rule_set.minor_chases
    with pytest.raises(InputError, match="leave no choice about chases"):
        Tablebase(rules="check", minor_chases=False)


def test_a_header_with_another_option_is_refused(tmp_path: Path) -> None:
    spec = spec_of("KRK", rules=Rules.WXF, minor_chases=False)
    add(tmp_path, spec)
    (tmp_path / spec.name.filename).rename(tmp_path / "KRK.wxf.dtm.xqt")
    with (
        Tablebase.open(tmp_path) as tablebase,
        pytest.raises(CorruptTableError, match=r"holds KRK\.wxf-nominor\.dtm, not"),
    ):
        tablebase.probe(KRK)


def test_the_metric_matters_only_for_two_tables(tmp_path: Path) -> None:
    add(tmp_path, spec_of("KRK"))
    add(tmp_path, spec_of("KRK", metric=Metric.DTC), seed=2)
    add(tmp_path, spec_of("KPK"), seed=3)
    kpk = some_positions("KPK", 1)[0]
    with Tablebase.open(tmp_path) as tablebase:
        assert tablebase.probe(kpk).metric == Metric.DTM
        with pytest.raises(RulesMismatchError, match="dtm, dtc are present"):
            tablebase.probe(KRK)
    with Tablebase.open(tmp_path, metric="dtc") as tablebase:
        assert tablebase.probe(KRK).metric == Metric.DTC
        assert tablebase.probe(kpk).metric == Metric.DTM


def test_a_renamed_file_is_refused(tmp_path: Path) -> None:
    spec = spec_of("KRK")
    add(tmp_path, spec)
    (tmp_path / spec.name.filename).rename(tmp_path / "KRK.check.dtm.xqt")
    with Tablebase.open(tmp_path) as tablebase, pytest.raises(CorruptTableError, match="holds KRK"):
        tablebase.probe(KRK)


def test_tables_added_later_are_found(tmp_path: Path) -> None:
    tablebase = Tablebase.open(tmp_path)
    with pytest.raises(MissingTableError):
        tablebase.probe(KRK)
    add(tmp_path, spec_of("KRK"))
    assert tablebase.add_directory(tmp_path) == 1
    assert tablebase.probe(KRK).material.name == "KRK"


def test_a_closed_tablebase_raises(directory: tuple[Path, dict[str, Planes]]) -> None:
    tablebase = Tablebase.open(directory[0])
    tablebase.probe(KRK)
    tablebase.close()
    with pytest.raises(ValueError, match="closed"):
        tablebase.probe(KRK)
    with pytest.raises(ValueError, match="closed"):
        tablebase.add_directory(directory[0])
    assert tablebase.cache_info.blocks == 0


def test_stats_agree_with_the_file(directory: tuple[Path, dict[str, Planes]]) -> None:
    with Tablebase.open(directory[0]) as tablebase:
        statistics = tablebase.stats("KRK")
        assert statistics.index_size == 4050
        assert statistics.legal == 8100
        assert statistics == tablebase.table(Material.parse("KRK")).statistics
        assert tablebase.table("KRK").header.spec.codes == CodeSpace(1)


def test_a_raising_checkpoint_ends_a_probe(directory: tuple[Path, dict[str, Planes]]) -> None:
    class StopError(Exception):
        pass

    def stop() -> None:
        raise StopError

    with Tablebase.open(directory[0]) as tablebase:
        tablebase.probe(KRK)
        tablebase.checkpoint = stop
        for ask in (lambda: tablebase.probe(KRK), lambda: tablebase.probe_many([KRK])):
            with pytest.raises(StopError):
                ask()
        assert tablebase.probe(ARMLESS).outcome == Outcome.DRAW


def test_a_removed_file_is_a_missing_table(tmp_path: Path) -> None:
    spec = spec_of("KRK")
    add(tmp_path, spec)
    path = tmp_path / spec.name.filename
    content = path.read_bytes()
    (tmp_path / "KNK.none.dtm.xqt").symlink_to(tmp_path / "nowhere")
    with Tablebase.open(tmp_path) as tablebase:
        assert tablebase.available() == [spec.name]
        path.unlink()
        with pytest.raises(MissingTableError):
            tablebase.probe(KRK)
        assert tablebase.available() == []
        path.write_bytes(content)
        assert tablebase.add_directory(tmp_path) == 1
        before = tablebase.probe(KRK)
        tablebase.forget_removed()
        assert tablebase.available() == [spec.name]
        path.unlink()
        assert tablebase.probe(KRK) == before  # from the open file
        add(tmp_path, spec, seed=2)
        tablebase.forget_removed()
        assert tablebase.available() == [spec.name]  # a replaced file is never missing
        assert tablebase.probe(KRK).exact != before.exact
