// Threads of an emulated block: stacks that the one thread of the process hops between.
// For one thread of the process at a time.
#pragma once

#include <cstddef>

namespace kb_emulator {

// `count` fibers, each with a stack of its own over a guard page. Stacks are kept for ever.
class Fibers {
 public:
  static constexpr size_t kStackBytes = 256 << 10;
  using Body = void (*)(unsigned fiber);

  Fibers(unsigned count, Body body);
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  void Reset(unsigned fiber);   // its next Resume starts `body` anew
  void Resume(unsigned fiber);  // runs it until it calls Leave; never from a fiber
  void Leave(unsigned fiber);   // back to the caller of Resume; also from a signal handler

 private:
  struct Stack;
  unsigned char* stacks_;
  Stack* contexts_;
  Body body_;
};

}  // namespace kb_emulator
