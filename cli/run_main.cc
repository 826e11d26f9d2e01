#include <exception>
#include <new>
#include <ostream>

#include "cli/args.h"
#include "cli/help.h"
#include "cli/worker_command.h"
#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

void Complain(Streams& streams, const std::string& line) {
  streams.talk << Printable(line) << '\n';
}

int RunCommand(const Invocation& invocation, Streams& streams) {
  const std::string name = std::string("kb ") + invocation.command->name + ": ";
  try {
    return invocation.command->run(invocation.args, streams);
  } catch (const Error& error) {
    Complain(streams, name + error.what());
  } catch (const std::bad_alloc&) {
    Complain(streams, name + "out of memory; free some or index less at once");
  } catch (const std::exception& error) {
    Complain(streams, name + "a defect in kb, please report it: " + error.what());
  }
  return kCouldNot;
}

int Dispatch(const Invocation& invocation, Streams& streams) {
  if (invocation.version) {
    streams.out << "kb " << kVersion << '\n';
    return kFound;
  }
  if (!invocation.error.empty()) {
    Complain(streams, invocation.error);
    return kCouldNot;
  }
  if (invocation.help) {
    streams.out << (!invocation.group.empty()       ? GroupHelp(invocation.group)
                    : invocation.command == nullptr ? HelpText()
                                                    : CommandHelp(*invocation.command));
    return kFound;
  }
  if (invocation.command == nullptr) {
    streams.talk << HelpText();
    return kCouldNot;
  }
  return RunCommand(invocation, streams);
}

}  // namespace

int RunMain(std::span<const std::string> argv, Streams& streams) {
  if (const auto exit_code = RunWorkerCommand(argv, streams)) return *exit_code;
  const Invocation invocation = ParseCommandLine(argv);
  const std::string color = invocation.args.Get("--color", "auto");
  if (color != "auto") streams.color = color == "always";
  streams.quiet = invocation.args.Has("--quiet");
  int exit_code = Dispatch(invocation, streams);
  streams.out.flush();
  return exit_code;
}

}  // namespace kb
