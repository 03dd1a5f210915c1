"""Growth of costs with the index and with orders: docs/growth.svg, from measured.csv.

    python scripts/measure/plot_growth.py [--peer peer_cost.csv] [--yardstick STUDY/bulk2.py]
    python scripts/measure/plot_growth.py --measure [--rules RULES] [MATERIAL...]

Three panels. CPU seconds and bytes on disk are drawn against index slots on logarithmic scales,
with power laws through the tables of at least ten million slots, and a line of their median cost
per slot. The third panel has nanoseconds a slot against a table's orders. Also prints the laws.

`--measure` first builds the tables that the file lacks, each in a process of its own with
supporting tables present and kernels compiled. To measure all again, empty the file, and measure
under `wxf` and then under the other rules. `tbgen plan` reads the same file. `--yardstick`
scales the other generator's seconds as in `scripts/measure/bench_goals.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median

import matplotlib
import numpy as np
from bench_goals import YARDSTICK_SECONDS, yardstick
from frame import ROOT, arguments
from growth import fit_power, here, read_growth, row_of, write_growth
from matplotlib import pyplot, rc_context
from measuring import BuildBench, Peer, build_bench, parse_material, read_peer

from tbgen.building.features import Outcomes
from tbgen.building.measured import MEASURED, Measured
from tbgen.building.sets import materials_of
from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.tables import TableFile

matplotlib.use("svg")

LARGER = """
    KCABKAA KPKAABB KRKAABB KNAABBK KNKAABB KNPKAAB KRKNAAB KNPKABB KRKNABB KNPKAABB KRKNAABB
    KPPPKA KPPPAK KPPPKB KPPPBK KPPKPA KPPAKP KPPKPB KPPBKP KRPPKA KRPPAK KRKPPA KRAKPP KNPPKA
    KNPPAK KNAKPP KCPPKA KCPPAK KCKPPA KCAKPP KRPKPA KRNKRA KRNKRAA
"""
"""Materials measured by default under wxf, besides those within the limits of size (`usual`)."""

COMPARED = """
    KPKP KCKP KNKP KRKP KCKC KNKC KNKN KRKC KRKN KRKR KNAKN KRAKN KRKNA KRBKR KRAAKR KRKNAA KPPKP
    KRKPP KNPKP KNNKN KRKNN KRRKN KCPKC KNCKP KNPKN KRPKN KRPKR KRCKR KRNKR
"""
"""Materials measured under other rules than `wxf`, too; in all, both sides can attack."""

FITTED_SLOTS = 10_000_000
"""Least slots of a table that is fitted; smaller tables have mostly constant costs."""

SIX_MEN_SLOTS, SEVEN_MEN_SLOTS = 140_000_000, 20_000_000
"""Most slots of `usual` materials of six and seven men; the latter have `FITTED_SLOTS` or more."""

Point = tuple[float, float]
"""A table's place in a diagram: its values on both axes."""


@dataclass(frozen=True)
class Series:
    """Points of one generator, one for each table, with a name."""

    label: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Law:
    """A line drawn through the points of a diagram, such as a power law, with its label.

    `at` maps x to y; the line is drawn from x = `low` to x = `high`.
    """

    label: str
    at: Callable[[float], float]
    low: float
    high: float


@dataclass(frozen=True)
class Panel:
    """One diagram: title, points, and lines through them.

    `across` labels the horizontal axis; `logarithmic` holds for both axes.
    """

    title: str
    across: str
    logarithmic: bool
    series: Sequence[Series]
    laws: Sequence[Law]


def power_law(series: Series) -> list[Law]:
    """Fit a power law to the tables of at least `FITTED_SLOTS` slots; return it in a list.

    The list is empty if these tables have fewer than two sizes. Points are (slots, cost).
    """
    large = [(slots, cost) for slots, cost in series.points if slots >= FITTED_SLOTS]
    if len({slots for slots, _ in large}) < 2:
        return []
    factor, exponent = fit_power([slots for slots, _ in large], [cost for _, cost in large])
    high = max(slots for slots, _ in large)
    label = f"{series.label}: slots^{exponent:.2f}, {len(large)} tables"
    return [Law(label, lambda x: factor * x**exponent, FITTED_SLOTS, high)]


