"""Bytes, seconds and numbers of things as text, in the unit that suits the amount."""

from __future__ import annotations

import pytest

from tbgen.system.units import counted, format_bytes, format_duration, percent


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (1000, "1000 B"), (1024, "1 KiB"), (1_048_575, "1 MiB"), (3 << 20, "3 MiB"),
        ((1 << 30) - 1, "1.0 GiB"), (1.44 * (1 << 30), "1.4 GiB"), (1 << 40, "1,024.0 GiB"),
    ],
)  # fmt: skip
def test_bytes(count: float, text: str) -> None:
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.25, "0.2 s"),
        (12, "12 s"),
        (119, "119 s"),
        (240, "4 min"),
        (5400, "90 min"),
        (7200, "2.0 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


def test_counts() -> None:
    assert (counted(1, "table"), counted(2000, "table")) == ("1 table", "2,000 tables")
    assert (counted(1, "ply", "plies"), counted(0, "ply", "plies")) == ("1 ply", "0 plies")


@pytest.mark.parametrize(
    ("share", "said"),
    [(0, "0.0%"), (1e-6, "< 0.1%"), (0.0005, "0.1%"), (0.5, "50.0%"), (1 - 1e-6, "> 99.9%"),
     (1, "100.0%")],
)  # fmt: skip
def test_a_percentage_is_0_or_100_only_if_exact(share: float, said: str) -> None:
    assert percent(share) == said
