// kb's side of one worker: the child process, its folder, what is loaded in it. A worker that
// faulted, hung or ended is dead, and is replaced by its owner.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kb/value.h"
#include "tdd/plan.h"
#include "tdd/process.h"
#include "tdd/runner.h"
#include "tdd/scratch.h"

namespace kb {

// Whose fault it is if a worker ends before it has answered.
enum class Blame { kOurs, kCandidates };

class WorkerProcess {
 public:
  // Throws Error if it cannot be started. `host`: it will run code of the candidate.
  WorkerProcess(const WorkerOptions& options, bool sandbox, bool host);
  // Ends it: at once, or behind a prefix by hanging up, so that the tool can write its log.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // The reply: its "verdict" is a map with a status in any case.
  [[nodiscard]] Value Ask(const char* operation, const Value& request, double timeout_s,
                          Blame blame);
  // Loads it if it is not loaded already.
  [[nodiscard]] Verdict Load(const Program& program);
  void Unload(int program);
  [[nodiscard]] bool dead() const { return dead_; }

  // Moves the outputs of `plan` that the worker has left below its folder `from` to `to`, after it
  // said that it passed. Not there: kRewardHack "forged-reply" where a host candidate could say so
  // in its place.
  [[nodiscard]] Verdict TakeOutputs(const RunPlan& plan, const std::string& from,
                                    const std::string& to);

 private:
  [[nodiscard]] Value Lost(const char* operation, double timeout_s, bool timed_out, Blame blame);
  void HangUp(double patience_s);
  Scratch scratch_;
  bool prefixed_, host_;
  bool dead_ = false;
  std::set<int> loaded_;
  ChannelPair channel_;
  std::unique_ptr<Process> process_;
};

}  // namespace kb
