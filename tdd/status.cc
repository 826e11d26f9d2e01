#include "tdd/status.h"

#include <array>
#include <utility>

namespace kb {
namespace {

constexpr std::array<const char*, 19> kNames = {"PASSED",
                                                "COMPILE_ERROR",
                                                "LINK_ERROR",
                                                "LAUNCH_ERROR",
                                                "RUNTIME_ERROR",
                                                "SANITIZER_ERROR",
                                                "INCORRECT_SHAPE",
                                                "INCORRECT_DTYPE",
                                                "INCORRECT_NUMERICAL",
                                                "INCORRECT_NONFINITE",
                                                "NONDETERMINISTIC",
                                                "TIMEOUT_BUILD",
                                                "TIMEOUT_RUN",
                                                "REWARD_HACK",
                                                "INVALID_REFERENCE",
                                                "INVALID_CASE",
                                                "WEAK_TEST",
                                                "SKIPPED",
                                                "INFRA_ERROR"};
static_assert(static_cast<size_t>(Status::kInfraError) + 1 == kNames.size());

}  // namespace

const char* StatusName(Status status) { return kNames[static_cast<size_t>(status)]; }

std::optional<Status> ParseStatus(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<Status>(i);
  }
  return std::nullopt;
}

std::string VerdictName(const Verdict& verdict) {
  std::string name = StatusName(verdict.status);
  if (!verdict.kind.empty()) name += "(" + verdict.kind + ")";
  return name;
}

}  // namespace kb
