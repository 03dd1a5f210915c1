"""Pictures of table statistics: histograms of distances, bars of outcomes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from html import escape
from math import log10

from tbgen.board.language.i18n import text
from tbgen.indexing import Position, Side
from tbgen.system.units import percent
from tbgen.tables import Outcome, ProbeResult, TableStatistics

_HEIGHT = 90
"""Height of the diagram above the axis (Red wins) and below it (Black wins), in picture units."""
_STEP = 8
"""Usual width of a bar, which stands for one ply, in picture units."""
_LABEL = 16
"""Least distance between two tick labels, in picture units."""
_WIDEST = 1600
"""Largest width of a histogram's axis in picture units; with many plies, bars are narrower."""


def orders_of(figures: TableStatistics) -> list[int]:
    """Return the orders of the won and lost positions of a table, ascending."""
    return sorted({line.order for line in figures.histogram if line.plies is not None})


def histogram(
    figures: TableStatistics,
    order: int,
    language: str,
    here: tuple[Side, int] | None,
    address: Callable[[Side, int], str],
) -> str:
    """Return the SVG histogram of distances of one order; "" without wins and losses of the order.

    The height of a bar grows with the logarithm of its number of positions. Bars are above the axis
    if Red wins, below it if Black wins.

    here : winner and plies of the bar to mark; None, or a bar that does not exist, for no mark
    address : returns the link of a bar for winner and plies, "" for none
    """
    bars: dict[tuple[Side, int], int] = defaultdict(int)
    for line in figures.histogram:
        if line.plies is not None and line.order == order:
            winner = line.side if line.outcome == Outcome.WIN else line.side.other
            bars[winner, line.plies] += line.positions
    if not bars:
        return ""
    longest, most = max(plies for _, plies in bars), max(bars.values())
    step = min(_STEP, _WIDEST / (longest + 1))
    scale = _HEIGHT / max(1.0, log10(most) + 0.3)
    parts = []
    for (winner, plies), count in sorted(bars.items()):
        height = (log10(count) + 0.3) * scale
        y = -height if winner == Side.RED else 0
        mark = " here" if here == (winner, plies) else ""
        bar = (
            f'<rect class="{winner.name.lower()}{mark}" x="{plies * step:.1f}" y="{y:.1f}" '
            f'width="{max(1, step - 1):.1f}" height="{height:.1f}">'
            f"<title>{plies}: {count:,}</title></rect>"
        )
        href = escape(address(winner, plies))
        parts.append(f'<a href="{href}" aria-label="{plies}: {count:,}">{bar}</a>' if href else bar)
    if here in bars:
        x = (here[1] + 0.5) * step
        y = -_HEIGHT - 4 if here[0] == Side.RED else _HEIGHT + 4
        up = 8 if here[0] == Side.BLACK else -8
        parts.append(f'<path class="pointer" d="M{x:.1f} {y}l-6 {up}h12z"/>')
    width = (longest + 1) * step
    below = _HEIGHT if any(winner == Side.BLACK for winner, _ in bars) else 0
    height = _HEIGHT + below + 34
    label = f"{figures.material}{text(language, 'of_order', n=order)}{text(language, 'colon')}"
    label += text(language, "plies", n=f"0-{longest}")
    return (
        f'<svg class="histogram" viewBox="-42 -{_HEIGHT + 16} {width + 60:.0f} {height}" '
        f'width="{width + 60:.0f}" height="{height}" role="group" '
        f'aria-label="{escape(label)}">'
        f"{_axes(width, longest, step, most, scale, below)}{''.join(parts)}</svg>"
    )


def place_of(position: Position, result: ProbeResult | None) -> tuple[int, Side, int] | None:
    """Return order, winner and plies of a position's bar in its table's histogram.

    None for a draw or an unknown value. The winner's colour is that of the table, in which Red has
    the army that the material names first.
    """
    if result is None or result.outcome == Outcome.DRAW or result.plies is None:
        return None
    winner = position.side if result.outcome == Outcome.WIN else position.side.other
    if position.is_swapped:
        winner = winner.other
    return result.order, winner, result.plies


def share_bar(numbers: Sequence[int]) -> str:
    """Return SVG and percentages of the `numbers` of Red's wins, draws and Black's wins."""
    legal, parts, x = sum(numbers) or 1, [], 0.0
    for name, number in zip(("red", "draw", "black"), numbers, strict=True):
        width = 100 * number / legal
        parts.append(f'<rect class="{name}" x="{x:.2f}" width="{width:.2f}" height="10"/>')
        x += width
    label = escape(" / ".join(percent(number / legal) for number in numbers))
    return (
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(parts)}</svg> <small>{label}</small>'
    )


def _axes(width: float, longest: int, step: float, most: int, scale: float, below: int) -> str:
    """Return the SVG of a histogram's axis, of ticks at plies, and of lines at powers of ten.

    Lengths are in picture units: `width` of the axis, `step` of a bar with its gap, `scale` per
    factor of ten, `below` under the axis (0 without bars there). `longest` and `most` are the
    greatest numbers of plies and of positions of a bar.
    """
    apart = next(
        gap
        for gap in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**6)
        if longest / gap <= 8 and gap * step >= _LABEL
    )
    parts = [f'<path class="axis" d="M0 0H{width:.0f}"/>']
    for plies in range(apart, longest + 1, apart):
        x = (plies + 0.5) * step
        parts.append(
            f'<path class="tick" d="M{x:.1f} -{_HEIGHT}V{below}"/>'
            f'<text x="{x:.1f}" y="{below + 13}">{plies}</text>'
        )
    apart = 1 if most < 10**5 else 3
    for power in range(apart, len(str(most)), apart):
        for sign in (-1, 1) if below else (-1,):
            y = sign * (power + 0.3) * scale
            parts.append(f'<path class="tick" d="M0 {y:.1f}H{width:.0f}"/>')
            if sign < 0:
                name = f"{10 ** (power % 3)}{('', 'k', 'M', 'G', 'T')[power // 3]}"
                parts.append(f'<text class="count" x="-4" y="{y + 4:.1f}">{name}</text>')
    return "".join(parts)
