// What calls of the CUDA runtime cost a C++ thread. One JSON object per line on stdout.
//
// Rows: call, state (idle: nothing runs; busy: a kernel holds the stream, so that nothing completes),
// bytes, n, median_s, p10_s, p90_s of single calls. Built and run by host_cpp.py with plain nvcc.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host_program.cuh"

using Clock = std::chrono::steady_clock;
static double seconds(Clock::time_point a, Clock::time_point b) { return std::chrono::duration<double>(b - a).count(); }
static cudaStream_t stream, other;

static void report(const char* call, const char* state, size_t bytes, std::vector<double> s) {
  std::sort(s.begin(), s.end());
  const size_t n = s.size();
  std::printf("{\"call\": \"%s\", \"state\": \"%s\", \"bytes\": %zu, \"n\": %zu, \"median_s\": %.9f, \"p10_s\": %.9f, "
              "\"p90_s\": %.9f}\n", call, state, bytes, n, s[n / 2], s[n / 10], s[n * 9 / 10]);
}

// Times each call on its own; `busy` keeps the stream occupied meanwhile.
static void measure(const char* call, size_t bytes, int n, bool busy, const std::function<void()>& f,
                    const std::function<void()>& after = nullptr) {
  std::vector<double> samples;
  for (int i = 0; i < 5; ++i) { f(); if (after) after(); }
  CHECK(cudaDeviceSynchronize());
  if (busy) spin<<<1, 1, 0, stream>>>(20000000ull);
  for (int i = 0; i < n; ++i) {
    const auto begin = Clock::now();
    f();
    const auto end = Clock::now();
    samples.push_back(seconds(begin, end));
    if (after) after();
    if (!busy) CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaDeviceSynchronize());
  report(call, busy ? "busy" : "idle", bytes, samples);
}

static void CUDART_CB nothing(void*) {}

static void calls() {
  for (bool busy : {false, true}) {
    measure("launch", 0, 300, busy, [] { spin<<<1, 32, 0, stream>>>(0); });
    cudaEvent_t event;
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    measure("event_record", 0, 300, busy, [&] { cudaEventRecord(event, stream); });
    measure("stream_wait_event", 0, 300, busy, [&] { cudaStreamWaitEvent(other, event, 0); });
    measure("event_query", 0, 300, busy, [&] { cudaEventQuery(event); });
    measure("host_func", 0, 100, busy, [] { cudaLaunchHostFunc(stream, nothing, nullptr); });
  }
  cudaEvent_t done;
  CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  CHECK(cudaEventRecord(done, stream));
  measure("stream_sync", 0, 300, false, [] { cudaStreamSynchronize(stream); });
  measure("device_sync", 0, 300, false, [] { cudaDeviceSynchronize(); });
  measure("event_sync", 0, 300, false, [&] { cudaEventSynchronize(done); });
}

