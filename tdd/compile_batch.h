// Many sources compiled at once, in this process, until a deadline. For sources of one family
// that is known to compile; hostile ones go through compile.h.
#pragma once

#include <memory>
#include <vector>

#include "tdd/toolchain.h"

namespace kb {

struct BatchItem {
  bool finished = false;  // false: the deadline came first
  CompileResult result;
  double cpu_s = 0;  // of the thread that compiled it
};
struct Batch {
  std::vector<BatchItem> items;  // in the order of the requests
  // A compiler still runs in a thread that nobody can stop. It keeps what it uses alive; end the
  // process with _exit, because destructors of static objects would pull the rug from under it.
  bool left_running = false;
};

// `threads` < 1: one a core. Requests that have not begun at the deadline are never begun.
[[nodiscard]] Batch CompileAll(const std::shared_ptr<const Toolchain>& toolchain,
                               std::vector<CompileRequest> requests, int threads, double timeout_s);

}  // namespace kb
