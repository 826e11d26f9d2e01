// kb mcp under load: one client over pipes, one request at a time, as an agent sends them. Prints
// round trips, the server's own time on the CPU, and its resident memory as calls go by.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/machine.h"
#include "bench/process.h"
#include "kb/json.h"

namespace kb::bench {
namespace {

constexpr std::array kMemoryAt = {1000, 5000, 10000, 20000};
constexpr int kTimed = 2000;
constexpr int kWarmUp = 50;

class Server {
 public:
  Server(const std::string& kb, const std::string& kb_dir) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) + pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl(kb.c_str(), kb.c_str(), "mcp", "--kb-dir", kb_dir.c_str(), nullptr);
      _exit(126);
    }
    close(in[0]);
    close(out[1]);
    in_ = in[1];
    out_ = out[0];
  }
  ~Server() {
    close(in_);
    close(out_);
    waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // The line that answers `line`, which ends in '\n'.
  std::string Ask(const std::string& line) {
    if (write(in_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      throw std::runtime_error("the server has gone");
    }
    std::string answer;
    std::array<char, 1 << 16> buffer;
    while (answer.empty() || answer.back() != '\n') {
      const ssize_t n = read(out_, buffer.data(), buffer.size());
      if (n <= 0) throw std::runtime_error("the server has gone");
      answer.append(buffer.data(), static_cast<size_t>(n));
    }
    return answer;
  }

  [[nodiscard]] double ResidentMib() const {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
    }
    return 0;
  }

  // User and system, in seconds; counted by the kernel in ticks of 10 ms.
  [[nodiscard]] double CpuSeconds() const {
    std::ifstream stat("/proc/" + std::to_string(pid_) + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string field;
    double ticks = 0;
    for (int i = 3; i <= 15 && fields >> field; ++i) {
      if (i >= 14) ticks += std::stod(field);
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

 private:
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
};

std::vector<std::string> ReadQuestions(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> questions;
  for (std::string line; std::getline(file, line);) {
    const auto json = ParseJson(line);
    if (json && json->Has("query")) questions.push_back((*json)["query"].AsString());
  }
  if (questions.empty()) throw std::runtime_error("no questions in " + path);
  return questions;
}

std::string Call(const char* tool, const char* argument, const std::string& text, int id) {
  const Value meta(Value::Map{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                              {"io.modelcontextprotocol/clientCapabilities", Value(Value::Map())}});
  Value params(Value::Map{
      {"name", tool}, {"arguments", Value(Value::Map{{argument, text}})}, {"_meta", meta}});
  return WriteJson(Value(Value::Map{{"jsonrpc", "2.0"},
                                    {"id", id},
                                    {"method", "tools/call"},
                                    {"params", std::move(params)}})) +
         "\n";
}

void CheckAnswer(const std::string& answer) {
  const auto json = ParseJson(answer);
  if (!json || (*json)["result"]["isError"].AsBool(true)) {
    throw std::runtime_error("not answered: " + answer.substr(0, 300));
  }
}

void Time(Server& server, const char* tool, const char* argument,
          const std::vector<std::string>& questions) {
  std::vector<double> ms;
  size_t bytes = 0;
  for (int i = 0; i < kWarmUp; ++i) {
    CheckAnswer(server.Ask(Call(tool, argument, questions[i % questions.size()], i)));
  }
  const double cpu = server.CpuSeconds();
  for (int i = 0; i < kTimed; ++i) {
    const std::string line = Call(tool, argument, questions[i % questions.size()], i);
    const double start = SecondsNow();
    const std::string answer = server.Ask(line);
    ms.push_back(1e3 * (SecondsNow() - start));
    CheckAnswer(answer);
    bytes += answer.size();
  }
  const double cpu_ms = 1e3 * (server.CpuSeconds() - cpu) / kTimed;
  std::printf("%-10s  %5d  %6.2f  %6.2f  %6.2f  %6.2f  %8.2f  %9zu\n", tool, kTimed,
              Quantile(ms, 0.5), Quantile(ms, 0.9), Quantile(ms, 0.99), Quantile(ms, 1), cpu_ms,
              bytes / kTimed);
}

void Memory(Server& server, const std::vector<std::string>& questions) {
  std::printf("\ncalls   resident MiB\n");
  int done = 0;
  for (const int until : kMemoryAt) {
    for (; done < until; ++done) {
      CheckAnswer(server.Ask(Call("kb_search", "query", questions[done % questions.size()], done)));
    }
    std::printf("%-6d  %.1f\n", done, server.ResidentMib());
  }
}

int PrintLoad(const std::string& kb, const std::string& kb_dir, const std::string& questions_path) {
  const std::vector<std::string> questions = ReadQuestions(questions_path);
  std::printf("%s\n%s\n%zu questions in turn, one client, one request at a time\n\n",
              MachineLine().c_str(), LoadLine().c_str(), questions.size());
  std::printf("round trip in ms: p50, p90, p99, max; ms of CPU and bytes: the server's, a call\n");
  std::printf("%-10s  %5s  %6s  %6s  %6s  %6s  %8s  %9s\n", "tool", "calls", "p50", "p90", "p99",
              "max", "CPU", "bytes");
  {
    Server server(kb, kb_dir);
    Time(server, "kb_search", "query", questions);
    Time(server, "kb_context", "task", questions);
  }
  Server server(kb, kb_dir);
  Memory(server, questions);
  return 0;
}

}  // namespace
}  // namespace kb::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "mcp_load KB KB_DIR QUESTIONS.jsonl\n");
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  try {
    return kb::bench::PrintLoad(argv[1], argv[2], argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mcp_load: %s\n", error.what());
    return 1;
  }
}
