"""Draw docs/architecture.svg: the packages in layers, and their imports, from the code.

    python scripts/docs/architecture.py

A package is drawn one floor above the highest package that it imports; floors are rows of the
drawing, 0 at the bottom. An arrow that follows from others is left out: `cli` imports `board` and
`board` imports `play`, so there is no arrow from `cli` to `play`.
`tests/house/test_architecture.py` compares the file.
"""

from __future__ import annotations

import ast
import textwrap
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
DRAWING = ROOT / "docs" / "architecture.svg"

BOX_SIZE = 208, 74
"""Width and height of a package's box, in units of the SVG."""
GAP, STOREY, MARGIN = 26, 136, 16
LANE_WIDTH = 18
"""Width reserved on a floor for an arrow that passes it, in units of the SVG."""
ARROW_SPACING = 20
"""Distance between the ends of arrows that leave or enter the same box, in units of the SVG."""
MAX_CHARACTERS = 28
"""Largest number of characters in a line of small text in a box."""
STYLE = """
    text { font: 12px system-ui, sans-serif; fill: #1f2328; }
    .name { font: 600 14px ui-monospace, monospace; }
    .room { fill: #f6f8fa; stroke: #57606a; }
    .compiled { fill: #ddf4ff; }
    .arrow { fill: none; stroke: #8c959f; stroke-width: 1.2; }
    .head { fill: #8c959f; }
    @media (prefers-color-scheme: dark) {
        text { fill: #e6edf3; }
        .room { fill: #161b22; stroke: #8b949e; }
        .compiled { fill: #0c2d4a; }
        .arrow { stroke: #6e7681; }
        .head { fill: #6e7681; }
    }
"""

Edges = dict[str, set[str]]
"""For each package or module, the packages or modules that it imports."""


@cache
def sources() -> dict[str, Path]:
    """Map the import name of every module of tbgen to its file."""
    found = {}
    for folder, prefix in (("tbgen", "tbgen"), ("indexing", "tbgen.indexing"),
                           ("tables", "tbgen.tables")):  # fmt: skip
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join((prefix, *parts)).removesuffix(".__init__")] = path
    return found


@cache
def nodes(module: str) -> list[ast.AST]:
    """List the nodes of a module's syntax tree."""
    return [*ast.walk(ast.parse(sources()[module].read_text(encoding="utf-8")))]


def imported(module: str) -> Iterator[str]:
    """Yield the modules that a module imports; local imports and imports for types count, too.

    Raises `ValueError` for a relative import.
    """
    source = sources()[module]
    for node in nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                raise ValueError(f"{source}: relative import")
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in sources() else node.module


def package_of(module: str) -> str:
    """Return the package of a module: `rows` for `tbgen.rows.frame`.

    Packages of the board have two names, such as `board.web`. Empty for `tbgen`, `tbgen.__main__`
    and `tbgen.board`, whose subpackages are drawn separately.
    """
    parts = module.split(".")[1:]
    if parts[:1] == ["board"]:
        return ".".join(parts[:2]) if len(parts) > 1 else ""
    return parts[0] if parts and parts[0] != "__main__" else ""


@cache
def package_imports() -> Edges:
    """Return for each package the other packages of tbgen that its modules import."""
    found: Edges = {}
    for module in sources():
        if package := package_of(module):
            needed = found.setdefault(package, set())
            for other in imported(module):
                if other.split(".")[0] == "tbgen" and package_of(other) not in ("", package):
                    needed.add(package_of(other))
    return found


def floors(edges: Edges) -> dict[str, int]:
    """Return the floor of each package: one above the highest package that it imports, or 0."""
    found: dict[str, int] = {}

    def floor(package: str) -> int:
        if package not in found:
            found[package] = 1 + max(map(floor, edges[package]), default=-1)
        return found[package]

    for package in sorted(edges):
        floor(package)
    return found


def without_detours(edges: Edges) -> Edges:
    """Return the imports without those that follow from others (transitive reduction)."""

    @cache
    def reached(package: str) -> frozenset[str]:
        return frozenset(edges[package]).union(*map(reached, edges[package]))

    return {
        package: {p for p in needed if not any(p in reached(other) for other in needed - {p})}
        for package, needed in edges.items()
    }


