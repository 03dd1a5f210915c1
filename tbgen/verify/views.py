"""Views: values so coarse that a byte tells those of a side apart; several views tell all of them.

    order          0                    1                              2            draws
    view 1         every distance       direct | win | loss            every ...    one kind
    view 2         win | loss           every distance                 ...          all kinds

A view tells the distances of some orders apart. Of every other order it keeps the *class* only: a
direct win, another win, a loss. It stands for its class by one key, so that what is made of keys
(`ranks`) is made of coarse ones likewise. Each order is told by one view, and the draws, which have
kinds in place of distances, by the last one. Why values that are right in every view are right:
docs/proof.md, "Several views".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tbgen.tables.codes import LimitExceededError
from tbgen.verify.keys import MATE, NEVER, ORDER, orders_of_keys

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class View:
    """Which orders are told: their distances, or of draws (`NEVER`) the kinds."""

    told: frozenset[int] | None = None
    """None for all orders: the view that shows values as they are."""

    def tells(self, orders: Numbers) -> NDArray[np.bool_]:
        """bool, of the same shape: whether orders are told; what is no value goes with draws."""
        if self.told is None:
            return np.ones(orders.shape, np.bool_)
        return np.isin(np.where(orders < 0, NEVER, orders), list(self.told))

    @property
    def tells_kinds(self) -> bool:
        """Whether draws are told apart by kind."""
        return self.told is None or NEVER in self.told

    def coarsen(self, keys: Numbers) -> Numbers:
        """int64, of the same shape: the key that stands for the class of each, or its own."""
        orders = orders_of_keys(keys)
        is_direct = (keys > 0) & (orders > 0) & ((MATE - keys) % ORDER == 0)
        is_own = self.tells(orders) | is_direct | (orders < 0) | (orders == NEVER)
        # The shortest of its class.
        plies = (orders > 0).astype(np.int64) + (keys > 0)
        shortest = np.sign(keys) * (MATE - orders * ORDER - plies)
        return np.where(is_own, keys, shortest)


WHOLE = View()
"""All values as they are."""

Fits = Callable[[View], bool]
"""Whether a byte, or what else there is, tells apart what a view shows."""


def suffice(views: Sequence[View], keys: Sequence[Numbers], fits: Fits) -> bool:
    """Whether views fit, and tell all orders that occur.

    keys : of either side to move, (n,) each
    """
    orders = orders_of_keys(np.concatenate([np.zeros(1, np.int64), *keys]))
    told = np.any([view.tells(orders) for view in views], axis=0)
    return bool(told.all()) and all(map(fits, views))


def choose_views(keys: Sequence[Numbers], fits: Fits) -> list[View]:
    """As few views as are found by filling one after another, the orders of most values first.

    keys : of either side to move, (n,) each; the last view is the one that tells the draws

    Raises `LimitExceededError` where one order alone does not fit.
    """
    everything = np.unique(np.concatenate([np.zeros(1, np.int64), *keys]))
    orders, counts = np.unique(orders_of_keys(everything), return_counts=True)
    views: list[View] = []
    for order in orders[np.argsort(-counts, kind="stable")].tolist():
        if order < 0:
            continue
        for number, view in enumerate(views):
            assert view.told is not None
            wider = View(view.told | {order})
            if fits(wider):
                views[number] = wider
                break
        else:
            views.append(View(frozenset({order})))
            if not fits(views[-1]):
                raise LimitExceededError(f"the values of order {order} do not fit into a view")
    return sorted(views, key=lambda view: view.tells_kinds)
