// Random numbers by position: element i of a tensor depends on the tensor's key and i alone, so
// that all cores draw at once and the same set can be drawn again.
#pragma once

#include <cstdint>

#include "tdd/case_test.h"

namespace kb::test::internal {

// A key of its own for each (seed, run, tensor).
[[nodiscard]] uint64_t KeyOf(uint64_t seed, uint64_t run, uint64_t tensor);

// Elements [begin, begin + n), not yet rounded to a dtype. `begin` is even.
void Draw(const Filling& filling, uint64_t key, int64_t begin, int64_t n, double* values);

}  // namespace kb::test::internal
