// What calls that concern two devices cost a C++ thread, in a row, behind kernels that hold both devices.
//
// One JSON object per line on stdout. Built and run by host_peers.py with plain nvcc.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

#include "host_program.cuh"

constexpr int kCalls = 300, kRows = 7;
static cudaStream_t streams[2], beside;
static char* memory[2];

static void wait_both() {
  for (int device = 1; device >= 0; --device) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceSynchronize());
  }
}

static void launch(int device, unsigned long long ns) {
  CHECK(cudaSetDevice(device));
  spin<<<1, 32, 0, streams[device]>>>(ns);
}

static void report(const char* call, const std::function<void()>& f) {
  std::vector<double> rows;
  for (int row = 0; row < kRows; ++row) {
    wait_both();
    for (int device = 1; device >= 0; --device) launch(device, 8000000ull);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kCalls; ++i) f();
    rows.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kCalls);
  }
  std::sort(rows.begin(), rows.end());
  std::printf("{\"kind\": \"call\", \"api\": \"cuda\", \"call\": \"%s\", \"row_s\": %.9f}\n", call, rows[kRows / 2]);
}

// Threads that launch at the same time, dealt to one device or to both: a single call of theirs.
static void from_threads(int threads, int devices) {
  std::vector<std::vector<double>> each(threads);
  std::vector<std::thread> pool;
  std::atomic<int> missing{threads};
  for (int t = 0; t < threads; ++t) pool.emplace_back([&, t] {
    cudaStream_t mine;
    CHECK(cudaSetDevice(t % devices));
    CHECK(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking));
    spin<<<1, 32, 0, mine>>>(0);
    CHECK(cudaStreamSynchronize(mine));
    --missing;
    while (missing) {
    }
    for (int i = 0; i < kCalls; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      spin<<<1, 32, 0, mine>>>(0);
      each[t].push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    CHECK(cudaStreamSynchronize(mine));
    CHECK(cudaStreamDestroy(mine));
  });
  for (auto& thread : pool) thread.join();
  std::vector<double> all;
  for (auto& calls : each) all.insert(all.end(), calls.begin() + 50, calls.end());
  std::sort(all.begin(), all.end());
  std::printf("{\"kind\": \"threads\", \"threads\": %d, \"devices\": %d, \"median_s\": %.9f}\n", threads, devices,
              all[all.size() / 2]);
}

int main() {
  constexpr size_t kBytes = 4096;
  for (int device = 1; device >= 0; --device) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaStreamCreateWithFlags(&streams[device], cudaStreamNonBlocking));
    CHECK(cudaMalloc(&memory[device], 2 * kBytes));
    CHECK(cudaDeviceEnablePeerAccess(1 - device, 0));
  }
  CHECK(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking));
  char* host;
  CHECK(cudaMallocHost(&host, kBytes));
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  CHECK(cudaEventRecord(event, streams[0]));
  const auto peer = [&](int stream) { CHECK(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, kBytes, streams[stream])); };
  report("two set_device", [] { CHECK(cudaSetDevice(1)); CHECK(cudaSetDevice(0)); });
  report("two launches", [] { launch(0, 100); launch(0, 100); });
  report("two launches on two devices", [] { launch(1, 100); launch(0, 100); });
  report("record", [&] { CHECK(cudaEventRecord(event, streams[0])); });
  report("wait", [&] { CHECK(cudaStreamWaitEvent(beside, event, 0)); });
  report("wait of the other device", [&] { CHECK(cudaStreamWaitEvent(streams[1], event, 0)); });
  report("copy: push", [&] { peer(0); });
  report("copy: pull", [&] { peer(1); });
  report("copy: pull_uva",
         [&] { CHECK(cudaMemcpyAsync(memory[1], memory[0], kBytes, cudaMemcpyDefault, streams[1])); });
  report("copy: h2d",
         [&] { CHECK(cudaMemcpyAsync(memory[0], host, kBytes, cudaMemcpyHostToDevice, streams[0])); });
  wait_both();
  for (int threads : {1, 2, 4})
    for (int devices : {1, 2})
      if (devices <= threads) from_threads(threads, devices);
  return 0;
}
