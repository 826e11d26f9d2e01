// The commands' functions, as the command table names them. Each throws Error.
#pragma once

#include "cli/command.h"

namespace kb {

[[nodiscard]] int RunIndex(const Args& args, Streams& streams);
[[nodiscard]] int RunSearch(const Args& args, Streams& streams);
[[nodiscard]] int RunGet(const Args& args, Streams& streams);
[[nodiscard]] int RunContext(const Args& args, Streams& streams);
[[nodiscard]] int RunLint(const Args& args, Streams& streams);
[[nodiscard]] int RunServe(const Args& args, Streams& streams);
[[nodiscard]] int RunStatus(const Args& args, Streams& streams);
[[nodiscard]] int RunTraceShow(const Args& args, Streams& streams);
[[nodiscard]] int RunMcp(const Args& args, Streams& streams);
[[nodiscard]] int RunAdvise(const Args& args, Streams& streams);
[[nodiscard]] int RunDoctor(const Args& args, Streams& streams);
[[nodiscard]] int RunEvalRetrieval(const Args& args, Streams& streams);
[[nodiscard]] int RunEvalDiff(const Args& args, Streams& streams);
[[nodiscard]] int RunExport(const Args& args, Streams& streams);
[[nodiscard]] int RunNewSkill(const Args& args, Streams& streams);
[[nodiscard]] int RunNewTrace(const Args& args, Streams& streams);
[[nodiscard]] int RunTddNew(const Args& args, Streams& streams);
[[nodiscard]] int RunTddCheck(const Args& args, Streams& streams);
[[nodiscard]] int RunTddRed(const Args& args, Streams& streams);
[[nodiscard]] int RunTddRun(const Args& args, Streams& streams);
[[nodiscard]] int RunTddJob(const Args& args, Streams& streams);
[[nodiscard]] int RunTddRecord(const Args& args, Streams& streams);
[[nodiscard]] int RunTddProve(const Args& args, Streams& streams);
[[nodiscard]] int RunTddAttempt(const Args& args, Streams& streams);
[[nodiscard]] int RunTddExploits(const Args& args, Streams& streams);
[[nodiscard]] int RunTddPeaks(const Args& args, Streams& streams);
[[nodiscard]] int RunWorker(const Args& args, Streams& streams);

}  // namespace kb
