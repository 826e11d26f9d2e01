// Lines from a pipe, with bounded memory whatever is sent, and a look ahead at what has
// already arrived. Not thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace kb {

struct InputLine {
  std::string text;       // without its end
  bool too_long = false;  // it was passed over; `text` is ""
  bool is_marked = false;
};

class LineReader {
 public:
  // Does not own `fd`. `max_bytes`: longer lines are passed over. Lines that hold `mark` are
  // marked.
  LineReader(int fd, size_t max_bytes, std::string mark)
      : fd_(fd), max_bytes_(max_bytes), mark_(std::move(mark)) {}

  // Waits for a line; calls `idle` each time `patience` goes by without one. nullopt: the end.
  // What stands before the end without a line end is a line.
  [[nodiscard]] std::optional<InputLine> Next(std::chrono::milliseconds patience,
                                              const std::function<void()>& idle);

  // Takes in what has arrived, without waiting, as far as there is room; then whether `matches`
  // holds for a marked line that waits.
  [[nodiscard]] bool AnyWaiting(const std::function<bool(std::string_view)>& matches);

 private:
  bool HasRoom() const { return waiting_bytes_ < max_bytes_ && waiting_.size() < kMostWaiting; }
  bool Fill(int timeout_ms);  // false: nothing came
  void Take(std::string_view bytes);
  void EndLine();

  static constexpr size_t kMostWaiting = 1024;
  static constexpr int kMostReads = 64;  // of one look: a line without end must not hold us

  int fd_;
  size_t max_bytes_;
  std::string mark_;
  bool at_end_ = false;
  bool skipping_ = false;  // within a line that is too long
  std::string partial_;
  std::deque<InputLine> waiting_;
  size_t waiting_bytes_ = 0;
  int marked_ = 0;  // of those that wait
};

}  // namespace kb
