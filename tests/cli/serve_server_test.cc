// The sockets of kb serve with handlers of the test's own.
#include "cli/serve_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kb/error.h"
#include "tests/cli/raw_client.h"

namespace kb {
namespace {

using test::RawClient;
using testing::HasSubstr;
using testing::StartsWith;
using Millis = std::chrono::milliseconds;

constexpr const char kGet[] = "GET /x HTTP/1.1\r\nHost: h\r\n\r\n";

HttpResponse Echo(const HttpRequest& request) {
  return {200, "text/plain", request.path + " " + request.body};
}

// A server that runs in a thread until it is destroyed.
class Running {
 public:
  explicit Running(const HttpServer::Handler& handler = Echo, const ServeLimits& limits = {})
      : server_(
            "127.0.0.1", 0, limits, [handler] { return handler; }, nullptr),
        thread_([this] {
          server_.Run(-1);
          ended_ = true;
        }) {}
  ~Running() {
    server_.Stop();
    thread_.join();
  }
  [[nodiscard]] int port() const { return server_.port(); }
  void Stop() { server_.Stop(); }
  [[nodiscard]] bool HasEnded() const { return ended_; }
  [[nodiscard]] bool EndsWithin(Millis time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!ended_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(Millis(2));
    }
    return ended_;
  }

 private:
  HttpServer server_;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

std::string GetBody(int port, const std::string& path) {
  httplib::Client client("127.0.0.1", port);
  const auto result = client.Get(path);
  return result ? result->body : "no answer: " + httplib::to_string(result.error());
}

TEST(HttpServer, AnswersOnAFreePort) {
  const Running server;
  EXPECT_GT(server.port(), 0);
  EXPECT_EQ(GetBody(server.port(), "/a"), "/a ");
}

TEST(HttpServer, PortInUseIsAnErrorThatNamesTheMend) {
  const Running server;
  try {
    const HttpServer second(
        "127.0.0.1", server.port(), {}, [] { return Echo; }, nullptr);
    FAIL() << "the port was given twice";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(server.port())));
    EXPECT_THAT(error.what(), HasSubstr("--port"));
  }
  EXPECT_THROW(HttpServer(
                   "no.such.host.invalid", 0, {}, [] { return Echo; }, nullptr),
               Error);
}

