#include "tests/tdd/emulator/fiber.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>

// swapcontext makes two system calls a hop (0.3 us); the hop written out takes 3 ns.
#if defined(__x86_64__) && !defined(KB_FIBERS_BY_UCONTEXT)
#define KB_FIBERS_BY_HAND 1
extern "C" void kb_emulator_hop(void** save, void* load);
asm(R"(
.text
.p2align 4
.hidden kb_emulator_hop
.globl kb_emulator_hop
.type kb_emulator_hop, @function
kb_emulator_hop:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size kb_emulator_hop, .-kb_emulator_hop
.section .note.GNU-stack,"",@progbits
.text
)");
#endif

namespace kb_emulator {
namespace {

constexpr size_t kGuardBytes = 64 << 10;

// What a fresh fiber is to run: handed over through these, as its first frame has no caller.
Fibers::Body g_body;
unsigned g_fiber;

void Enter() {
  g_body(g_fiber);
  std::abort();  // a body ends with Leave
}

unsigned char* MapStacks(unsigned count) {
  const size_t each = Fibers::kStackBytes + kGuardBytes;
  void* all = mmap(nullptr, each * count, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) std::abort();
  auto* base = static_cast<unsigned char*>(all);
  for (unsigned i = 0; i < count; ++i) mprotect(base + i * each, kGuardBytes, PROT_NONE);
  return base;
}

unsigned char* Bottom(unsigned char* stacks, unsigned fiber) {
  return stacks + fiber * (Fibers::kStackBytes + kGuardBytes) + kGuardBytes;
}

// Tops stand at different places of a page: else all stacks fall into the same cache sets.
size_t Usable(unsigned fiber) { return Fibers::kStackBytes - (fiber % 61) * 320; }

}  // namespace

#ifdef KB_FIBERS_BY_HAND
struct Fibers::Stack {
  void* own;
  void* caller;
};
#else
struct Fibers::Stack {
  ucontext_t own, caller;
};
#endif

Fibers::Fibers(unsigned count, Body body)
    : stacks_(MapStacks(count)), contexts_(new Stack[count]()), body_(body) {}

#ifdef KB_FIBERS_BY_HAND

void Fibers::Reset(unsigned fiber) {
  auto top = reinterpret_cast<uintptr_t>(Bottom(stacks_, fiber) + Usable(fiber));
  auto* frame = reinterpret_cast<void**>(top & ~uintptr_t{63});
  *--frame = nullptr;                         // keeps the stack aligned as after a call
  *--frame = reinterpret_cast<void*>(Enter);  // where the hop returns to
  for (int i = 0; i < 6; ++i) *--frame = nullptr;
  contexts_[fiber].own = frame;
}

void Fibers::Resume(unsigned fiber) {
  g_body = body_;
  g_fiber = fiber;
  kb_emulator_hop(&contexts_[fiber].caller, contexts_[fiber].own);
}

void Fibers::Leave(unsigned fiber) {
  kb_emulator_hop(&contexts_[fiber].own, contexts_[fiber].caller);
}

#else

void Fibers::Reset(unsigned fiber) {
  ucontext_t& own = contexts_[fiber].own;
  getcontext(&own);
  own.uc_stack.ss_sp = Bottom(stacks_, fiber);
  own.uc_stack.ss_size = Usable(fiber) & ~size_t{63};
  own.uc_link = nullptr;
  makecontext(&own, Enter, 0);
}

void Fibers::Resume(unsigned fiber) {
  g_body = body_;
  g_fiber = fiber;
  swapcontext(&contexts_[fiber].caller, &contexts_[fiber].own);
}

void Fibers::Leave(unsigned fiber) { swapcontext(&contexts_[fiber].own, &contexts_[fiber].caller); }

#endif

}  // namespace kb_emulator
