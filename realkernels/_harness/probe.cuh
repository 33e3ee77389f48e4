// Time stamps from inside a kernel; compiled to nothing without -DPROBE.
//
// A warp says what it does *from now on*; the next stamp ends that. A lane is therefore tiled
// without gaps by one stamp per step:
//
//   __global__ void __launch_bounds__(THREADS PROBE_RESIDENT) kernel(const float* in, float* out PROBE_PARAMETER) {
//     PROBE_BEGIN(lane_of_the_recording)        // -1: this warp records nothing
//     PROBE_ENTER(PROBE_COMPUTE, tile, stage);
//     ...
//     PROBE_LEAVE();                             // ends the last step, before the warp exits
//   }
//
// All SMs take the same stamps, and two, which the launch names, write them. An SM that alone took stamps would be late
// by a little in every turn, and what it then asks of a DRAM that the others fill comes later still: it would show how
// a straggler fares. If all wrote theirs, that DRAM would be busy with them.
//
// A stamp is a handful of instructions without a branch: lane 0 writes 8 bytes into its warp's own stretch of global
// memory, the clock, and event, stage and tile packed. Stamps beyond the capacity are counted, not written. Each
// warp also stores two pairs (globaltimer, clock64), at its first and last stamp, by which the clocks of different SMs
// are laid on one axis; reading globaltimer at every stamp would cost more than the steps it is meant to time.
//
// probe.py reads these structures; sizes and codes are repeated there and compared in a test.
#pragma once

enum ProbeEvent : int {
  PROBE_DONE = 0,          // the lane does nothing any more
  PROBE_SETUP = 1,         // before the first tile
  PROBE_WAIT_STAGE = 2,    // consumer: no filled stage yet
  PROBE_WAIT_FREE = 3,     // producer: no free stage yet
  PROBE_WAIT_COPY = 4,     // a warp waits for its own asynchronous copies
  PROBE_ISSUE = 5,         // issuing the copy of a tile
  PROBE_LOAD = 6,          // copying a tile through registers
  PROBE_COMPUTE = 7,
  PROBE_BARRIER = 8,       // __syncthreads
  PROBE_ARRIVED = 9,       // observer: the tile lies in its stage
  PROBE_WAIT_DRAIN = 10,   // storer: the bulk store still reads its stage
  PROBE_STORE = 11,        // storing results, or registers into shared memory
};

#ifdef PROBE

constexpr int PROBE_LANES_PER_CTA = 20;

struct ProbeStamp {
  unsigned int clock;      // the lower half
  unsigned int what;       // event << 28 | stage << 20 | tile + 1
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

// A warp and its place in the recording.
struct Probe {
  ProbeLane* lane = nullptr;          // of the one thread of a warp that writes
  ProbeStamp* stamps;
  unsigned int room = 0;              // for how many stamps
  unsigned int count = 0;             // so far
  bool kept;                          // whether this SM is observed
  unsigned int dropped = 0;

  __device__ __forceinline__ Probe(ProbeLane* lanes, ProbeStamp* all, int capacity, int one, int other, int index) {
    unsigned int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    kept = sm == (unsigned int)one || sm == (unsigned int)other;
    const long long at = (long long)blockIdx.x * PROBE_LANES_PER_CTA + max(index, 0);
    stamps = all + at * capacity;
    if (index >= 0 && threadIdx.x % 32 == 0) {
      room = kept ? capacity : 0;
      lane = lanes + at;
      lane->sm = sm;
      lane->used = 1;
      lane->first_ns = probe_globaltimer();
      lane->first_clock = probe_clock();
    }
    asm volatile("" : "+l"(stamps), "+r"(room));   // else they are made again from the thread's number at every stamp
  }

  __device__ __forceinline__ void enter(int event, int tile, int stage) {
    asm volatile(
        "{\n\t.reg .pred here;\n\t.reg .u32 now;\n\t"
        "setp.lt.u32 here, %0, %1;\n\t"
        "mov.u32 now, %%clock;\n\t"
        "@here st.global.v2.u32 [%2], {now, %3};\n\t}" ::"r"(count),
        "r"(room), "l"(stamps + count), "r"(((unsigned int)event << 28) + ((unsigned int)stage << 20) + (tile + 1))
        : "memory");
    ++count;
  }

  __device__ __forceinline__ void met() { __syncwarp(); }

  __device__ __forceinline__ void leave() {
    enter(PROBE_DONE, -1, 0);
    if (!lane) return;
    lane->last_ns = probe_globaltimer();
    lane->last_clock = probe_clock();
    lane->count = min(count, room);
    lane->dropped = dropped + (kept ? count - min(count, room) : 0);
  }
};

#define PROBE_ONLY(...) __VA_ARGS__
// Behind the threads in __launch_bounds__: with registers to spare, as without stamps, the compiler leaves the kernel's
// own instructions in their order. Else it saved some by computing chains of FMAs one by one, in twice the time.
#define PROBE_RESIDENT , 1
// lanes: [gridDim.x][PROBE_LANES_PER_CTA]; stamps: [gridDim.x][PROBE_LANES_PER_CTA][capacity]; which SMs: -1 for none
#define PROBE_PARAMETER , ProbeLane *probe_lanes, ProbeStamp *probe_stamps, int probe_capacity, \
                        int probe_sm, int probe_other_sm
#define PROBE_BEGIN(index) Probe probe(probe_lanes, probe_stamps, probe_capacity, probe_sm, probe_other_sm, (index));
#define PROBE_ENTER(event, tile, stage) probe.enter(event, tile, stage)
// Between a barrier and the stamp behind it: a warp runs an instruction or two into a barrier (BAR.SYNC.DEFER_BLOCKING),
// and would read the clock before the others have come.
#define PROBE_MET() probe.met()
#define PROBE_LEAVE() probe.leave()

#else

#define PROBE_ONLY(...)
#define PROBE_RESIDENT
#define PROBE_PARAMETER
#define PROBE_BEGIN(index)
#define PROBE_ENTER(event, tile, stage)
#define PROBE_MET()
#define PROBE_LEAVE()

#endif
