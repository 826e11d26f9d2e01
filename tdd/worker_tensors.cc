#include "tdd/worker_tensors.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace kb {
namespace {

constexpr unsigned char kPoison = 0xFF;
constexpr int kWindows = 16;  // of each output
constexpr int64_t kLeastWindow = 8, kLargestWindow = 4096;

WorkerFault Infra(const std::string& message) {
  return WorkerFault({Status::kInfraError, "", message});
}

bool Poisons() {
  static const bool poisons = std::getenv("KB_UNPOISONED") == nullptr;
  return poisons;
}

void WriteWhole(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Infra("the worker cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string& path, int64_t bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) throw Infra("the worker cannot read " + path + ": " + std::strerror(errno));
  struct stat stat = {};
  const bool right = fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size == bytes;
  void* memory = right && bytes > 0
                     ? mmap(nullptr, static_cast<size_t>(bytes), PROT_READ, MAP_PRIVATE, fd, 0)
                     : nullptr;
  close(fd);
  if (!right || memory == MAP_FAILED) {
    throw Infra(path + " is no file of " + std::to_string(bytes) + " bytes, which the plan wants");
  }
  bytes_ = {static_cast<const char*>(memory), static_cast<size_t>(bytes)};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, std::string_view())) {}

InputSet::InputSet(const Gpu& gpu, const RunPlan& plan, const std::string& folder) {
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.role != BufferPlan::Role::kInput) continue;
    const auto& file =
        files_.emplace(buffer.name, MappedFile(folder + "/in." + buffer.name, buffer.bytes))
            .first->second;
    auto& made = buffers_[buffer.name] = std::make_unique<Buffer>(gpu, buffer);
    made->Upload(file.bytes());
  }
}

const Buffer* InputSet::Find(const std::string& name) const {
  const auto found = buffers_.find(name);
  return found == buffers_.end() ? nullptr : found->second.get();
}

void InputSet::Check() const {
  for (const auto& [name, buffer] : buffers_) {
    buffer->CheckGuards();
    buffer->CheckUnchanged(files_.at(name).bytes());
  }
}

std::vector<const InputSet*> InputCache::Get(const Gpu& gpu, const RunPlan& plan,
                                             const std::vector<std::string>& folders, bool* fresh) {
  std::erase_if(sets_, [&](const auto& set) {
    return std::find(folders.begin(), folders.end(), set.first) == folders.end();
  });
  *fresh = false;
  std::vector<const InputSet*> sets;
  for (const std::string& folder : folders) {
    auto found = sets_.find(folder);
    if (found == sets_.end()) {
      found = sets_.emplace(folder, InputSet(gpu, plan, folder)).first;
      *fresh = true;
    }
    sets.push_back(&found->second);
  }
  return sets;
}

Windows::Windows(const Gpu& gpu) : gpu_(gpu), engine_(std::random_device{}()) {}

size_t Windows::Draw(size_t below) {
  return std::uniform_int_distribution<size_t>(0, below - 1)(engine_);
}

// Small parts: who looks at one element to see whether there is something to do sees another.
void Windows::Add(const Buffer& output) {
  if (output.bytes() == 0) return;
  const int64_t least = std::min(kLeastWindow, output.bytes());
  const int64_t bytes = std::clamp(output.bytes() / 16, least, kLargestWindow);
  for (int i = 0; i < kWindows; ++i) {
    const size_t at = Draw(static_cast<size_t>(output.bytes() - bytes + 1));
    windows_.push_back({&output, output.pointer() + at, static_cast<size_t>(bytes), ""});
  }
}

void Windows::Learn() {
  for (Window& window : windows_) window.right = Download(window);
}

void Windows::PoisonOneAsync() {
  if (!Poisons() || windows_.empty()) return;
  poisoned_ = &windows_[Draw(windows_.size())];
  gpu_.Check(
      gpu_.driver().MemsetD8Async(poisoned_->pointer, kPoison, poisoned_->bytes, gpu_.stream()),
      "poison " + poisoned_->output->name());
}

void Windows::Check() const {
  if (poisoned_ == nullptr) return;
  const std::string found = Download(*poisoned_);
  const std::string poison(std::min<size_t>(found.size(), kLeastWindow), '\xff');
  for (size_t at = found.find(poison); at != std::string::npos; at = found.find(poison, at + 1)) {
    if (poisoned_->right.compare(at, poison.size(), poison) == 0) continue;
    throw WorkerFault({Status::kRewardHack, "timed-output",
                       "of many runs on the same inputs the last did not write all of " +
                           poisoned_->output->name() +
                           ", as the first did: what a run does may not depend on what it finds "
                           "in its outputs"});
  }
}

std::string Windows::Download(const Window& window) const {
  std::string bytes(window.bytes, '\0');
  gpu_.Check(gpu_.driver().MemcpyDtoH(bytes.data(), window.pointer, window.bytes),
             "give back the bytes of " + window.output->name());
  return bytes;
}

Windows OwnTensors::ChooseWindows(const Gpu& gpu) const {
  Windows windows(gpu);
  for (const std::string& name : outputs_) windows.Add(*buffers_.at(name));
  return windows;
}

OwnTensors::OwnTensors(const Gpu& gpu, const RunPlan& plan) {
  for (const BufferPlan& buffer : plan.buffers) {
    if (buffer.role == BufferPlan::Role::kInput) continue;
    buffers_[buffer.name] = std::make_unique<Buffer>(gpu, buffer);
    if (buffer.role == BufferPlan::Role::kOutput) outputs_.push_back(buffer.name);
  }
}

FindBuffer OwnTensors::Find(const InputSet& inputs) const {
  return [this, &inputs](const std::string& name) -> const Buffer& {
    if (const auto own = buffers_.find(name); own != buffers_.end()) return *own->second;
    if (const Buffer* input = inputs.Find(name); input != nullptr) return *input;
    throw Infra("the plan has no buffer " + name);
  };
}

void OwnTensors::PoisonAsync() const {
  if (!Poisons()) return;
  for (const auto& [name, buffer] : buffers_) buffer->FillAsync(kPoison);
}

void OwnTensors::CheckGuards() const {
  for (const auto& [name, buffer] : buffers_) buffer->CheckGuards();
}

std::vector<std::string> OwnTensors::Download() const {
  std::vector<std::string> outputs;
  for (const std::string& name : outputs_) outputs.push_back(buffers_.at(name)->Download());
  return outputs;
}

void OwnTensors::Write(const std::vector<std::string>& outputs, const std::string& folder) const {
  std::error_code ignored;
  std::filesystem::create_directories(folder, ignored);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    WriteWhole(folder + "/out." + outputs_[i], outputs[i]);
  }
}

}  // namespace kb
