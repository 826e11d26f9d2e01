// kb serve: HTTP for programs and a page for people, over the index. stdout: the one line that
// says where; with --json {url, port, token: whether one is asked for}.
#include <signal.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <thread>

#include "cli/run_commands.h"
#include "cli/serve_api.h"
#include "cli/serve_server.h"
#include "cli/serve_socket.h"
#include "kb/error.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr size_t kLeastToken = 16;  // bytes, where others can reach us

std::string TokenFor(const std::string& host) {
  const char* text = std::getenv("KB_SERVE_TOKEN");
  std::string token = text == nullptr ? "" : text;
  if (token.find_first_of(" \t\r\n") != std::string::npos) {
    throw Error("KB_SERVE_TOKEN holds white space, which no client can send; choose another");
  }
  if (!IsLoopback(host) && token.size() < kLeastToken) {
    throw Error("--host " + host +
                " can be reached from elsewhere; set KB_SERVE_TOKEN to at least " +
                std::to_string(kLeastToken) + " characters, or stay on 127.0.0.1");
  }
  return token;
}

int Threads(const Args& args) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return args.GetInt("--threads", std::clamp(cores, 2, 8));
}

// Readable once SIGINT or SIGTERM has come. Threads made later inherit that they are blocked.
Descriptor StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::string UrlOf(const ServeAccess& access) {
  const bool is_v6 = access.host.find(':') != std::string::npos && access.host[0] != '[';
  return "http://" + (is_v6 ? "[" + access.host + "]" : access.host) + ":" +
         std::to_string(access.port) + "/";
}

void SayWhere(const ServeAccess& access, bool json, Streams& streams) {
  const std::string url = UrlOf(access);
  const Value value(
      Value::Map{{"url", url}, {"port", access.port}, {"token", !access.token.empty()}});
  streams.out << (json ? WriteJson(value) : url) << std::endl;
}

}  // namespace

int RunServe(const Args& args, Streams& streams) {
  ServeOptions options;
  options.kb_dir = FindKbDir(args);
  options.access.host = args.Get("--host", options.access.host);
  options.access.token = TokenFor(options.access.host);
  options.only_rag = args.Has("--rag");
  options.rag_tokens = args.GetInt("--budget", options.rag_tokens);
  { const Retriever is_there(options.kb_dir); }
  ServeLimits limits;
  limits.threads = Threads(args);
  const Descriptor stop = StopSignals();
  // The workers start in Run, after the port is known.
  HttpServer server(
      options.access.host, args.GetInt("--port", 8080), limits,
      [&options]() -> HttpServer::Handler {
        const auto api = std::make_shared<ServeApi>(options);
        return [api](const HttpRequest& request) { return api->Answer(request); };
      },
      [](HttpResponse* response) { AddSecurityHeaders("", response); });
  options.access.port = server.port();
  SayWhere(options.access, args.Has("--json"), streams);
  if (!streams.quiet) {
    streams.talk << (options.access.token.empty() ? "no token is asked for"
                                                  : "asks for the token in KB_SERVE_TOKEN")
                 << "; Ctrl-C stops\n";
  }
  server.Run(stop.get());
  return kFound;
}

}  // namespace kb