static void copies() {
  const size_t most = 64u << 20;
  void *device, *pinned, *pageable = std::malloc(most);
  CHECK(cudaMalloc(&device, most));
  CHECK(cudaMallocHost(&pinned, most));
  std::memset(pageable, 1, most);
  std::memset(pinned, 1, most);
  for (size_t bytes : {4ul, 4096ul, 65536ul, 1ul << 20, 16ul << 20}) {
    for (bool busy : {false, true}) {
      const int n = bytes > 1u << 20 ? 20 : 100;
      measure("memcpy_async_h2d_pinned", bytes, n, busy, [&] { cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream); });
      measure("memcpy_async_d2h_pinned", bytes, n, busy, [&] { cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream); });
      measure("memset_async", bytes, n, busy, [&] { cudaMemsetAsync(device, 0, bytes, stream); });
    }
  }
  for (size_t bytes : {4ul, 4096ul, 32768ul, 65536ul, 65540ul, 131072ul, 262144ul, 1ul << 20, 4ul << 20, 16ul << 20, 64ul << 20}) {
    const int n = bytes > 1u << 20 ? 10 : 50;
    measure("memcpy_async_h2d_pageable", bytes, n, false, [&] { cudaMemcpyAsync(device, pageable, bytes, cudaMemcpyHostToDevice, stream); });
    measure("memcpy_async_d2h_pageable", bytes, n, false, [&] { cudaMemcpyAsync(pageable, device, bytes, cudaMemcpyDeviceToHost, stream); });
    measure("memcpy_h2d_pinned", bytes, n, false, [&] { cudaMemcpy(device, pinned, bytes, cudaMemcpyHostToDevice); });
    measure("memcpy_d2h_pinned", bytes, n, false, [&] { cudaMemcpy(pinned, device, bytes, cudaMemcpyDeviceToHost); });
    measure("memcpy_h2d_pageable", bytes, n, false, [&] { cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice); });
    measure("memcpy_d2h_pageable", bytes, n, false, [&] { cudaMemcpy(pageable, device, bytes, cudaMemcpyDeviceToHost); });
    measure("memcpy_host_to_host", bytes, n, false, [&] { std::memcpy(pinned, pageable, bytes); });
  }
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
  std::free(pageable);
}

static void allocations() {
  for (size_t bytes : {65536ul, 1ul << 20, 2ul << 20, 16ul << 20, 256ul << 20, 1ul << 30}) {
    std::vector<double> take, give;
    for (int i = 0; i < 12; ++i) {
      void* p;
      const auto a = Clock::now();
      CHECK(cudaMalloc(&p, bytes));
      const auto b = Clock::now();
      CHECK(cudaFree(p));
      const auto c = Clock::now();
      if (i > 1) take.push_back(seconds(a, b)), give.push_back(seconds(b, c));
    }
    report("malloc", "idle", bytes, take);
    report("free", "idle", bytes, give);
  }
  for (size_t bytes : {65536ul, 1ul << 20, 16ul << 20, 128ul << 20}) {
    std::vector<double> take, give;
    for (int i = 0; i < 6; ++i) {
      void* p;
      const auto a = Clock::now();
      CHECK(cudaMallocHost(&p, bytes));
      const auto b = Clock::now();
      CHECK(cudaFreeHost(p));
      const auto c = Clock::now();
      if (i > 0) take.push_back(seconds(a, b)), give.push_back(seconds(b, c));
    }
    report("malloc_host", "idle", bytes, take);
    report("free_host", "idle", bytes, give);
  }
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  for (unsigned long long threshold : {0ull, ~0ull}) {
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    const char* state = threshold ? "threshold_max" : "threshold_0";
    for (size_t bytes : {65536ul, 2ul << 20, 16ul << 20, 256ul << 20}) {
      std::vector<double> take, give, sync;
      for (int i = 0; i < 40; ++i) {
        void* p;
        const auto a = Clock::now();
        CHECK(cudaMallocAsync(&p, bytes, stream));
        const auto b = Clock::now();
        CHECK(cudaFreeAsync(p, stream));
        const auto c = Clock::now();
        CHECK(cudaStreamSynchronize(stream));
        const auto d = Clock::now();
        if (i > 1) take.push_back(seconds(a, b)), give.push_back(seconds(b, c)), sync.push_back(seconds(c, d));
      }
      report("malloc_async", state, bytes, take);
      report("free_async", state, bytes, give);
      report("sync_after_free_async", state, bytes, sync);
    }
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemPoolTrimTo(pool, 0));
  }
}

static void graphs() {
  for (int nodes : {1, 10, 100, 1000}) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    for (int i = 0; i < nodes; ++i) spin<<<1, 32, 0, stream>>>(0);
    CHECK(cudaStreamEndCapture(stream, &graph));
    const auto begin = Clock::now();
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    const auto end = Clock::now();
    report("graph_instantiate", "idle", nodes, {seconds(begin, end)});
    CHECK(cudaGraphUpload(exec, stream));
    measure("graph_launch", nodes, 30, false, [&] { cudaGraphLaunch(exec, stream); });
    if (nodes <= 100) measure("graph_launch", nodes, 10, true, [&] { cudaGraphLaunch(exec, stream); });
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
  }
}

