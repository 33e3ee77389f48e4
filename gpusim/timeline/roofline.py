"""Where a timeline stands under the roofline: which roof is above it, and how far away."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpusim.timeline.metrics import achieved_bandwidth, achieved_flop_rate, memory_share
from gpusim.timeline.timeline import Timeline

__all__ = ["BOUND", "FAR", "FP32", "TENSOR_CORES", "Roofline", "roofline"]

BOUND = 0.8
"""Share of a peak from which the peak itself is what holds a kernel back: here under the roof of arithmetic, and in
`gpusim.timeline.bottleneck` for all peaks alike."""

_MEMORY_BOUND = 0.6
"""Share of the peak from which a kernel under the roof of memory is called bound by it."""

FAR = 0.3
"""Below this share of its roof launches, latencies or waits are most of a kernel's time."""


FP32, TENSOR_CORES = "FP32 arithmetic", "tensor cores"
"""What the roof of arithmetic is made of, by the unit that reaches more of its peak (``arithmetic`` of ``meta``)."""


@dataclass(frozen=True, slots=True)
class Roofline:
    """Rates in bytes/s and FLOP/s with their share of the peak; intensities in FLOP per byte of memory traffic.

    ``ridge`` is the intensity at which both roofs meet. The roof above is the peak of which the larger share is
    reached: memory below the ridge and arithmetic above it, but where L2 answers, or more is fetched than wanted.
    """

    bandwidth_bytes_per_s: float
    bandwidth_share: float
    flop_per_s: float
    flop_share: float
    intensity: float
    ridge: float
    arithmetic: str = FP32

    @property
    def roof(self) -> str:
        """The peak that more overlap would meet first: "memory bandwidth", or that of `arithmetic`."""
        return "memory bandwidth" if self._under_memory else self.arithmetic

    @property
    def share(self) -> float:
        """Part of what the roof above allows that is reached."""
        return max(self.bandwidth_share, self.flop_share)

    @property
    def regime(self) -> str:
        """What the thresholds of this module call it, by the roof above; why it is below, the bottleneck says."""
        if self.share >= (_MEMORY_BOUND if self._under_memory else BOUND):
            return "memory-bound" if self._under_memory else "compute-bound"
        return "far from both roofs" if self.share < FAR else "below both roofs"

    @property
    def _under_memory(self) -> bool:
        return self.bandwidth_share > self.flop_share


def roofline(timeline: Timeline) -> Roofline | None:
    """Where ``timeline`` stands; None where ``meta`` does not say its work and the peaks, as for streams and copies."""
    bandwidth, flop = achieved_bandwidth(timeline), achieved_flop_rate(timeline)
    peak_bytes, peak_flop = timeline.meta.get("peak_bytes_per_s"), timeline.meta.get("peak_flop_per_s")
    if not peak_bytes or not peak_flop or not (math.isfinite(bandwidth) and math.isfinite(flop)):
        return None
    return Roofline(
        bandwidth_bytes_per_s=bandwidth,
        bandwidth_share=memory_share(timeline),
        flop_per_s=flop,
        flop_share=flop / peak_flop,
        intensity=flop / bandwidth if bandwidth else math.inf,
        ridge=peak_flop / peak_bytes,
        arithmetic=timeline.meta.get("arithmetic", FP32),
    )
