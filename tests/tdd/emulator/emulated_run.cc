#include "tests/tdd/emulator/emulated_run.h"

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
  Child(const RunPlan& plan, const BufferBytes& inputs) : plan_(plan), inputs_(inputs) {}

  EmulatedRun Run(const std::string& library, const std::string& cubin) {
    driver_ = cuda::OpenDriver(library, &done_.error);
    if (driver_ == nullptr) return done_;
    done_.result = Start(cubin);
    for (const BufferPlan& buffer : plan_.buffers) {
      if (done_.result == 0) done_.result = Upload(buffer);
    }
    for (const LaunchPlan& launch : plan_.launches) {
      if (done_.result == 0) done_.result = Launch(launch);
    }
    if (done_.result == 0) done_.result = driver_->CtxSynchronize();
    for (const BufferPlan& buffer : plan_.buffers) {
      if (done_.result == 0) done_.result = Download(buffer);
    }
    if (done_.result > 0) done_.error = driver_->Text(done_.result);
    return done_;
  }

 private:
  int Start(const std::string& cubin) {
    cuda::Context context = nullptr;
    int result = driver_->Init(0);
    if (result == 0) result = driver_->DevicePrimaryCtxRetain(&context, 0);
    if (result == 0) result = driver_->ModuleLoadData(&module_, cubin.data());
    return result;
  }

  int Upload(const BufferPlan& buffer) {
    const size_t bytes = static_cast<size_t>(buffer.bytes);
    cuda::DevicePointer& pointer = pointers_[buffer.name];
    int result = driver_->MemAlloc(&pointer, bytes);
    if (result != 0) return result;
    const auto input = inputs_.find(buffer.name);
    if (input != inputs_.end()) return driver_->MemcpyHtoD(pointer, input->second.data(), bytes);
    return driver_->MemsetD8Async(pointer, buffer.zero ? 0 : 0xff, bytes, nullptr);
  }

  int Launch(const LaunchPlan& launch) {
    cuda::Function function = nullptr;
    int result = driver_->ModuleGetFunction(&function, module_, launch.kernel.c_str());
    if (result != 0) return result;
    const auto shared = static_cast<unsigned>(launch.shared_bytes);
    result = driver_->FuncSetAttribute(function, cuda::kMaxDynamicSharedBytes,
                                       static_cast<int>(launch.shared_bytes));
    if (result != 0) return result;
    std::vector<void*> args;
    for (const ArgPlan& arg : launch.args) {
      const void* at = arg.buffer.empty() ? static_cast<const void*>(arg.bytes.data())
                                          : static_cast<const void*>(&pointers_[arg.buffer]);
      args.push_back(const_cast<void*>(at));
    }
    if (size_t unused = 0;
        driver_->FuncGetParamInfo(function, args.size(), &unused, &unused) == 0) {
      done_.error = launch.kernel + " takes more arguments than it is given";
      return -1;
    }
    cuda::LaunchConfig config;
    for (size_t i = 0; i < 3; ++i) {
      config.grid[i] = static_cast<unsigned>(launch.grid[i]);
      config.block[i] = static_cast<unsigned>(launch.block[i]);
    }
    config.shared_bytes = shared;
    return driver_->LaunchKernelEx(&config, function, args.data(), nullptr);
  }

  int Download(const BufferPlan& buffer) {
    std::string bytes(static_cast<size_t>(buffer.bytes), '\0');
    int result = driver_->MemcpyDtoH(bytes.data(), pointers_[buffer.name], bytes.size());
    if (result != 0) return result;
    const auto input = inputs_.find(buffer.name);
    if (input == inputs_.end()) {
      done_.outputs[buffer.name] = std::move(bytes);
    } else if (bytes != input->second.substr(0, bytes.size())) {
      done_.error = "the input " + buffer.name + " was written to";
      return -1;
    }
    return 0;
  }

  const RunPlan& plan_;
  const BufferBytes& inputs_;
  std::unique_ptr<cuda::Driver> driver_;
  cuda::Module module_ = nullptr;
  std::map<std::string, cuda::DevicePointer> pointers_;
  EmulatedRun done_;
};

// Strings over a pipe, each behind its length.
void WriteString(int fd, const std::string& bytes) {
  const uint64_t size = bytes.size();
  std::string framed(reinterpret_cast<const char*>(&size), sizeof size);
  framed += bytes;
  for (size_t at = 0; at < framed.size();) {
    ssize_t n = write(fd, framed.data() + at, framed.size() - at);
    if (n <= 0) return;
    at += static_cast<size_t>(n);
  }
}

std::vector<std::string> ReadStrings(int fd) {
  std::string all;
  char chunk[65536];
  for (ssize_t n = 0; (n = read(fd, chunk, sizeof chunk)) > 0;) all.append(chunk, chunk + n);
  std::vector<std::string> strings;
  for (size_t at = 0; at + 8 <= all.size();) {
    uint64_t size = 0;
    all.copy(reinterpret_cast<char*>(&size), sizeof size, at);
    if (size > all.size() - at - 8) break;
    strings.push_back(all.substr(at + 8, size));
    at += 8 + size;
  }
  return strings;
}

void AddToEnvironment(const std::vector<std::string>& variables) {
  for (const std::string& variable : variables) {
    size_t equals = variable.find('=');
    setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
  }
}

}  // namespace

EmulatedRun RunOnEmulator(const std::string& driver, const std::string& cubin, const RunPlan& plan,
                          const BufferBytes& inputs, const std::vector<std::string>& environment) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    AddToEnvironment(environment);
    EmulatedRun done = Child(plan, inputs).Run(driver, cubin);
    WriteString(ends[1], std::to_string(done.result));
    WriteString(ends[1], done.error);
    for (const auto& [name, bytes] : done.outputs) {
      WriteString(ends[1], name);
      WriteString(ends[1], bytes);
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<std::string> strings = ReadStrings(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EmulatedRun done;
  if (WIFSIGNALED(status)) done.error = "died: signal " + std::to_string(WTERMSIG(status));
  if (strings.size() < 2) return done;
  done.result = std::atoi(strings[0].c_str());
  done.error = strings[1];
  for (size_t i = 2; i + 1 < strings.size(); i += 2) done.outputs[strings[i]] = strings[i + 1];
  return done;
}

}  // namespace kb
