"""How costs grow with the index and with orders: docs/growth.svg, from tbgen/building/measured.csv.

    python scripts/measure/plot_growth.py [--peer peer_cost.csv] [--yardstick STUDY/bulk2.py]
    python scripts/measure/plot_growth.py --measure [--rules RULES] [--max-slots N] [MATERIAL...]

Three panels: CPU seconds and bytes on disk against index slots, on logarithmic scales, with power
laws through the tables of at least ten million slots and the line of as many nanoseconds for each
slot as these take at the median; and nanoseconds a slot against the orders of a table. The laws
are printed, too. `--measure` builds what that file lacks
(empty it to measure afresh, under `wxf` and then under the other rules), each table by a process of
its own with its supporting tables there and the kernels compiled; `tbgen plan` learns from the same
file. `--yardstick` scales the other generator's seconds as
`scripts/measure/bench_goals.py` does.
"""

from __future__ import annotations

import argparse
import datetime
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, median
from xml.sax.saxutils import escape

from bench_goals import YARDSTICK_SECONDS, yardstick
from growth import fit_power, materials_of, read_growth, row_of, write_growth
from measuring import ROOT, Peer, Workshop, parse_material, read_peer

from tbgen.building.features import Outcomes
from tbgen.building.measured import MEASURED, Measured
from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.indexing.rulesets import Rules
from tbgen.tables import TableFile

LARGER = """
    KCABKAA KPKAABB KRKAABB KNAABBK KNKAABB KNPKAAB KRKNAAB KNPKABB KRKNABB KNPKAABB KRKNAABB
    KPPPKA KPPPAK KPPPKB KPPPBK KPPKPA KPPAKP KPPKPB KPPBKP KRPPKA KRPPAK KRKPPA KRAKPP KNPPKA
    KNPPAK KNAKPP KCPPKA KCPPAK KCKPPA KCAKPP KRPKPA KRNKRA KRNKRAA
"""
"""Measured besides `usual`."""

COMPARED = """
    KPKP KCKP KNKP KRKP KCKC KNKC KNKN KRKC KRKN KRKR KNAKN KRAKN KRKNA KRBKR KRAAKR KRKNAA KPPKP
    KRKPP KNPKP KNNKN KRKNN KRRKN KCPKC KNCKP KNPKN KRPKN KRPKR KRCKR KRNKR
"""
"""Measured under other rules than `wxf`; what one armless side makes of rules is known."""

FITTED_SLOTS = 10_000_000
"""Smaller tables cost much of what any file and any build costs."""

SIX_MEN_SLOTS, SEVEN_MEN_SLOTS = 140_000_000, 20_000_000
"""Materials of so many men with no more are measured, of seven those that have `FITTED_SLOTS`."""

PANEL = 340, 290
LEFT, TOP, GAP = 70, 50, 80
WIDTH, HEIGHT = LEFT + 3 * PANEL[0] + 2 * GAP + 20, 420

STYLE = """
text { font: 12px sans-serif; fill: #444; }
.title { font-size: 14px; font-weight: bold; }
.grid { stroke: #8884; stroke-width: 1; }
.frame { fill: none; stroke: #888; }
.ours { fill: #1f77b4; stroke: none; }
.peer { fill: none; stroke: #d95f02; stroke-width: 1.3; }
.law { stroke-width: 1.5; fill: none; }
.law.ours { stroke: #1f77b4; fill: none; }
.law.peer { stroke-dasharray: 5 3; }
.law.even { stroke: #888; stroke-dasharray: 2 3; }
@media (prefers-color-scheme: dark) { text { fill: #ccc; } }
"""


Point = tuple[str, float, float]
"""A table: its material, and where it stands on the two axes."""


