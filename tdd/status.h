// How a kernel fared: one status for each way to fail, so that faults of the candidate, of the
// case and of the machine are never mixed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kb {

enum class Status {
  kPassed,
  kCompileError,
  kLinkError,
  kLaunchError,
  kRuntimeError,
  kSanitizerError,
  kIncorrectShape,
  kIncorrectDtype,
  kIncorrectNumerical,
  kIncorrectNonfinite,
  kNondeterministic,  // and the case demands the same bits each time
  kTimeoutBuild,
  kTimeoutRun,
  kRewardHack,        // the verdict's kind says which
  kInvalidReference,  // the case's own reference fails or is not finite
  kInvalidCase,       // case.yaml, launch.yaml or a path in them breaks a rule
  kWeakTest,          // the case's test lets too many wrong kernels pass
  kSkipped,           // the verdict's kind says why, e.g. "no device"
  kInfraError,        // ours or the machine's fault, not the candidate's
};

// "PASSED", "COMPILE_ERROR", ... as proof records spell them.
[[nodiscard]] const char* StatusName(Status status);
[[nodiscard]] std::optional<Status> ParseStatus(std::string_view name);

struct Verdict {
  Status status = Status::kPassed;
  std::string kind;     // of kRewardHack and kSkipped: "persisting-l2", "no device"; else ""
  std::string message;  // one line: what, where, why, how to mend it; "" if passed
  [[nodiscard]] bool passed() const { return status == Status::kPassed; }
};

// "REWARD_HACK(persisting-l2)".
[[nodiscard]] std::string VerdictName(const Verdict& verdict);

}  // namespace kb
