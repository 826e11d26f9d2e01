#include "cli/serve_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <string_view>
#include <thread>

#include "cli/serve_queue.h"
#include "cli/serve_socket.h"
#include "kb/error.h"

namespace kb {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than any limit; poll's timeout is in int milliseconds.
constexpr std::chrono::hours kNever{24};
constexpr std::chrono::milliseconds kNoDescriptors{100};  // until accept is tried again

// What a connection is waiting for.
enum class Phase { kRead, kWork, kWrite, kDrain };

struct Connection {
  uint64_t id = 0;
  Descriptor socket;
  Phase phase = Phase::kRead;
  Clock::time_point deadline;
  std::string in;
  size_t need = 1;  // bytes of `in` at which it is worth parsing
  std::string out;
  size_t sent = 0;
  bool keep_alive = true;
};

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

class HttpServer::Rep {
 public:
  Rep(const std::string& host, int port, const ServeLimits& limits,
      std::function<Handler()> make_handler, std::function<void(HttpResponse*)> finish)
      : limits_(limits),
        make_handler_(std::move(make_handler)),
        finish_(std::move(finish)),
        listener_(Listen(host, port)),
        wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
        port_(PortOf(listener_.get())) {}

  [[nodiscard]] int port() const { return port_; }

  void Wake() const {
    const uint64_t one = 1;
    (void)!write(wake_.get(), &one, sizeof(one));
  }

  void Stop() {
    stop_asked_ = true;
    Wake();
  }

  void Run(int stop_fd) {
    std::vector<std::thread> workers;
    for (int i = 0; i < limits_.threads; ++i) workers.emplace_back([this] { Work(); });
    while (!IsDone()) Turn(stop_fd);
    connections_.clear();
    queue_.Close();
    for (std::thread& worker : workers) worker.join();
  }

 private:
  // ---- worker threads ----
  void Work() {
    const Handler handler = make_handler_();
    while (std::optional<ServeJob> job = queue_.Take()) {
      HttpResponse response;
      try {
        response = handler(job->request);
      } catch (const std::exception& error) {
        response = HttpError(500, std::string("a defect in kb, please report it: ") + error.what());
      }
      const bool keep_alive = job->request.keep_alive && !stop_asked_;
      queue_.PutResult({job->connection, keep_alive,
                        Bytes(std::move(response), keep_alive, job->request.method != "HEAD")});
      Wake();
    }
  }

  std::string Bytes(HttpResponse response, bool keep_alive, bool with_body) const {
    if (finish_) finish_(&response);
    return WriteHttp(response, keep_alive, with_body);
  }

  // ---- the thread that calls Run ----
  [[nodiscard]] bool IsDone() const {
    return stopping_ && (connections_.empty() || Clock::now() >= stop_deadline_);
  }

  // Waits for the next event and does what it asks for.
  void Turn(int stop_fd) {
    const bool is_accepting = !stopping_ && Clock::now() >= accept_again_;
    std::vector<pollfd> polls = {{wake_.get(), POLLIN, 0},
                                 {stopping_ ? -1 : stop_fd, POLLIN, 0},
                                 {is_accepting ? listener_.get() : -1, POLLIN, 0}};
    for (const Connection& connection : connections_) {
      // One that a worker has is not watched: a closed one would be reported for ever.
      const bool is_watched = connection.phase != Phase::kWork;
      const bool writes = connection.phase == Phase::kWrite;
      polls.push_back({is_watched ? connection.socket.get() : -1,
                       static_cast<int16_t>(writes ? POLLOUT : POLLIN), 0});
    }
    if (poll(polls.data(), polls.size(), TimeoutMs()) < 0 && errno != EINTR) {
      throw Error(std::string("cannot wait for connections: ") + std::strerror(errno));
    }
    size_t next = 3;
    for (auto it = connections_.begin(); it != connections_.end(); ++next) {
      const auto current = it++;
      if (polls[next].revents != 0 && !Proceed(&*current)) connections_.erase(current);
    }
    if (polls[0].revents != 0) TakeResults();
    if (polls[2].revents != 0) Accept();
    if (polls[1].revents != 0 || stop_asked_) BeginStop();
    DropLate();
  }

  [[nodiscard]] int TimeoutMs() const {
    Clock::time_point first = Clock::now() + kNever;
    if (stopping_) first = std::min(first, stop_deadline_);
    if (accept_again_ > Clock::now()) first = std::min(first, accept_again_);
    for (const Connection& connection : connections_) {
      if (connection.phase != Phase::kWork) first = std::min(first, connection.deadline);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(first - Clock::now()).count();
    return static_cast<int>(std::max<int64_t>(0, left));
  }

  void Accept() {
    while (true) {
      const int fd = accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) {
        if (!WouldBlock() && errno != ECONNABORTED) accept_again_ = Clock::now() + kNoDescriptors;
        return;
      }
      Descriptor socket(fd);
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      if (!MakeRoom()) continue;  // all are at work: this one is closed
      Connection& connection = connections_.emplace_back();
      connection.id = ++last_id_;
      connection.socket = std::move(socket);
      connection.deadline = Clock::now() + limits_.request_time;
    }
  }

  // The one nearest to its deadline goes: one that has been sending a request for long, or has
  // sent nothing yet, before one that is between two requests.
  bool MakeRoom() {
    if (connections_.size() < static_cast<size_t>(limits_.connections)) return true;
    auto first = connections_.end();
    for (auto it = connections_.begin(); it != connections_.end(); ++it) {
      const bool may_go = it->phase == Phase::kRead || it->phase == Phase::kDrain;
      if (may_go && (first == connections_.end() || it->deadline < first->deadline)) first = it;
    }
    if (first == connections_.end()) return false;
    connections_.erase(first);
    return true;
  }