@dataclass(frozen=True)
class Axis:
    """Numbers along one side of a diagram, and what they are called."""

    title: str
    unit: str
    low: float
    high: float
    logarithmic: bool

    @classmethod
    def decades(cls, title: str, unit: str, values: Iterable[float]) -> Axis:
        """The powers of ten that enclose all values (above zero), at least one decade apart."""
        logarithms = [math.log10(value) for value in values]
        low, high = math.floor(min(logarithms)), math.ceil(max(logarithms))
        return cls(title, unit, low, max(high, low + 1), logarithmic=True)

    @classmethod
    def linear(cls, title: str, unit: str, values: Iterable[float]) -> Axis:
        """From zero to the next round number."""
        largest = max(values)
        step = 10.0 ** math.floor(math.log10(max(largest, 1)))
        return cls(title, unit, 0, step * max(math.ceil(largest / step), 1), logarithmic=False)

    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 to 1."""
        at = math.log10(value) if self.logarithmic else value
        return (at - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """(share, label) of what is written beside it."""
        if self.logarithmic:
            count = round(self.high - self.low)
            return [(n / count, _power(round(self.low) + n)) for n in range(count + 1)]
        return [(n / 5, f"{self.high * n / 5:,.4g}") for n in range(6)]


@dataclass(frozen=True)
class Law:
    """A line through points: a power of x, or a constant and a slope."""

    label: str
    mark: str
    """The class of its line: `ours`, `peer`, or `even` (as much for each slot)."""
    at: Callable[[float], float]
    low: float
    high: float


@dataclass(frozen=True)
class Series:
    """Named points of one generator."""

    label: str
    mark: str
    """The class of its marks: `ours` (discs) or `peer` (squares)."""
    points: Sequence[Point]


@dataclass(frozen=True)
class Panel:
    """One diagram: its title, its axes, what is measured, and the lines through it."""

    title: str
    across: Axis
    up: Axis
    series: Sequence[Series]
    laws: Sequence[Law]


def power_law(series: Series) -> list[Law]:
    """The power law through the larger tables; none for fewer than two sizes."""
    large = [(slots, cost) for _, slots, cost in series.points if slots >= FITTED_SLOTS]
    if len({slots for slots, _ in large}) < 2:
        return []
    factor, exponent = fit_power([slots for slots, _ in large], [cost for _, cost in large])
    high = max(slots for slots, _ in large)
    label = f"{series.label}: slots^{exponent:.2f}, {len(large)} tables"
    return [Law(label, series.mark, lambda x: factor * x**exponent, FITTED_SLOTS, high)]


def even_law(series: Series, scale: float, unit: str) -> list[Law]:
    """As much for each slot as the larger tables take at the median; none without such."""
    large = [(slots, cost) for _, slots, cost in series.points if slots >= FITTED_SLOTS]
    if not large:
        return []
    each = median(cost / slots for slots, cost in large)
    low, high = (bound(slots for _, slots, _ in series.points) for bound in (min, max))
    return [Law(f"{each * scale:.3g} {unit} a slot", "even", lambda x: each * x, low, high)]


def slope_law(series: Series) -> list[Law]:
    """The straight line of least squares; none for fewer than two places across."""
    across, up = ([point[n] for point in series.points] for n in (1, 2))
    if len(set(across)) < 2:
        return []
    slope, start = linear_regression(across, up)
    label = f"{start:.0f} + {slope:.1f} for each order, {len(across)} tables"
    return [Law(label, series.mark, lambda x: start + slope * x, 0, max(across))]


def _power(exponent: int) -> str:
    """`10⁻³`."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _mark(mark: str, x: float, y: float, label: str) -> str:
    title = f"<title>{escape(label)}</title>" if label else ""
    if mark == "ours":
        return f'<circle class="ours" cx="{x:.1f}" cy="{y:.1f}" r="2">{title}</circle>'
    return (f'<rect class="peer" x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6">'
            f"{title}</rect>")  # fmt: skip


