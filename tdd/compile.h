// Compiles a candidate, whose source nobody has looked at: in a child process with a deadline, a
// bound on its memory, no network and a folder of its own, so that templates without an end, a
// header that includes itself, or a compiler that falls over are verdicts.
#pragma once

#include <string>
#include <vector>

#include "kb/value.h"
#include "tdd/candidate.h"
#include "tdd/case.h"
#include "tdd/ptxas.h"
#include "tdd/status.h"
#include "tdd/toolchain.h"

namespace kb {

// What the compiler is asked for a candidate of kind device: its flags, the first value of each
// param as a macro, its further files as headers. Source mutants are compiled with the same.
[[nodiscard]] CompileRequest RequestFor(const Candidate& candidate, const std::string& arch);

struct CompileRequestOf {
  std::string arch;                      // "sm_90a"
  const Toolchain* toolchain = nullptr;  // its version is recorded
  std::string kb;    // path of the kb binary, which becomes the child; "": compiled in this process
                     // by `toolchain`, without a deadline: trusted sources and tests
  std::string temp;  // the child's folder is made below it; "": see scratch.h
  double timeout_s = 120;
};

struct Compiled {
  // kCompileError: with the compiler's first error. kLinkError: launch.yaml names a kernel that
  // the source lacks. kTimeoutBuild. kSkipped("no toolchain"): host candidates need nvcc.
  // kInfraError: the compiler does not know the architecture, or no child could be started.
  Verdict verdict;
  std::string binary;  // a cubin; host kind: a shared object
  std::string log;     // the compiler's own words
  std::string compiler, arch;
  std::vector<std::string> options;
  std::vector<KernelResources> kernels;
  double cpu_s = 0, wall_s = 0;
};

[[nodiscard]] Compiled CompileCandidate(const Case& for_case, const Candidate& candidate,
                                        const CompileRequestOf& request);

// {"compiler", "arch", "options", "kernels": [...], "log" (if not compiled), "cpu_s", "wall_s"}.
[[nodiscard]] Value ToValue(const Compiled& compiled);

// The child's side, `kb compile-child`: compiles request.json of the working folder with NVRTC
// into `binary`, `log` and `version` there. Its exit code: 0 also if
// the source does not compile; 2: no NVRTC; 3: could not.
[[nodiscard]] int ServeCompile();

}  // namespace kb
