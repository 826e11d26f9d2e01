// Requests on their way to the worker threads of kb serve and responses on their way back.
// Thread-safe. Bounded by its users: a connection has at most one request in it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cli/serve_http.h"

namespace kb {

struct ServeJob {
  uint64_t connection = 0;
  HttpRequest request;
};

struct ServeResult {
  uint64_t connection = 0;
  bool keep_alive = false;
  std::string bytes;  // the whole response
};

class ServeQueue {
 public:
  void Put(ServeJob job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    ready_.notify_one();
  }

  // Waits for one; nullopt after Close.
  std::optional<ServeJob> Take() {
    std::unique_lock lock(mutex_);
    ready_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
    if (closed_) return std::nullopt;
    ServeJob job = std::move(jobs_.front());
    jobs_.pop_front();
    return job;
  }

  void PutResult(ServeResult result) {
    const std::lock_guard lock(mutex_);
    results_.push_back(std::move(result));
  }
  std::vector<ServeResult> TakeResults() {
    const std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
  }

  // Whoever waits stops waiting; what was not taken is dropped.
  void Close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    ready_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<ServeJob> jobs_;
  std::vector<ServeResult> results_;
  bool closed_ = false;
};

}  // namespace kb
