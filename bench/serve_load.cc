// Load on a running `kb serve`, from this second process, over loopback:
//   serve_load PORT PID SECONDS CONNECTIONS    the token in KB_SERVE_TOKEN
// CONNECTIONS well-behaved clients ask without pause over kept connections; beside them clients
// that send a byte a second, bodies that are too large, wrong tokens, foreign Host and Origin
// headers and path tricks. Whatever the well-behaved ones get but a right answer is an error;
// so is whatever the others get but their refusal. Exit code 1 if there was one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/machine.h"
#include "bench/process.h"

namespace kb::bench {
namespace {

struct Target {
  int port = 0;
  std::string token;
  double end_s = 0;  // by SecondsNow
  [[nodiscard]] std::string Host() const { return "localhost:" + std::to_string(port); }
};

class Connection {
 public:
  explicit Connection(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience = {20, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    is_open_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~Connection() { close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool Send(std::string_view bytes) {
    while (is_open_ && !bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return is_open_ = false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return is_open_;
  }

  // One response; its status, 0 if none came whole. `*body` may be null.
  int Receive(std::string* body) {
    std::string in;
    size_t head = std::string::npos, whole = std::string::npos;
    char buffer[65536];
    while (in.size() < whole) {
      const ssize_t n = recv(fd_, buffer, sizeof(buffer), 0);
      if (n <= 0) return 0;
      in.append(buffer, static_cast<size_t>(n));
      if (head != std::string::npos || (head = in.find("\r\n\r\n")) == std::string::npos) continue;
      const size_t length = in.find("Content-Length: ");
      if (length > head) return 0;
      whole = head + 4 + static_cast<size_t>(std::atoll(in.c_str() + length + 16));
    }
    if (body != nullptr) *body = in.substr(head + 4);
    return std::atoi(in.c_str() + 9);  // "HTTP/1.1 200"
  }

 private:
  int fd_;
  bool is_open_ = false;
};

struct Tally {
  std::atomic<int64_t> asked = 0, wrong = 0;
  std::atomic<int> last_wrong = 0;  // its status
  void Count(bool is_right, int status) {
    ++asked;
    if (is_right) return;
    ++wrong;
    last_wrong = status;
  }
};

std::string Request(const Target& target, const std::string& method, const std::string& path,
                    const std::string& more = "", const std::string& body = "") {
  std::string text = method + " " + path + " HTTP/1.1\r\n";
  if (more.find("Host:") == std::string::npos) text += "Host: " + target.Host() + "\r\n";
  if (more.find("Authorization:") == std::string::npos) {
    text += "Authorization: Bearer " + target.token + "\r\n";
  }
  if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + more + "\r\n" + body;
}

struct Question {
  const char* name;
  const char* path;
  const char* body;  // of a POST
  const char* must;  // stands in the answer
};
constexpr Question kQuestions[] = {
    {"search", "/api/search?q=shared+memory+bank+conflicts&k=5", "",
     "\"bundle_id\":\"shared-memory-banks\""},
    {"search, filtered", "/api/search?q=warp+shuffle+reduction&k=5&arch=sm_90&kind=skill", "",
     "\"bundle_id\":\"warp-reduction-and-scan\""},
    {"search, nothing", "/api/search?q=sourdough+bread+recipe", "", "\"nothing_applies\":true"},
    {"context", "/api/context?q=write+a+softmax+kernel&budget=2000", "", "softmax"},
    {"get", "/api/get?id=tensor-core-mma", "", "\"id\":\"tensor-core-mma\""},
    {"rag", "/", "{\"message\": \"hide load latency with cp.async\"}", "async-copy-pipelines"},
};
constexpr size_t kCount = std::size(kQuestions);

struct Timings {
  std::vector<double> by_question[kCount];  // milliseconds
};

void Behave(const Target& target, size_t first, Tally* tally, Timings* timings) {
  Connection connection(target.port);
  std::string body;
  for (size_t i = first; SecondsNow() < target.end_s; ++i) {
    const Question& question = kQuestions[i % kCount];
    const bool is_post = question.body[0] != '\0';
    const double start = SecondsNow();
    connection.Send(Request(target, is_post ? "POST" : "GET", question.path,
                            is_post ? "Content-Type: application/json\r\n" : "", question.body));
    const int status = connection.Receive(&body);
    timings->by_question[i % kCount].push_back(1e3 * (SecondsNow() - start));
    const bool is_right = status == 200 && body.find(question.must) != std::string::npos;
    tally->Count(is_right, status);
    if (status == 0) return;
  }
}

struct Misdeed {
  const char* name;
  int status;  // how it must be refused
  std::string (*request)(const Target& target);
};
const Misdeed kMisdeeds[] = {
    {"wrong token", 401,
     [](const Target& t) {
       return Request(t, "GET", "/api/status", "Authorization: Bearer wrong\r\n");
     }},
    {"foreign Host", 403,
     [](const Target& t) { return Request(t, "GET", "/", "Host: rebound.example\r\n"); }},
    {"foreign Origin", 403,
     [](const Target& t) { return Request(t, "GET", "/", "Origin: http://evil.example\r\n"); }},
    {"path tricks", 404,
     [](const Target& t) { return Request(t, "GET", "/%2e%2e/..%2f..//etc/passwd"); }},
    {"body of 4 MiB", 413,
     [](const Target& t) { return Request(t, "POST", "/", "", std::string(4 << 20, 'x')); }},
    {"broken JSON", 400,
     [](const Target& t) {
       return Request(t, "POST", "/", "Content-Type: application/json\r\n", "{\"message\":");
     }},
};
constexpr size_t kMisdeedCount = std::size(kMisdeeds);

void Misbehave(const Target& target, const Misdeed& misdeed, Tally* tally) {
  const std::string request = misdeed.request(target);
  while (SecondsNow() < target.end_s) {
    Connection connection(target.port);
    connection.Send(request);
    const int status = connection.Receive(nullptr);
    tally->Count(status == misdeed.status, status);
    usleep(20000);
  }
}

// A byte a second: dropped with 408, or silently when there is no room.
void Dawdle(const Target& target, Tally* tally) {
  const std::string request = Request(target, "GET", "/api/status");
  while (SecondsNow() < target.end_s) {
    Connection connection(target.port);
    for (const char c : request) {
      if (!connection.Send(std::string_view(&c, 1)) || SecondsNow() > target.end_s) break;
      sleep(1);
    }
    const int status = SecondsNow() > target.end_s ? 408 : connection.Receive(nullptr);
    tally->Count(status == 408 || status == 0, status);
  }
}

double ResidentMib(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::atof(line.c_str() + 6) / 1024;
  }
  return 0;
}

void Print(const char* name, const Tally& tally) {
  std::printf("| %-22s | %9lld | %6lld | %3d |\n", name, static_cast<long long>(tally.asked),
              static_cast<long long>(tally.wrong), tally.last_wrong.load());
}

int Load(const Target& target, const std::string& pid, int seconds, size_t connections) {
  const double before = ResidentMib(pid);
  Tally good, slow, misdeeds[kMisdeedCount];
  std::vector<Timings> timings(connections);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < connections; ++i) {
    threads.emplace_back([&, i] { Behave(target, i, &good, &timings[i]); });
  }
  for (size_t i = 0; i < kMisdeedCount; ++i) {
    threads.emplace_back([&, i] { Misbehave(target, kMisdeeds[i], &misdeeds[i]); });
  }
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { Dawdle(target, &slow); });
  sleep(static_cast<unsigned>(seconds) / 2);
  const double halfway = ResidentMib(pid);
  for (std::thread& thread : threads) thread.join();
  std::printf("%s; %s\n\n| question | n | p50 ms | p99 ms | max ms |\n|---|---|---|---|---|\n",
              MachineLine().c_str(), LoadLine().c_str());
  std::vector<double> all;
  for (size_t q = 0; q < kCount; ++q) {
    std::vector<double> times;
    for (const Timings& t : timings) {
      times.insert(times.end(), t.by_question[q].begin(), t.by_question[q].end());
    }
    all.insert(all.end(), times.begin(), times.end());
    std::printf("| %s | %zu | %.2f | %.2f | %.2f |\n", kQuestions[q].name, times.size(),
                Quantile(times, 0.5), Quantile(times, 0.99), Quantile(times, 1));
  }
  std::printf("| all | %zu | %.2f | %.2f | %.2f |\n\n", all.size(), Quantile(all, 0.5),
              Quantile(all, 0.99), Quantile(all, 1));
  std::printf("| client | requests | wrong | its status |\n|---|---|---|---|\n");
  Print("well-behaved", good);
  int64_t wrong = good.wrong + slow.wrong;
  for (size_t i = 0; i < kMisdeedCount; ++i) {
    Print(kMisdeeds[i].name, misdeeds[i]);
    wrong += misdeeds[i].wrong;
  }
  Print("a byte a second", slow);
  std::printf(
      "\n%zu connections, %d s: %.0f requests/s; memory %.1f MiB before, %.1f halfway, "
      "%.1f after\n",
      connections, seconds, static_cast<double>(good.asked) / seconds, before, halfway,
      ResidentMib(pid));
  return wrong == 0 && good.asked > 0 ? 0 : 1;
}

}  // namespace
}  // namespace kb::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "serve_load PORT PID SECONDS CONNECTIONS\n");
    return 2;
  }
  const int seconds = std::atoi(argv[3]);
  const char* token = std::getenv("KB_SERVE_TOKEN");
  const kb::bench::Target target = {std::atoi(argv[1]), token == nullptr ? "" : token,
                                    kb::bench::SecondsNow() + seconds};
  return kb::bench::Load(target, argv[2], seconds, static_cast<size_t>(std::atoi(argv[4])));
}