def _render_panel(panel: Panel, left: int) -> list[str]:
    """The elements of one diagram, its upper left corner at (left, TOP)."""

    def x_of(value: float) -> float:
        return left + PANEL[0] * panel.across.share(value)

    def y_of(value: float) -> float:
        return TOP + PANEL[1] * (1 - panel.up.share(value))

    right, bottom = left + PANEL[0], TOP + PANEL[1]
    parts = [
        f'<text class="title" x="{left}" y="{TOP - 14}">{escape(panel.title)}</text>',
        f'<clipPath id="clip{left}"><rect x="{left}" y="{TOP}" width="{PANEL[0]}" '
        f'height="{PANEL[1]}"/></clipPath>',
    ]
    for share, label in panel.across.ticks():
        x = left + PANEL[0] * share
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{label}</text>')
    for share, label in panel.up.ticks():
        y = TOP + PANEL[1] * (1 - share)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    parts.append(f'<text x="{left + PANEL[0] / 2}" y="{bottom + 38}" text-anchor="middle">'
                 f"{escape(panel.across.title)}</text>")  # fmt: skip
    for series in panel.series:
        for name, x, y in series.points:
            label = f"{series.label} {name}: {x:,.9g} {panel.across.unit}, {y:,.6g} {panel.up.unit}"
            parts.append(_mark(series.mark, x_of(x), y_of(y), label))
    for number, law in enumerate(panel.laws):
        # A law may leave the diagram where its series has cheaper or dearer tables.
        (x_0, y_0), (x_1, y_1) = ((x_of(x), y_of(law.at(x))) for x in (law.low, law.high))
        y = TOP + 18 + 18 * number
        for line in (f"M{x_0:.1f} {y_0:.1f}L{x_1:.1f} {y_1:.1f}", f"M{left + 8} {y - 4}h12"):
            parts.append(f'<path class="law {law.mark}" clip-path="url(#clip{left})" '
                         f'd="{line}"/>')  # fmt: skip
        parts.append(f'<text x="{left + 24}" y="{y}">{escape(law.label)}</text>')
    parts.append(f'<rect class="frame" x="{left}" y="{TOP}" width="{PANEL[0]}" '
                 f'height="{PANEL[1]}"/>')  # fmt: skip
    return parts


def described(panels: Sequence[Panel]) -> str:
    """What the diagrams show, in words: a line for each."""
    lines = []
    for panel in panels:
        counts = [f"{series.label} {len(series.points)} tables" for series in panel.series]
        lines.append(f"{panel.title}: " + "; ".join(counts + [law.label for law in panel.laws]))
    return "\n".join(lines)