def even_law(series: Series, scale: float, unit: str) -> list[Law]:
    """Return, in a list, the line slots * (median cost per slot of the larger tables).

    The label has this median times `scale`, in `unit`. Larger tables have at least `FITTED_SLOTS`
    slots; without any the list is empty. Points are (slots, cost).
    """
    large = [(slots, cost) for slots, cost in series.points if slots >= FITTED_SLOTS]
    if not large:
        return []
    each = median(cost / slots for slots, cost in large)
    low, high = (bound(slots for slots, _ in series.points) for bound in (min, max))
    return [Law(f"{each * scale:.3g} {unit} a slot", lambda x: each * x, low, high)]


def slope_law(series: Series) -> list[Law]:
    """Return, in a list, the least-squares line through the points; empty if all x are equal."""
    across, up = ([point[n] for point in series.points] for n in (0, 1))
    if len(set(across)) < 2:
        return []
    slope, start = linear_regression(across, up)
    label = f"{start:.0f} + {slope:.1f} for each order, {len(across)} tables"
    return [Law(label, lambda x: start + slope * x, 0, max(across))]


def described(panels: Sequence[Panel]) -> str:
    """Return a description of the diagrams in text, a line for each."""
    lines = []
    for panel in panels:
        counts = [f"{series.label} {len(series.points)} tables" for series in panel.series]
        lines.append(f"{panel.title}: " + "; ".join(counts + [law.label for law in panel.laws]))
    return "\n".join(lines)


def draw(panels: Sequence[Panel], caption: str, path: Path) -> None:
    """Write an SVG of panels side by side, above a caption; equal input gives equal bytes."""
    with rc_context({"svg.hashsalt": "tbgen", "font.size": 9}):
        figure, places = pyplot.subplots(1, len(panels), figsize=(4.4 * len(panels), 4.2))
        for panel, place in zip(panels, np.atleast_1d(places), strict=True):
            for series, mark in zip(panel.series, ("o", "s"), strict=False):
                across, up = zip(*series.points, strict=True)
                place.plot(across, up, mark, markersize=2, label=series.label, rasterized=True)
            for law in panel.laws:
                ends = [law.low, law.high]
                place.plot(ends, [law.at(x) for x in ends], linewidth=1, label=law.label)
            if panel.logarithmic:
                place.loglog()
            place.set(title=panel.title, xlabel=panel.across)
            place.grid(alpha=0.3)
            place.legend(fontsize=7)
        figure.text(0.01, 0.01, caption, fontsize=8)
        figure.tight_layout(rect=(0, 0.04, 1, 1))
        described_in = {"Date": None, "Description": described(panels)}
        figure.savefig(path, metadata=described_in, dpi=200)
        pyplot.close(figure)


def panels_of(rows: Sequence[Measured], peers: dict[str, Peer]) -> list[Panel]:
    """Return diagrams of seconds, bytes, and for tables of `FITTED_SLOTS` or more slots, orders."""
    # Build records have four decimals, so the shortest times are 0 and have no logarithm.
    seconds = [Series("tbgen", [(row.index_size, row.cpu_seconds)
                                for row in rows if row.cpu_seconds > 0])]  # fmt: skip
    sizes = [Series("tbgen", [(row.index_size, row.file_bytes) for row in rows])]
    if peers:
        seconds.append(Series("other generator", [
            (peer.index_size, peer.cpu) for peer in peers.values() if peer.cpu
        ]))  # fmt: skip
        sizes.append(Series("other generator", [
            (peer.index_size, peer.file_bytes) for peer in peers.values()
        ]))  # fmt: skip
    panels = []
    for title, scale, unit, listed in (
        ("CPU seconds", 1e9, "ns", seconds),
        ("Bytes on disk", 1, "bytes", sizes),
    ):
        laws = [law for series in listed for law in power_law(series)]
        laws += even_law(listed[0], scale, unit)
        panels.append(Panel(title, "index slots for each side to move", True, listed, laws))
    large = Series("tbgen", [
        (row.orders, 1e9 * row.cpu_seconds / row.index_size)
        for row in rows if row.index_size >= FITTED_SLOTS
    ])  # fmt: skip
    if large.points:
        laws = slope_law(large)
        panels.append(Panel("Nanoseconds a slot", "orders of the table", False, [large], laws))
    return panels


