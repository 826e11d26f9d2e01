#include "indexer/http_embedder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <mutex>
#include <thread>

#include "kb/error.h"
#include "kb/json.h"

namespace kb {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPath = "/v1/embeddings";
constexpr const char* kJson = "application/json";

// The embedding of `text` that the good server gives: [1, 0, bytes of text], not normalised.
std::string GoodAnswer(const httplib::Request& request, bool reversed = false) {
  Value data{Value::List{}};
  const Value body = ParseJson(request.body).value_or(Value());
  const Value::List input = body["input"].AsList();
  for (size_t i = 0; i < input.size(); ++i) {
    const size_t index = reversed ? input.size() - 1 - i : i;
    Value vector{Value::List{}};
    vector.Add(1.0).Add(0.0).Add(static_cast<double>(input[index].AsString().size()));
    Value item;
    item.Set("object", "embedding").Set("index", static_cast<int64_t>(index));
    item.Set("embedding", std::move(vector));
    data.Add(std::move(item));
  }
  Value answer;
  answer.Set("object", "list").Set("data", std::move(data));
  return WriteJson(answer);
}

// A server on a free port of loopback that answers request n (0-based) by `handler`.
class Server {
 public:
  using Handler = std::function<void(int, const httplib::Request&, httplib::Response&)>;

