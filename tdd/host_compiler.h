// The C++ compiler of this machine, for judges: found, run without a shell in a sandbox, and its
// failures told in one line.
#pragma once

#include <string>
#include <vector>

#include "tdd/process.h"
#include "tdd/status.h"

namespace kb {

// A compiler and the GoogleTest to link with: a library that it finds, or source.
struct HostCompiler {
  std::vector<std::string> command;  // empty: none
  std::string identity;              // its version and the library's place
  std::string gtest;                 // "": the library; else the folder of GoogleTest's source
};

// $CXX (split at spaces), c++, g++ or clang++: the first that runs and has GoogleTest. None: `*why`
// says what is missing and what to install. `folder`: where it may write.
[[nodiscard]] HostCompiler FindHostCompiler(const std::string& folder, std::string* why);

// Runs `command` with `arguments` in `folder`.
[[nodiscard]] ProcessResult RunCompiler(const std::vector<std::string>& command,
                                        const std::vector<std::string>& arguments,
                                        const std::string& folder);

// What its end means: kPassed, kInvalidReference (with the first error), kTimeoutBuild,
// kSkipped("no compiler") if a library is not installed, kInfraError if it did not start.
[[nodiscard]] Verdict CompilerVerdict(const ProcessResult& result);

}  // namespace kb
