"""A model cut over several GPUs: each computes its part of a micro-batch and passes its tensor to the next.

An event says that the tensor is ready, and the next GPU waits for the one behind the copy; meanwhile the one before
computes the next micro-batch. How many tensors fit on each GPU (``slots``) decides whether a copy can go on while the
tensor before it is still being used. What an event takes from one GPU to the next is added to every micro-batch that
waits for it, and hides as long as each GPU has something else to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gpusim.scenario.technique import Kind, Lever, Technique, param


@dataclass(frozen=True)
class Params:
    """One configuration; ``model.py`` turns it into runtime calls."""

    gpus: int = param(2, "GPUs in a row, each with one part of the model", ge=2, le=8)
    microbatches: int = param(16, "that pass through all of them", ge=1, le=256)
    bytes: int = param(16 << 20, "of a tensor that goes from one GPU to the next", ge=4096, le=1 << 30, unit="bytes")
    kernel_s: float = param(200e-6, "of a part's kernel, which fills its GPU", ge=0.0, le=1.0, unit="s")
    imbalance: float = param(0.0, "how much longer the last part takes, as a share of the others", ge=-0.9, le=4.0)
    slots: int = param(2, "tensors that each GPU has room for", Kind.BUFFERS, ge=1, le=16, lever=Lever("slots"))
    way: str = param(
        "push", "a copy is asked for by the GPU that has the tensor, or that gets it", choices=("push", "pull"),
        lever=Lever("who asks for copies"),
    )  # fmt: skip
    copy_stream: str = param(
        "own", "copies have a stream of their own, or are in the stream of the kernels", choices=("own", "compute"),
        lever=Lever("stream of copies"),
    )  # fmt: skip
    hand_over: str = param(
        "events", "the next GPU waits for an event, or the host for each step", choices=("events", "host"),
        lever=Lever("hand-over"),
    )  # fmt: skip


TECHNIQUE = Technique(
    name="multi_gpu_pipeline",
    title="Parts of a model on several GPUs",
    params=Params,
    model="realkernels.multi_gpu_pipeline.model:build",
    launcher="realkernels.multi_gpu_pipeline.launch:build",
    folder=Path(__file__).parent,
    summary="Copies between GPUs hide behind the next micro-batch if there is room for two tensors.",
)
