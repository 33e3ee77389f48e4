"""What stands in a spelled-out kernel and has no effect: possible, and nearly always a slip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpusim.hardware.memory.access import LINE_BYTES
from gpusim.program import WARP_SIZE
from gpusim.program.access_ops import GPC_SMS
from gpusim.program.sass import LEFT_TO_WRITE, LOADS
from gpusim.scenario.kernel.access_schema import BulkFetch, GlobalStore
from gpusim.scenario.kernel.compute_schema import ComputeMix
from gpusim.scenario.kernel.draft_questions import lines_are, open_questions
from gpusim.scenario.kernel.op_lists import as_written
from gpusim.scenario.kernel.schema import PARTS, SpelledKernel
from gpusim.scenario.yaml_source import Source
from gpusim.units import format_quantity

__all__ = ["draft_remarks", "kernel_remarks"]

_WAITS_FOR = {
    "wait_loads": LOADS, "wait_group": ("cp_async",), "bulk_wait": ("tma_store",),
    "wgmma_wait": ("wgmma",),
}  # fmt: skip
"""What a role must do for such a wait to be of any use: a warp waits for loads, copies and products of its own."""
_LANES = ("tma", "lsu", "dsmem", "loads")
"""Lanes of a CTA beside those of its roles and rings: what its units do."""
MOSTLY = 0.5
"""Part of what is read that others must have asked for, so that how many do so at a time is worth saying."""


def draft_remarks(source: Source) -> Iterator[str]:
    """What a draft in the file leaves to write, and is not written yet, or cannot say, in a sentence each."""
    comments = [line for line, told in source.left_out.items() if told.partition("  #")[0] in LEFT_TO_WRITE]
    if comments:
        yield f"{lines_are(comments)} still the comment of a draft: write the op that belongs there, or delete the line"
    for line, told in source.unmodelled.items():
        yield (
            f"line {line} counts {told}, for which there is no model: the prediction is without them; put ops that "
            "take as long in their place, or delete the comment"
        )
    if source.unanswered:
        asked = lines_are(source.unanswered)
        yield f"{asked} unchanged from the draft: say how many, or how often that loop runs, or delete the question"
    yield from open_questions(source)


def kernel_remarks(kernel: SpelledKernel) -> Iterator[str]:
    """Rings and barriers that no op names, ops that run for no tile, and what decides and is not said, in sentences."""
    ops = [
        (f"{role}.{'.'.join(map(str, (part, *path)))}", spec)
        for role, each in kernel.roles.items()
        for part in PARTS
        for path, _, spec in as_written(getattr(each, part))
    ]
    named = {getattr(spec, field, None) for _, spec in ops for field in ("ring", "reads", "barrier")}
    # Where there is one ring, an op that says no bytes has those of its stage.
    meant = len(kernel.rings) == 1 and any(_leaves_ring_out(spec) for _, spec in ops)
    for name, ring in kernel.rings.items():
        if name not in named and not meant:
            size = format_quantity(ring.stages * ring.bytes, "bytes")
            yield f"ring {name!r} takes {size} of shared memory and no op names it"
    for name in kernel.barriers:
        if name not in named:
            yield f"barrier {name!r} is declared and no op names it"
    for name in kernel.roles:
        if name in _LANES:
            yield f"role {name!r} has the name of a lane of each CTA, so that both are drawn as one; call it otherwise"
    most = kernel.most_tiles
    for place, spec in ops:
        tile = getattr(spec, "tile", None)
        if tile is not None and not -most <= tile < most:
            yield f"{place} is for tile {tile} and never runs: no CTA has more than {most} tiles"
        elif getattr(spec, "offset", 0) >= most:
            yield f"{place} never runs: its first tile is {spec.offset}, and no CTA has more than {most}"

    yield from _idle_waits(kernel)
    yield from _left_open(kernel, ops)


def _idle_waits(kernel: SpelledKernel) -> Iterator[str]:
    """Waits in a role that has nothing of the kind to wait for: those of another role are no concern of its warps."""
    for name, role in kernel.roles.items():
        steps = [step for part in PARTS for step in as_written(getattr(role, part))]
        words = {word for _, word, _ in steps}
        for word, meant in _WAITS_FOR.items():
            if word in words and not words & set(meant):
                yield f"{word} of role {name!r} waits for nothing: it has no {' or '.join(meant)} of its own"


def _left_open(kernel: SpelledKernel, ops: Sequence[tuple[str, Any]]) -> Iterator[str]:
    """Fields on which the time depends by a third and more, and which nobody has set."""
    for place, spec in ops:
        said = spec.model_fields_set
        if isinstance(spec, GlobalStore) and 0 < spec.scatter < LINE_BYTES and "completed" not in said:
            yield (
                f"{place} writes {spec.scatter} bytes of lines of {LINE_BYTES}: say completed: 1 if stores of the same "
                "warps right behind it write the rest, as of a tile of accumulators, or completed: 0 if nobody does"
            )
        elif (
            isinstance(spec, BulkFetch) and spec.l2_hit >= MOSTLY and kernel.grid >= GPC_SMS and "shared_by" not in said
        ):
            yield (
                f"{place} finds {spec.l2_hit:.0%} in L2 because others ask for it: say shared_by, how many SMs of a "
                f"GPC do (n, at most {GPC_SMS}, where n CTAs in a row share it), or shared_by: 1 if none does at that "
                "time"
            )
        elif isinstance(spec, ComputeMix) and spec.atoms and "atoms_wavefronts" not in said:
            yield (
                f"{place} updates shared memory: say atoms_wavefronts, how many lanes of a warp want words of the "
                f"fullest bank: 1 if each has a bank of its own, {WARP_SIZE} if all want one word, 3.6 at random"
            )


def _leaves_ring_out(spec: Any) -> bool:
    fields = type(spec).model_fields
    return ("bytes" in fields and spec.bytes is None) or getattr(spec, "ahead", 0) == "full"
