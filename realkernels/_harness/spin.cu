// Occupies the stream for a known time, and compares the SM clock with the global timer.

__device__ __forceinline__ long long cycles() {
    long long t;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
    return t;
}

__device__ __forceinline__ unsigned long long nanoseconds() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
    return t;
}

// The global timer may tick in steps of a microsecond: stamp the clock just after a step.
__device__ __forceinline__ unsigned long long next_tick(long long *clock) {
    unsigned long long now = nanoseconds(), then = now;
    while (now == then) now = nanoseconds();
    *clock = cycles();
    return now;
}

extern "C" __global__ void spin(unsigned long long duration_ns) {
    unsigned long long start = nanoseconds();
    while (nanoseconds() - start < duration_ns) {
    }
}

// out: cycles, nanoseconds, size of one timer step in nanoseconds
extern "C" __global__ void clock_ratio(long long *out, unsigned long long duration_ns) {
    long long first, last;
    unsigned long long start = next_tick(&first), stop = start, step = ~0ull;
    while (stop - start < duration_ns) {
        unsigned long long before = stop;
        stop = next_tick(&last);
        if (stop - before < step) step = stop - before;
    }
    out[0] = last - first;
    out[1] = (long long)(stop - start);
    out[2] = (long long)step;
}
