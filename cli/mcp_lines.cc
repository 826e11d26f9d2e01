#include "cli/mcp_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace kb {

void LineReader::EndLine() {
  waiting_bytes_ += partial_.size();
  const bool is_marked = partial_.find(mark_) != std::string::npos;
  marked_ += is_marked ? 1 : 0;
  waiting_.push_back({std::exchange(partial_, {}), std::exchange(skipping_, false), is_marked});
}

void LineReader::Take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (!skipping_ && partial_.size() + part.size() > max_bytes_) {
      skipping_ = true;
      partial_ = std::string();  // gives its memory back
    }
    if (!skipping_) partial_.append(part);
    if (end == std::string_view::npos) return;
    EndLine();
    bytes.remove_prefix(end + 1);
  }
}

bool LineReader::Fill(int timeout_ms) {
  pollfd input = {fd_, POLLIN, 0};
  if (poll(&input, 1, timeout_ms) <= 0) return false;
  std::array<char, 1 << 16> buffer;
  const ssize_t count = read(fd_, buffer.data(), buffer.size());
  if (count < 0) {
    if (errno != EINTR && errno != EAGAIN) at_end_ = true;
    return false;
  }
  if (count > 0) {
    Take({buffer.data(), static_cast<size_t>(count)});
  } else {
    at_end_ = true;
    if (!partial_.empty() || skipping_) EndLine();
  }
  return true;
}

std::optional<InputLine> LineReader::Next(std::chrono::milliseconds patience,
                                          const std::function<void()>& idle) {
  while (waiting_.empty() && !at_end_) {
    if (!Fill(static_cast<int>(patience.count())) && !at_end_) idle();
  }
  if (waiting_.empty()) return std::nullopt;
  InputLine line = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= line.text.size();
  marked_ -= line.is_marked ? 1 : 0;
  return line;
}

bool LineReader::AnyWaiting(const std::function<bool(std::string_view)>& matches) {
  for (int i = 0; i < kMostReads && !at_end_ && HasRoom() && Fill(0); ++i) continue;
  if (marked_ == 0) return false;
  return std::ranges::any_of(
      waiting_, [&](const InputLine& line) { return line.is_marked && matches(line.text); });
}

}  // namespace kb
