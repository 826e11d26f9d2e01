#include "tdd/compile_batch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace kb {
namespace {

double ThreadCpuSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Shared with threads that may outlive the caller.
struct Work {
  std::shared_ptr<const Toolchain> toolchain;
  std::vector<CompileRequest> requests;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<BatchItem> items;
  size_t next = 0;
  int running = 0;  // threads
  bool stop = false;
};

BatchItem CompileOne(const Work& work, size_t i) {
  BatchItem item;
  const double before = ThreadCpuSeconds();
  try {
    item.result = work.toolchain->Compile(work.requests[i]);
  } catch (const std::exception& error) {
    item.result.log = error.what();
  }
  item.cpu_s = ThreadCpuSeconds() - before;
  item.finished = true;
  return item;
}

void Serve(const std::shared_ptr<Work>& work) {
  std::unique_lock lock(work->mutex);
  while (!work->stop && work->next < work->requests.size()) {
    const size_t i = work->next++;
    lock.unlock();
    BatchItem item = CompileOne(*work, i);
    lock.lock();
    if (!work->stop) work->items[i] = std::move(item);
  }
  --work->running;
  work->changed.notify_all();
}

}  // namespace

Batch CompileAll(const std::shared_ptr<const Toolchain>& toolchain,
                 std::vector<CompileRequest> requests, int threads, double timeout_s) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  auto work = std::make_shared<Work>();
  work->toolchain = toolchain;
  work->requests = std::move(requests);
  work->items.resize(work->requests.size());
  if (threads < 1) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  threads = std::min(threads, static_cast<int>(work->requests.size()));
  work->running = threads;
  for (int i = 0; i < threads; ++i) std::thread(Serve, work).detach();
  std::unique_lock lock(work->mutex);
  const bool done = work->changed.wait_until(lock, deadline, [&] { return work->running == 0; });
  work->stop = true;
  Batch batch;
  batch.items = std::move(work->items);
  work->items.clear();
  batch.left_running = !done;
  return batch;
}

}  // namespace kb
