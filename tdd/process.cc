#include "tdd/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "kb/error.h"
#include "tdd/process_pipe.h"
#include "tdd/sandbox.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongestDeath{5};

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return fs::absolute(name).string();
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  while (!name.empty() && !rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    std::string file = std::string(rest.substr(0, colon)) + "/" + name;
    if (colon > 0 && access(file.c_str(), X_OK) == 0) return file;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  throw Error("cannot start " + name + ": no such program in PATH");
}

// A folder that goes with the object, whatever a child has left in it.
class FreshFolder {
 public:
  FreshFolder() : path_((fs::temp_directory_path() / "kb-child-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw Error("cannot make a folder " + path_ + ": " + std::strerror(errno));
    }
  }
  ~FreshFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    if (!ignored) return;
    for (fs::recursive_directory_iterator it(path_, ignored), end; !ignored && it != end;
         it.increment(ignored)) {
      fs::permissions(it->path(), fs::perms::owner_all, fs::perm_options::nofollow, ignored);
    }
    fs::remove_all(path_, ignored);
  }
  FreshFolder(const FreshFolder&) = delete;
  FreshFolder& operator=(const FreshFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<char*> Pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::string AbsoluteFolder(const std::string& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  if (error || !fs::is_directory(absolute, error)) {
    throw Error("cannot give a child the folder " + path + ": it is no folder");
  }
  return absolute.string();
}

int ExitCode(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

ChildPlan LimitsOf(const ProcessOptions& options) {
  ChildPlan plan;
  if (options.sandbox) plan.sandbox = BestSandbox();
  plan.network = options.network;
  plan.memory_bytes = options.memory_bytes;
  plan.file_bytes = options.file_bytes;
  plan.nice = getpriority(PRIO_PROCESS, 0);
  plan.max_processes = options.max_processes;
  return plan;
}

// Waits until the program runs; throws what hindered it.
void CheckStarted(pid_t init, const std::string& path, Pipe* failed, Pipe* control) {
  if (init < 0) throw Error("cannot start " + path + ": " + std::strerror(errno));
  failed->write.Close();
  StartFailure failure;
  if (read(failed->read.get(), &failure, sizeof(failure)) <= 0) return;
  control->write.Close();
  waitpid(init, nullptr, 0);
  throw Error("cannot start " + path + ": " + failure.what + ": " + std::strerror(failure.error));
}

double CpuSeconds(const rusage& usage) {
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace

struct Process::State {
  std::unique_ptr<FreshFolder> fresh;
  pid_t init = -1;
  Clock::time_point start = Clock::now();
  double timeout_s = 0;
  size_t output_bytes = 0;
  Fd out, talk, done;

  std::mutex control_mutex;
  Fd control;

  std::thread watcher;
  std::atomic<bool> ended{false};
  std::mutex ended_mutex;
  std::condition_variable ended_changed;
  ProcessResult result;  // the watcher's, until it is joined

  void Start(const ProcessOptions& options);
  void Watch();
  void Kill();

 private:
  [[nodiscard]] int MillisLeft(Clock::time_point deadline) const;
  void Read(Fd* from, std::string* to);
  bool ReadEnd();
  void Finish();
};

void Process::State::Kill() {
  const std::lock_guard lock(control_mutex);
  control.Close();
}

void Process::State::Start(const ProcessOptions& options) {
  if (options.argv.empty()) throw Error("cannot start a child process: no program is named");
  if (options.folder.empty()) fresh = std::make_unique<FreshFolder>();
  const std::string path = FindProgram(options.argv[0]);
  const std::string folder = fresh ? fresh->path() : AbsoluteFolder(options.folder);
  std::vector<std::string> writable;
  for (const std::string& each : options.writable) writable.push_back(AbsoluteFolder(each));
  const std::vector<char*> argv = Pointers(options.argv);
  const std::vector<char*> environment = Pointers(options.environment);
  Pipe out_pipe = MakePipe(), talk_pipe = MakePipe(), control_pipe = MakePipe();
  Pipe failed_pipe = MakePipe(), done_pipe = MakePipe();
  const Fd null = Owned(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Fd channel(options.channel);

  ChildPlan plan = LimitsOf(options);
  plan.path = path.c_str();
  plan.argv = argv.data();
  plan.environment = environment.data();
  plan.folder = folder.c_str();
  plan.writable = {folder.c_str()};
  for (const std::string& each : writable) plan.writable.push_back(each.c_str());
  plan.null = null.get();
  plan.out = out_pipe.write.get();
  plan.talk = talk_pipe.write.get();
  plan.channel = channel.get();
  plan.control = control_pipe.read.get();
  plan.failed = failed_pipe.write.get();
  plan.done = done_pipe.write.get();
  init = StartChild(plan);
  CheckStarted(init, path, &failed_pipe, &control_pipe);
  out = std::move(out_pipe.read);
  talk = std::move(talk_pipe.read);
  done = std::move(done_pipe.read);
  control = std::move(control_pipe.write);
  for (const Fd* fd : {&out, &talk}) fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  timeout_s = options.timeout_s;
  output_bytes = static_cast<size_t>(std::max<int64_t>(options.output_bytes, 0));
  result.started = true;
  watcher = std::thread([this] { Watch(); });
}

int Process::State::MillisLeft(Clock::time_point deadline) const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 3600000));
}

// Appends what is there now. Past the bound the child is killed and the rest is dropped.
void Process::State::Read(Fd* from, std::string* to) {
  char buffer[65536];
  while (from->get() >= 0) {
    const ssize_t got = read(from->get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EAGAIN) return;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      from->Close();
      return;
    }
    const size_t room = output_bytes - to->size();
    to->append(buffer, std::min(static_cast<size_t>(got), room));
    if (static_cast<size_t>(got) <= room) continue;
    result.too_much_output = true;
    from->Close();
    Kill();
  }
}

