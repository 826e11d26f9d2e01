// An ostream's buffer over a file descriptor that remembers why writing failed, which
// std::cout does not. Not thread-safe.
#pragma once

#include <array>
#include <streambuf>

namespace kb {

class FdBuffer final : public std::streambuf {
 public:
  explicit FdBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  FdBuffer(const FdBuffer&) = delete;
  FdBuffer& operator=(const FdBuffer&) = delete;
  ~FdBuffer() override { FdBuffer::sync(); }

  // errno of the first write that failed; 0: none did. Nothing is written after that.
  [[nodiscard]] int error() const { return error_; }

 protected:
  int_type overflow(int_type c) override;
  int sync() override;  // 0, or -1 if writing failed

 private:
  int fd_;
  int error_ = 0;
  std::array<char, 1 << 16> buffer_;
};

}  // namespace kb
