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
// A stamp is a handful of instructions: one lane of the warp keeps the clock, and event, stage and tile packed, in
// registers, and the next lane the next stamp. When most lanes have one, and the warp is about to wait or load, all
// write theirs at once into the warp's own stretch of global memory. A DRAM that is full serves the requests of all SMs
// in turn: with a store for each stamp, the SMs that write fell behind the others by up to a fifth. A thread that does
// all the work of its warp (PROBE_ALONE) has to write each of its own, one by one or two. Stamps beyond the capacity are counted, not
// written. Each warp also stores two pairs (globaltimer, clock64), at its first and last stamp, by which the clocks of
// different SMs are laid on one axis; reading globaltimer at every stamp would cost more than the steps it is to time.
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

constexpr unsigned int PROBE_MANY = 24;   // stamps that a warp keeps before it writes: of 32, less those of one turn

// Where a warp's stamps go, and how many there are.
struct ProbePlace {
  ProbeLane* lane = nullptr;          // of the warp's first thread
  ProbeStamp* stamps;                 // of the warp
  unsigned int room = 0;              // a stretch that begins below it fits
  unsigned int count = 0;             // stamps that found room so far
  unsigned int dropped = 0;           // and that did not
  bool kept;                          // whether this SM is observed

  __device__ __forceinline__ void close() {
    if (!lane) return;
    lane->last_ns = probe_globaltimer();
    lane->last_clock = probe_clock();
    lane->count = count;
    lane->dropped = kept ? dropped : 0;
  }
};

__device__ __forceinline__ unsigned int probe_packed(int event, int tile, int stage) {
  return ((unsigned int)event << 28) + ((unsigned int)stage << 20) + (tile + 1);
}

// A warp whose threads all take its stamps; more than seven between two waits find no lane to keep them.
struct Probe : ProbePlace {
  unsigned int turn;                  // the place of the stamp that this thread keeps
  unsigned int held = 0;              // stamps that are kept
  unsigned int clock = 0, what = 0;   // this thread's

  __device__ __forceinline__ Probe(ProbeLane* lanes, ProbeStamp* all, int capacity, int one, int other, int index) {
    unsigned int sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    kept = sm == (unsigned int)one || sm == (unsigned int)other;
    turn = threadIdx.x % 32;
    const long long at = (long long)blockIdx.x * PROBE_LANES_PER_CTA + max(index, 0);
    stamps = all + at * capacity;
    if (index >= 0 && kept) room = capacity - 32;
    if (index >= 0 && turn == 0) {
      lane = lanes + at;
      lane->sm = sm;
      lane->used = 1;
      lane->first_ns = probe_globaltimer();
      lane->first_clock = probe_clock();
    }
    asm volatile("" : "+l"(stamps), "+r"(room), "+r"(turn));   // else they are made again at every stamp
  }

  __device__ __forceinline__ void enter(int event, int tile, int stage) {
    if (event == PROBE_WAIT_STAGE || event == PROBE_WAIT_COPY || event == PROBE_LOAD || event == PROBE_ARRIVED)
      if (held > PROBE_MANY) write();
    asm volatile(
        "{\n\t.reg .pred mine;\n\t"
        "setp.eq.u32 mine, %2, %3;\n\t"
        "@mine mov.u32 %0, %%clock;\n\t"
        "@mine mov.u32 %1, %4;\n\t}"
        : "+r"(clock), "+r"(what)
        : "r"(held), "r"(turn), "r"(probe_packed(event, tile, stage))
        : "memory");
    ++held;
  }

  __device__ __forceinline__ void write() {
    const bool fits = count < room;
    asm volatile(
        "{\n\t.reg .pred here;\n\t"
        "setp.ne.u32 here, %0, 0;\n\t"
        "@here st.global.v2.u32 [%1], {%2, %3};\n\t}" ::"r"((unsigned int)(fits && turn < held)),
        "l"(stamps + count + turn), "r"(clock), "r"(what)
        : "memory");
    (fits ? count : dropped) += held;
    held = 0;
  }

  __device__ __forceinline__ void met() { __syncwarp(); }

  __device__ __forceinline__ void leave() {
    enter(PROBE_DONE, -1, 0);
    write();
    close();
  }
};

// The first thread of a warp, which goes on alone after its warp has taken one stamp. A copy that it issues must not wait
// until a stamp is written, as which of two copies goes first may hang on that: this stamp is written with the next.
struct ProbeAlone : ProbePlace {
  unsigned int clock, what = 0;       // the stamp that is yet to be written, if there is one

  __device__ __forceinline__ ProbeAlone(const Probe& warp) : ProbePlace(warp) { write(warp.clock, warp.what); }

  __device__ __forceinline__ void enter(int event, int tile, int stage) {
    unsigned int now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    const unsigned int of_now = probe_packed(event, tile, stage);
    write(clock, what);
    if (event == PROBE_ISSUE) {
      clock = now;
      what = of_now;
    } else {
      write(now, of_now);
      what = 0;
    }
  }

  __device__ __forceinline__ void write(unsigned int clock, unsigned int what) {
    const bool there = what != 0;
    asm volatile(
        "{\n\t.reg .pred here;\n\t"
        "setp.ne.u32 here, %0, 0;\n\t"
        "@here st.global.v2.u32 [%1], {%2, %3};\n\t}" ::"r"((unsigned int)(there && count < room)),
        "l"(stamps + count), "r"(clock), "r"(what)
        : "memory");
    count += there;
  }

  __device__ __forceinline__ void leave() {
    enter(PROBE_DONE, -1, 0);
    dropped += count - min(count, room);
    count = min(count, room);
    close();
  }
};

#define PROBE_ONLY(...) __VA_ARGS__
// Behind the threads in __launch_bounds__: with registers to spare, as without stamps, the compiler leaves the kernel's
// own instructions in their order. Else it saved some by computing chains of FMAs one by one, in twice the time.
#define PROBE_RESIDENT , 1
// lanes: [gridDim.x][PROBE_LANES_PER_CTA]; stamps: [gridDim.x][PROBE_LANES_PER_CTA][capacity]; which SMs: -1 for none
#define PROBE_PARAMETER , ProbeLane *probe_lanes, ProbeStamp *probe_stamps, int probe_capacity, \
                        int probe_sm, int probe_other_sm
#define PROBE_BEGIN(index)                                                                          \
  Probe probe_of_warp(probe_lanes, probe_stamps, probe_capacity, probe_sm, probe_other_sm, (index)); \
  Probe& probe = probe_of_warp;
#define PROBE_ALONE() ProbeAlone probe(probe_of_warp);
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
#define PROBE_ALONE()
#define PROBE_ENTER(event, tile, stage)
#define PROBE_MET()
#define PROBE_LEAVE()

#endif
