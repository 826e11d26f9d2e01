#include "kb/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "kb/error.h"
#include "kb/utf8.h"

namespace kb {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  // Closes now, because a full disk may be reported only then.
  [[nodiscard]] int Close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

ssize_t ReadSome(int fd, char* to, size_t size) {
  ssize_t n = 0;
  do {
    n = ::read(fd, to, size);
  } while (n < 0 && errno == EINTR);
  return n;
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// A name that is not taken, short enough for any folder, hidden and not Markdown.
std::string TemporaryName(std::string_view folder) {
  static std::atomic<unsigned> counter = 0;
  std::string name(folder);
  if (!name.empty() && name.back() != '/') name += '/';
  return name + ".kb-tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

// Creates, fills and syncs `temporary`; false with errno set if that fails.
bool FillTemporary(const std::string& temporary, const std::string& path, std::string_view bytes) {
  Descriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) return false;
  struct stat old = {};
  if (::stat(path.c_str(), &old) == 0 && ::fchmod(fd.get(), old.st_mode & 07777) != 0) return false;
  return WriteAll(fd.get(), bytes) && ::fsync(fd.get()) == 0 && fd.Close() == 0;
}

}  // namespace

std::optional<std::string> ReadFile(const std::string& path, std::string* why, int64_t max_bytes) {
  const auto fail = [&](std::string reason) {
    if (why != nullptr) *why = std::move(reason);
    return std::nullopt;
  };
  struct stat info = {};
  // Opening a device can act on it, so the type is asked before; and again after, because
  // the file may have been replaced.
  if (::stat(path.c_str(), &info) != 0) return fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail("not a regular file");
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) return fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail("not a regular file");
  const std::string too_large = "larger than " + std::to_string(max_bytes) + " bytes";
  if (info.st_size > max_bytes) return fail(too_large);

  // One byte more than the size says: a file that grows, or one of /proc, shows itself.
  std::string bytes(static_cast<size_t>(info.st_size) + 1, '\0');
  size_t used = 0;
  while (true) {
    if (used == bytes.size()) bytes.resize(bytes.size() * 2 + 4096);
    const ssize_t n = ReadSome(fd.get(), bytes.data() + used, bytes.size() - used);
    if (n < 0) return fail(std::strerror(errno));
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (static_cast<int64_t>(used) > max_bytes) return fail(too_large);
  }
  bytes.resize(used);
  return bytes;
}

void WriteFileAtomically(const std::string& path, std::string_view bytes) {
  const std::string folder(DirName(path));
  const std::string temporary =
      TemporaryName(folder.empty() && path.substr(0, 1) == "/" ? "/" : folder);
  if (!FillTemporary(temporary, path, bytes) || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    if (reason != EEXIST) ::unlink(temporary.c_str());
    throw Error("cannot write " + Printable(path) + ": " + std::strerror(reason) +
                "; the old file, if any, is intact: check space, permissions and the folder");
  }
  // The rename is done; a file system that cannot sync a folder must not undo it.
  const Descriptor parent(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) static_cast<void>(::fsync(parent.get()));
}

std::string_view DirName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string Printable(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const int length = Utf8Length(text, i);
    const std::string_view character = text.substr(i, length == 0 ? 1 : length);
    // C0, DEL, C1, line and paragraph separators, bidi controls.
    const bool hidden = length == 0 || static_cast<unsigned char>(text[i]) < 0x20 ||
                        text[i] == 0x7F || (character >= "\xC2\x80" && character < "\xC2\xA0") ||
                        (character >= "\xE2\x80\xA8" && character <= "\xE2\x80\xAE") ||
                        (character >= "\xE2\x81\xA6" && character <= "\xE2\x81\xA9");
    for (const char c : character) {
      if (!hidden) {
        out += c;
      } else {
        out += {'\\', 'x', kHex[static_cast<unsigned char>(c) >> 4], kHex[c & 15]};
      }
    }
    i += character.size();
  }
  return out;
}

}  // namespace kb
