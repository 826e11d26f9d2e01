// A progress bar on a terminal; nothing elsewhere. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "cli/command.h"

namespace kb {

class Progress {
 public:
  // `patience`: work that ends sooner shows no bar.
  explicit Progress(Streams& streams,
                    std::chrono::milliseconds patience = std::chrono::milliseconds(300));
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  // `total` 0: not known. Draws at most ten times a second.
  void Show(const char* phase, int64_t done, int64_t total);
  // Takes the bar away, so that a line can be written.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex_;
  Streams& streams_;
  bool active_;
  bool drawn_ = false;
  Clock::time_point next_;
};

// "read   [##########..........]  50 %  739/1477": under 80 columns.
[[nodiscard]] std::string ProgressLine(const char* phase, int64_t done, int64_t total);

}  // namespace kb
