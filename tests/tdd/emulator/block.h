// One block of an emulated grid: which of its threads can run, its barriers, its warps' exchanges.
#pragma once

#include <string>
#include <vector>

#include "tests/tdd/emulator/abi.h"
#include "tests/tdd/emulator/fiber.h"

namespace kb_emulator {

// splitmix64: small, and good enough to deal out turns.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  unsigned Below(unsigned bound) { return static_cast<unsigned>((Next() >> 32) * bound >> 32); }

 private:
  uint64_t state_;
};

class Block {
 public:
  Block(const Module& module, const Kernel& kernel, void** args, Index threads, uint64_t seed);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs all threads to their end. False: a fault.
  bool Run();
  // Ends the grid: from a fiber, from a signal handler, or between fibers.
  void Fail(int fault, const char* why);
  [[nodiscard]] bool in_fiber() const { return in_fiber_; }
  [[nodiscard]] int fault() const { return fault_; }
  [[nodiscard]] const std::string& why() const { return why_; }

  // Called by the thread that runs now.
  unsigned Barrier(int predicate, unsigned* live);
  const uint64_t* Gather(unsigned mask, uint64_t value, unsigned* present);
  unsigned ActiveMask();
  void Yield();
  void RunKernel();

 private:
  enum class State : unsigned char { kReady, kAtBarrier, kInGather, kInActiveMask, kDone };
  // Values that lanes of a warp bring to each other.
  struct Exchange {
    unsigned mask = 0, arrived = 0, holders = 0;  // mask 0: free
    bool complete = false;
    uint64_t values[kWarp] = {};
  };
  struct Warp {
    unsigned live = 0, open = 0;  // lanes | exchanges that wait for lanes
    Exchange exchanges[2 * kWarp];
  };

  bool TakeTurns();
  bool ReleaseActiveMasks();
  void Wait(State state);
  void ReleaseBarrierIfFull();
  void CompleteIfFull(Warp* warp, unsigned warp_index, Exchange* exchange);
  Exchange* Join(Warp* warp, unsigned mask);
  void End();
  [[nodiscard]] std::string Waiting() const;

  const Module& module_;
  const Kernel& kernel_;
  void** args_;
  unsigned count_;
  Random random_;
  std::vector<Thread> threads_;
  std::vector<State> states_;
  std::vector<unsigned> order_;
  std::vector<Exchange*> held_;  // the exchange whose values a thread may still read
  std::vector<unsigned> active_;
  std::vector<Warp> warps_;
  unsigned current_ = 0, live_ = 0, at_barrier_ = 0, predicates_ = 0, result_ = 0, result_live_ = 0;
  bool in_fiber_ = false;
  volatile int fault_ = 0;
  std::string why_;
};

}  // namespace kb_emulator
