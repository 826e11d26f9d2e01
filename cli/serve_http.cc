#include "cli/serve_http.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kb/json.h"

namespace kb {
namespace {

using State = HttpParse::State;

struct Reason {
  int status;
  const char* text;
};
constexpr Reason kReasons[] = {
    {200, "OK"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
};

// Given twice, a server and something before it could each believe another one.
constexpr std::string_view kOnce[] = {"host",          "origin",       "content-length",
                                      "authorization", "content-type", "transfer-encoding"};

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

bool HasControls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7F;
  });
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string_view Trim(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const size_t end = text.find_last_not_of(" \t");
  return end == std::string_view::npos ? "" : text.substr(begin, end + 1 - begin);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

class Parser {
 public:
  Parser(std::string_view bytes, const HttpLimits& limits) : bytes_(bytes), limits_(limits) {}

  HttpParse Run() {
    const size_t head = bytes_.find("\r\n\r\n");
    const size_t known = head == std::string_view::npos ? bytes_.size() : head + 4;
    if (bytes_.substr(0, known).find("\r\n") == std::string_view::npos &&
        known > limits_.target_bytes + 64) {
      return Bad(414, "the URL is over " + std::to_string(limits_.target_bytes) + " bytes");
    }
    if (known > limits_.head_bytes) {
      return Bad(431, "the headers are over " + std::to_string(limits_.head_bytes) + " bytes");
    }
    if (head == std::string_view::npos) return More(bytes_.size() + 1);
    std::string_view lines = bytes_.substr(0, head + 2);
    const bool is_good = ReadRequestLine(TakeLine(&lines)) && ReadHeaders(lines) && CheckHeaders();
    return is_good ? ReadBody(known) : std::move(parse_);
  }

 private:
  static std::string_view TakeLine(std::string_view* lines) {
    const size_t end = lines->find("\r\n");
    const std::string_view line = lines->substr(0, end);
    lines->remove_prefix(end + 2);
    return line;
  }

  HttpParse More(size_t bytes) {
    parse_.state = State::kMore;
    parse_.bytes = bytes;
    return std::move(parse_);
  }

  bool Fail(int status, std::string error) {
    parse_.state = State::kBad;
    parse_.status = status;
    parse_.error = std::move(error);
    return false;
  }
  HttpParse Bad(int status, std::string error) {
    Fail(status, std::move(error));
    return std::move(parse_);
  }

  // "GET /path?query HTTP/1.1"
  bool ReadRequestLine(std::string_view line) {
    const size_t first = line.find(' ');
    const size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last || !IsToken(line.substr(0, first))) {
      return Fail(400, "this is no HTTP request line");
    }
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (version != "HTTP/1.1" && version != "HTTP/1.0") {
      return Fail(505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    }
    parse_.request.method = line.substr(0, first);
    parse_.request.keep_alive = version == "HTTP/1.1";
    return ReadTarget(target);
  }

  bool ReadTarget(std::string_view target) {
    if (target.size() > limits_.target_bytes) {
      return Fail(414, "the URL is over " + std::to_string(limits_.target_bytes) + " bytes");
    }
    if (!target.starts_with('/') || target.find_first_of(" #") != std::string_view::npos ||
        HasControls(target)) {
      return Fail(400, "the URL does not begin with / or holds what no URL may");
    }
    const size_t mark = std::min(target.find('?'), target.size());
    if (!DecodePercent(target.substr(0, mark), false, &parse_.request.path) ||
        HasControls(parse_.request.path)) {
      return Fail(400, "the URL has a broken escape");
    }
    return mark == target.size() || ReadQuery(target.substr(mark + 1));
  }

  // "a=1&b=2"
  bool ReadQuery(std::string_view query) {
    while (!query.empty()) {
      const size_t end = std::min(query.find('&'), query.size());
      const std::string_view pair = query.substr(0, end);
      query.remove_prefix(std::min(end + 1, query.size()));
      if (pair.empty()) continue;
      const size_t equals = std::min(pair.find('='), pair.size());
      std::string name, value;
      if (!DecodePercent(pair.substr(0, equals), true, &name) ||
          !DecodePercent(pair.substr(std::min(equals + 1, pair.size())), true, &value)) {
        return Fail(400, "the query has a broken escape");
      }
      if (parse_.request.query.size() == limits_.query) {
        return Fail(400, "the query has over " + std::to_string(limits_.query) + " parameters");
      }
      parse_.request.query.emplace_back(std::move(name), std::move(value));
    }
    return true;
  }

  // Each line ends with CR LF. A lone CR or LF, a folded line and a name before a blank are
  // how requests are smuggled.
  bool ReadHeaders(std::string_view lines) {
    while (!lines.empty()) {
      const std::string_view line = TakeLine(&lines);
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)) || HasControls(line)) {
        return Fail(400, "a header is malformed");
      }
      if (parse_.request.headers.size() == limits_.headers) {
        return Fail(431, "there are over " + std::to_string(limits_.headers) + " headers");
      }
      parse_.request.headers.emplace_back(Lower(line.substr(0, colon)),
                                          Trim(line.substr(colon + 1)));
    }
    return true;
  }

  bool CheckHeaders() {
    HttpRequest& request = parse_.request;
    for (const std::string_view name : kOnce) {
      if (std::ranges::count(request.headers, name, [](const auto& h) { return h.first; }) > 1) {
        return Fail(400, "the header " + std::string(name) + " comes twice");
      }
    }
    if (!request.Header("transfer-encoding").empty()) {
      return Fail(501, "send the body with Content-Length, not with Transfer-Encoding");
    }
    if (!request.Header("expect").empty()) return Fail(417, "send the body without Expect");
    const std::string connection = Lower(request.Header("connection"));
    if (connection.find("close") != std::string::npos) request.keep_alive = false;
    return true;
  }

  HttpParse ReadBody(size_t head_bytes) {
    const std::string_view text = parse_.request.Header("content-length");
    size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error == std::errc::result_out_of_range || length > limits_.body_bytes) {
      return Bad(413, "the body is over " + std::to_string(limits_.body_bytes) + " bytes");
    }
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!text.empty() && !is_number) return Bad(400, "Content-Length is no number");
    if (bytes_.size() < head_bytes + length) return More(head_bytes + length);
    parse_.request.body = bytes_.substr(head_bytes, length);
    parse_.state = State::kWhole;
    parse_.bytes = head_bytes + length;
    return std::move(parse_);
  }

  std::string_view bytes_;
  const HttpLimits& limits_;
  HttpParse parse_;
};

}  // namespace

std::string_view HttpRequest::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return "";
}

HttpParse ParseHttp(std::string_view bytes, const HttpLimits& limits) {
  return Parser(bytes, limits).Run();
}

bool DecodePercent(std::string_view text, bool plus, std::string* decoded) {
  decoded->clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded->push_back(plus && text[i] == '+' ? ' ' : text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    decoded->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

std::string WriteHttp(const HttpResponse& response, bool keep_alive, bool with_body) {
  const auto reason = std::ranges::find(kReasons, response.status, &Reason::status);
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + " " +
                     (reason == std::end(kReasons) ? "Other" : reason->text) + "\r\n";
  text += "Content-Type: " + response.content_type + "\r\n";
  text += "Content-Length: " + std::to_string(response.body.size()) + "\r\n";
  for (const auto& [name, value] : response.headers) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  text += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return with_body ? text + response.body : text;
}

HttpResponse HttpError(int status, std::string_view line) {
  return {status, "application/json", WriteJson(Value(Value::Map{{"error", line}})) + "\n"};
}

}  // namespace kb
