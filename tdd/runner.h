// Runs compiled candidates on a GPU, in a child process: a hang, a trap or a sticky error is a
// verdict, not our crash. A worker is reused for many programs and replaced after any fault.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kb/value.h"
#include "tdd/plan.h"
#include "tdd/status.h"

namespace kb {

// What was measured where. Written into every evaluation.
struct Environment {
  std::string gpu;   // "NVIDIA H200"
  std::string arch;  // "sm_90"
  std::string gpu_uuid;
  std::string driver;  // "580.159.04"
  std::string cuda;    // of the driver: "13.0"
  int multiprocessors = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  std::string sandbox;    // what the worker is shut into: "pid, net, ... namespaces", "none"
  bool emulated = false;  // no GPU at all: a stand-in for tests; never recorded
  [[nodiscard]] Value ToValue() const;
};

// A compiled candidate, by a number that the caller chooses.
struct Program {
  int id = 0;
  bool host = false;   // a shared object with kb_run; else a cubin
  std::string binary;  // the bytes
};

// Files `in.<name>` in `folder` are read, `out.<name>` written. Outputs are poisoned before each
// run (0xFF bytes: NaN), each buffer lies between guard zones of 4 KiB that are checked after.
struct RunRequest {
  int program = 0;
  RunPlan plan;
  std::string folder;
  int repeats = 1;        // 2: runs twice and compares the outputs bitwise
  double timeout_s = 10;  // of the whole request
};

struct RunReply {
  Verdict verdict;  // kPassed: the outputs are there (right or not is the judge's word)
  bool deterministic = true;
  double device_us = 0;  // of the last run, by events; for deadlines, never for claims
};

struct Timed {
  int program = 0;
  RunPlan plan;
};

// `rounds` rounds of ABBA: baseline, candidate, candidate, baseline; fewer if `timeout_s` comes
// near. AB and BA take the next two of `input_folders` (all resident on the GPU, rotated), so that
// both sides see the same inputs. Each call is timed by its own pair of CUDA events. Outputs and
// workspaces are poisoned before each. If one of the two is of host kind, all streams are waited
// for before the last event of both, so that work elsewhere counts (and is told: kRewardHack).
struct MeasureRequest {
  Timed baseline, candidate;
  std::vector<std::string> input_folders;
  bool cold_l2 = true;  // L2 is overwritten before each call; else it runs once untimed before
  int rounds = 50;
  std::vector<int> checked_rounds;  // outputs of these rounds' candidate calls are written to
                                    // `check_folder`/<k>/out.<name>, k = 0, 1, ...
  std::string check_folder;
  double timeout_s = 60;
};

struct CheckedCall {
  int round = 0;
  int input_folder = 0;  // its index
  std::string folder;    // where the outputs are
};

struct MeasureReply {
  Verdict verdict;
  std::vector<double> baseline_us, candidate_us;  // two a round, in order, none dropped
  std::vector<bool> throttled;                    // a round whose clocks were held down
  std::vector<CheckedCall> checked;
  double wall_s = 0;  // of the whole loop, by the worker's clock; the caller compares its own
  Value conditions;  // clocks, temperature, power, throttle reasons, other processes: before, after
};

// Energy by NVML's counter over a loop of `seconds`, divided by the runs. Joules; 0: not known. The
// loop: batches of about 20 ms of runs on the same inputs, L2 as the run before leaves it, the GPU
// waited for between batches. Outputs and workspaces are poisoned before the first run and then
// once in 64 runs or more, and some KiB of an output before the last run of each batch, which must
// write them again (else kRewardHack "timed-output"). Counted in the joules but not as runs: these
// fills (at most about a run in 64) and the waits. Not counted at all: the calibration.
struct EnergyRequest {
  Timed timed;
  std::string input_folder;
  double seconds = 2;
};
struct EnergyReply {
  Verdict verdict;
  double joules_per_run = 0;
  int64_t runs = 0;
  double waited_s = 0;  // by the runner's own clock, once the GPU was ours; 0: not told
};

// What this GPU can do, measured in this session.
struct Peaks {
  double copy_bytes_per_s = 0;  // device to device, read plus written
  double bf16_flops_per_s = 0;  // cuBLAS matrix product, random data; 0: no cuBLAS found
  std::string how;              // sizes, samples, libraries
};
struct PeaksReply {
  Verdict verdict;
  Peaks peaks;
};

class Runner {
 public:
  virtual ~Runner() = default;
  [[nodiscard]] virtual const Environment& environment() const = 0;
  // Loads, or replaces what has this id. A cubin that does not load: kLinkError. Loaded programs
  // survive a fault: the next worker loads them again.
  [[nodiscard]] virtual Verdict Load(const Program& program) = 0;
  virtual void Unload(int program) = 0;
  [[nodiscard]] virtual RunReply Run(const RunRequest& request) = 0;
  [[nodiscard]] virtual MeasureReply Measure(const MeasureRequest& request) = 0;
  [[nodiscard]] virtual EnergyReply Energy(const EnergyRequest& request) = 0;
  [[nodiscard]] virtual PeaksReply MeasurePeaks() = 0;
};

struct WorkerOptions {
  std::string kb;                        // path of the kb binary that becomes the worker
  std::string driver;                    // "" : libcuda.so.1; else a stand-in (tests)
  std::vector<std::string> prefix;       // e.g. compute-sanitizer and its options: the worker is
                                         // then ended so that they see it end by itself
  std::vector<std::string> environment;  // "NAME=value" beside the few that a worker gets
  bool poison = true;  // false: outputs and workspaces stay as allocated, for initcheck
};

// Starts a worker. Null with a verdict of kSkipped ("no device": `*why` says what is missing) or
// kInfraError.
[[nodiscard]] std::unique_ptr<Runner> StartWorker(const WorkerOptions& options, Verdict* why);

// The worker's side: answers requests on file descriptor `fd` until it is closed. Exit code.
[[nodiscard]] int ServeWorker(int fd, const std::string& driver);

}  // namespace kb
