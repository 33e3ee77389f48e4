"""What a lane can be doing, and why it can be waiting: the words that every timeline is made of.

Recordings store the place of a word in `KINDS` and `REASONS`, not the word. So both only ever grow at their end:
one that was moved or taken out would change what the recordings there are say.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["KINDS", "KIND_MEANING", "REASONS", "REASON_MEANING", "Kind", "Reason"]

Kind = Literal[
    "compute", "load", "store", "issue", "copy", "transfer", "wait", "barrier", "launch",
    "kernel", "alloc", "host", "idle", "product",
]  # fmt: skip
"""What a lane does during an interval."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds, in the order of the numbers that stand for them."""

KIND_MEANING: dict[Kind, str] = {
    "compute": "arithmetic on the tile",
    "load": "plain loads through registers",
    "store": "writing results; of a copy unit: it works on a store",
    "issue": "issuing asynchronous copies",
    "copy": "a stage is being filled: issue to arrival",
    "transfer": "a copy unit works on a load or a copy",
    "wait": "waiting for another lane, for the reason that is given",
    "barrier": "inside a barrier",
    "launch": "launching a kernel",
    "kernel": "a kernel runs",
    "alloc": "allocating or freeing memory",
    "host": "host code",
    "idle": "nothing to do",
    "product": "the tensor cores work on a group of products",
}
"""Each kind in a few words. A ``copy`` is on the lane of the buffer it fills, a ``transfer`` on that of the unit."""

Reason = Literal[
    "", "stage_full", "stage_empty", "copy_in_flight", "issue_slot", "tensor_core_busy",
    "barrier", "cta_slot", "stream_order", "event", "copy_engine_busy", "host_sync", "launch",
    "memory_pool", "store_drain", "grid_dependency",
]  # fmt: skip
"""Why a lane waits; "" for what is no wait, and for a wait of which it is not known.

``issue_slot`` is reserved: no model and no recording gives it yet. ``tensor_core_busy`` is told of in deadlocks alone.
"""

REASONS: tuple[Reason, ...] = get_args(Reason)
"""All reasons, in the order of the numbers that stand for them."""

REASON_MEANING: dict[Reason, str] = {
    "": "waiting, and nothing says for what",
    "stage_full": "the producer finds every stage of the ring occupied",
    "stage_empty": "the consumer finds no stage filled: the copies are too slow",
    "copy_in_flight": "a warp, or the host, waits for a copy or load of its own",
    "issue_slot": "a warp could go on, but its scheduler issues from another one",
    "tensor_core_busy": "a warp waits for a tensor core that works on something else",
    "barrier": "a warp waits at a barrier for the others",
    "cta_slot": "a kernel, or a copy done by SMs, waits until an SM has room for its CTAs",
    "stream_order": "work waits for what is ahead of it in its stream or in its queue of the device",
    "event": "work waits for an event of another stream, or for a node of its graph",
    "copy_engine_busy": "a copy waits for its copy engine, which serves another one",
    "host_sync": "a thread of the host waits for the device",
    "launch": "a warp has not begun, or a call of the host waits for room in its stream or for another thread's call",
    "memory_pool": "a thread of the host waits for a slot: a free buffer of a pool, or an entry of a queue",
    "store_drain": "a warp waits until its stores have left",
    "grid_dependency": "a warp of a kernel that began early waits for the end of the kernel ahead",
}
"""Each reason as a sentence."""