// From the call to the return of the synchronisation behind it, less what the device needs for sure.
static void round_trips() {
  for (unsigned long long ns : {0ull, 20000ull, 200000ull}) {
    std::vector<double> samples;
    for (int i = 0; i < 60; ++i) {
      const auto begin = Clock::now();
      spin<<<1, 32, 0, stream>>>(ns);
      CHECK(cudaStreamSynchronize(stream));
      if (i > 5) samples.push_back(seconds(begin, Clock::now()) - ns * 1e-9);
    }
    report("launch_and_sync", "idle", ns, samples);
  }
}

// From the call to what a host function does becoming visible, less the kernel before it: to a thread that looks all the
// time, and to one that sleeps on a condition.
static std::mutex gate;
static std::condition_variable bell;
static std::atomic<bool> seen;
static void CUDART_CB ring(void*) {
  { std::lock_guard<std::mutex> hold(gate); seen = true; }
  bell.notify_one();
}

static void host_functions() {
  for (unsigned long long us : {0ull, 20ull, 50ull, 100ull, 200ull, 500ull, 1000ull, 3000ull}) {
    for (bool asleep : {false, true}) {
      std::vector<double> samples;
      for (int i = 0; i < 45; ++i) {
        seen = false;
        const auto begin = Clock::now();
        spin<<<1, 32, 0, stream>>>(us * 1000);
        CHECK(cudaLaunchHostFunc(stream, ring, nullptr));
        if (asleep) {
          std::unique_lock<std::mutex> hold(gate);
          bell.wait(hold, [] { return seen.load(); });
        } else {
          while (!seen) {
          }
        }
        if (i > 4) samples.push_back(seconds(begin, Clock::now()) - us * 1e-6);
        CHECK(cudaStreamSynchronize(stream));
      }
      report(asleep ? "launch_host_func_wake" : "launch_host_func_seen", "idle", us * 1000, samples);
    }
  }
}

static int slots;
static void CUDART_CB release(void*) {
  { std::lock_guard<std::mutex> hold(gate); ++slots; }
  bell.notify_one();
}

// The same calls turn by turn, with and without a host function that runs between two turns on its own thread.
// `bytes` is the place of a call in its turn.
static void beside_functions() {
  void *device, *pinned;
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(&pinned, 4096));
  const auto copy = [&] { cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, stream); };
  const auto launch = [] { spin<<<1, 32, 0, stream>>>(0); };
  const auto acquire = [] { std::unique_lock<std::mutex> hold(gate); bell.wait(hold, [] { return slots-- > 0; }); };
  for (bool functions : {false, true}) {
    const auto last = [&] { if (functions) cudaLaunchHostFunc(stream, release, nullptr); };
    slots = 1000;
    const std::vector<std::pair<const char*, std::function<void()>>> turn = {
        {"beside: AcquireSlot", acquire}, {"beside: MemcpyAsync", copy}, {"beside: Launch", launch},
        {"beside: MemcpyAsync", copy}, {"beside: Launch", launch}, {"beside: HostFunc", last}};
    std::vector<std::vector<double>> samples(turn.size());
    for (int i = 0; i < 70; ++i) {
      const auto start = Clock::now();
      while (seconds(start, Clock::now()) < 100e-6) {
      }
      for (size_t place = 0; place < turn.size(); ++place) {
        const auto begin = Clock::now();
        turn[place].second();
        if (i >= 10) samples[place].push_back(seconds(begin, Clock::now()));
      }
    }
    CHECK(cudaStreamSynchronize(stream));
    for (size_t place = 0; place < turn.size(); ++place)
      report(turn[place].first, functions ? "functions" : "nothing", place, samples[place]);
  }
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
}

