"""Solved materials by name, each solved once per process, for tests to compare with."""

from __future__ import annotations

from .solver import Solution, forget, parse, solve

__all__ = ["forget", "naive_solution"]


def naive_solution(
    name: str,
    rules: str = "none",
    metric: str = "dtm",
    orders: int | None = None,
    pawn_ranks: int | None = None,
) -> Solution:
    """The solution of a material such as `KRKN`, Red's pieces first (`solver.solve` caches it)."""
    return solve(parse(name), rules=rules, metric=metric, orders=orders, pawn_ranks=pawn_ranks)