  explicit Server(Handler handler) : handler_(std::move(handler)) {
    server_.Post(kPath, [this](const httplib::Request& request, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      handler_(static_cast<int>(requests_.size()) - 1, request, response);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~Server() {
    server_.stop();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] HttpEmbedderOptions options() const {
    HttpEmbedderOptions options;
    options.url = "http://127.0.0.1:" + std::to_string(port_) + kPath;
    options.model = "tiny";
    options.first_wait_ms = 1;
    return options;
  }
  [[nodiscard]] std::vector<httplib::Request> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  Handler handler_;
  httplib::Server server_;
  std::mutex mutex_;
  std::vector<httplib::Request> requests_;
  int port_ = 0;
  std::thread thread_;
};

Server::Handler Good() {
  return [](int, const httplib::Request& request, httplib::Response& response) {
    response.set_content(GoodAnswer(request), kJson);
  };
}

Server::Handler Says(int status, std::string body) {
  return [=](int, const httplib::Request&, httplib::Response& response) {
    response.status = status;
    response.set_content(body, kJson);
  };
}

std::vector<float> Embed(const HttpEmbedderOptions& options, std::vector<std::string> texts) {
  return MakeHttpEmbedder(options)->Embed(texts);
}

std::string ErrorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::string ErrorOfEmbed(const HttpEmbedderOptions& options,
                         std::vector<std::string> texts = {"a", "b"}) {
  return ErrorOf([&] { (void)Embed(options, texts); });
}

TEST(HttpEmbedder, RowsHaveLengthOneInTheOrderOfTheTexts) {
  Server server([](int, const httplib::Request& request, httplib::Response& response) {
    response.set_content(GoodAnswer(request, /*reversed=*/true), kJson);
  });
  const std::vector<float> rows = Embed(server.options(), {"a", "bb", "cccc"});
  ASSERT_EQ(rows.size(), 9u);
  const double sizes[] = {1, 2, 4};
  for (int i = 0; i < 3; ++i) {
    const double length = std::sqrt(1 + sizes[i] * sizes[i]);
    EXPECT_NEAR(rows[3 * i], 1 / length, 1e-6) << i;
    EXPECT_EQ(rows[3 * i + 1], 0) << i;
    EXPECT_NEAR(rows[3 * i + 2], sizes[i] / length, 1e-6) << i;
  }
}

TEST(HttpEmbedder, SendsBatchesModelAndKey) {
  Server server(Good());
  HttpEmbedderOptions options = server.options();
  options.batch_size = 2;
  options.api_key = "sk-secret";
  EXPECT_EQ(Embed(options, {"a", "b", "c", "d", "e"}).size(), 15u);
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  const Value first = ParseJson(requests[0].body).value_or(Value());
  EXPECT_EQ(first["model"].AsString(), "tiny");
  ASSERT_EQ(first["input"].AsList().size(), 2u);
  EXPECT_EQ(first["input"].AsList()[1].AsString(), "b");
  EXPECT_EQ(requests[0].get_header_value("Authorization"), "Bearer sk-secret");
  EXPECT_EQ(requests[0].get_header_value("Content-Type"), "application/json");
}

TEST(HttpEmbedder, SendsNoAuthorizationWithoutAKey) {
  Server server(Good());
  (void)Embed(server.options(), {"a"});
  EXPECT_FALSE(server.requests().at(0).has_header("Authorization"));
}

TEST(HttpEmbedder, BlankTextsAreZerosAndNotSent) {
  Server server(Good());
  const std::vector<float> rows = Embed(server.options(), {"", "x", " \n"});
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(std::vector<float>(rows.begin(), rows.begin() + 3), std::vector<float>(3, 0.0f));
  EXPECT_EQ(std::vector<float>(rows.begin() + 6, rows.end()), std::vector<float>(3, 0.0f));
  EXPECT_NE(rows[3], 0);
  const Value body = ParseJson(server.requests().at(0).body).value_or(Value());
  EXPECT_EQ(body["input"].AsList().size(), 1u);
}

TEST(HttpEmbedder, NoTextsAskNothing) {
  Server server(Good());
  EXPECT_TRUE(Embed(server.options(), {}).empty());
  EXPECT_TRUE(server.requests().empty());
}

TEST(HttpEmbedder, DimensionIsLearntOnce) {
  Server server(Good());
  auto embedder = MakeHttpEmbedder(server.options());
  EXPECT_EQ(embedder->dim(), 3);
  EXPECT_EQ(embedder->dim(), 3);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpEmbedder, TriesAgainAfterServerErrors) {
  for (int status : {500, 502, 503, 504, 429}) {
    Server server([=](int n, const httplib::Request& request, httplib::Response& response) {
      if (n < 2) return Says(status, "busy")(n, request, response);
      Good()(n, request, response);
    });
    EXPECT_EQ(Embed(server.options(), {"a"}).size(), 3u) << status;
    EXPECT_EQ(server.requests().size(), 3u) << status;
  }
}

TEST(HttpEmbedder, GivesUpAfterItsRetries) {
  Server server(Says(503, "still loading"));
  HttpEmbedderOptions options = server.options();
  options.retries = 2;
  EXPECT_THAT(ErrorOfEmbed(options), HasSubstr("HTTP 503 after 3 tries: still loading"));
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(HttpEmbedder, WaitsAsLongAsRetryAfterSays) {
  Server server([](int n, const httplib::Request& request, httplib::Response& response) {
    if (n == 0) {
      response.set_header("Retry-After", "1");
      return Says(429, "slow down")(n, request, response);
    }
    Good()(n, request, response);
  });
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(Embed(server.options(), {"a"}).size(), 3u);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(990));
}

TEST(HttpEmbedder, DoesNotTryAgainWhatCannotHelp) {
  for (int status : {400, 401, 403, 404, 422}) {
    Server server(Says(status, "no"));
    EXPECT_THAT(ErrorOfEmbed(server.options()), HasSubstr("HTTP " + std::to_string(status)));
    EXPECT_EQ(server.requests().size(), 1u) << status;
  }
}

TEST(HttpEmbedder, SlowServerIsGivenUp) {
  std::atomic<bool> done = false;
  Server server([&](int, const httplib::Request&, httplib::Response&) {
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  HttpEmbedderOptions options = server.options();
  options.timeout_s = 1;
  const std::string error = ErrorOfEmbed(options);
  done = true;
  EXPECT_THAT(error, HasSubstr("no answer within 1 s"));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(HttpEmbedder, ClosedPortIsNamed) {
  HttpEmbedderOptions options;
  {
    Server server(Good());
    options = server.options();  // its port is free again after this block
  }
  options.retries = 1;
  const std::string error = ErrorOfEmbed(options);
  EXPECT_THAT(error, HasSubstr(options.url));
  EXPECT_THAT(error, HasSubstr("after 2 tries"));
  EXPECT_THAT(error, HasSubstr("is the server running"));
}

TEST(HttpEmbedder, RedirectsAreNotFollowed) {
  Server elsewhere(Good());
  Server server([&](int, const httplib::Request&, httplib::Response& response) {
    response.set_redirect(elsewhere.options().url, 307);
  });
  EXPECT_THAT(ErrorOfEmbed(server.options()), HasSubstr("redirect"));
  EXPECT_TRUE(elsewhere.requests().empty());
}

struct BadAnswer {
  const char* body;  // to the texts "a", "b"
  const char* error;
};

TEST(HttpEmbedder, BadAnswersAreErrorsThatNameTheUrl) {
  const BadAnswer table[] = {
      {"<html>hello</html>", "no JSON"},
      {"", "no JSON"},
      {"[]", "2 texts were sent, 0 embeddings came back"},
      {"{\"data\": 3}", "2 texts were sent, 0 embeddings came back"},
      {R"({"data":[{"index":0,"embedding":[1]}]})", "2 texts were sent, 1 embeddings came back"},
      {R"({"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]})", "comes twice"},
      {R"({"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]})", "out of range"},
      {R"({"data":[{"index":-1,"embedding":[1]},{"index":1,"embedding":[1]}]})", "out of range"},
      {R"({"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]})",
       "has 1 dimensions, earlier ones 2"},
      {R"({"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]})", "empty"},
      {R"({"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":[1]}]})", "empty"},
      {R"({"data":[{"index":0,"embedding":[null]},{"index":1,"embedding":[1]}]})", "no finite"},
      {R"({"data":[{"index":0,"embedding":["x"]},{"index":1,"embedding":[1]}]})", "no finite"},
      {R"({"data":[{"index":0,"embedding":[1e39]},{"index":1,"embedding":[1]}]})", "no finite"},
      {R"({"data":[7, 8]})", "empty"},
  };
  for (auto [body, error] : table) {
    Server server(Says(200, body));
    const std::string said = ErrorOfEmbed(server.options());
    EXPECT_THAT(said, HasSubstr(error)) << body;
    EXPECT_THAT(said, HasSubstr(server.options().url)) << body;
    EXPECT_EQ(said.find('\n'), std::string::npos) << body;
  }
}

