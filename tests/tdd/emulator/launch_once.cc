#include "tests/tdd/emulator/launch_once.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tdd/driver.h"

namespace kb {
namespace {

// The child's side: calls until one fails.
class Child {
 public:
  explicit Child(const LaunchOnce& launch) : launch_(launch) {}

  LaunchedOnce Run() {
    driver_ = cuda::OpenDriver(launch_.driver, &done_.error);
    if (driver_ == nullptr) return done_;
    done_.result = Steps();
    if (done_.result != 0) done_.error = driver_->Text(done_.result);
    return done_;
  }

 private:
  int Steps() {
    cuda::Module module = nullptr;
    cuda::Context context = nullptr;
    int result = driver_->Init(0);
    if (result == 0) result = driver_->DevicePrimaryCtxRetain(&context, 0);
    if (result == 0) result = driver_->ModuleLoadData(&module, launch_.cubin.data());
    if (result == 0)
      result = driver_->ModuleGetFunction(&function_, module, launch_.kernel.c_str());
    if (result == 0 && launch_.shared_bytes > 48 << 10) {
      result = driver_->FuncSetAttribute(function_, cuda::kMaxDynamicSharedBytes,
                                         static_cast<int>(launch_.shared_bytes));
    }
    if (result == 0) result = Upload();
    if (result == 0) result = Launch();
    return result != 0 ? result : Download();
  }

  int Upload() {
    for (const std::string& bytes : launch_.buffers) {
      pointers_.push_back(0);
      int result = driver_->MemAlloc(&pointers_.back(), bytes.size());
      if (result == 0) result = driver_->MemcpyHtoD(pointers_.back(), bytes.data(), bytes.size());
      if (result != 0) return result;
    }
    return 0;
  }

  int Launch() {
    std::vector<void*> args;
    for (const LaunchOnce::Arg& arg : launch_.args) {
      const void* at = arg.buffer < 0
                           ? static_cast<const void*>(arg.bytes.data())
                           : static_cast<const void*>(&pointers_[static_cast<size_t>(arg.buffer)]);
      args.push_back(const_cast<void*>(at));
    }
    cuda::LaunchConfig config;
    config.grid[0] = launch_.grid;
    config.block[0] = launch_.block;
    config.shared_bytes = launch_.shared_bytes;
    int result = driver_->LaunchKernelEx(&config, function_, args.data(), nullptr);
    return result != 0 ? result : driver_->CtxSynchronize();
  }

  int Download() {
    for (size_t i = 0; i < pointers_.size(); ++i) {
      std::string bytes(launch_.buffers[i].size(), '\0');
      int result = driver_->MemcpyDtoH(bytes.data(), pointers_[i], bytes.size());
      if (result != 0) return result;
      done_.buffers.push_back(std::move(bytes));
    }
    return 0;
  }

  const LaunchOnce& launch_;
  std::unique_ptr<cuda::Driver> driver_;
  cuda::Function function_ = nullptr;
  std::vector<cuda::DevicePointer> pointers_;
  LaunchedOnce done_;
};

void WriteAll(int fd, const std::string& bytes) {
  uint64_t size = bytes.size();
  std::string framed(reinterpret_cast<const char*>(&size), sizeof size);
  framed += bytes;
  for (size_t at = 0; at < framed.size();) {
    ssize_t n = write(fd, framed.data() + at, framed.size() - at);
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

std::string ReadToEnd(int fd) {
  std::string all;
  char chunk[65536];
  for (ssize_t n = 0; (n = read(fd, chunk, sizeof chunk)) > 0;) all.append(chunk, chunk + n);
  return all;
}

// The parts that WriteAll framed.
std::vector<std::string> Parts(const std::string& all) {
  std::vector<std::string> parts;
  for (size_t at = 0; at + 8 <= all.size();) {
    uint64_t size = 0;
    all.copy(reinterpret_cast<char*>(&size), sizeof size, at);
    if (size > all.size() - at - 8) break;
    parts.push_back(all.substr(at + 8, size));
    at += 8 + size;
  }
  return parts;
}

}  // namespace

LaunchedOnce RunOnce(const LaunchOnce& launch) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (const std::string& variable : launch.environment) {
      size_t equals = variable.find('=');
      setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    }
    LaunchedOnce done = Child(launch).Run();
    WriteAll(ends[1], BytesOf(done.result));
    WriteAll(ends[1], done.error);
    for (const std::string& bytes : done.buffers) WriteAll(ends[1], bytes);
    _exit(0);
  }
  close(ends[1]);
  std::vector<std::string> parts = Parts(ReadToEnd(ends[0]));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  LaunchedOnce done;
  if (WIFSIGNALED(status)) done.error = "died: signal " + std::to_string(WTERMSIG(status));
  if (parts.size() < 2) return done;
  done.result = ElementsOf<int>(parts[0])[0];
  done.error = parts[1];
  done.buffers.assign(parts.begin() + 2, parts.end());
  return done;
}

}  // namespace kb
