// The sanitize stage: the case's tests once more, with the worker under compute-sanitizer's
// memcheck, racecheck, initcheck and synccheck. Before a tool's silence counts, it must have
// reported a fault that we planted: once a process, since neither tools nor GPU change in it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tdd/evaluation.h"
#include "tdd/green.h"
#include "tdd/toolchain.h"

namespace kb {

struct SanitizeOptions {
  std::string tool;  // path of compute-sanitizer; "": the stage is skipped and says so
  // Starts a worker whose command line begins with these words, with these "NAME=value". The tool
  // has written its log when the runner is gone.
  std::function<std::unique_ptr<Runner>(const std::vector<std::string>& prefix,
                                        const std::vector<std::string>& environment, Verdict* why)>
      start;
  uint64_t seed = 0;
  double timeout_s = 300;  // of one tool
  std::string temp;
};

// compute-sanitizer below the CUDA folders or in PATH; "" if there is none.
[[nodiscard]] std::string FindComputeSanitizer();

// What one tool wrote to its log. Formats: Compute Sanitizer 2025 (CUDA 13).
struct SanitizerLog {
  bool complete = false;  // it has a summary line
  int errors = 0;
  std::string first;  // the first finding, one line
};
[[nodiscard]] SanitizerLog ReadSanitizerLog(std::string_view text);

// Kernels with one fault each, for the tool of that name; "" for other names.
[[nodiscard]] std::string_view PlantedFault(std::string_view tool);

// "sanitize": {"tools": [{"name", "errors", "planted_found", "seconds", "first"}]}.
[[nodiscard]] StageReport ProveSanitized(const Case& for_case, const std::string& judge,
                                         const Program& program, const std::vector<RunPlan>& plans,
                                         const Toolchain& toolchain, const std::string& arch,
                                         const SanitizeOptions& options);

}  // namespace kb
