"""How costs grow with the index: docs/growth.svg, from tbgen/building/measured.csv.

    python scripts/measure/plot_growth.py [--peer peer_cost.csv] [--yardstick STUDY/bulk2.py]
    python scripts/measure/plot_growth.py --measure [--rules RULES] [--max-slots N] [MATERIAL...]

Two panels, CPU seconds and bytes on disk against index slots, on logarithmic scales, with power
laws through the tables of at least 100 000 slots. `--measure` builds what that file lacks
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
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from bench_goals import YARDSTICK_SECONDS, yardstick
from growth import fit_power, materials_of, read_growth, row_of, write_growth
from measuring import ROOT, Peer, Workshop, parse_material, read_peer

from tbgen.building.features import Outcomes
from tbgen.building.measured import MEASURED, Measured
from tbgen.indexing import Material
from tbgen.indexing.layout import Layout
from tbgen.tables import TableFile
from tbgen.tables.names import Rules

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

SIX_MEN_SLOTS = 12_000_000
"""Materials of six men with fewer take seconds: those with two attackers at most."""

FITTED_SLOTS = 100_000
"""Smaller tables cost what any file and any build costs."""

WIDTH, HEIGHT = 960, 420
PANEL = 380, 290
LEFT, TOP, GAP = 70, 50, 90

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
@media (prefers-color-scheme: dark) { text { fill: #ccc; } }
"""


@dataclass(frozen=True)
class Series:
    """Named points of one generator: (material, slots, cost)."""

    label: str
    mark: str
    """The class of its marks: `ours` (discs) or `peer` (squares)."""
    points: Sequence[tuple[str, int, float]]

    def law(self) -> tuple[float, float] | None:
        """(factor, exponent) through the larger tables, or None for fewer than two sizes."""
        large = [(slots, cost) for _, slots, cost in self.points if slots >= FITTED_SLOTS]
        if len({slots for slots, _ in large}) < 2:
            return None
        return fit_power([slots for slots, _ in large], [cost for _, cost in large])


@dataclass(frozen=True)
class Panel:
    """One diagram: its title, how a cost is written, and the series in it."""

    title: str
    unit: str
    series: Sequence[Series]


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten that enclose all values, at least one decade apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _power(exponent: int) -> str:
    """`10⁻³`."""
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _mark(series: Series, x: float, y: float, label: str) -> str:
    title = f"<title>{escape(label)}</title>"
    if series.mark == "ours":
        return f'<circle class="ours" cx="{x:.1f}" cy="{y:.1f}" r="3">{title}</circle>'
    return (f'<rect class="peer" x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6">'
            f"{title}</rect>")  # fmt: skip


