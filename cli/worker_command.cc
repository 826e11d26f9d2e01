#include "cli/worker_command.h"

#include <fcntl.h>

#include <charconv>
#include <ostream>

#include "tdd/runner.h"

namespace kb {

std::optional<int> RunWorkerCommand(std::span<const std::string> argv, Streams& streams) {
  if (argv.empty() || argv[0] != "worker") return std::nullopt;
  int fd = -1;
  std::string driver;
  for (size_t i = 1; i + 1 < argv.size(); i += 2) {
    const std::string& value = argv[i + 1];
    if (argv[i] == "--fd") std::from_chars(value.data(), value.data() + value.size(), fd);
    if (argv[i] == "--driver") driver = value;
  }
  if (fd < 0 || fcntl(fd, F_GETFD) < 0) {
    streams.talk << "kb worker: serves kb itself, over the socket that --fd names\n";
    return kCouldNot;
  }
  return ServeWorker(fd, driver);
}

}  // namespace kb