  // False: the connection is over.
  bool Proceed(Connection* connection) {
    switch (connection->phase) {
      case Phase::kRead:
        return Read(connection);
      case Phase::kWrite:
        return Write(connection);
      case Phase::kDrain:
        return Drain(connection);
      case Phase::kWork:
        break;
    }
    return true;
  }

  bool Read(Connection* connection) {
    char buffer[1 << 16];
    const ssize_t n = recv(connection->socket.get(), buffer, sizeof(buffer), 0);
    if (n <= 0) return n < 0 && WouldBlock();
    if (connection->in.empty()) connection->deadline = Clock::now() + limits_.request_time;
    connection->in.append(buffer, static_cast<size_t>(n));
    return connection->in.size() < connection->need || Begin(connection);
  }

  // Hands the next request over to a worker, if it is there whole.
  bool Begin(Connection* connection) {
    HttpParse parse = ParseHttp(connection->in, limits_.http);
    if (parse.state == HttpParse::State::kMore) {
      connection->need = parse.bytes;
      return true;
    }
    if (parse.state == HttpParse::State::kBad) {
      return Answer(connection, HttpError(parse.status, parse.error));
    }
    connection->in.erase(0, parse.bytes);
    connection->need = 1;
    connection->phase = Phase::kWork;
    queue_.Put({connection->id, std::move(parse.request)});
    return true;
  }

  // Says it and closes.
  bool Answer(Connection* connection, HttpResponse response) {
    return BeginWrite(connection, Bytes(std::move(response), false, true), false);
  }

  bool BeginWrite(Connection* connection, std::string bytes, bool keep_alive) {
    connection->phase = Phase::kWrite;
    connection->out = std::move(bytes);
    connection->sent = 0;
    connection->keep_alive = keep_alive && !stopping_;
    connection->deadline = Clock::now() + limits_.write_time;
    return Write(connection);
  }

  bool Write(Connection* connection) {
    while (connection->sent < connection->out.size()) {
      const std::string_view rest = std::string_view(connection->out).substr(connection->sent);
      const ssize_t n = send(connection->socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (n < 0) return WouldBlock();
      connection->sent += static_cast<size_t>(n);
    }
    std::string().swap(connection->out);
    return connection->keep_alive ? BeginRead(connection) : BeginDrain(connection);
  }

  bool BeginRead(Connection* connection) {
    connection->phase = Phase::kRead;
    const bool is_idle = connection->in.empty();
    connection->deadline = Clock::now() + (is_idle ? limits_.idle_time : limits_.request_time);
    return is_idle || Begin(connection);  // a request may have come with the last one
  }

  // Closing while bytes are unread would reset the connection, and the client might never see
  // why it was refused.
  bool BeginDrain(Connection* connection) {
    connection->phase = Phase::kDrain;
    connection->deadline = Clock::now() + limits_.drain_time;
    std::string().swap(connection->in);
    return shutdown(connection->socket.get(), SHUT_WR) == 0 && !stopping_;
  }

  static bool Drain(Connection* connection) {
    char buffer[1 << 16];
    const ssize_t n = recv(connection->socket.get(), buffer, sizeof(buffer), 0);
    return n > 0 || (n < 0 && WouldBlock());
  }

  void TakeResults() {
    uint64_t count = 0;
    (void)!read(wake_.get(), &count, sizeof(count));
    for (ServeResult& result : queue_.TakeResults()) {
      const auto found = std::ranges::find(connections_, result.connection, &Connection::id);
      if (found == connections_.end()) continue;
      if (!BeginWrite(&*found, std::move(result.bytes), result.keep_alive)) {
        connections_.erase(found);
      }
    }
  }

  void DropLate() {
    const Clock::time_point now = Clock::now();
    for (auto it = connections_.begin(); it != connections_.end();) {
      const auto current = it++;
      if (current->phase == Phase::kWork || current->deadline > now) continue;
      const bool is_half_sent = current->phase == Phase::kRead && !current->in.empty();
      if (!is_half_sent || !Answer(&*current, HttpError(408, "the request took too long"))) {
        connections_.erase(current);
      }
    }
  }

  void BeginStop() {
    if (stopping_) return;
    stop_asked_ = true;
    stopping_ = true;
    stop_deadline_ = Clock::now() + limits_.stop_time;
    listener_ = Descriptor();
    std::erase_if(connections_, [](const Connection& connection) {
      return connection.phase == Phase::kRead || connection.phase == Phase::kDrain;
    });
    for (Connection& connection : connections_) connection.keep_alive = false;
  }

  const ServeLimits limits_;
  const std::function<Handler()> make_handler_;
  const std::function<void(HttpResponse*)> finish_;
  Descriptor listener_;
  const Descriptor wake_;
  const int port_;
  ServeQueue queue_;
  std::atomic<bool> stop_asked_ = false;

  std::list<Connection> connections_;
  uint64_t last_id_ = 0;
  bool stopping_ = false;
  Clock::time_point stop_deadline_, accept_again_;
};

HttpServer::HttpServer(const std::string& host, int port, const ServeLimits& limits,
                       std::function<Handler()> make_handler,
                       std::function<void(HttpResponse*)> finish)
    : rep_(std::make_unique<Rep>(host, port, limits, std::move(make_handler), std::move(finish))) {}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return rep_->port(); }

void HttpServer::Run(int stop_fd) { rep_->Run(stop_fd); }

void HttpServer::Stop() { rep_->Stop(); }

}  // namespace kb
