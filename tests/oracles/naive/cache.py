"""Solved materials by name, solved once per process for equal arguments, until `forget`."""

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
    """Return the solution of a material such as `KRKN`, Red's pieces first; solved on first use.

    The other parameters are those of `solver.solve`.
    """
    return solve(parse(name), rules=rules, metric=metric, orders=orders, pawn_ranks=pawn_ranks)
