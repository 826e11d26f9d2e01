// The judge's threads: started once, asleep when there is nothing to do.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "tdd/case_test.h"

namespace kb::test::internal {
namespace {

using Block = std::function<void(int64_t begin, int64_t end)>;

// One parallel loop. Threads take chunks until none is left.
struct Loop {
  const Block* block;
  int64_t n, chunk;
  std::atomic<int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;

  void Work() {
    for (;;) {
      int64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= n) return;
      try {
        (*block)(begin, std::min(n, begin + chunk));
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (!failure) failure = std::current_exception();
        next.store(n, std::memory_order_relaxed);
      }
    }
  }
};

thread_local bool inside = false;

class Threads {
 public:
  explicit Threads(int count) {
    for (int i = 0; i < count; ++i) std::thread([this] { Serve(); }).detach();
    count_ = count;
  }

  void Run(Loop* loop) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      loop_ = loop;
      busy_ = count_;
      ++round_;
    }
    wake_.notify_all();
    loop->Work();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void Serve() {
    inside = true;
    std::unique_lock<std::mutex> lock(mutex_);
    for (int64_t seen = 0;;) {
      wake_.wait(lock, [this, seen] { return round_ != seen; });
      seen = round_;
      Loop* loop = loop_;
      lock.unlock();
      loop->Work();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  int count_ = 0;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Loop* loop_ = nullptr;
  int64_t round_ = 0;
  int busy_ = 0;
};

int Cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

// Lives as long as the process: its threads may still be asleep in it at exit.
Threads& TheThreads() {
  static auto* threads = new Threads(Cores() - 1);
  return *threads;
}

}  // namespace

void ParallelBlocks(int64_t n, const Block& block) {
  if (n <= 0) return;
  if (inside || n == 1 || Cores() == 1) return block(0, n);
  static std::mutex one_at_a_time;  // for tests with threads of their own
  std::lock_guard<std::mutex> lock(one_at_a_time);
  Loop loop{&block, n, std::max<int64_t>(1, n / (int64_t{8} * Cores())), {}, {}, {}};
  inside = true;
  TheThreads().Run(&loop);
  inside = false;
  if (loop.failure) std::rethrow_exception(loop.failure);
}

}  // namespace kb::test::internal
