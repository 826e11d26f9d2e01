// kb mcp: McpServer on stdin and stdout. Nothing else is ever written to stdout.
#include <unistd.h>

#include <ostream>

#include "cli/mcp_lines.h"
#include "cli/mcp_server.h"
#include "cli/run_commands.h"

namespace kb {
namespace {

constexpr std::chrono::seconds kIdle(5);
constexpr size_t kMaxCancelBytes = 4096;

constexpr const char kCancelled[] = "notifications/cancelled";

bool Cancels(std::string_view line, const Value& id) {
  if (line.size() > kMaxCancelBytes) return false;
  const RpcMessage message = ParseRpc(line);
  return message.kind == RpcMessage::Kind::kNotification && message.method == kCancelled &&
         message.params["requestId"] == id;
}

}  // namespace

int RunMcp(const Args& args, Streams& streams) {
  LineReader lines(STDIN_FILENO, kMaxMessageBytes, kCancelled);
  McpServer server(
      FindKbDir(args),
      [&](const std::string& message) {
        streams.out << message;
        streams.out.flush();
      },
      [&](const Value& id) {
        return lines.AnyWaiting([&](std::string_view line) { return Cancels(line, id); });
      });
  while (streams.out) {
    const auto line = lines.Next(kIdle, [&] { server.Idle(); });
    if (!line) break;
    if (line->too_long) {
      server.HandleTooLong();
    } else {
      server.Handle(line->text);
    }
  }
  return kFound;
}

}  // namespace kb
