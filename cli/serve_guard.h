// Who may ask kb serve: the Host that was meant, no page from elsewhere, the right token. And
// what every response forbids the browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/serve_http.h"

namespace kb {

struct ServeAccess {
  std::string host = "127.0.0.1";  // as it was told to listen on
  int port = 0;
  std::string token;  // "": none is asked for
};

// "localhost", "127.x.x.x" and "::1", with or without brackets.
[[nodiscard]] bool IsLoopback(std::string_view host);

// 403 if the Host header names somebody else (a name that was rebound to our address), or the
// Origin is not that host; 401 without the token, unless `is_public`. nullopt: welcome.
[[nodiscard]] std::optional<HttpResponse> Refuse(const HttpRequest& request,
                                                 const ServeAccess& access, bool is_public);

// Compares without saying by its duration how much was right.
[[nodiscard]] bool IsSameSecret(std::string_view a, std::string_view b);

// The Content-Security-Policy under which `page` runs: its one <script> and one <style>, by
// hash, requests to this server, nothing else.
[[nodiscard]] std::string PagePolicy(std::string_view page);

// Adds what every response carries, if it was not added yet; `policy` "": one under which
// nothing runs.
void AddSecurityHeaders(std::string_view policy, HttpResponse* response);

}  // namespace kb
