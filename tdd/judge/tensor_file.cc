#include "tdd/judge/tensor_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "tdd/case_test.h"
#include "tdd/judge/wire.h"

namespace kb::test::internal {
namespace {

constexpr int64_t kPiece = 1 << 15;  // elements at a time: in the second-level cache

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// `body(begin, n)` for pieces of [0, count), on all cores.
template <class Body>
void ForPieces(int64_t count, const Body& body) {
  ParallelFor((count + kPiece - 1) / kPiece, [&](int64_t piece) {
    const int64_t begin = piece * kPiece;
    body(begin, std::min(kPiece, count - begin));
  });
}

// 0, or errno.
int WriteAt(int fd, const char* bytes, int64_t size, int64_t offset) {
  while (size > 0) {
    ssize_t n = pwrite(fd, bytes, static_cast<size_t>(size), offset);
    if (n < 0 && errno != EINTR) return errno;
    if (n == 0) return EIO;
    if (n < 0) continue;
    bytes += n;
    size -= n;
    offset += n;
  }
  return 0;
}

bool ReadAt(int fd, char* bytes, int64_t size, int64_t offset) {
  while (size > 0) {
    ssize_t n = pread(fd, bytes, static_cast<size_t>(size), offset);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n < 0) continue;
    bytes += n;
    size -= n;
    offset += n;
  }
  return true;
}

}  // namespace

std::vector<double> Collect(const Format& format, int64_t count, const Source& source) {
  std::vector<double> values(static_cast<size_t>(count));
  ForPieces(count, [&](int64_t begin, int64_t n) {
    source(begin, n, &values[begin]);
    RoundAll(format, &values[begin], n);
  });
  return values;
}

void WriteTensor(const std::string& path, const Format& format, int64_t count,
                 const Source& source) {
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  std::atomic<int> error = fd.get() < 0 ? errno : 0;
  if (error == 0) {
    ForPieces(count, [&](int64_t begin, int64_t n) {
      std::vector<double> values(static_cast<size_t>(n));
      std::vector<char> bytes(static_cast<size_t>(n * format.bytes));
      source(begin, n, values.data());
      Encode(format, values.data(), n, bytes.data());
      int failed = WriteAt(fd.get(), bytes.data(), n * format.bytes, begin * format.bytes);
      if (failed != 0) error = failed;
    });
  }
  if (error != 0) Fault("INFRA_ERROR", "cannot write " + path + ": " + std::strerror(error));
}

std::optional<std::vector<double>> ReadTensor(const std::string& path, const Format& format,
                                              int64_t count, std::string* why) {
  const std::string name = path.substr(path.rfind('/') + 1);
  Fd fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (fd.get() < 0 || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    *why = "no file " + name + " was written";
    return std::nullopt;
  }
  if (status.st_size != count * format.bytes) {
    *why = name + " has " + std::to_string(status.st_size) + " bytes, not " +
           std::to_string(count * format.bytes);
    return std::nullopt;
  }
  std::vector<double> values(static_cast<size_t>(count));
  std::atomic<bool> whole = true;
  ForPieces(count, [&](int64_t begin, int64_t n) {
    std::vector<char> bytes(static_cast<size_t>(n * format.bytes));
    if (!ReadAt(fd.get(), bytes.data(), n * format.bytes, begin * format.bytes)) whole = false;
    Decode(format, bytes.data(), n, &values[begin]);
  });
  if (whole) return values;
  *why = "cannot read " + name;
  return std::nullopt;
}

}  // namespace kb::test::internal
