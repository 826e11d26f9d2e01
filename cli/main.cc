// The program: standard streams as they are, then RunMain.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/fd_stream.h"

namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsTerminal(int fd) { return isatty(fd) == 1 && Environment("TERM") != "dumb"; }

int Columns() {
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  int columns = 80;
  const std::string_view text = Environment("COLUMNS");
  std::from_chars(text.data(), text.data() + text.size(), columns);
  return columns > 0 ? columns : 80;
}

}  // namespace

int main(int argc, char** argv) {
  // A reader that has seen enough closes the pipe: writing then fails and we end quietly.
  std::signal(SIGPIPE, SIG_IGN);
  kb::FdBuffer out_buffer(STDOUT_FILENO);
  kb::FdBuffer talk_buffer(STDERR_FILENO);
  std::ostream out(&out_buffer);
  std::ostream talk(&talk_buffer);
  talk << std::unitbuf;
  kb::Streams streams = {out, talk, IsTerminal(STDOUT_FILENO), IsTerminal(STDERR_FILENO)};
  if (streams.out_is_terminal) streams.columns = Columns();
  streams.color = streams.out_is_terminal && Environment("NO_COLOR").empty();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int exit_code = kb::RunMain(words, streams);
  const int error = out_buffer.error();
  if (error == 0 || error == EPIPE) return exit_code;
  talk << "kb: cannot write to standard output: " << std::strerror(error)
       << "; free space there or write elsewhere\n";
  return kb::kCouldNot;
}
