// The rows of the command table for `kb tdd`. Included by commands.cc alone.
#pragma once

#include "cli/command.h"
#include "cli/run_commands.h"

namespace kb::tdd_commands {

inline constexpr Option kJson = {"--json", ArgType::kFlag, "", "one JSON value instead of text"};
inline constexpr Option kCases = {"CASE...", ArgType::kString, "",
                                  "names in tdd/cases, or folders; else all"};
inline constexpr Option kCandidate = {"--candidate...", ArgType::kString, "ID",
                                      "names in CASE/candidates, or folders; else all"};
inline constexpr Option kNoSanitize = {"--no-sanitize", ArgType::kFlag, "",
                                       "leave compute-sanitizer out; entries say so"};
inline constexpr Option kNoMeasure = {"--no-measure", ArgType::kFlag, "",
                                      "leave timing out; not recordable"};
inline constexpr Option kTrials = {
    "--trials", ArgType::kInt, "N", "of the tests, each with fresh inputs", false, "", "3",
    1,          1000};
inline constexpr Option kRunner = {
    "--runner", ArgType::kString, "WHERE", "local, or command:WORDS with {job} and {result}", false,
    "",         "local"};
inline constexpr Option kTimeout = {
    "--timeout", ArgType::kInt, "S", "of a runner's command", false, "", "3600", 1, 1000000};
inline constexpr Option kShard = {"--shard", ArgType::kString, "I/N",
                                  "only each N-th, from I on (0-based)"};
inline constexpr Option kFresh = {"--fresh", ArgType::kFlag, "",
                                  "prove again what passed before with the same files"};
inline constexpr Option kArch = {
    "--arch", ArgType::kString, "ARCH", "compile for it where there is no GPU", false,
    "",       "sm_90a"};
inline constexpr Option kFrom = {"--from", ArgType::kPath, "FILE",
                                 "results of kb worker or kb tdd run --out"};

inline constexpr Option kNew[] = {
    {"CASE", ArgType::kString, "", "lower-case words joined by hyphens", true},
    {"--dir", ArgType::kPath, "DIR", "where to make it", false, "", "tdd/cases"},
    kJson,
};
inline constexpr Option kCheck[] = {kCases, kCandidate, kShard, kArch, kJson};
inline constexpr Option kRed[] = {kCases, kCandidate, kShard, kRunner, kTimeout, kArch, kJson};
inline constexpr Option kRun[] = {
    kCases,      kCandidate,
    kNoSanitize, kNoMeasure,
    kTrials,     kRunner,
    kTimeout,    kShard,
    kFresh,      {"--out", ArgType::kPath, "FILE", "keep the results, for kb tdd record --from"},
    kArch,       kJson};
inline constexpr Option kJob[] = {
    kCases,      kCandidate, {"--to", ArgType::kPath, "DIR", "a new folder", false, "", "job"},
    kNoSanitize, kNoMeasure, kTrials,
    kShard,      kJson};
inline constexpr Option kProve[] = {{"ENTRY...", ArgType::kString, "", "nnk/ID"},
                                    {"--all", ArgType::kFlag, "", "all entries"},
                                    {"--red", ArgType::kFlag, "", "prove red again, too"},
                                    kFrom,
                                    kNoSanitize,
                                    kRunner,
                                    kTimeout,
                                    kShard,
                                    kJson};
inline constexpr Option kRecord[] = {
    kCases,
    kCandidate,
    kFrom,
    {"--id", ArgType::kString, "ID", "of the entry", false, "", "CASE-CANDIDATE"},
    {"--negative", ArgType::kFlag, "", "claim that it does not help"},
    kRunner,
    kTimeout,
    kFresh,
    kJson};
inline constexpr Option kAttempt[] = {
    {"DIR", ArgType::kPath, "", "the candidate's folder", true},
    {"--trace", ArgType::kPath, "FILE", "the trace; made if it is not there"},
    {"--hypothesis", ArgType::kString, "TEXT", "what should get better, and why"},
    {"--before", ArgType::kPath, "DIR", "the candidate that it was made from, for the diff"},
    {"--parent", ArgType::kString, "ATTEMPT", "else the best so far"},
    {"--decision", ArgType::kString, "WORD", "keep|revert|branch|abandon|park", false,
     "keep|revert|branch|abandon|park"},
    {"--why", ArgType::kString, "TEXT", "what was learned; else the verdict in words"},
    {"--case", ArgType::kString, "CASE", "if DIR lies elsewhere"},
    kFrom,
    kNoSanitize,
    kRunner,
    kTimeout,
    kFresh,
    kJson};
inline constexpr Option kExploits[] = {
    {"NAME...", ArgType::kString, "", "only these"},
    {"--dir", ArgType::kPath, "DIR", "the catalogue", false, "", "tests/tdd/exploits"},
    {"--out", ArgType::kPath, "FILE", "keep the table as JSON"},
    kJson};
inline constexpr Option kPeaks[] = {kJson};
inline constexpr Option kWorker[] = {
    {"--job", ArgType::kPath, "DIR", "made by kb tdd job"},
    {"--result", ArgType::kPath, "FILE", "written after each proof; what it holds is kept"},
    {"--again", ArgType::kPath, "FILE", "results whose red and sanitizers stand"},
    {"--workers", ArgType::kInt, "N", "on the GPU at once, for mutants", false, "", "4", 1, 64},
    kShard,
    kJson};

inline constexpr Command kCommands[] = {
    {"tdd new", "start a case: its test fails first", "kb tdd new row-sum-f32",
     "0 made; 2 could not", kNew, RunTddNew},
    {"tdd check", "check cases and candidates; run nothing of theirs", "kb tdd check axpy-f32",
     "0 sound; 1 findings; 2 could not, or no toolkit", kCheck, RunTddCheck},
    {"tdd red", "say which wrong kernels the tests catch", "kb tdd red axpy-f32 --candidate naive",
     "0 the tests can fail; 1 they are too weak; 2 could not, or no GPU", kRed, RunTddRed},
    {"tdd run", "prove candidates: red, green, sanitize, measure",
     "kb tdd run axpy-f32 --candidate float4", "0 passed; 1 failed; 2 could not, or no GPU", kRun,
     RunTddRun},
    {"tdd job", "make a folder to be proved on another machine",
     "kb tdd job axpy-f32 --to /tmp/job", "0 made; 2 could not", kJob, RunTddJob},
    {"tdd record", "turn what was proved into entries, if it is news",
     "kb tdd record --from results.json", "0 recorded; 1 nothing new; 2 could not", kRecord,
     RunTddRecord},
    {"tdd prove", "prove entries again and add the evidence", "kb tdd prove --all --shard 0/4",
     "0 all hold; 1 one does not; 2 could not, or no GPU", kProve, RunTddProve},
    {"tdd attempt", "prove a candidate and append the attempt to a trace",
     "kb tdd attempt --trace t.md --hypothesis \"fewer loads\" ./float4",
     "0 passed; 1 failed; 2 could not, or no GPU", kAttempt, RunTddAttempt},
    {"tdd exploits", "try the catalogue of forged kernels", "kb tdd exploits",
     "0 all caught; 1 one was not; 2 could not, or no GPU for some", kExploits, RunTddExploits},
    {"tdd peaks", "measure what this GPU can do at best", "kb tdd peaks",
     "0 measured; 2 could not, or no GPU", kPeaks, RunTddPeaks},
    {"worker", "prove a job on this machine", "kb worker --job /tmp/job --result results.json",
     "0 all passed; 1 one failed; 2 could not, or no GPU", kWorker, RunWorker},
};

}  // namespace kb::tdd_commands
