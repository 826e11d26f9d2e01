#include "cli/serve_guard.h"

#include "kb/sha256.h"

namespace kb {
namespace {

constexpr std::string_view kNothing = "default-src 'none'; frame-ancestors 'none'";

bool IsNumeric(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string_view WithoutBrackets(std::string_view host) {
  const bool has = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return has ? host.substr(1, host.size() - 2) : host;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// An address cannot be rebound as a name can, so all of them are ours if we listen on all.
bool IsOurName(std::string_view name, const ServeAccess& access) {
  const std::string_view own = WithoutBrackets(access.host);
  const bool listens_on_all = own == "0.0.0.0" || own == "::";
  const bool is_address = IsNumeric(name) || name.starts_with('[');
  return IsLoopback(name) || WithoutBrackets(name) == own || (listens_on_all && is_address);
}

// "name:port"; the port may be missing if it is HTTP's own.
bool IsOurHost(std::string_view header, const ServeAccess& access) {
  const std::string host = Lower(header);
  const size_t bracket = host.rfind(']');
  const size_t colon = host.find(':', bracket == std::string::npos ? 0 : bracket);
  const std::string port = colon == std::string::npos ? "80" : host.substr(colon + 1);
  return port == std::to_string(access.port) && IsOurName(host.substr(0, colon), access);
}

bool HasToken(const HttpRequest& request, const std::string& token) {
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view header = request.Header("authorization");
  if (Lower(header.substr(0, kScheme.size())) != kScheme) return false;
  return IsSameSecret(header.substr(kScheme.size()), token);
}

int HexDigit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

// RFC 4648 of bytes that are given in lower-case hex.
std::string Base64OfHex(std::string_view hex) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = (bits << 4) | static_cast<unsigned>(HexDigit(c));
    count += 4;
    if (count < 6) continue;
    count -= 6;
    text.push_back(kDigits[(bits >> count) & 63]);
  }
  if (count > 0) text.push_back(kDigits[(bits << (6 - count)) & 63]);
  while (text.size() % 4 != 0) text.push_back('=');
  return text;
}

// "'sha256-...'" of what stands between <tag> and </tag>.
std::string HashSource(std::string_view page, const std::string& tag) {
  const std::string open = "<" + tag + ">";
  const size_t begin = page.find(open);
  const size_t end = page.find("</" + tag + ">");
  if (begin == std::string_view::npos || end == std::string_view::npos) return "'none'";
  const size_t from = begin + open.size();
  return "'sha256-" + Base64OfHex(Sha256(page.substr(from, end - from))) + "'";
}

}  // namespace

bool IsLoopback(std::string_view host) {
  const std::string_view name = WithoutBrackets(host);
  return name == "localhost" || name == "::1" || (name.starts_with("127.") && IsNumeric(name));
}

std::optional<HttpResponse> Refuse(const HttpRequest& request, const ServeAccess& access,
                                   bool is_public) {
  const std::string_view host = request.Header("host");
  if (!IsOurHost(host, access)) {
    return HttpError(403, "the Host header names another server; ask for " +
                              std::string(IsLoopback(access.host) ? "localhost" : access.host) +
                              ":" + std::to_string(access.port));
  }
  const std::string_view origin = request.Header("origin");
  if (!origin.empty() && Lower(origin) != "http://" + Lower(host)) {
    return HttpError(403, "pages of another origin may not ask here");
  }
  if (is_public || access.token.empty() || HasToken(request, access.token)) return std::nullopt;
  HttpResponse response =
      HttpError(401, "send the token that KB_SERVE_TOKEN holds: Authorization: Bearer TOKEN");
  response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"kb\"");
  return response;
}

bool IsSameSecret(std::string_view a, std::string_view b) {
  const std::string left = Sha256(a), right = Sha256(b);  // of equal lengths
  unsigned difference = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    difference |= static_cast<unsigned>(left[i]) ^ static_cast<unsigned>(right[i]);
  }
  return difference == 0;
}

std::string PagePolicy(std::string_view page) {
  return "default-src 'none'; script-src " + HashSource(page, "script") + "; style-src " +
         HashSource(page, "style") +
         "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
         "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
}

void AddSecurityHeaders(std::string_view policy, HttpResponse* response) {
  constexpr std::string_view kPolicy = "Content-Security-Policy";
  for (const auto& [name, value] : response->headers) {
    if (name == kPolicy) return;  // it has its own
  }
  response->headers.emplace_back(kPolicy, policy.empty() ? kNothing : policy);
  response->headers.emplace_back("X-Content-Type-Options", "nosniff");
  response->headers.emplace_back("Referrer-Policy", "no-referrer");
  response->headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  response->headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  response->headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace kb
