// The sockets of kb serve: one thread watches all connections and never waits for one of them;
// whole requests go to worker threads. So a client that is slow costs its buffer and nothing
// else, and it is bounded how many there are and how long each may take.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "cli/serve_http.h"

namespace kb {

struct ServeLimits {
  int threads = 2;        // workers
  int connections = 128;  // above it the one that has been quiet longest is closed
  std::chrono::milliseconds request_time{10000};  // from a request's first byte to its last
  std::chrono::milliseconds idle_time{30000};     // between requests
  std::chrono::milliseconds write_time{30000};    // for a response to be taken
  std::chrono::milliseconds drain_time{2000};     // for what a refused client still sends
  std::chrono::milliseconds stop_time{10000};     // for running requests, when stopping
  HttpLimits http = {};
};

class HttpServer {
 public:
  // Called in one thread at a time; a worker makes its own.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  // Listens at once. `host`: a numeric address or a name; port 0: any free one. `make_handler`
  // is called once in each worker thread. `finish` (may be null) is called, from any thread, for
  // each response
  // before it is written, also for those that no handler made. Throws Error if the address
  // cannot be had.
  HttpServer(const std::string& host, int port, const ServeLimits& limits,
             std::function<Handler()> make_handler, std::function<void(HttpResponse*)> finish);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] int port() const;

  // Serves until Stop is called or `stop_fd` (-1: none) is readable; then takes no further
  // request, finishes those that run and returns.
  void Run(int stop_fd);
  void Stop();  // from any thread

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
