// Source mutants: a candidate's own code with one fault planted. Text in, text out; nothing is
// compiled here. Understands enough CUDA C++ to leave comments, strings, preprocessor lines,
// template brackets and declarations' stars alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct Mutant {
  std::string name;          // "loop-bound:41:18"
  std::string operation;     // "comparison", "arithmetic", "loop-bound", "dropped-sync",
                             // "swapped-index", "dropped-guard", "narrowed-accumulator",
                             // "dropped-scale"
  int line = 0, column = 0;  // 1-based
  std::string diff;          // "-line\n+line": what changed
  std::string source;        // the whole mutated file
};

// All mutants of `source`, in order of place. At most `limit`: then an even sample over
// operations and places, the same each time.
[[nodiscard]] std::vector<Mutant> MutateSource(std::string_view source, size_t limit = 60);

}  // namespace kb
