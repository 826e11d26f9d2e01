#include "cli/serve_http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kb/json.h"

namespace kb {
namespace {

using State = HttpParse::State;
using testing::HasSubstr;

std::string Get(const std::string& target, const std::string& headers = "") {
  return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

TEST(ParseHttp, ReadsARequest) {
  const std::string text =
      "POST /a%20b?q=x+y%26z&k=&=v&flag HTTP/1.1\r\nHost: h\r\nX-Odd:\t v w \r\n"
      "Content-Length: 5\r\n\r\nhelloGET";
  const HttpParse parse = ParseHttp(text);
  ASSERT_EQ(parse.state, State::kWhole) << parse.error;
  EXPECT_EQ(parse.bytes, text.size() - 3);
  const HttpRequest& request = parse.request;
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/a b");
  EXPECT_EQ(request.query, (HttpPairs{{"q", "x y&z"}, {"k", ""}, {"", "v"}, {"flag", ""}}));
  EXPECT_EQ(request.Header("x-odd"), "v w");
  EXPECT_EQ(request.Header("missing"), "");
  EXPECT_EQ(request.body, "hello");
  EXPECT_TRUE(request.keep_alive);
}

TEST(ParseHttp, WantsMoreUntilTheLastByte) {
  const std::string text = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
  for (size_t size = 0; size < text.size(); ++size) {
    const HttpParse parse = ParseHttp(text.substr(0, size));
    ASSERT_EQ(parse.state, State::kMore) << size;
    EXPECT_GT(parse.bytes, size);
    EXPECT_LE(parse.bytes, text.size());
  }
  EXPECT_EQ(ParseHttp(text).state, State::kWhole);
}

struct BadRequest {
  std::string text;
  int status;
};

TEST(ParseHttp, RefusesWhatItDoesNotUnderstand) {
  const std::string head = "POST / HTTP/1.1\r\nHost: h\r\n";
  const BadRequest table[] = {
      {"\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET  HTTP/1.1\r\n\r\n", 400},
      {"G@T / HTTP/1.1\r\n\r\n", 400},
      {" GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\n\r\n", 505},
      {"GET / http/1.1\r\n\r\n", 505},
      {"GET http://h/ HTTP/1.1\r\n\r\n", 400},
      {"OPTIONS * HTTP/1.1\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\n\r\n", 400},
      {"GET /#f HTTP/1.1\r\n\r\n", 400},
      {"GET /\n HTTP/1.1\r\n\r\n", 400},
      {std::string("GET /\0 HTTP/1.1\r\n\r\n", 20), 400},
      {Get("/%"), 400},
      {Get("/%4"), 400},
      {Get("/%zz"), 400},
      {Get("/%00"), 400},
      {Get("/%0d%0aX:y"), 400},
      {Get("/?q=%f"), 400},
      {head + "no colon\r\n\r\n", 400},
      {head + "Name : v\r\n\r\n", 400},
      {head + ": v\r\n\r\n", 400},
      {head + "A: b\r\n folded\r\n\r\n", 400},
      {head + "A: b\nC: d\r\n\r\n", 400},
      {head + "A: b\rC: d\r\n\r\n", 400},
      {head + "Host: other\r\n\r\n", 400},
      {head + "Origin: a\r\nOrigin: b\r\n\r\n", 400},
      {head + "Authorization: a\r\nauthorization: b\r\n\r\n", 400},
      {head + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
      {head + "Content-Length: -1\r\n\r\n", 400},
      {head + "Content-Length: +1\r\n\r\na", 400},
      {head + "Content-Length: 1,1\r\n\r\na", 400},
      {head + "Content-Length: 0x1\r\n\r\na", 400},
      {head + "Content-Length: 1048577\r\n\r\n", 413},
      {head + "Content-Length: 99999999999999999999999\r\n\r\n", 413},
      {head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
      {head + "Transfer-Encoding: identity\r\nContent-Length: 3\r\n\r\nabc", 501},
      {head + "Expect: 100-continue\r\n\r\n", 417},
      {Get("/?q=" + std::string(16 << 10, 'a')), 414},
      {"GET /" + std::string(17 << 10, 'a'), 414},
      {head + "A: " + std::string(32 << 10, 'a'), 431},
      {head + "A: " + std::string(32 << 10, 'a') + "\r\n\r\n", 431},
  };
  for (const auto& [text, status] : table) {
    const HttpParse parse = ParseHttp(text);
    EXPECT_EQ(parse.state, State::kBad) << text.substr(0, 80);
    EXPECT_EQ(parse.status, status) << text.substr(0, 80);
    EXPECT_FALSE(parse.error.empty());
  }
}

TEST(ParseHttp, BoundsHeadersAndParameters) {
  std::string headers, query = "/?";
  for (int i = 0; i < 99; ++i) headers += "A" + std::to_string(i) + ": b\r\n";
  for (int i = 0; i < 64; ++i) query += "a&";
  EXPECT_EQ(ParseHttp(Get("/", headers)).state, State::kWhole);
  EXPECT_EQ(ParseHttp(Get("/", headers + "B: c\r\n")).status, 431);
  EXPECT_EQ(ParseHttp(Get(query)).state, State::kWhole);
  EXPECT_EQ(ParseHttp(Get(query + "b")).status, 400);
}

TEST(ParseHttp, KnowsWhenTheConnectionEnds) {
  EXPECT_FALSE(ParseHttp(Get("/", "Connection: close\r\n")).request.keep_alive);
  EXPECT_FALSE(ParseHttp(Get("/", "Connection: Close, x\r\n")).request.keep_alive);
  EXPECT_FALSE(ParseHttp("GET / HTTP/1.0\r\n\r\n").request.keep_alive);
}

// Whatever comes, the parser ends, stays within the text and says one of three things.
TEST(ParseHttp, SurvivesTenThousandDamagedRequests) {
  std::mt19937 random(7);
  const std::string seed =
      "POST /api/search?q=a%20b&k=3 HTTP/1.1\r\nHost: localhost:1\r\nOrigin: http://x\r\n"
      "Content-Length: 4\r\n\r\nbody";
  for (int i = 0; i < 10000; ++i) {
    std::string text = seed;
    for (size_t n = random() % 5 + 1; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 9);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 30));
          break;
        default:
          text.insert(at, "\r\n");
      }
      if (text.empty()) text = seed;
    }
    const HttpParse parse = ParseHttp(text);
    if (parse.state == State::kWhole) {
      EXPECT_LE(parse.bytes, text.size());
      EXPECT_TRUE(parse.request.path.starts_with("/"));
    } else if (parse.state == State::kMore) {
      EXPECT_GT(parse.bytes, text.size());
    } else {
      EXPECT_GE(parse.status, 400);
      EXPECT_EQ(parse.error.find_first_of("\r\n"), std::string::npos);
    }
  }
}

TEST(WriteHttp, FramesTheBody) {
  const HttpResponse response = {404, "text/plain", "gone", {{"Allow", "GET"}}};
  EXPECT_EQ(WriteHttp(response, true),
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n"
            "Allow: GET\r\nConnection: keep-alive\r\n\r\ngone");
  const std::string head = WriteHttp(response, false, false);
  EXPECT_THAT(head, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_TRUE(head.ends_with("Connection: close\r\n\r\n"));
}

TEST(HttpError, IsJsonOnOneLine) {
  const HttpResponse response = HttpError(400, "a \"b\"\nc");
  const auto value = ParseJson(response.body);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ((*value)["error"].AsString(), "a \"b\"\nc");
  EXPECT_EQ(response.body.find('\n'), response.body.size() - 1);
}

}  // namespace
}  // namespace kb
