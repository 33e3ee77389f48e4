// The observer: one extra warp of the instrumented build that stamps when each tile has arrived.
#pragma once
#include "mbarrier.cuh"
#include "probe.cuh"

#ifdef PROBE
// Arrives on the barrier once all earlier cp.async of this thread have landed, if it `tells` for others; the barrier's
// count already includes this arrival (noinc). A branch around it would take as long as issuing some more copies.
__device__ __forceinline__ void announce(const Probe& probe, unsigned int barrier, bool tells) {
  asm volatile(
      "{\n\t.reg .pred here;\n\t"
      "setp.ne.u32 here, %1, 0;\n\t"
      "@here cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\n\t}" ::"r"(barrier), "r"((unsigned int)(tells && probe.on))
      : "memory");
}

// Waits for phase after phase of `barrier[stage]` and stamps it. A stage is refilled at the
// earliest one memory latency after its tile was seen here, so the observer cannot be overtaken;
// should that ever fail it gives up after 10^8 cycles instead of hanging the GPU.
__device__ __forceinline__ void observe(Probe& probe, unsigned int barriers, int tiles, int stages) {
  if (!probe.on) return;
  int stage = 0, phase = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const long long patience = probe_clock() + 100000000ll;
    while (!mbarrier_try_wait(barriers + 8 * stage, phase)) {
      if (probe_clock() > patience) {
        probe.dropped += tiles - tile;
        return;
      }
    }
    probe.enter(PROBE_ARRIVED, tile, stage);
    if (++stage == stages) stage = 0, phase ^= 1;
  }
}
#endif