// False once all is over.
bool Process::State::ReadEnd() {
  ChildEnd end;
  const ssize_t got = read(done.get(), &end, sizeof(end));
  if (got < 0 && errno == EINTR) return true;
  if (got == sizeof(end)) {
    result.exit_code = ExitCode(end.wait_status);
    result.too_many_processes = end.too_many_processes;
  }
  return false;
}

void Process::State::Watch() {
  Clock::time_point deadline =
      start + std::chrono::duration_cast<Clock::duration>(
                  std::chrono::duration<double>(std::clamp(timeout_s, 0.0, 1e6)));
  bool killing = false;
  while (true) {
    pollfd fds[] = {{out.get(), POLLIN, 0}, {talk.get(), POLLIN, 0}, {done.get(), POLLIN, 0}};
    const int ready = poll(fds, 3, MillisLeft(deadline));
    if (ready == 0 && Clock::now() >= deadline) {
      if (killing) break;  // a driver holds it in the kernel
      killing = result.timed_out = true;
      Kill();
      deadline = Clock::now() + kLongestDeath;
    }
    if (ready <= 0) continue;
    if (fds[0].revents != 0) Read(&out, &result.out);
    if (fds[1].revents != 0) Read(&talk, &result.talk);
    if (fds[2].revents != 0 && !ReadEnd()) break;
  }
  Finish();
}

void Process::State::Finish() {
  Read(&out, &result.out);
  Read(&talk, &result.talk);
  Kill();
  if (result.exit_code < 0) {
    result.exit_code = 128 + SIGKILL;
    kill(init, SIGKILL);
  }
  rusage usage = {};
  const Clock::time_point deadline = Clock::now() + kLongestDeath;
  while (wait4(init, nullptr, WNOHANG, &usage) == 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  result.cpu_s = CpuSeconds(usage);
  result.wall_s = Seconds(Clock::now() - start);
  const std::lock_guard lock(ended_mutex);
  ended = true;
  ended_changed.notify_all();
}

Process::Process(const ProcessOptions& options) : state_(std::make_unique<State>()) {
  state_->Start(options);
}

Process::~Process() {
  Kill();
  if (state_->watcher.joinable()) state_->watcher.join();
}

bool Process::running() const { return !state_->ended; }

void Process::Kill() { state_->Kill(); }

bool Process::EndsWithin(double seconds) const {
  std::unique_lock lock(state_->ended_mutex);
  return state_->ended_changed.wait_for(
      lock, std::chrono::duration<double>(std::clamp(seconds, 0.0, 1e6)),
      [this] { return state_->ended.load(); });
}

ProcessResult Process::Wait() {
  if (state_->watcher.joinable()) state_->watcher.join();
  return state_->result;
}

ProcessResult RunProcess(const ProcessOptions& options) {
  try {
    return Process(options).Wait();
  } catch (const Error& error) {
    ProcessResult result;
    result.why = error.what();
    return result;
  }
}

}  // namespace kb
