// kb serve as a program: where it listens, its token, how it stops.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/raw_client.h"

namespace kb {
namespace {

using testing::HasSubstr;
using Millis = std::chrono::milliseconds;

// `kb serve --port 0` in this folder; killed when destroyed.
class Served {
 public:
  explicit Served(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {KB_BINARY, "serve", "--port", "0"};
    words.insert(words.end(), more.begin(), more.end());
    std::filesystem::remove("url");  // of a server before: its port must not be taken for ours
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open("url", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(126);
    }
    for (int tries = 0; tries < 1000 && port_ == 0; ++tries) {
      std::this_thread::sleep_for(Millis(10));
      std::string url;
      if (std::getline(std::ifstream("url"), url) && url.ends_with("/")) {
        port_ = std::atoi(url.substr(url.rfind(':') + 1).c_str());
      }
    }
  }
  ~Served() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  [[nodiscard]] int port() const { return port_; }
  void Send(int signal) const { kill(pid_, signal); }
  // The exit code; 128 + signal; -1 if it does not end.
  int Wait() {
    int status = 0;
    for (int tries = 0; tries < 1500; ++tries) {
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(Millis(10));
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
  int port_ = 0;
};

class ServeCommandTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    unsetenv("KB_SERVE_TOKEN");
    WriteSkill("warp-reduction", "Reduce within a warp. Use when summing.",
               "Use `__shfl_down_sync` to add the values of the 32 lanes of a warp.\n");
    ASSERT_EQ(Run({"index"}).exit_code, 0);
  }
  void TearDown() override {
    unsetenv("KB_SERVE_TOKEN");
    CliTest::TearDown();
  }
};

TEST_F(ServeCommandTest, ServesUntilASignalComes) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Served served({"--quiet"});
    ASSERT_GT(served.port(), 0);
    httplib::Client client("127.0.0.1", served.port());
    const auto page = client.Get("/");
    ASSERT_TRUE(page);
    EXPECT_EQ(page->status, 200);
    EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page->get_header_value_count("Content-Security-Policy"), 1u);
    EXPECT_FALSE(page->has_header("Access-Control-Allow-Origin"));
    const auto answer = client.Get("/api/search?q=sum+a+warp");
    ASSERT_TRUE(answer);
    EXPECT_THAT(answer->body, HasSubstr("\"id\":\"warp-reduction\""));
    EXPECT_THAT(answer->get_header_value("Content-Security-Policy"),
                HasSubstr("default-src 'none'"));
    served.Send(signal);
    EXPECT_EQ(served.Wait(), 0);
  }
}

// Requests that were taken before the signal are answered whole.
TEST_F(ServeCommandTest, StopsWithRequestsInFlight) {
  Served served({"--quiet", "--threads", "2"});
  ASSERT_GT(served.port(), 0);
  std::atomic<int> whole = 0, cut = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&] {
      const test::RawClient client(served.port());
      while (client.Send("GET /api/get?id=warp-reduction HTTP/1.1\r\nHost: localhost:" +
                         std::to_string(served.port()) + "\r\n\r\n")) {
        const std::string answer = client.Read("]}\n");
        if (answer.empty()) break;  // closed between two requests
        ++(answer.ends_with("]}\n") ? whole : cut);
      }
    });
  }
  std::this_thread::sleep_for(Millis(300));
  served.Send(SIGTERM);
  EXPECT_EQ(served.Wait(), 0);
  for (std::thread& client : clients) client.join();
  EXPECT_GT(whole, 8);
  EXPECT_EQ(cut, 0);
}

TEST_F(ServeCommandTest, TheTokenComesFromTheEnvironment) {
  setenv("KB_SERVE_TOKEN", "s3cret", 1);
  const Served served({"--quiet"});
  ASSERT_GT(served.port(), 0);
  httplib::Client client("127.0.0.1", served.port());
  auto answer = client.Get("/api/status");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 401);
  EXPECT_EQ(answer->get_header_value("WWW-Authenticate"), "Bearer realm=\"kb\"");
  client.set_bearer_token_auth("s3cret");
  answer = client.Get("/api/status");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ServeCommandTest, OtherMachinesNeedAToken) {
  for (const char* host : {"0.0.0.0", "::", "10.1.2.3", "example.org"}) {
    const Result result = Run({"serve", "--host", host, "--port", "0"});
    EXPECT_EQ(result.exit_code, 2) << host;
    EXPECT_THAT(result.talk, HasSubstr("KB_SERVE_TOKEN")) << host;
  }
  setenv("KB_SERVE_TOKEN", "short", 1);
  EXPECT_EQ(Run({"serve", "--host", "0.0.0.0", "--port", "0"}).exit_code, 2);
  setenv("KB_SERVE_TOKEN", "sixteen characters and blanks", 1);
  EXPECT_THAT(Run({"serve", "--port", "0"}).talk, HasSubstr("white space"));
}

TEST_F(ServeCommandTest, WithoutAnIndexItSaysSo) {
  std::filesystem::remove_all(".kb");
  const Result result = Run({"serve", "--port", "0"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.talk, HasSubstr("kb index"));
}

}  // namespace
}  // namespace kb
