#include "cli/serve_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kb {
namespace {

using testing::HasSubstr;

HttpRequest Asking(const std::string& host, const std::string& origin = "",
                   const std::string& authorization = "") {
  HttpRequest request;
  request.method = "GET";
  request.path = "/api/search";
  request.headers = {{"host", host}};
  if (!origin.empty()) request.headers.emplace_back("origin", origin);
  if (!authorization.empty()) request.headers.emplace_back("authorization", authorization);
  return request;
}

int StatusOf(const HttpRequest& request, const ServeAccess& access, bool is_public = false) {
  const auto refused = Refuse(request, access, is_public);
  return refused ? refused->status : 200;
}

struct HostCase {
  const char* host;
  const char* listens_on;
  int status;
};

TEST(Refuse, TakesOnlyHostsThatAreOurs) {
  const HostCase table[] = {
      {"localhost:8080", "127.0.0.1", 200},
      {"LOCALHOST:8080", "127.0.0.1", 200},
      {"127.0.0.1:8080", "127.0.0.1", 200},
      {"127.8.9.1:8080", "127.0.0.1", 200},
      {"[::1]:8080", "::1", 200},
      {"localhost", "127.0.0.1", 403},
      {"localhost:8081", "127.0.0.1", 403},
      {"localhost:", "127.0.0.1", 403},
      {"localhost:8080:8080", "127.0.0.1", 403},
      {"localhost:80800", "127.0.0.1", 403},
      {"", "127.0.0.1", 403},
      {":8080", "127.0.0.1", 403},
      {"evil.example:8080", "127.0.0.1", 403},
      {"localhost.evil.example:8080", "127.0.0.1", 403},
      {"127.0.0.1.evil.example:8080", "127.0.0.1", 403},
      {"127.evil:8080", "127.0.0.1", 403},
      {"10.0.0.7:8080", "127.0.0.1", 403},
      {"0.0.0.0:8080", "127.0.0.1", 403},
      {"[::2]:8080", "127.0.0.1", 403},
      {"me@localhost:8080", "127.0.0.1", 403},
      {"kb.lan:8080", "kb.lan", 200},
      {"10.0.0.7:8080", "10.0.0.7", 200},
      {"10.0.0.8:8080", "10.0.0.7", 403},
      {"10.0.0.7:8080", "0.0.0.0", 200},
      {"[fe80::1]:8080", "::", 200},
      {"kb.lan:8080", "0.0.0.0", 403},
  };
  for (const auto& [host, listens_on, status] : table) {
    EXPECT_EQ(StatusOf(Asking(host), {listens_on, 8080, ""}), status) << host;
  }
  EXPECT_EQ(StatusOf(Asking("localhost"), {"127.0.0.1", 80, ""}), 200);
}

TEST(Refuse, TakesOnlyItsOwnOrigin) {
  const ServeAccess access = {"127.0.0.1", 8080, ""};
  for (const char* origin : {"", "http://localhost:8080", "HTTP://Localhost:8080"}) {
    EXPECT_EQ(StatusOf(Asking("localhost:8080", origin), access), 200) << origin;
  }
  for (const char* origin :
       {"null", "http://evil.example", "http://localhost", "http://localhost:8081",
        "https://localhost:8080", "http://127.0.0.1:8080", "http://localhost:8080.evil.example",
        "http://localhost:8080/", "localhost:8080"}) {
    EXPECT_EQ(StatusOf(Asking("localhost:8080", origin), access), 403) << origin;
    EXPECT_EQ(StatusOf(Asking("localhost:8080", origin), access, true), 403) << origin;
  }
}

TEST(Refuse, AsksForTheToken) {
  const ServeAccess access = {"127.0.0.1", 8080, "s3cret"};
  const std::string host = "localhost:8080";
  for (const char* good : {"Bearer s3cret", "bearer s3cret"}) {
    EXPECT_EQ(StatusOf(Asking(host, "", good), access), 200) << good;
  }
  for (const char* bad : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3cret1", "s3cret",
                          "Bearer  s3cret", "Basic s3cret", "Bearer S3CRET"}) {
    const auto refused = Refuse(Asking(host, "", bad), access, false);
    ASSERT_TRUE(refused.has_value()) << bad;
    EXPECT_EQ(refused->status, 401) << bad;
    EXPECT_EQ(refused->headers.at(0).first, "WWW-Authenticate");
    EXPECT_THAT(refused->body, testing::Not(HasSubstr("s3cret")));
    EXPECT_EQ(StatusOf(Asking(host, "", bad), access, true), 200) << bad;
  }
}

TEST(IsSameSecret, ComparesWhole) {
  EXPECT_TRUE(IsSameSecret("", ""));
  EXPECT_TRUE(IsSameSecret("abc", "abc"));
  EXPECT_FALSE(IsSameSecret("abc", "abd"));
  EXPECT_FALSE(IsSameSecret("abc", "abcd"));
  EXPECT_FALSE(IsSameSecret(std::string("abc\0", 4), "abc"));
}

// printf 'alert(1)' | openssl dgst -sha256 -binary | base64
TEST(PagePolicy, NamesScriptAndStyleByHash) {
  const std::string policy = PagePolicy("<style>p{}</style><script>alert(1)</script>");
  EXPECT_THAT(policy,
              HasSubstr("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
}

TEST(AddSecurityHeaders, KeepsAPolicyThatIsThere) {
  HttpResponse response;
  AddSecurityHeaders("default-src 'self'", &response);
  const size_t count = response.headers.size();
  AddSecurityHeaders("", &response);
  EXPECT_EQ(response.headers.size(), count);
  EXPECT_EQ(response.headers.at(0).second, "default-src 'self'");
}

}  // namespace
}  // namespace kb