def measure(materials: Sequence[Material], bench: BuildBench, path: Path, repeat: int) -> None:
    """Measure the materials that the CSV file `path` lacks, and add each row once it is measured.

    repeat : number of builds of a table, of which the cheapest counts
    """
    rows = read_growth(path)[1] if path.exists() else []
    present = {(row.material, row.rules) for row in rows}
    for material in materials:
        if (material.name, str(bench.rules)) in present:
            continue
        measured = bench.measure(material, repeat)
        with TableFile(bench.path(material)) as file:
            statistics = file.statistics
        orders = max((each.order for each in statistics.orders), default=0)
        row = row_of(material, bench.rules, measured, Outcomes.of(statistics), orders)
        print(f"{row.material:10} {row.index_size:12,} {row.cpu_seconds:8.2f} s "
              f"{row.file_bytes:12,} bytes", flush=True)  # fmt: skip
        rows.append(row)
        write_growth(path, here(), rows)


def usual(rules: Rules) -> list[Material]:
    """Return the materials that are measured by default under a rule set."""
    if rules != Rules.WXF:
        return [Material.parse(name) for name in COMPARED.split()]
    measured = {6: range(SIX_MEN_SLOTS + 1), 7: range(FITTED_SLOTS, SEVEN_MEN_SLOTS + 1)}
    small = [m for m in materials_of((), 7) if m.men <= 5 or Layout.of(m).slots in measured[m.men]]
    return [*small, *map(Material.parse, LARGER.split())]


def chosen(named: Sequence[Material], rules: Rules) -> list[Material]:
    """Return the materials to measure, the fewest men first.

    They are `named`; without names they are the `usual` ones, under `wxf` with their closure.
    """
    asked = list(named)
    if not asked:
        asked = usual(rules)
        if rules == Rules.WXF:
            asked = [needed for material in asked for needed in material.closure()]
    unique = {m.name: m for m in asked}
    return sorted(unique.values(), key=lambda m: (m.men, Layout.of(m).slots, m.name))


def main() -> None:
    """Measure what is missing, if `--measure` is given; draw the diagrams, and print the laws."""
    parser = arguments(__doc__, tables="Default: a temporary folder.", rules="wxf")
    parser.add_argument(
        "materials",
        nargs="*",
        type=parse_material,
        help="Default: about 800 tables under wxf, 30 under others.",
    )
    parser.add_argument("--csv", type=Path, default=MEASURED)
    parser.add_argument("--svg", type=Path, default=ROOT / "docs" / "growth.svg")
    parser.add_argument("--peer", type=Path, help="CSV with another generator's costs.")
    parser.add_argument("--yardstick", type=Path, help="The study's bulk2.py.")
    parser.add_argument("--measure", action="store_true", help="Build what the CSV lacks.")
    parser.add_argument("--repeat", type=int, default=1, help="The least CPU seconds of N builds.")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.materials and not options.measure:
        parser.error("materials are for --measure")
    if options.measure:
        materials = chosen(options.materials, Rules(options.rules))
        with build_bench(options) as bench:
            measure(materials, bench, options.csv, options.repeat)
    where, rows = read_growth(options.csv)
    rows = [row for row in rows if row.rules == options.rules]
    if not rows:
        parser.error(f"{options.csv} has no tables under {options.rules}: --measure makes them")
    peers = read_peer(options.peer) if options.peer else {}
    if options.yardstick:
        scale = yardstick(options.yardstick) / YARDSTICK_SECONDS
        peers = {name: peer.scaled(scale) for name, peer in peers.items()}
    panels = panels_of(rows, peers)
    draw(panels, f"{len(rows)} tables, rules {options.rules}, {where}", options.svg)
    print(described(panels))


if __name__ == "__main__":
    main()