TEST(HttpServer, OneConnectionCarriesManyRequestsAlsoSentAtOnce) {
  const Running server;
  const RawClient client(server.port());
  ASSERT_TRUE(
      client.Send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nPOST /2 HTTP/1.1\r\nHost: h\r\n"
                  "Content-Length: 2\r\n\r\nhiGET /3 HTTP/1.1\r\nHost: h\r\n\r\n"));
  const std::string all = client.Read("/3 ");
  EXPECT_LT(all.find("/1 "), all.find("/2 hi"));
  EXPECT_LT(all.find("/2 hi"), all.find("/3 "));
  ASSERT_TRUE(client.Send("GET /4 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_TRUE(client.Read().ends_with("/4 "));
}

TEST(HttpServer, ThirtyTwoConnectionsGetTheirOwnAnswers) {
  ServeLimits limits;
  limits.threads = 4;
  const Running server(Echo, limits);
  std::atomic<int> right = 0;
  std::vector<std::thread> clients;
  for (int c = 0; c < 32; ++c) {
    clients.emplace_back([&, c] {
      httplib::Client client("127.0.0.1", server.port());
      client.set_keep_alive(true);
      for (int i = 0; i < 50; ++i) {
        const std::string body = std::to_string(c) + "-" + std::to_string(i);
        const auto result = client.Post("/p", body, "text/plain");
        if (result && result->body == "/p " + body) ++right;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 32 * 50);
}

TEST(HttpServer, SlowClientsHoldUpNobodyAndAreDropped) {
  ServeLimits limits;
  limits.threads = 1;
  limits.request_time = Millis(600);
  const Running server(Echo, limits);
  const std::string slow = "GET /slow HTTP/1.1\r\nHost: h\r\nX: " + std::string(100, 'x');
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(std::make_unique<RawClient>(server.port()));
  for (size_t byte = 0; byte < 5; ++byte) {  // a byte each 50 ms
    for (const auto& client : clients) client->Send(slow.substr(byte, 1));
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(GetBody(server.port(), "/quick"), "/quick ");
    EXPECT_LT(std::chrono::steady_clock::now() - before, Millis(400));
    std::this_thread::sleep_for(Millis(50));
  }
  for (const auto& client : clients) EXPECT_THAT(client->Read(), StartsWith("HTTP/1.1 408 "));
}

TEST(HttpServer, ClientsThatDoNotReadAreDropped) {
  ServeLimits limits;
  limits.write_time = Millis(300);
  const Running server(
      [](const HttpRequest&) {
        return HttpResponse{200, "text/plain", std::string(32 << 20, 'x')};
      },
      limits);
  const RawClient client(server.port());
  client.Send(kGet);
  std::this_thread::sleep_for(Millis(900));
  EXPECT_LT(client.Read().size(), 32u << 20);
}

TEST(HttpServer, IdleConnectionsAreClosedWithoutAWord) {
  ServeLimits limits;
  limits.idle_time = Millis(100);
  limits.request_time = Millis(150);
  const Running server(Echo, limits);
  const RawClient silent(server.port()), once(server.port());
  once.Send(kGet);
  EXPECT_TRUE(once.Read().ends_with("/x "));
  EXPECT_EQ(silent.Read(), "");
}

TEST(HttpServer, OversizedBodiesAreRefusedSoThatTheClientSeesIt) {
  const Running server;
  httplib::Client client("127.0.0.1", server.port());
  for (const size_t bytes : {(1u << 20) + 1, 8u << 20}) {
    const auto result = client.Post("/p", std::string(bytes, 'x'), "text/plain");
    ASSERT_TRUE(result) << httplib::to_string(result.error());
    EXPECT_EQ(result->status, 413);
  }
  const auto result = client.Post("/p", std::string(1 << 20, 'x'), "text/plain");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
}

TEST(HttpServer, WhenFullTheLongestWaitingGoes) {
  ServeLimits limits;
  limits.connections = 8;
  const Running server(Echo, limits);
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 8; ++i) {
    idle.push_back(std::make_unique<RawClient>(server.port()));
    idle.back()->Send("GET /");
  }
  EXPECT_EQ(GetBody(server.port(), "/new"), "/new ");
  EXPECT_EQ(idle.front()->Read(), "");
}

TEST(HttpServer, AnExceptionOfAHandlerIsA500) {
  const Running server([](const HttpRequest&) -> HttpResponse { throw Error("broken"); });
  httplib::Client client("127.0.0.1", server.port());
  const auto result = client.Get("/");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 500);
  EXPECT_THAT(result->body, HasSubstr("broken"));
}

TEST(HttpServer, StopFinishesWhatRuns) {
  std::atomic<bool> started = false, release = false;
  Running server([&](const HttpRequest& request) {
    started = true;
    while (!release) std::this_thread::sleep_for(Millis(1));
    return Echo(request);
  });
  const RawClient client(server.port()), idle(server.port());
  client.Send(kGet);
  while (!started) std::this_thread::sleep_for(Millis(1));
  server.Stop();
  EXPECT_EQ(idle.Read(), "");
  EXPECT_FALSE(server.EndsWithin(Millis(50)));
  release = true;
  EXPECT_TRUE(client.Read().ends_with("/x "));
  EXPECT_TRUE(server.EndsWithin(Millis(2000)));
}

TEST(HttpServer, StopDoesNotWaitForClientsThatDoNotRead) {
  ServeLimits limits;
  limits.stop_time = Millis(200);
  Running server(
      [](const HttpRequest&) {
        return HttpResponse{200, "text/plain", std::string(32 << 20, 'x')};
      },
      limits);
  const RawClient client(server.port());
  client.Send(kGet);
  (void)client.Read("HTTP");
  server.Stop();
  EXPECT_TRUE(server.EndsWithin(Millis(3000)));
}

}  // namespace
}  // namespace kb
