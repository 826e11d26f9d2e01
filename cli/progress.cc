#include "cli/progress.h"

#include <algorithm>
#include <ostream>
#include <string>

namespace kb {
namespace {

constexpr std::chrono::milliseconds kBetweenDraws{100};
constexpr const char kEraseLine[] = "\r\x1b[K";

}  // namespace

std::string ProgressLine(const char* phase, int64_t done, int64_t total) {
  std::string line = std::string(phase).substr(0, 12);
  line.resize(std::max<size_t>(line.size(), 8), ' ');
  if (total <= 0) return line + " " + std::to_string(done);
  const int64_t percent = std::clamp<int64_t>(done * 100 / total, 0, 100);
  const auto filled = static_cast<size_t>(percent / 5);
  std::string number = std::to_string(percent);
  number.insert(0, 3 - number.size(), ' ');
  return line + " [" + std::string(filled, '#') + std::string(20 - filled, '.') + "] " + number +
         " %  " + std::to_string(done) + "/" + std::to_string(total);
}

Progress::Progress(Streams& streams, std::chrono::milliseconds patience)
    : streams_(streams),
      active_(streams.talk_is_terminal && !streams.quiet),
      next_(Clock::now() + patience) {}

void Progress::Show(const char* phase, int64_t done, int64_t total) {
  if (!active_) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetweenDraws;
  drawn_ = true;
  streams_.talk << kEraseLine << ProgressLine(phase, done, total) << std::flush;
}

void Progress::Clear() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (drawn_) streams_.talk << kEraseLine << std::flush;
  drawn_ = false;
}

}  // namespace kb
