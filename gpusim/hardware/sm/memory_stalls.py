"""What holds up warps that compute besides those who share their scheduler: stores, loads and copies of the same SM.

Models: batches of loads from shared memory that wait behind stores, accesses that wait behind loads which find no room
  in L1, and fragments behind other CTAs' copies; each lowers the rate at which the warps get on.
Source: see `gpusim.hardware.memory.store_queue`, `outstanding` and `load_store`.
"""

from __future__ import annotations

from collections.abc import Collection

from gpusim.engine import Flow
from gpusim.hardware.memory.load_store import LoadStoreQueue

__all__ = ["keep_behind_copies", "stop_accesses", "wait_behind_accesses"]


def keep_behind_copies(flows: Collection[Flow], queue: LoadStoreQueue) -> None:
    """Lower the rates of warps whose fragments stand behind copies of other CTAs in ``queue``."""
    for flow in flows:
        if flow.tag is not None and flow.tag.cost.fragments:
            flow.rate *= queue.products_rate(flow.tag.age)


def wait_behind_accesses(flows: Collection[Flow], stores_s: float, loads_s: float) -> None:
    """Lower the rates: each batch of shared loads waits behind stores, each access behind loads that find no room."""
    for flow in flows:
        if stores_s and (batches := flow.tag.cost.batches):
            flow.rate = flow.amount / (flow.amount / flow.rate + batches * stores_s)
        if loads_s and (accesses := flow.tag.cost.accesses):
            flow.rate = flow.amount / (flow.amount / flow.rate + accesses * loads_s)


def stop_accesses(flows: Collection[Flow], stopped_s: float) -> None:
    """Lower the rates of warps that access shared memory where nobody gets to it for ``stopped_s``.

    On average half of what they do between two accesses is left, and while one waits the others issue that.
    """
    for flow in flows:
        if flow.rate and (accesses := flow.tag.cost.accesses):
            between_s = flow.amount / (flow.rate * accesses)
            flow.rate *= min(0.5 * between_s / stopped_s, 1.0)
