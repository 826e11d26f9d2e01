#include "tests/tdd/emulator/block.h"

#include <cstring>
#include <utility>

namespace kb_emulator {
namespace {

constexpr uint64_t kAbsent = 0x7ff7a5a57ff7a5a5;  // a NaN as f32 and f64
constexpr unsigned kYieldOneIn = 16;

Block* g_block = nullptr;

Fibers& AllFibers() {
  static auto* fibers = new Fibers(kMaxThreads, [](unsigned) { g_block->RunKernel(); });
  return *fibers;
}

}  // namespace

uint64_t Random::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

Block::Block(const Module& module, const Kernel& kernel, void** args, Index threads, uint64_t seed)
    : module_(module),
      kernel_(kernel),
      args_(args),
      count_(threads.x * threads.y * threads.z),
      random_(seed),
      threads_(count_),
      states_(count_),
      order_(count_),
      held_(count_),
      active_(count_),
      warps_((count_ + kWarp - 1) / kWarp) {
  for (unsigned t = 0; t < count_; ++t) {
    threads_[t].index = {t % threads.x, t / threads.x % threads.y, t / threads.x / threads.y};
    threads_[t].lane = t % kWarp;
    threads_[t].warp = t / kWarp;
    order_[t] = t;
  }
}

bool Block::Run() {
  g_block = this;
  live_ = count_;
  at_barrier_ = predicates_ = 0;
  for (Warp& warp : warps_) warp.live = 0;  // the block before left all exchanges free
  for (unsigned t = 0; t < count_; ++t) {
    states_[t] = State::kReady;
    held_[t] = nullptr;
    warps_[t / kWarp].live |= 1u << t % kWarp;
    AllFibers().Reset(t);
  }
  for (unsigned i = count_; i > 1; --i) std::swap(order_[i - 1], order_[random_.Below(i)]);
  while (live_ > 0) {
    bool ran = TakeTurns();
    if (fault_ != 0) return false;
    if (!ran && live_ > 0 && !ReleaseActiveMasks()) {
      Fail(kLaunchTimeout, Waiting().c_str());
      return false;
    }
  }
  return true;
}

// Each thread that can run has a turn, from a random place on. True: one had.
bool Block::TakeTurns() {
  bool ran = false;
  unsigned start = random_.Below(count_);
  for (unsigned i = 0; i < count_ && fault_ == 0; ++i) {
    unsigned place = start + i < count_ ? start + i : start + i - count_;
    unsigned t = order_[place];
    if (states_[t] != State::kReady) continue;
    ran = true;
    current_ = t;
    *module_.thread = &threads_[t];
    in_fiber_ = true;
    AllFibers().Resume(t);
    in_fiber_ = false;
  }
  return ran;
}

void Block::RunKernel() {
  kernel_.call(args_);
  End();
}

void Block::End() {
  unsigned t = current_;
  Warp& warp = warps_[t / kWarp];
  states_[t] = State::kDone;
  --live_;
  warp.live &= ~(1u << t % kWarp);
  if (held_[t] != nullptr) held_[t]->holders &= ~(1u << t % kWarp);
  held_[t] = nullptr;
  ReleaseBarrierIfFull();
  if (warp.open > 0) {
    for (Exchange& exchange : warp.exchanges) CompleteIfFull(&warp, t / kWarp, &exchange);
  }
  AllFibers().Leave(t);
}

void Block::Wait(State state) {
  unsigned t = current_;
  states_[t] = state;
  AllFibers().Leave(t);
}

void Block::Fail(int fault, const char* why) {
  if (fault_ == 0) {
    why_ = why;
    fault_ = fault;
  }
  if (in_fiber_) AllFibers().Leave(current_);
}

unsigned Block::Barrier(int predicate, unsigned* live) {
  unsigned t = current_;
  ++at_barrier_;
  predicates_ += predicate != 0;
  states_[t] = State::kAtBarrier;
  ReleaseBarrierIfFull();
  if (states_[t] != State::kReady) Wait(State::kAtBarrier);
  *live = result_live_;
  return result_;
}

// Threads that have ended are not waited for, as on GPUs since Volta.
void Block::ReleaseBarrierIfFull() {
  if (at_barrier_ == 0 || at_barrier_ < live_) return;
  result_ = predicates_;
  result_live_ = live_;
  at_barrier_ = predicates_ = 0;
  for (State& state : states_) {
    if (state == State::kAtBarrier) state = State::kReady;
  }
}

Block::Exchange* Block::Join(Warp* warp, unsigned mask) {
  Exchange* free = nullptr;
  for (Exchange& exchange : warp->exchanges) {
    if (exchange.mask == mask && !exchange.complete) return &exchange;
    if (free == nullptr && exchange.mask == 0 && exchange.holders == 0) free = &exchange;
  }
  *free = Exchange();  // there is one: each lane holds one at most and waits in one at most
  free->mask = mask;
  ++warp->open;
  for (uint64_t& value : free->values) value = kAbsent;
  return free;
}

const uint64_t* Block::Gather(unsigned mask, uint64_t value, unsigned* present) {
  unsigned t = current_;
  unsigned bit = 1u << t % kWarp;
  Warp& warp = warps_[t / kWarp];
  if ((mask & bit) == 0) Fail(kLaunchFailed, "a lane calls a warp function whose mask omits it");
  if (held_[t] != nullptr) held_[t]->holders &= ~bit;
  Exchange* exchange = Join(&warp, mask);
  exchange->values[t % kWarp] = value;
  exchange->arrived |= bit;
  exchange->holders |= bit;
  held_[t] = exchange;
  states_[t] = State::kInGather;
  CompleteIfFull(&warp, t / kWarp, exchange);
  if (states_[t] != State::kReady) Wait(State::kInGather);
  *present = exchange->arrived;
  return exchange->values;
}

void Block::CompleteIfFull(Warp* warp, unsigned warp_index, Exchange* exchange) {
  if (exchange->mask == 0 || (exchange->mask & warp->live & ~exchange->arrived) != 0) return;
  exchange->complete = true;
  --warp->open;
  exchange->mask = 0;  // nobody joins it now; its holders may read it
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    unsigned t = warp_index * kWarp + lane;
    if ((exchange->arrived >> lane & 1) != 0 && t < count_ && states_[t] == State::kInGather &&
        held_[t] == exchange) {
      states_[t] = State::kReady;
    }
  }
}

