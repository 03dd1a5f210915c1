# mypy: allow-untyped-defs, allow-untyped-calls
"""Phase 4b: direct wins by perpetual chase: the pattern of docs/values.md, "Patterns, exactly".

The *offender* can only chase one piece for ever, and so loses to the *winner* (`candidates.py`).

initialise   win candidates: the winner is to move and not in check, and one of the winner's pieces
             is under attack (`sieve.py`)
prune        prune by sweeps to the greatest fixpoint, keep only loss candidates in which every move
             that does not lose chases one and the same piece (`victims.py`), and prune again
declare      make the remaining candidates a graph with exact attacks and the victim in each node
             (`graph.py`), and solve it with the winner's conditions (`game.py`)

Parameters of kernels: `tbgen.rows`; of chases: `tbgen.retrograde.chase`.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tbgen.compiling.jit import borrowing_kernel
from tbgen.indexing.layout import Layout
from tbgen.indexing.material import Material
from tbgen.indexing.rulesets import Rules
from tbgen.indexing.squares import Side
from tbgen.retrograde.candidates import SearchState
from tbgen.retrograde.chase.graph import find_chase_wins
from tbgen.retrograde.chase.sieve import attacked_row
from tbgen.retrograde.chase.victims import ChaseSetting, keep_with_victim
from tbgen.retrograde.legality import legal_row
from tbgen.rows.bitsets import EMPTY, ONE, WORD_SQUARES, has, lowest_bit
from tbgen.rows.boards import SlotConverter, make_converter
from tbgen.rows.frame import canonical, make_frame
from tbgen.rows.records import Records
from tbgen.rows.sets import Frontier, Sets, clear_lead, put_row
from tbgen.rows.workers import Workers

_FEW_CANDIDATES = 1 << 13
"""Bytes of a set of positions (`Rows`) for each loss candidate, below which the memory of the idle
frontiers is released before the graph is built. With fewer candidates, allocating that memory again
would take longer than the search.
"""


@borrowing_kernel
def k_mark_attacked(chase_rules, lead_0, lead_1, side, within, found, frame):
    """Set `found` to the positions of `within` with an attack on a piece of `side`, but no check.

    `side` is to move. `attacked_row` defines the attacks that count.
    """
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        clear_lead(lead, found, mids)
        for mid in range(mids):
            row = lead * mids + mid
            lo, hi = within[row, 0], within[row, 1]
            if not (lo | hi):
                continue
            calm_lo, calm_hi = legal_row(lead, mid, 1 - side, frame)
            lo &= calm_lo
            hi &= calm_hi
            if lo | hi:
                x, y = attacked_row(lead, mid, 1 - side, chase_rules, frame)
                lo &= x
                hi &= y
                if lo | hi:
                    put_row(lead, mid, lo, hi, found, mids)


@borrowing_kernel
def _k_keep_images(lead_0, lead_1, marked, wins, frame):
    """Remove from `wins` all slots of the positions that are not in `marked`.

    marked : Rows, in; canonical slots only
    wins : Rows, inout; contains each of its positions at all slots
    """
    mids = frame.mids
    for lead in range(lead_0, lead_1):
        for mid in range(mids):
            row = lead * mids + mid
            for word in range(2):
                bits, kept = wins[row, word], EMPTY
                while bits:
                    bit = lowest_bit(bits)
                    bits &= bits - ONE
                    slot_mid, square = canonical(lead, mid, bit + WORD_SQUARES * word, frame)
                    slot = lead * mids + slot_mid
                    if has(marked[slot, 0], marked[slot, 1], square):
                        kept |= ONE << np.uint64(bit)
                wins[row, word] = kept


def declare_perpetual_chases(
    state: SearchState,
    order: int,
    lost: Records | None,
    converter: SlotConverter,
    *,
    chase_rules: int,
) -> int:
    """Find the winner's direct wins by chases at one order, and seed the propagation with them.

    state : the winner's searches for chases; its `mark` is `k_mark_attacked` with `chase_rules`
    lost : positions that the offender loses by perpetual check at this order; they are left out
    converter : between slots of the table and boards
    chase_rules : bits of the rule set (`tbgen.indexing.rulesets`)

    Returns the number of direct wins found, each position counted once.
    """
    with state.search(order) as search:
        # `unwon` lacks direct wins by check, and positions that a capture wins: both count as won.
        setting = ChaseSetting(int(search.winner), chase_rules, search.unwon, converter)
        losses, workers = search.loss_candidates, search.sets.workers
        loss_filter = partial(keep_with_victim, capacity=0, setting=setting, workers=workers)
        if not search.initialise(lost, loss_filter, captures_wait=False):
            return 0
        search.prune()
        if not losses.rows.any():
            return 0
        search.rule_out(loss_filter)
        search.prune()
        left = int(np.bitwise_count(losses.rows).sum())
        if not left:
            return 0
        marked = search.escapes  # not used any more: nothing is left to prune
        search.sets.clear_rows(marked)
        if left > losses.rows.nbytes // _FEW_CANDIDATES:
            search.discard_idle()
        find_chase_wins(losses, setting, marked, workers)
        search.sets.run_kernel(_k_keep_images, marked, search.win_candidates.rows)
        search.declare(search.win_candidates)
        return search.sets.count(search.win_candidates.rows)


def compile_sieve() -> None:
    """Compile the kernels of this file, which work on rows."""
    front, converter, _ = _empty_search()
    chase_rules, frame = Rules.WXF.chase_rules(), converter.frame
    k_mark_attacked(chase_rules, 0, 0, int(Side.RED), front.rows, front, frame)
    _k_keep_images(0, 0, front.rows, front.rows, frame)


def compile_graph() -> None:
    """Compile the kernels of `victims`, `graph` and `game`."""
    front, converter, workers = _empty_search()
    setting = ChaseSetting(int(Side.RED), Rules.WXF.chase_rules(), front.rows, converter)
    find_chase_wins(front, setting, front.rows, workers)


def _empty_search() -> tuple[Frontier, SlotConverter, Workers]:
    """Return an empty frontier, and a converter and workers, to compile kernels."""
    layout, workers = Layout.of(Material.parse("KRKN")), Workers(1)
    sets = Sets(make_frame(layout), workers)
    return sets.empty_frontier(), make_converter(layout, sets.frame), workers
