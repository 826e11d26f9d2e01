// Source mutants: a candidate's own code with one fault planted. Text in, text out; nothing is
// compiled here. Understands enough CUDA C++ to leave comments, strings, preprocessor lines,
// template brackets and declarations' stars alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct Mutant {
  std::string name;          // "loop-bound:41:18"; a second one at a place: "loop-bound:41:18b"
  std::string operation;     // one of MutantOperations()
  int line = 0, column = 0;  // 1-based, bytes
  std::string was, now;      // the lines it touches, as many after as before, '\n' between
  std::string diff;          // "-line\n+line": all of `was`, then all of `now`
  std::string source;        // the whole mutated file
};

// "arithmetic", "comparison", "constant", "dropped-guard", "dropped-scale", "dropped-sync",
// "loop-bound", "narrowed-accumulator", "off-by-one", "swapped-index".
[[nodiscard]] const std::vector<std::string>& MutantOperations();

// All mutants of `source`, in order of place. At most `limit`: then an even sample over
// operations and places, the same each time. Only the first MiB is mutated.
[[nodiscard]] std::vector<Mutant> MutateSource(std::string_view source, size_t limit = 60);

}  // namespace kb
