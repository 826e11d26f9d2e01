#include <array>

#include "cli/command.h"
#include "cli/run_commands.h"
#include "cli/tdd_commands.h"

namespace kb {
namespace {

template <typename Row, size_t A, size_t B>
constexpr std::array<Row, A + B> Join(const Row (&a)[A], const Row (&b)[B]) {
  std::array<Row, A + B> all = {};
  for (size_t i = 0; i < A; ++i) all[i] = a[i];
  for (size_t i = 0; i < B; ++i) all[A + i] = b[i];
  return all;
}

constexpr Option kJson = {"--json", ArgType::kFlag, "", "one JSON value instead of text"};

constexpr Option kGlobals[] = {
    {"--kb-dir", ArgType::kPath, "DIR", "the index folder (else KB_DIR, else the nearest .kb)"},
    {"--color", ArgType::kString, "WHEN", "auto|always|never; NO_COLOR is respected", false,
     "auto|always|never", "auto"},
    {"--quiet", ArgType::kFlag, "", "no progress and no notes on stderr"},
};

constexpr Option kFilters[] = {
    {"--kind...", ArgType::kString, "KIND", "skill|trace|nnk|page", false, "skill|trace|nnk|page"},
    {"--arch", ArgType::kString, "ARCH", "only what applies to it, e.g. sm_90"},
    {"--cuda", ArgType::kString, "VERSION", "only what applies to it, e.g. 13.0"},
    {"--dtype", ArgType::kString, "TYPE", "only what applies to it, e.g. bf16"},
    {"--bound", ArgType::kString, "BOUND", "memory|compute|latency", false,
     "memory|compute|latency"},
    {"--tag...", ArgType::kString, "TAG", "a topic it must have"},
    {"--state", ArgType::kString, "STATE", "proved|replicated|stale|refuted", false,
     "proved|replicated|stale|refuted"},
    {"--license", ArgType::kString, "SPDX", "e.g. Apache-2.0"},
};

constexpr Option kIndex[] = {
    {"ROOT...", ArgType::kPath, "", "folders or files; else those of the last run"},
    {"--embedder", ArgType::kString, "NAME", "lsa|none|model2vec:FOLDER|http:URL#MODEL", false, "",
     "lsa"},
    {"--rebuild", ArgType::kFlag, "", "forget the old index first"},
    {"--allow-suppressed", ArgType::kFlag, "", "index what waives its own safety findings"},
    {"--threads", ArgType::kInt, "N", "how many files are read at once", false, "", "", 1, 256},
    kJson,
};

constexpr Option kSearchOwn[] = {
    {"QUERY...", ArgType::kString, "", "the question; identifiers are found whole", true},
    {"-k", ArgType::kInt, "N", "at most so many answers", false, "", "10", 1, 1000},
    {"--variant", ArgType::kString, "LEG", "full|lexical|dense", false, "full|lexical|dense",
     "full"},
    {"--explain", ArgType::kFlag, "", "show what each score is made of"},
    kJson,
};
constexpr auto kSearch = Join(kSearchOwn, kFilters);

constexpr Option kGet[] = {
    {"DOCUMENT", ArgType::kString, "", "an id or a path; ID#CHUNK for a passage", true},
    kJson,
};

constexpr Option kContextOwn[] = {
    {"TASK...", ArgType::kString, "", "what is to be done", true},
    {"--budget", ArgType::kInt, "N", "never more tokens than this", false, "", "2000", 1, 1000000},
    {"--items", ArgType::kInt, "N", "at most so many items", false, "", "3", 1, 100},
    {"--format", ArgType::kString, "NAME", "md|xml|json", false, "md|xml|json", "md"},
    {"--json", ArgType::kFlag, "", "the same as --format json"},
};
constexpr auto kContext = Join(kContextOwn, kFilters);

constexpr Option kLint[] = {
    {"PATH...", ArgType::kPath, "", "files or folders; else skills, traces and nnk here"},
    {"--format", ArgType::kString, "NAME", "text|json|sarif", false, "text|json|sarif", "text"},
    {"--json", ArgType::kFlag, "", "the same as --format json"},
};

constexpr Option kServe[] = {
    {"--host", ArgType::kString, "HOST", "where to listen; not loopback: needs KB_SERVE_TOKEN",
     false, "", "127.0.0.1"},
    {"--port", ArgType::kInt, "N", "0: any free one, printed", false, "", "8080", 0, 65535},
    {"--threads", ArgType::kInt, "N", "requests answered at once", false, "", "", 1, 256},
    {"--rag", ArgType::kFlag, "", "answer POST / alone: no page, no /api/"},
    {"--budget", ArgType::kInt, "N", "tokens of what POST / answers", false, "", "4000", 100,
     1000000},
    {"--json", ArgType::kFlag, "", "say where it listens as JSON: {url, port, token}"},
};

constexpr Option kStatus[] = {
    {"--stale", ArgType::kFlag, "", "only what has moved on since it was indexed or proved"},
    kJson,
};

constexpr Option kTraceShow[] = {
    {"TRACE", ArgType::kString, "", "the id or path of a trace", true},
    kJson,
};

constexpr Option kAdvise[] = {
    {"--ncu", ArgType::kPath, "FILE", "a report: ncu --import R.ncu-rep --csv --page raw"},
    {"--longest", ArgType::kInt, "N", "only the N kernels of longest duration", false, "", "all", 1,
     10000},
    kJson,
};

constexpr Option kDoctor[] = {kJson};

constexpr Option kEvalRetrieval[] = {
    {"--queries", ArgType::kPath, "FILE", "questions: JSON lines {id, query, expected}"},
    {"--root", ArgType::kPath, "DIR", "judge this folder, in an index of its own"},
    {"--only...", ArgType::kString, "KEY=VALUE", "only questions with that field"},
    {"--gate", ArgType::kFlag, "", "fail if the full score is below lexical alone"},
    kJson,
};

constexpr Option kEvalDiff[] = {
    {"BASE", ArgType::kString, "", "a git revision, e.g. origin/main", true},
    {"--queries", ArgType::kPath, "FILE", "questions", false, "", "tests/content/queries.jsonl"},
    kJson,
};

constexpr Option kExport[] = {
    {"ID...", ArgType::kString, "", "only these, also if in doubt: no licence, unproved, stale"},
    {"--to", ArgType::kPath, "DIR", "a new or empty folder, or one that kb exported before"},
    {"--layout", ArgType::kString, "NAME", "agents|claude|cursor|github|plugin", false,
     "agents|claude|cursor|github|plugin", "agents"},
    {"--root...", ArgType::kPath, "DIR", "where skills are; else the roots of the index"},
    {"--name", ArgType::kString, "NAME", "of the plugin", false, "", "cuda-kernel-knowledge"},
    {"--allow-suppressed", ArgType::kFlag, "", "export what waives its own safety findings"},
    {"--force", ArgType::kFlag, "", "throw away what was edited in DIR since the last export"},
    kJson,
};

constexpr Option kNew[] = {
    {"NAME", ArgType::kString, "", "lower-case words joined by hyphens", true},
    {"--dir", ArgType::kPath, "DIR", "where to make it; else skills or traces"},
    kJson,
};

constexpr Command kOwnCommands[] = {
    {"index", "bring the index up to date with the Markdown files", "kb index skills traces nnk",
     "0 done, blocked files are named; 2 could not", kIndex, RunIndex},
    {"search", "find the passages that answer a question",
     "kb search \"hide load latency with cp.async\" --arch sm_90 -k 3",
     "0 found; 1 nothing applies; 2 could not", kSearch, RunSearch, "kb_search",
     "Search kernel knowledge",
     "Returns ranked passages with origin, trust and digest; read one with kb_get. Before you "
     "write or change a kernel call kb_context instead.",
     "--json --explain --variant"},
    {"get", "print a document or a passage, as indexed", "kb get warp-reduction-and-scan",
     "0 found; 1 no such document; 2 could not", kGet, RunGet, "kb_get", "Read a document",
     "Takes what kb_search and kb_context name. A long document is cut; `next` names the passage "
     "that follows.",
     "--json"},
    {"context", "write what an agent should read before a task",
     "kb context \"write a bf16 softmax for H100\" --budget 2000 --arch sm_90",
     "0 found; 1 nothing applies; 2 could not", kContext, RunContext, "kb_context",
     "Read up before a task",
     "Call this before you write, debug or optimise a CUDA kernel: what applies, the code that "
     "fits, pitfalls and how to check, within a token budget.",
     "--json --format"},
    {"lint", "check skills, traces and entries: format, safety, code", "kb lint skills",
     "0 no errors; 1 errors found; 2 could not", kLint, RunLint},
    {"status", "say what is indexed and whether it is up to date", "kb status --stale",
     "0 fine; 1 nothing indexed, or --stale found some; 2 could not", kStatus, RunStatus,
     "kb_status", "State of the knowledge base",
     "Counts, age of the index, and which files are behind, blocked, stale or refuted.",
     "--json --stale"},
    {"trace show", "show a recorded trace as a tree of attempts", "kb trace show softmax-2026-05",
     "0 found; 1 no such trace; 2 could not", kTraceShow, RunTraceShow, "kb_trace", "Read a trace",
     "How somebody got to a kernel: each attempt with its hypothesis, verdict and time, in the "
     "order of the tree, and the lessons.",
     "--json"},
    {"mcp",
     "serve agents by the Model Context Protocol, on stdio",
     "kb mcp --kb-dir .kb",
     "0 the client closed stdin; 2 could not",
     {},
     RunMcp},
    {"advise", "say what bounds each kernel of an Nsight Compute report",
     "kb advise --ncu report.csv", "0 said; 1 the report does not tell; 2 could not", kAdvise,
     RunAdvise, "kb_advise", "Advice from a profile",
     "Takes the text of `ncu --csv --page raw` and returns for each kernel the bound, the metrics "
     "that show it, what to do, and which skills and entries apply.",
     "--json"},
    {"doctor", "say what works, what is missing and how to get it", "kb doctor",
     "0 kb works; 1 something that it needs is broken; 2 could not", kDoctor, RunDoctor},
    {"serve", "answer over HTTP on this machine, with a page to browse", "kb serve --port 8080",
     "0 stopped by a signal; 2 could not", kServe, RunServe},
    {"eval retrieval", "judge the search by questions with known answers",
     "kb eval retrieval --root corpus --queries dev.jsonl --only named=false",
     "0 judged; 1 the gate failed or no questions; 2 could not", kEvalRetrieval, RunEvalRetrieval},
    {"eval diff", "say what agents would now retrieve and did not", "kb eval diff origin/main",
     "0 compared; 2 could not", kEvalDiff, RunEvalDiff},
    {"export", "write skills for other agents and installers",
     "kb export --to build/export --layout claude",
     "0 all exported; 1 some refused or left out; 2 could not", kExport, RunExport},
    {"new skill", "start a skill", "kb new skill register-blocking", "0 made; 2 could not", kNew,
     RunNewSkill},
    {"new trace", "start a trace", "kb new trace softmax-2026-05", "0 made; 2 could not", kNew,
     RunNewTrace},
};
constexpr auto kCommands = Join(kOwnCommands, tdd_commands::kCommands);

}  // namespace

std::span<const Command> Commands() { return kCommands; }

std::span<const Option> GlobalOptions() { return kGlobals; }

}  // namespace kb
