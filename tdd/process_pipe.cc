#include "tdd/process_pipe.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "kb/error.h"

namespace kb {

Fd Owned(int fd) {
  Fd owned(fd);
  if (fd >= 0) close(fd);
  if (owned.get() < 0) {
    throw Error(std::string("no descriptors for a child process: ") + std::strerror(errno));
  }
  return owned;
}

Pipe MakePipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw Error(std::string("no pipe for a child process: ") + std::strerror(errno));
  }
  return {Owned(ends[0]), Owned(ends[1])};
}

}  // namespace kb