unsigned Block::ActiveMask() {
  unsigned t = current_;
  Wait(State::kInActiveMask);
  return active_[t];
}

// Lanes that asked for the active mask run on together once nothing else can run.
bool Block::ReleaseActiveMasks() {
  bool any = false;
  for (unsigned w = 0; w < warps_.size(); ++w) {
    unsigned mask = 0;
    for (unsigned t = w * kWarp; t < count_ && t < (w + 1) * kWarp; ++t) {
      if (states_[t] == State::kInActiveMask) mask |= 1u << t % kWarp;
    }
    for (unsigned t = w * kWarp; t < count_ && t < (w + 1) * kWarp; ++t) {
      if (states_[t] != State::kInActiveMask) continue;
      active_[t] = mask;
      states_[t] = State::kReady;
      any = true;
    }
  }
  return any;
}

void Block::Yield() {
  if (random_.Below(kYieldOneIn) == 0) Wait(State::kReady);
}

std::string Block::Waiting() const {
  unsigned in_gather = 0;
  for (State state : states_) in_gather += state == State::kInGather;
  return std::to_string(at_barrier_) + " threads wait at __syncthreads and " +
         std::to_string(in_gather) + " in a warp function for " + std::to_string(live_) +
         " live ones: for ever";
}

}  // namespace kb_emulator