class Place(NamedTuple):
    """Something that has a place on a floor: a package's box, or a point that an arrow passes."""

    floor: int
    name: str
    """Package of the box; for a passing point, the package where the arrow ends."""
    above: str = ""
    """For a passing point, the package where the arrow starts; empty for a box."""

    @property
    def width(self) -> int:
        """Width that the place needs on its floor, in units of the SVG."""
        return LANE_WIDTH if self.above else BOX_SIZE[0]


Arrow = list[Place]
"""Path of an arrow from a box down to another: one place on every floor, from top to bottom."""


def arrows_of(edges: Edges, on: dict[str, int]) -> list[Arrow]:
    """List an arrow for each import, sorted by the two packages; `on` has the packages' floors."""
    found = []
    for package in sorted(edges):
        for other in sorted(edges[package]):
            between = range(on[package] - 1, on[other], -1)
            way = [Place(floor, other, package) for floor in between]
            found.append([Place(on[package], package), *way, Place(on[other], other)])
    return found


def neighbours(arrows: Sequence[Arrow]) -> dict[Place, list[tuple[Place, bool]]]:
    """Map each place to pairs (place at the other end of an arrow segment, True if it is below)."""
    found: dict[Place, list[tuple[Place, bool]]] = {}
    for arrow in arrows:
        for upper, lower in pairwise(arrow):
            found.setdefault(upper, []).append((lower, True))
            found.setdefault(lower, []).append((upper, False))
    return found


def crossings(rows: Sequence[Sequence[Place]], arrows: Sequence[Arrow]) -> int:
    """Count the pairs of arrow segments that cross between two floors.

    rows : places of each floor from left to right
    """
    index = {place: number for row in rows for number, place in enumerate(row)}
    count = 0
    steps = [(a.floor, index[a], index[b]) for arrow in arrows for a, b in pairwise(arrow)]
    for number, (floor, top, bottom) in enumerate(steps):
        for other, other_top, other_bottom in steps[:number]:
            count += floor == other and (top - other_top) * (bottom - other_bottom) < 0
    return count


def arranged(arrows: Sequence[Arrow]) -> list[list[Place]]:
    """Return the places of each floor, bottom first, from left to right so that few arrows cross.

    Barycentre method: sorts each floor in turn by the mean index of each place's neighbours, on the
    floor above in downward sweeps and on the floor below in upward sweeps.
    """
    joined = neighbours(arrows)
    rows: list[list[Place]] = [[] for _ in range(1 + max(place.floor for place in joined))]
    for place in sorted(joined):
        rows[place.floor].append(place)
    best = [list(row) for row in rows]
    for turn in range(40):
        downwards = turn % 2 == 0
        for row in rows[::-1] if downwards else rows:
            index = {place: number for r in rows for number, place in enumerate(r)}

            def mean(
                place: Place, index: dict[Place, int] = index, down: bool = downwards
            ) -> float:
                seen = [index[other] for other, below in joined[place] if below != down]
                return sum(seen) / len(seen) if seen else index[place]

            row.sort(key=mean)
        if crossings(rows, arrows) < crossings(best, arrows):
            best = [list(row) for row in rows]
    return best


