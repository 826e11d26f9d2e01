// HTTP/1.1 messages as bytes (RFC 9110, 9112): the strict part of it that kb serve needs. No
// sockets, no routes. What is not understood is refused, never guessed at.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kb {

using HttpPairs = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // decoded, begins with '/'
  HttpPairs query;     // decoded, in the order given
  HttpPairs headers;   // names in lower case
  std::string body;
  bool keep_alive = true;

  // The value of the header `name` (in lower case), or "".
  [[nodiscard]] std::string_view Header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type;
  std::string body;
  HttpPairs headers = {};
};

struct HttpLimits {
  size_t target_bytes = 16 << 10;  // path and query
  size_t head_bytes = 32 << 10;    // request line and headers
  size_t body_bytes = 1 << 20;
  size_t headers = 100;
  size_t query = 64;
};

struct HttpParse {
  enum class State { kMore, kWhole, kBad };
  State state = State::kMore;
  size_t bytes = 0;  // kMore: parse again when there are so many; kWhole: so many were used
  HttpRequest request;
  int status = 0;     // kBad: what to answer before the connection is closed
  std::string error;  // kBad: one line
};

// The first request of `bytes`.
[[nodiscard]] HttpParse ParseHttp(std::string_view bytes, const HttpLimits& limits = {});

// `text` with %XX decoded, and '+' as a space if `plus`. False if an escape is broken.
[[nodiscard]] bool DecodePercent(std::string_view text, bool plus, std::string* decoded);

// The whole response. `with_body` false: an answer to HEAD.
[[nodiscard]] std::string WriteHttp(const HttpResponse& response, bool keep_alive,
                                    bool with_body = true);

// {"error": line} with the status.
[[nodiscard]] HttpResponse HttpError(int status, std::string_view line);

}  // namespace kb
