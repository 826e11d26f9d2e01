#include "cli/worker_command.h"

#include <fcntl.h>

#include <charconv>
#include <ostream>

#include "cli/run_commands.h"
#include "cli/tdd_places.h"
#include "cli/tdd_report.h"
#include "kb/error.h"
#include "kb/json.h"
#include "tdd/compile.h"
#include "tdd/job.h"
#include "tdd/runner.h"

namespace kb {

std::optional<int> RunWorkerCommand(std::span<const std::string> argv, Streams& streams) {
  if (!argv.empty() && argv[0] == "compile-child") return ServeCompile();
  if (argv.size() < 2 || argv[0] != "worker" || argv[1] != "--fd") return std::nullopt;
  int fd = -1;
  std::string driver;
  for (size_t i = 1; i + 1 < argv.size(); i += 2) {
    const std::string& value = argv[i + 1];
    if (argv[i] == "--fd") std::from_chars(value.data(), value.data() + value.size(), fd);
    if (argv[i] == "--driver") driver = value;
  }
  if (fd < 0 || fcntl(fd, F_GETFD) < 0) {
    streams.talk << "kb worker: serves kb itself, over the socket that --fd names\n";
    return kCouldNot;
  }
  return ServeWorker(fd, driver);
}

// kb worker --job: all proofs of a job folder, on this machine.
int RunWorker(const Args& args, Streams& streams) {
  if (!args.Has("--job") || !args.Has("--result")) {
    throw Error("kb worker needs --job DIR and --result FILE; kb tdd job makes jobs");
  }
  const Workshop workshop(args, streams);
  const Shard shard = ParseShard(args.Get("--shard", "0/1"));
  RunJob(args.Get("--job"), args.Get("--result"), args.Get("--again"), workshop.tools(),
         shard.index, shard.count);
  const std::vector<Evaluation> all = ReadResults(args.Get("--result"));
  if (args.Has("--json")) {
    Value list = Value::List{};
    for (const Evaluation& one : all) list.Add(ToValue(one));
    streams.out << WriteJson(list, 2) << '\n';
  } else {
    streams.out << DrawEvaluations(all, streams.columns);
  }
  return ExitCodeOf(all);
}

}  // namespace kb
