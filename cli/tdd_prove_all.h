// Many proofs in a row: here, or on a machine with a GPU that a command reaches.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "tdd/job.h"

namespace kb {

// The cases and candidates that CASE..., --candidate and --shard name; all if none are named.
[[nodiscard]] std::vector<ProofTarget> NamedTargets(const Args& args);

// As --no-sanitize, --no-measure and --trials say.
[[nodiscard]] ProofOptions NamedOptions(const Args& args);

// Whether what was proved before with the same files, on the same GPU, may answer.
enum class Reuse { kNever, kUnlessFresh };

// One evaluation a target, in order. --runner "command:..." carries them away as a job; otherwise
// they are proved here, and what passed before is taken from `.kb/evaluations`: see `reuse`.
[[nodiscard]] std::vector<Evaluation> ProveAll(const std::vector<ProofTarget>& targets,
                                               const ProofOptions& options, const Args& args,
                                               Streams& streams, Reuse reuse);

}  // namespace kb
