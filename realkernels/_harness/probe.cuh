// Time stamps from inside a kernel; compiled to nothing without -DPROBE.
//
// A warp says what it does *from now on*; the next stamp ends that. A lane is therefore tiled
// without gaps by one stamp per step:
//
//   __global__ void kernel(const float* in, float* out PROBE_PARAMETER) {
//     PROBE_DECLARE(lane_of_the_recording);     // -1: this warp records nothing
//     PROBE_ENTER(PROBE_COMPUTE, tile, stage);
//     ...
//     PROBE_LEAVE();                             // ends the last step, before the warp exits
//   }
//
// All 32 lanes of a warp pass each stamp together; code that one lane runs alone says
// PROBE_SOLO() first.
//
// Lane 0 writes 16 bytes per stamp into its own stretch of global memory: clock64, and event,
// stage and tile packed. Stamps beyond the capacity are counted, not written. Each warp also
// stores two pairs (globaltimer, clock64), at its first and last stamp, by which the clocks
// of different SMs are laid on one axis; reading globaltimer at every stamp would cost more
// than the steps it is meant to time.
//
// probe.py reads these structures; sizes and codes are repeated there and compared in a test.
#pragma once

enum ProbeEvent : int {
  PROBE_END = 0,           // the lane does nothing any more
  PROBE_SETUP = 1,         // before the first tile
  PROBE_WAIT_STAGE = 2,    // consumer: no filled stage yet
  PROBE_WAIT_FREE = 3,     // producer: no free stage yet
  PROBE_WAIT_COPY = 4,     // a warp waits for its own asynchronous copies
  PROBE_ISSUE = 5,         // issuing the copy of a tile
  PROBE_LOAD = 6,          // copying a tile through registers
  PROBE_COMPUTE = 7,
  PROBE_BARRIER = 8,       // __syncthreads
  PROBE_ARRIVED = 9,       // observer: the tile lies in its stage
};

#ifdef PROBE

constexpr int PROBE_LANES_PER_CTA = 4;

struct ProbeStamp {
  long long clock;
  unsigned int what;       // event << 16 | stage
  int tile;
};

struct ProbeLane {         // 48 bytes
  unsigned long long first_ns, last_ns;
  long long first_clock, last_clock;
  unsigned int count, dropped;
  unsigned int sm, used;
};

__device__ __forceinline__ unsigned long long probe_globaltimer() {
  unsigned long long ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

__device__ __forceinline__ long long probe_clock() {
  long long clock;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(clock)::"memory");
  return clock;
}

struct Probe {
  ProbeLane* lane = nullptr;
  ProbeStamp* next = nullptr;
  ProbeStamp* end = nullptr;
  unsigned int dropped = 0;
  bool together = true;      // whether the whole warp passes each stamp, or one lane alone

  __device__ __forceinline__ Probe(ProbeLane* lanes, ProbeStamp* stamps, int capacity, int index) {
    if (index < 0 || threadIdx.x % 32 != 0) return;
    const long long at = (long long)blockIdx.x * PROBE_LANES_PER_CTA + index;
    lane = lanes + at;
    next = stamps + at * capacity;
    end = next + capacity;
    unsigned int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    lane->sm = sm;
    lane->used = 1;
    lane->first_ns = probe_globaltimer();
    lane->first_clock = probe_clock();
  }

  // The warp is brought together again, or what follows would be issued twice.
  __device__ __forceinline__ void enter(int event, int tile, int stage) {
    if (lane) {
      if (next < end) {
        const long long clock = probe_clock();
        *reinterpret_cast<int4*>(next++) =
            make_int4((int)clock, (int)(clock >> 32), event << 16 | (stage & 0xffff), tile);
      } else {
        ++dropped;
      }
    }
    if (together) __syncwarp();
  }

  __device__ __forceinline__ void leave(int capacity) {
    enter(PROBE_END, -1, 0);
    if (!lane) return;
    lane->last_ns = probe_globaltimer();
    lane->last_clock = probe_clock();
    lane->count = (unsigned int)(capacity - (end - next));
    lane->dropped = dropped;
  }
};

#define PROBE_ONLY(...) __VA_ARGS__
// lanes: [gridDim.x][PROBE_LANES_PER_CTA]; stamps: [gridDim.x][PROBE_LANES_PER_CTA][capacity]
#define PROBE_PARAMETER , ProbeLane *probe_lanes, ProbeStamp *probe_stamps, int probe_capacity
#define PROBE_DECLARE(index) Probe probe(probe_lanes, probe_stamps, probe_capacity, (index))
#define PROBE_SOLO() probe.together = false
#define PROBE_ENTER(event, tile, stage) probe.enter(event, tile, stage)
#define PROBE_LEAVE() probe.leave(probe_capacity)

#else

#define PROBE_ONLY(...)
#define PROBE_PARAMETER
#define PROBE_DECLARE(index)
#define PROBE_SOLO()
#define PROBE_ENTER(event, tile, stage)
#define PROBE_LEAVE()

#endif
