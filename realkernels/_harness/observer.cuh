// The observer: one extra warp of the instrumented build that stamps when each tile has arrived.
#pragma once
#include "mbarrier.cuh"
#include "probe.cuh"

#ifdef PROBE
// Stamps tile after tile as soon as `there(tile)`, asked of the whole warp, says so. A stage is refilled at the earliest
// one memory latency after its tile was seen here, so the observer cannot be overtaken; should that ever fail it gives
// up after some 50 ms instead of hanging the GPU.
constexpr int PATIENCE = 1 << 20;

template <class There>
__device__ __forceinline__ bool await_tile(Probe& probe, int tile, int stage, There there) {
  for (int asked = 0; !there(); ++asked)
    if (asked == PATIENCE) return false;
  probe.enter(PROBE_ARRIVED, tile, stage);
  return true;
}

// Waits for phase after phase of `barrier[stage]`, which the copy unit completes.
__device__ __forceinline__ void observe(Probe& probe, unsigned int barriers, int tiles, int stages) {
  int stage = 0, phase = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (!await_tile(probe, tile, stage, [&] { return mbarrier_try_wait(barriers + 8 * stage, phase); })) {
      probe.dropped += tiles - tile;
      return;
    }
    if (++stage == stages) stage = 0, phase ^= 1;
  }
}

// A copy by cp.async completes no barrier, and to have it tell one (cp.async.mbarrier.arrive) holds up the warps that
// issue it. So some who copy first write VACANT, which no input is, into the last word of their copy, and the observer looks
// at these words: one that is neither VACANT nor what the tile before had there has been overwritten.
constexpr unsigned int VACANT = 0xffffffffu;   // not a number
constexpr unsigned int NOWHERE = 0xffffffffu;  // no address

__device__ __forceinline__ void vacate(unsigned int word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(word), "r"(VACANT) : "memory");
}

// Before a copy: `word` is the last one that this thread will overwrite, or NOWHERE if another thread tells.
__device__ __forceinline__ void announce(unsigned int word) {
  if (word != NOWHERE) vacate(word);
}

// `word(stage)` is the address at which this lane looks, or NOWHERE. The first part of it stands before the barrier
// behind which copies begin.
template <int SLOTS, class Word>
__device__ __forceinline__ void prepare_words(Word word) {
  for (int s = 0; s < SLOTS; ++s) announce(word(s));
}

template <int SLOTS, class Word>
__device__ __forceinline__ void observe_words(Probe& probe, int tiles, Word word) {
  unsigned int before[SLOTS];
#pragma unroll
  for (int s = 0; s < SLOTS; ++s) before[s] = VACANT;
  for (int first = 0; first < tiles; first += SLOTS) {
#pragma unroll
    for (int s = 0; s < SLOTS; ++s) {
      if (first + s >= tiles) return;
      const unsigned int at = word(s);
      unsigned int now = VACANT;
      const bool seen = await_tile(probe, first + s, s, [&] {
        if (at != NOWHERE) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(now) : "r"(at) : "memory");
        const bool fresh = now != VACANT && now != before[s];
        // Two values in a row may be the same, once in 2^24 words. Where nothing is kept, one that differs will do.
        return probe.kept ? __all_sync(~0u, at == NOWHERE || fresh) : __any_sync(~0u, at != NOWHERE && fresh);
      });
      if (!seen) {
        probe.dropped += tiles - first - s;
        return;
      }
      before[s] = now;
    }
  }
}
#endif
