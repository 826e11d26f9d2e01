// A candidate: one try at a case. `launch.yaml` beside its source says how our own host code
// launches it, so that no line of a `device` candidate runs on the host.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tdd/case.h"
#include "tdd/plan.h"

namespace kb {

enum class CandidateKind { kDevice, kHost };  // `program` cases are graded, never proved here

struct ArgSpec {
  // A tensor or workspace by name, a tensor map by name, an axis or expression as `type`
  // (default i32), or a scalar input by name (passed in its own dtype).
  std::string name;       // of tensor, workspace, tensor map or scalar input; else ""
  Expression expression;  // if name is ""
  Dtype type = Dtype::kI32;
};

struct LaunchSpec {
  std::string kernel;                                // extern "C" name
  Expression grid[3], block[3], shared, cluster[3];  // 1 where not given; shared 0: dynamic bytes
  std::vector<ArgSpec> args;
  Expression when;  // launched if not 0
  int line = 0;
};

struct WorkspaceSpec {
  std::string name;
  Expression bytes;   // 1 to 64 GiB
  bool zero = false;  // cleared before each run, inside the timed part
};

// cuTensorMapEncodeTiled: a tiled view of an input or output, passed as __grid_constant__.
struct TensorMapSpec {
  std::string name, tensor;
  int line = 0;
  Dtype dtype = Dtype::kBf16;
  std::vector<Expression> dims;     // innermost first, elements
  std::vector<Expression> strides;  // bytes, of all dimensions but the innermost
  std::vector<Expression> box;      // elements
  int swizzle_bytes = 0;            // 0, 32, 64, 128
};

// A header that the source includes as "name".
struct CandidateFile {
  std::string name;  // relative to the folder
  std::string text;
};

struct Candidate {
  std::string folder;  // as given
  std::string id;      // the folder's name
  CandidateKind kind = CandidateKind::kDevice;
  std::string title;
  std::string source;                // the file, relative to the folder
  std::string source_text;           // its bytes
  std::vector<CandidateFile> files;  // `files:`, the only local ones that it may include
  std::vector<std::string> flags;    // compiler options from an allow-list
  std::string arch;                  // scope, e.g. ">=sm_90a"; "" : any
  // For the entry that a record makes of it: where it holds, where not, what limits it.
  std::string scope, not_when, limit;
  bool precision_declared = false;  // says itself that it computes below the case's dtype
  std::vector<WorkspaceSpec> workspaces;
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<LaunchSpec> launches;  // device kind
  // For sweeps: name -> values. Names of the expressions above and macros of the source
  // (-DNAME=VALUE); the first value counts unless a sweep leaves another alone in the list.
  std::vector<std::pair<std::string, std::vector<int64_t>>> params;
  std::string sha256;  // of launch.yaml and all files named by it
};

struct LoadedCandidate {
  Candidate value;
  Diagnostics diagnostics;
  [[nodiscard]] bool ok() const;
};
// Reads `folder`/launch.yaml for this case. Paths that are absolute, hold "..", are or pass a
// symlink that leaves the folder, or alias a file of the case are errors. Bounded sizes.
[[nodiscard]] LoadedCandidate LoadCandidate(const std::string& folder, const Case& for_case);

// All launches, buffers and arguments for one workload, or why not ("grid x is 0 for n = 0").
// Checks CUDA's limits: grid 2^31-1 x 65535 x 65535, block 1024 threads (64 in z), shared
// memory 227 KiB, cluster 8 (16 where non-portable) and dividing the grid.
struct Planned {
  std::optional<RunPlan> plan;
  std::string why;
  int line = 0;  // of launch.yaml, where known
};
[[nodiscard]] Planned PlanRun(const Case& for_case, const Candidate& candidate, const Axes& axes);

// The static cheat lint: constructors, atexit, _exit, dlopen, ptrace, /proc, further streams,
// threads, static caches, access-policy windows, narrower types than the case's, fixed seeds,
// clock reads, inline PTX that prefetches or sets policies. Findings with lines; warnings, but
// constructors and process ends are errors (they end in REWARD_HACK).
[[nodiscard]] Diagnostics CheatLint(const Case& for_case, const Candidate& candidate);

}  // namespace kb