def spread(row: Sequence[Place], wanted: Sequence[float]) -> list[float]:
    """Return the x coordinates of the centres of a floor's places, so that none overlap.

    The coordinates are as near as possible to `wanted`, the preferred ones of the places of `row`
    (isotonic least squares).
    """
    offsets, at = [], 0.0
    for place in row:
        offsets.append(at + place.width / 2)
        at += place.width + GAP
    pools: list[list[float]] = []
    for x, offset in zip(wanted, offsets, strict=True):
        pools.append([x - offset, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [[(a * n + b * m) / (n + m), n + m]]
    shifts = [shift for shift, count in pools for _ in range(int(count))]
    return [shift + offset for shift, offset in zip(shifts, offsets, strict=True)]


def middles(rows: Sequence[Sequence[Place]], arrows: Sequence[Arrow]) -> dict[Place, float]:
    """Return the x coordinate of each place's centre, near those of the places joined to it.

    rows : places of each floor from left to right
    """
    joined = neighbours(arrows)
    x = {}
    for row in rows:
        for place, middle in zip(row, spread(row, [0.0] * len(row)), strict=True):
            x[place] = middle
    for _ in range(60):
        for row in rows:
            wanted = [sum(x[o] for o, _ in joined[p]) / len(joined[p]) for p in row]
            x.update(zip(row, spread(row, wanted), strict=True))
    left = min(middle - place.width / 2 for place, middle in x.items())
    return {place: round(middle - left + MARGIN, 1) for place, middle in x.items()}


def ports(arrows: Sequence[Arrow], x: dict[Place, float]) -> dict[tuple[Place, Place], float]:
    """Return the x coordinate of each end of an arrow segment; ends at a box are side by side.

    A key is the place at this end, then the place at the other end. `x` has the places' centres.
    """
    found = {}
    for place, ends in neighbours(arrows).items():
        for side in (True, False):
            there = sorted((other for other, below in ends if below == side), key=x.__getitem__)
            for number, other in enumerate(there):
                shift = 0.0 if place.above else ARROW_SPACING * (number - (len(there) - 1) / 2)
                found[place, other] = round(x[place] + shift, 1)
    return found


def words(package: str) -> list[str]:
    """Split the first line of a package's docstring into at most three lines that fit its box."""
    tree = ast.parse(sources()[f"tbgen.{package}"].read_text(encoding="utf-8"))
    first = (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")
    return textwrap.wrap(first, MAX_CHARACTERS, max_lines=3, placeholder=" ...")


def render(edges: Edges, compiled: set[str]) -> str:
    """Draw the packages and their imports; return the SVG document.

    edges : imports of each package; the boxes also have text from the packages' docstrings
    compiled : packages with kernels, drawn in another colour
    """
    on = floors(edges)
    arrows = arrows_of(without_detours(edges), on)
    rows = arranged(arrows)
    x = middles(rows, arrows)
    width = round(max(middle + place.width / 2 for place, middle in x.items()) + MARGIN)
    height = STOREY * len(rows) - (STOREY - BOX_SIZE[1]) + 2 * MARGIN
    top = {floor: MARGIN + STOREY * (len(rows) - 1 - floor) for floor in range(len(rows))}
    described = "; ".join(
        f"{p} imports {', '.join(sorted(edges[p])) or 'none'}" for p in sorted(on)
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-labelledby="title desc">',
        '<title id="title">The packages of tbgen, and what they import</title>',
        f'<desc id="desc">{escape(described)}</desc>',
        f"<style>{STYLE}</style>",
        '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>',
    ]
    at = ports(arrows, x)
    for arrow in arrows:
        path = ""
        for upper, lower in pairwise(arrow):
            start, end = at[upper, lower], at[lower, upper]
            above, below = top[upper.floor] + BOX_SIZE[1], top[lower.floor]
            middle = (above + below) / 2
            path += f"{'L' if path else 'M'}{start} {above}"
            path += f"C{start} {middle} {end} {middle} {end} {below}"
        parts.append(f'<path class="arrow" marker-end="url(#head)" d="{path}"/>')
    for place in (place for row in rows for place in row if not place.above):
        left, y = x[place] - BOX_SIZE[0] / 2, top[place.floor]
        colour = "room compiled" if place.name in compiled else "room"
        parts.append(f'<rect class="{colour}" x="{left:.1f}" y="{y}" width="{BOX_SIZE[0]}" '
                     f'height="{BOX_SIZE[1]}" rx="6"/>')  # fmt: skip
        parts.append(f'<text class="name" x="{left + 10:.1f}" y="{y + 19}">{place.name}</text>')
        for number, line in enumerate(words(place.name)):
            parts.append(f'<text x="{left + 10:.1f}" y="{y + 36 + 15 * number}">'
                         f"{escape(line)}</text>")  # fmt: skip
    return "\n".join([*parts, "</svg>"]) + "\n"


def has_kernels(module: str) -> bool:
    """Return whether a module has functions decorated as kernels or as parts of kernels."""
    functions = [node for node in nodes(module) if isinstance(node, ast.FunctionDef)]
    used = {ast.unparse(mark) for function in functions for mark in function.decorator_list}
    return bool(used & {"kernel", "borrowing_kernel", "part", "recursive_part"})


def drawing() -> str:
    """Return the SVG document of the current code."""
    return render(package_imports(), {package_of(m) for m in sources() if has_kernels(m)})


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    DRAWING.write_text(drawing(), encoding="utf-8")
