// One HTTP POST at a time, by libcurl, which is opened when first used. The only place that
// includes libcurl. No redirects, no retries. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kb {

struct HttpReply {
  // kBroken: the connection; trying again may help.
  enum class Failure { kNone, kBroken, kTimeout, kTooLarge, kOther };
  Failure failure = Failure::kNone;
  std::string why;            // of a failure, a few words
  long status = 0;            // 200, 404, ... without a failure
  int64_t retry_after_s = 0;  // what the server asks for; 0: nothing
  std::string body;
};

class HttpClient {
 public:
  static constexpr size_t kMaxResponseBytes = 32u << 20;

  // Throws Error if libcurl is not installed.
  HttpClient();
  ~HttpClient();

  // Posts JSON. `bearer` "" sends no Authorization. TLS is verified. The connection is kept.
  [[nodiscard]] HttpReply Post(const std::string& url, const std::string& bearer,
                               const std::string& json, int timeout_s);

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// The URL without user, password, query and fragment, which may hold keys: safe to print.
[[nodiscard]] std::string PublicUrl(std::string_view url);

}  // namespace kb