def render(panels: Sequence[Panel], caption: str) -> str:
    """The SVG document of panels side by side; the same text for the same input."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title desc">',
        '<title id="title">Cost of a table against the size of its index, and its orders</title>',
        f'<desc id="desc">{escape(described(panels))}</desc>',
        f"<style>{STYLE}</style>",
    ]
    for number, panel in enumerate(panels):
        parts += _render_panel(panel, LEFT + number * (PANEL[0] + GAP))
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 14}">{escape(caption)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def panels_of(rows: Sequence[Measured], peers: dict[str, Peer]) -> list[Panel]:
    """The diagrams of seconds, of bytes, and of orders."""
    # A build record has four decimals: what took no tick of the clock has no logarithm.
    seconds = [Series("tbgen", "ours", [(row.material, row.index_size, row.cpu_seconds)
                                        for row in rows if row.cpu_seconds > 0])]  # fmt: skip
    sizes = [Series("tbgen", "ours", [(row.material, row.index_size, row.file_bytes)
                                      for row in rows])]  # fmt: skip
    if peers:
        seconds.append(Series("other generator", "peer", [
            (name, peer.index_size, peer.cpu) for name, peer in peers.items() if peer.cpu
        ]))  # fmt: skip
        sizes.append(Series("other generator", "peer", [
            (name, peer.index_size, peer.file_bytes) for name, peer in peers.items()
        ]))  # fmt: skip
    slots = [x for series in seconds + sizes for _, x, _ in series.points]
    across = Axis.decades("index slots for each side to move", "slots", slots)
    panels = []
    for title, unit, scale, small, listed in (
        ("CPU seconds", "s", 1e9, "ns", seconds),
        ("Bytes on disk", "bytes", 1, "bytes", sizes),
    ):
        up = Axis.decades(title, unit, [y for series in listed for _, _, y in series.points])
        laws = [law for series in listed for law in power_law(series)]
        panels.append(Panel(title, across, up, listed, laws + even_law(listed[0], scale, small)))
    large = Series("tbgen", "ours", [
        (row.material, row.orders, 1e9 * row.cpu_seconds / row.index_size)
        for row in rows if row.index_size >= FITTED_SLOTS
    ])  # fmt: skip
    if large.points:
        title = "Nanoseconds a slot"
        panels.append(Panel(
            title,
            Axis.linear("orders of the table", "orders", [x for _, x, _ in large.points]),
            Axis.linear(title, "ns a slot", [y for _, _, y in large.points]),
            [large],
            slope_law(large),
        ))  # fmt: skip
    return panels


def measure(
    materials: Sequence[Material], workshop: Workshop, path: Path, where: str, repeat: int
) -> None:
    """Add rows for what the file lacks, one after the other."""
    rows = read_growth(path)[1] if path.exists() else []
    present = {(row.material, row.rules) for row in rows}
    for material in materials:
        if (material.name, str(workshop.rules)) in present:
            continue
        measured = workshop.measure(material, repeat)
        with TableFile(workshop.path(material)) as file:
            statistics = file.statistics
        orders = max((each.order for each in statistics.orders), default=0)
        row = row_of(material, workshop.rules, measured, Outcomes.of(statistics), orders)
        print(f"{row.material:10} {row.index_size:12,} {row.cpu_seconds:8.2f} s "
              f"{row.file_bytes:12,} bytes", flush=True)  # fmt: skip
        rows.append(row)
        write_growth(path, where, rows)


def usual(rules: Rules) -> list[Material]:
    """The materials that are measured if none is named."""
    if rules != Rules.WXF:
        return [Material.parse(name) for name in COMPARED.split()]
    six_men = [m for m in materials_of(6) if Layout.of(m).slots <= SIX_MEN_SLOTS]
    seven_men = [
        m for m in materials_of(7) if FITTED_SLOTS <= Layout.of(m).slots <= SEVEN_MEN_SLOTS
    ]
    small = [material for men in (3, 4, 5) for material in materials_of(men)]
    return [*small, *six_men, *seven_men, *map(Material.parse, LARGER.split())]


def chosen(named: Sequence[Material], max_slots: int, rules: Rules) -> list[Material]:
    """The materials to measure, bottom-up: those named, or the usual ones.

    Under `wxf` with what these need, from which the costs of others are guessed.
    """
    asked = list(named)
    if not asked:
        asked = usual(rules)
        if rules == Rules.WXF:
            asked = [needed for material in asked for needed in material.closure()]
    unique = {m.name: m for m in asked}
    small = [m for m in unique.values() if Layout.of(m).slots <= max_slots]
    return sorted(small, key=lambda m: (m.men, Layout.of(m).slots, m.name))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
    parser.add_argument("--max-slots", type=int, default=1 << 62)
    parser.add_argument("--repeat", type=int, default=1, help="The least CPU seconds of N builds.")
    parser.add_argument("--rules", default="wxf", choices=[str(rules) for rules in Rules])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tables", type=Path, help="Default: a temporary folder.")
    parser.add_argument("--machine", default=f"{os.cpu_count()} cores", help="Noted in the CSV.")
    options = parser.parse_args()
    if options.materials and not options.measure:
        parser.error("materials are for --measure")
    if options.measure:
        where = f"{datetime.date.today().isoformat()}, {options.machine}"
        with tempfile.TemporaryDirectory() as folder:
            workshop = Workshop(
                options.tables or Path(folder), Rules(options.rules), options.threads
            )
            materials = chosen(options.materials, options.max_slots, workshop.rules)
            measure(materials, workshop, options.csv, where, options.repeat)
    where, rows = read_growth(options.csv)
    rows = [row for row in rows if row.rules == options.rules]
    peers = read_peer(options.peer) if options.peer else {}
    if options.yardstick:
        scale = yardstick(options.yardstick) / YARDSTICK_SECONDS
        peers = {name: peer.scaled(scale) for name, peer in peers.items()}
    caption = f"{len(rows)} tables, rules {options.rules}, {where}; hover over a point for its name"
    panels = panels_of(rows, peers)
    options.svg.write_text(render(panels, caption))
    print(described(panels))


if __name__ == "__main__":
    main()
