// A job: a folder that holds all that a proof needs (cases, candidates, built judges), to be
// carried to a machine with a GPU, and the one file of results that comes back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tdd/evaluation.h"
#include "tdd/session.h"

namespace kb {

struct ProofTarget {
  std::string case_folder, candidate_folder;
  Value known_red;  // null: red is proved anew
};

// Writes job.json {"kb": "job/1", "options", "proofs": [{case, candidate, known_red}]}, cases/,
// candidates/ and judges/ below `folder`, which must be new or empty. Throws Error.
void WriteJob(const std::string& folder, const std::vector<ProofTarget>& targets,
              const ProofOptions& options, const std::string& judges_folder);

// Proves all that the job in `folder` asks for and rewrites `result` after each. What `result`
// already holds for this job is not proved again. Throws Error if this is no job.
// `again`, if not "": results of an earlier run, whose red and sanitize sections, where they
// passed, stand in for those stages. `shard` of `shards`: only every shards-th proof, from shard
// (0-based) on.
void RunJob(const std::string& folder, const std::string& result, const std::string& again,
            ProofTools tools, int shard = 0, int shards = 1);

// The evaluations of a file of results, in the job's order. Throws Error.
[[nodiscard]] std::vector<Evaluation> ReadResults(const std::string& path);

// Carries the job by a command: `command` is split at spaces, "{job}" and "{result}" in its words
// are replaced; no shell. Throws Error if it fails or brings no result.
void CarryJob(const std::string& command, const std::string& job, const std::string& result,
              double timeout_s);

}  // namespace kb
