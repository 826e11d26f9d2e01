// kb's end of the line to a judge: what both the tests and the session need. Not for others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tdd/case.h"
#include "tdd/judge.h"
#include "tdd/process.h"

namespace kb {

// What the judge is to do, as the lines that tdd/judge/task.cc reads.
struct JudgeTask {
  bool session = false;  // the timed workloads; else the tests on the check ones
  uint64_t seed = 0;
  std::string mutant;  // "", "reference", or "NAME" or "NAME:OUTPUT" of a built-in one
  bool first_failure = false;
  std::string scratch;
};
// nullopt and why, if a shape or a number of the case cannot be had.
[[nodiscard]] std::optional<std::vector<std::string>> TaskLines(const Case& for_case,
                                                                const JudgeTask& task,
                                                                std::string* why);

// A judge that runs. It may write in `scratch` alone.
class JudgeLink {
 public:
  // Throws Error if it cannot be started.
  JudgeLink(const std::string& judge, const std::string& scratch, double timeout_s);

  [[nodiscard]] bool Send(std::string_view line) { return channel_.Send(line); }
  [[nodiscard]] bool Receive(std::string* line, double timeout_s) {
    return channel_.Receive(line, timeout_s);
  }
  void Kill() { process_->Kill(); }
  [[nodiscard]] ProcessResult Wait() { return process_->Wait(); }

 private:
  JudgeLink(const std::string& judge, const std::string& scratch, double timeout_s,
            ChannelPair pair);
  Channel channel_;
  std::unique_ptr<Process> process_;
};

// The first word of a line; the rest stays in `*line`.
[[nodiscard]] std::string TakeWord(std::string_view* line);
// "WORKLOAD OUTPUT ..." after "compare"; nullopt if it is not that.
[[nodiscard]] std::optional<Comparison> ParseComparison(const std::vector<Workload>& workloads,
                                                        std::string_view words);
// "STATUS KIND message" after "fault".
[[nodiscard]] Verdict ParseFault(std::string_view words);
// Undoes the \xNN of the judge's messages.
[[nodiscard]] std::string Unescape(std::string_view text);

}  // namespace kb