TEST(HttpEmbedder, DimensionMayNotChangeBetweenRequests) {
  Server server([](int n, const httplib::Request&, httplib::Response& response) {
    response.set_content(
        n == 0 ? R"({"data":[{"embedding":[1,2]}]})" : R"({"data":[{"embedding":[1,2,3]}]})",
        kJson);
  });
  auto embedder = MakeHttpEmbedder(server.options());
  const std::vector<std::string> text{"a"};
  EXPECT_EQ(embedder->Embed(text).size(), 2u);
  EXPECT_THAT(ErrorOf([&] { (void)embedder->Embed(text); }), HasSubstr("dimensions"));
}

TEST(HttpEmbedder, ZeroVectorStaysZero) {
  Server server(Says(200, R"({"data":[{"embedding":[0,0]},{"embedding":[0,2]}]})"));
  EXPECT_EQ(Embed(server.options(), {"a", "b"}), (std::vector<float>{0, 0, 0, 1}));
}

TEST(HttpEmbedder, OversizedAnswersEndTheTransfer) {
  Server server(Says(200, std::string(33 << 20, ' ')));
  EXPECT_THAT(ErrorOfEmbed(server.options()), HasSubstr("over 32 MiB"));
}

TEST(HttpEmbedder, KeysAreNeverPrinted) {
  Server server(Says(400, "bad key sk-secret, really sk-secret"));
  HttpEmbedderOptions options = server.options();
  options.api_key = "sk-secret";
  const std::string plain = options.url;
  options.url.insert(strlen("http://"), "user:hunter2@");
  options.url += "?token=hunter3#hunter4";
  auto embedder = MakeHttpEmbedder(options);
  const std::string error = ErrorOf([&] { (void)embedder->dim(); });
  for (const std::string& text : {error, embedder->fingerprint()}) {
    EXPECT_THAT(text, HasSubstr(plain));
    for (const char* secret : {"sk-secret", "user", "hunter"}) {
      EXPECT_THAT(text, Not(HasSubstr(secret)));
    }
  }
  options.api_key = "key";  // occurs in what stands in its place
  EXPECT_THAT(ErrorOfEmbed(options), HasSubstr("[key]"));
}

TEST(HttpEmbedder, FingerprintNamesUrlAndModel) {
  HttpEmbedderOptions options;
  options.url = "https://example.invalid/v1/embeddings";
  options.model = "m";
  EXPECT_EQ(MakeHttpEmbedder(options)->fingerprint(),
            "http:https://example.invalid/v1/embeddings#m");
}

TEST(HttpEmbedder, OnlyHttpUrlsAreTaken) {
  for (const char* url : {"", "ftp://host/", "file:///etc/passwd", "http:/x", "http://",
                          "example.org", "http://a b/", "http://a/\r\nX: y"}) {
    HttpEmbedderOptions options;
    options.url = url;
    EXPECT_THROW((void)MakeHttpEmbedder(options), Error) << url;
  }
  for (const char* url : {"HTTP://127.0.0.1:1/", "https://127.0.0.1:1/"}) {
    HttpEmbedderOptions options;
    options.url = url;
    EXPECT_NO_THROW((void)MakeHttpEmbedder(options)) << url;
  }
}

TEST(HttpEmbedder, KeyWithALineEndIsRefusedUnseen) {
  HttpEmbedderOptions options;
  options.url = "http://127.0.0.1:1/";
  options.api_key = "sk-secret\nX-Evil: 1";
  const std::string error = ErrorOf([&] { (void)MakeHttpEmbedder(options); });
  EXPECT_THAT(error, HasSubstr("KB_EMBED_API_KEY"));
  EXPECT_THAT(error, Not(HasSubstr("sk-secret")));
}

}  // namespace
}  // namespace kb
