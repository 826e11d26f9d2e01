#include "tests/tdd/emulator/grid.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include <cstring>
#include <ctime>
#include <optional>
#include <vector>

#include "tests/tdd/emulator/block.h"

namespace kb_emulator {
namespace {

constexpr unsigned char kCanary = 0xc3;
constexpr unsigned char kStale = 0xff;  // shared memory holds NaN before a block writes it
constexpr uint64_t kPage = 4096;

Block* g_block = nullptr;
pthread_t g_thread;

const Api kApi = {[](int predicate, unsigned* live) { return g_block->Barrier(predicate, live); },
                  [](unsigned mask, uint64_t value, unsigned* present) {
                    return g_block->Gather(mask, value, present);
                  },
                  [] { return g_block->ActiveMask(); },
                  [] { g_block->Yield(); },
                  [](int fault, const char* what) { g_block->Fail(fault, what); },
                  [] {
                    timespec now = {};
                    clock_gettime(CLOCK_MONOTONIC, &now);
                    return static_cast<uint64_t>(now.tv_sec) * 1000000000 +
                           static_cast<uint64_t>(now.tv_nsec);
                  }};

// A fault of the kernel ends the grid; it is noted and the fiber left from within the handler.
void OnFault(int signal, siginfo_t* info, void*) {
  if (g_block == nullptr || pthread_equal(g_thread, pthread_self()) == 0 || !g_block->in_fiber()) {
    ::signal(signal, SIG_DFL);  // not the kernel's: happens again, and ends the process
    return;
  }
  switch (signal) {
    case SIGILL:  // -fsanitize=alignment ends in one
      return g_block->Fail(kMisalignedAddress, "a misaligned access");
    case SIGFPE:  // integer division by zero: garbage on a GPU, never a right answer
      return g_block->Fail(kLaunchFailed, "an integer division by zero");
    case SIGBUS:
      return g_block->Fail(kMisalignedAddress, "a bad access");
    default:
      return info->si_code == SI_KERNEL
                 ? g_block->Fail(kMisalignedAddress, "a misaligned or absurd address")
                 : g_block->Fail(kIllegalAddress, "an access outside all allocations");
  }
}

void OnTimer(int, siginfo_t*, void*) {
  if (g_block == nullptr) return;
  if (pthread_equal(g_thread, pthread_self()) == 0) {
    pthread_kill(g_thread, SIGVTALRM);
    return;
  }
  g_block->Fail(kLaunchTimeout, "the kernel runs on without an end");
}

// Handlers and their stack while a grid runs; before and after, the process has its own.
class Handlers {
 public:
  explicit Handlers(double limit_s) : stack_(64 << 10) {
    stack_t ours = {};
    ours.ss_sp = stack_.data();
    ours.ss_size = stack_.size();
    sigaltstack(&ours, &old_stack_);
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction action = {};
      action.sa_sigaction = kSignals[i] == SIGVTALRM ? OnTimer : OnFault;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigaction(kSignals[i], &action, &old_[i]);
    }
    itimerval timer = {};
    timer.it_value.tv_sec = static_cast<time_t>(limit_s);
    timer.it_value.tv_usec =
        static_cast<suseconds_t>((limit_s - static_cast<double>(timer.it_value.tv_sec)) * 1e6);
    setitimer(ITIMER_VIRTUAL, &timer, nullptr);
  }
  ~Handlers() {
    const itimerval off = {};
    setitimer(ITIMER_VIRTUAL, &off, nullptr);
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &old_[i], nullptr);
    sigaltstack(&old_stack_, nullptr);
  }
  Handlers(const Handlers&) = delete;
  Handlers& operator=(const Handlers&) = delete;

 private:
  static constexpr int kSignals[] = {SIGVTALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  std::vector<unsigned char> stack_;
  stack_t old_stack_ = {};
  struct sigaction old_[std::size(kSignals)] = {};
};

struct Segment {
  const Module* module;
  unsigned char* begin = nullptr;
  size_t bytes = 0;
};

// The thread-local storage of the module, this thread's.
Segment StaticShared(const Module& module) {
  unsigned char *before = nullptr, *after = nullptr;
  module.pads(&before, &after);  // allocates it, if it was not yet
  Segment segment = {&module};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* found = static_cast<Segment*>(data);
        bool ours = false;
        size_t bytes = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          auto begin = info->dlpi_addr + header.p_vaddr;
          auto address = reinterpret_cast<uintptr_t>(found->module);
          if (header.p_type == PT_LOAD)
            ours |= address >= begin && address - begin < header.p_memsz;
          if (header.p_type == PT_TLS) bytes = header.p_memsz;
        }
        if (!ours) return 0;
        found->begin = static_cast<unsigned char*>(info->dlpi_tls_data);
        found->bytes = found->begin == nullptr ? 0 : bytes;
        return 1;
      },
      &segment);
  return segment;
}