def _render_panel(panel: Panel, left: int, x_decades: tuple[int, int]) -> list[str]:
    """The elements of one diagram, its upper left corner at (left, TOP)."""
    points = [point for series in panel.series for point in series.points]
    x_low, x_high = x_decades
    y_low, y_high = _decades([cost for _, _, cost in points])

    def x_of(slots: float) -> float:
        return left + PANEL[0] * (math.log10(slots) - x_low) / (x_high - x_low)

    def y_of(cost: float) -> float:
        return TOP + PANEL[1] * (y_high - math.log10(cost)) / (y_high - y_low)

    right, bottom = left + PANEL[0], TOP + PANEL[1]
    parts = [
        f'<text class="title" x="{left}" y="{TOP - 14}">{escape(panel.title)}</text>',
        f'<clipPath id="clip{left}"><rect x="{left}" y="{TOP}" width="{PANEL[0]}" '
        f'height="{PANEL[1]}"/></clipPath>',
    ]
    for decade in range(x_low, x_high + 1):
        x = x_of(10.0**decade)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">'
                     f"{_power(decade)}</text>")  # fmt: skip
    for decade in range(y_low, y_high + 1):
        y = y_of(10.0**decade)
        parts.append(f'<path class="grid" d="M{left} {y:.1f}H{right}"/>')
        parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">'
                     f"{_power(decade)}</text>")  # fmt: skip
    parts.append(f'<text x="{left + PANEL[0] / 2}" y="{bottom + 38}" text-anchor="middle">'
                 "index slots for each side to move</text>")  # fmt: skip
    for number, series in enumerate(panel.series):
        for name, slots, cost in series.points:
            label = f"{series.label} {name}: {slots:,} slots, {cost:,.6g} {panel.unit}"
            parts.append(_mark(series, x_of(slots), y_of(cost), label))
        law, legend = series.law(), series.label
        if law is not None:
            factor, exponent = law
            low, high = FITTED_SLOTS, max(slots for _, slots, _ in series.points)
            ends = [(x_of(s), y_of(factor * s**exponent)) for s in (low, high)]
            (x_0, y_0), (x_1, y_1) = ends
            # A law may leave the diagram where its series has cheaper or dearer tables.
            parts.append(f'<path class="law {series.mark}" clip-path="url(#clip{left})" '
                         f'd="M{x_0:.1f} {y_0:.1f}L{x_1:.1f} {y_1:.1f}"/>')  # fmt: skip
            legend += f": slots^{exponent:.2f}"
        y = TOP + 18 + 18 * number
        parts.append(_mark(series, left + 14, y - 4, series.label))
        parts.append(f'<text x="{left + 24}" y="{y}">{escape(legend)}</text>')
    parts.append(f'<rect class="frame" x="{left}" y="{TOP}" width="{PANEL[0]}" '
                 f'height="{PANEL[1]}"/>')  # fmt: skip
    return parts


def render(panels: Sequence[Panel], caption: str) -> str:
    """The SVG document of two panels side by side; the same text for the same input.

    Every panel needs a point, and all slots and costs must be above zero.
    """
    described = "; ".join(
        f"{panel.title}: "
        + ", ".join(
            f"{series.label} {len(series.points)} tables"
            + (f", exponent {law[1]:.2f}" if (law := series.law()) else "")
            for series in panel.series
        )
        for panel in panels
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-labelledby="title desc">',
        '<title id="title">Cost of a table against the size of its index</title>',
        f'<desc id="desc">{escape(described)}</desc>',
        f"<style>{STYLE}</style>",
    ]
    x_decades = _decades(
        [slots for panel in panels for series in panel.series for _, slots, _ in series.points]
    )
    for number, panel in enumerate(panels):
        parts += _render_panel(panel, LEFT + number * (PANEL[0] + GAP), x_decades)
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 14}">{escape(caption)}</text>')
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def panels_of(rows: Sequence[Measured], peers: dict[str, Peer]) -> list[Panel]:
    """The diagrams of seconds and of bytes."""
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
    return [Panel("CPU seconds", "s", seconds), Panel("Bytes on disk", "bytes", sizes)]


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
            outcomes = Outcomes.of(file.statistics)
        row = row_of(material, workshop.rules, measured, outcomes)
        print(f"{row.material:10} {row.index_size:12,} {row.cpu_seconds:8.2f} s "
              f"{row.file_bytes:12,} bytes", flush=True)  # fmt: skip
        rows.append(row)
        write_growth(path, where, rows)


def usual(rules: Rules) -> list[Material]:
    """The materials that are measured if none is named."""
    if rules != Rules.WXF:
        return [Material.parse(name) for name in COMPARED.split()]
    six_men = [
        material
        for material in materials_of(6)
        if sum(sum(army.strength[:4]) for army in material.armies) <= 2
        and Layout.of(material).slots < SIX_MEN_SLOTS
    ]
    small = [material for men in (3, 4, 5) for material in materials_of(men)]
    return small + six_men + [Material.parse(name) for name in LARGER.split()]


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
        help="Default: about 490 tables under wxf, 30 under others.",
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
    options.svg.write_text(render(panels_of(rows, peers), caption))
    print(options.svg)


if __name__ == "__main__":
    main()
