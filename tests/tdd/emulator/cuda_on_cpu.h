// CUDA C++ for g++: what a kernel's text needs to run on the CPU, a fiber a thread. Comes before
// the kernel's text, which was preprocessed already. Not emulated: inline PTX, mma, TMA, clusters.
#pragma once

#include "tests/tdd/emulator/cuda_atomics.h"
#include "tests/tdd/emulator/cuda_groups.h"
#include "tests/tdd/emulator/cuda_half.h"
#include "tests/tdd/emulator/cuda_math.h"
#include "tests/tdd/emulator/cuda_vectors.h"
#include "tests/tdd/emulator/cuda_warp.h"

namespace cuda {
namespace std = ::std;
}

// ---- how the driver calls a kernel ----
namespace kb_emulator {

template <class... A>
struct Launcher {
  template <void (*F)(A...), unsigned... I>
  static void Apply(void** args, std::integer_sequence<unsigned, I...>) {
    F(*static_cast<std::remove_cv_t<std::remove_reference_t<A>>*>(args[I])...);
  }
  template <void (*F)(A...)>
  static void Call(void** args) {
    Apply<F>(args, std::make_integer_sequence<unsigned, sizeof...(A)>());
  }
  static constexpr unsigned kBytes[] = {sizeof(A)..., 0};
  static constexpr unsigned kAligns[] = {alignof(A)..., 1};
};

template <auto F, class... A>
constexpr Kernel Describe(void (*)(A...)) {
  return {Launcher<A...>::template Call<F>, Launcher<A...>::kBytes, Launcher<A...>::kAligns,
          sizeof...(A)};
}

}  // namespace kb_emulator

// One for each kernel, then the end, both after the kernels' text.
#define KB_KERNEL(name)                                 \
  KB_EXPORT const kb_emulator::Kernel kb_kernel_##name; \
  const kb_emulator::Kernel kb_kernel_##name = kb_emulator::Describe<name>(name);
#define KB_END                                                                                    \
  static thread_local unsigned char kb_pad_after[kb_emulator::kPad];                              \
  static void kb_pads(unsigned char** before, unsigned char** after) {                            \
    *before = kb_pad_before;                                                                      \
    *after = kb_pad_after;                                                                        \
  }                                                                                               \
  KB_EXPORT const kb_emulator::Module kb_emulator_module;                                         \
  const kb_emulator::Module kb_emulator_module = {kb_emulator::kAbi, &kb_api,       &kb_thread,   \
                                                  &kb_block,         &kb_block_dim, &kb_grid_dim, \
                                                  kb_dynamic_shared, kb_pads};