// Shared memory of both kinds: stale before each block, its borders looked at after.
class SharedMemory {
 public:
  SharedMemory(const Module& module, uint64_t dynamic_bytes)
      : dynamic_(module.dynamic_shared),
        dynamic_bytes_(dynamic_bytes),
        static_(StaticShared(module)) {
    module.pads(&before_, &after_);
    uint64_t used = Used();
    mprotect(dynamic_ + used, kDynamicSharedRoom - used, PROT_NONE);
    memset(dynamic_ + dynamic_bytes_, kCanary, used - dynamic_bytes_);
  }
  ~SharedMemory() { mprotect(dynamic_, kDynamicSharedRoom, PROT_READ | PROT_WRITE); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void Reset() {
    memset(dynamic_, kStale, dynamic_bytes_);
    memset(static_.begin, kStale, static_.bytes);
    memset(before_, kCanary, kPad);
    memset(after_, kCanary, kPad);
  }
  [[nodiscard]] bool Whole() const {
    return AllCanary(dynamic_ + dynamic_bytes_, Used() - dynamic_bytes_) &&
           AllCanary(before_, kPad) && AllCanary(after_, kPad);
  }

 private:
  [[nodiscard]] uint64_t Used() const { return (dynamic_bytes_ + kPage - 1) / kPage * kPage; }
  static bool AllCanary(const unsigned char* bytes, size_t count) {
    return count == 0 || (bytes[0] == kCanary && memcmp(bytes, bytes + 1, count - 1) == 0);
  }

  unsigned char* dynamic_;
  uint64_t dynamic_bytes_;
  Segment static_;
  unsigned char *before_ = nullptr, *after_ = nullptr;
};

// The i-th block: i times an odd number modulo a power of two visits all, in no order that a
// kernel could rely on.
class BlockOrder {
 public:
  BlockOrder(Index blocks, uint64_t seed, bool shuffled)
      : blocks_(blocks), count_(uint64_t{blocks.x} * blocks.y * blocks.z), next_(0) {
    while (room_ < count_) room_ *= 2;
    Random random(seed);
    if (shuffled) step_ = random.Next() | 1, next_ = random.Next() & (room_ - 1);
  }
  [[nodiscard]] uint64_t count() const { return count_; }
  Index Next() {
    while (next_ >= count_) Step();
    uint64_t i = next_;
    Step();
    return {static_cast<unsigned>(i % blocks_.x), static_cast<unsigned>(i / blocks_.x % blocks_.y),
            static_cast<unsigned>(i / blocks_.x / blocks_.y)};
  }

 private:
  void Step() { next_ = (next_ + step_) & (room_ - 1); }
  Index blocks_;
  uint64_t count_, room_ = 1, next_, step_ = 1;
};

}  // namespace

Outcome RunGrid(const Grid& grid) {
  const Module& module = *grid.module;
  Block block(module, *grid.kernel, grid.args, grid.threads, grid.seed);
  SharedMemory shared(module, grid.dynamic_shared);
  BlockOrder order(grid.blocks, grid.seed, grid.shuffled);
  *module.api = &kApi;
  *module.block_dim = grid.threads;
  *module.grid_dim = grid.blocks;
  g_block = &block;
  g_thread = pthread_self();
  {
    Handlers handlers(grid.limit_s);
    for (uint64_t i = 0; i < order.count() && block.fault() == 0; ++i) {
      *module.block = order.Next();
      shared.Reset();
      if (block.Run() && !shared.Whole()) {
        block.Fail(kIllegalAddress, "a write outside the shared memory of the block");
      }
    }
  }
  g_block = nullptr;
  return {block.fault(), block.why()};
}

uint64_t StaticSharedBytes(const Module& module) {
  uint64_t bytes = StaticShared(module).bytes;
  return bytes > 2 * kPad ? bytes - 2 * kPad : 0;
}

}  // namespace kb_emulator