static void contention() {
  for (int threads : {1, 2, 4}) {
    std::vector<std::vector<double>> each(threads);
    std::vector<std::thread> pool;
    for (int t = 0; t < threads; ++t) pool.emplace_back([&, t] {
      cudaStream_t mine;
      CHECK(cudaSetDevice(0));
      CHECK(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
      for (int i = 0; i < 300; ++i) {
        const auto begin = Clock::now();
        spin<<<1, 32, 0, mine>>>(0);
        each[t].push_back(seconds(begin, Clock::now()));
      }
      CHECK(cudaStreamSynchronize(mine));
      CHECK(cudaStreamDestroy(mine));
    });
    for (auto& thread : pool) thread.join();
    std::vector<double> all;
    for (auto& samples : each) all.insert(all.end(), samples.begin() + 50, samples.end());
    report("launch_from_threads", "idle", threads, all);
  }
}

// The times before and after each of these calls in each of `count` threads that have only chosen the device.
using Steps = std::vector<std::function<void()>>;
static std::vector<std::vector<Clock::time_point>> beginning(const Steps& steps, int count) {
  std::vector<std::vector<Clock::time_point>> times(count);
  std::vector<std::thread> pool;
  std::atomic<int> missing{count};
  for (int t = 0; t < count; ++t) pool.emplace_back([&, t] {
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    times[t].reserve(steps.size() + 1);
    --missing;
    while (missing > 0) {
    }
    times[t].push_back(Clock::now());
    for (const auto& step : steps) {
      step();
      times[t].push_back(Clock::now());
    }
  });
  for (auto& thread : pool) thread.join();
  CHECK(cudaDeviceSynchronize());
  return times;
}

// The first calls of new threads on a stream that exists and on that of their own. `bytes` is the place of a call; or
// the threads, from the begin of the first one's first call to the end of the last one's.
static void new_threads() {
  void *device, *pinned;
  cudaStream_t blocking;
  CHECK(cudaMalloc(&device, 4096));
  CHECK(cudaMallocHost(&pinned, 4096));
  CHECK(cudaStreamCreate(&blocking));
  const auto copy = [=] { cudaMemcpyAsync(device, pinned, 4096, cudaMemcpyHostToDevice, blocking); };
  const auto launch = [=] { spin<<<1, 32, 0, blocking>>>(0); };
  const auto own = [] { spin<<<1, 32, 0, cudaStreamPerThread>>>(0); };
  const std::vector<std::pair<const char*, Steps>> kinds = {
      {"ordinary", {launch, launch, launch}}, {"ordinary, copy first", {copy, launch, copy}}, {"per_thread", {own, own, own}}};
  for (const auto& [state, steps] : kinds) {
    std::vector<std::vector<double>> samples(steps.size());
    for (int i = 0; i < 41; ++i) {
      const auto times = beginning(steps, 1)[0];
      for (size_t place = 0; place < steps.size() && i > 0; ++place)
        samples[place].push_back(seconds(times[place], times[place + 1]));
    }
    for (size_t place = 0; place < steps.size(); ++place) report("new_thread", state, place + 1, samples[place]);
  }
  for (int kind : {0, 2}) {
    std::vector<double> together;
    for (int i = 0; i < 25; ++i) {
      const auto times = beginning(kinds[kind].second, 4);
      auto begin = times[0][0], end = times[0][1];
      for (const auto& each : times) begin = std::min(begin, each[0]), end = std::max(end, each[1]);
      together.push_back(seconds(begin, end));
    }
    report("new_threads", kinds[kind].first, 4, together);
  }
  CHECK(cudaStreamDestroy(blocking));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(device));
}

int main() {
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  calls();
  round_trips();
  copies();
  allocations();
  graphs();
  host_functions();
  beside_functions();
  contention();
  new_threads();
}
