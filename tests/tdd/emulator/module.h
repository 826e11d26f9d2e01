// Loads emulated cubins: host shared objects that EmulatedToolchain made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "tests/tdd/emulator/abi.h"

namespace kb_emulator {

struct Function {
  const Module* module = nullptr;
  const Kernel* kernel = nullptr;
  uint64_t max_dynamic_shared = 48 << 10;  // until cuFuncSetAttribute allows more
};

class LoadedModule {
 public:
  // Null: no ELF file (CUDA_ERROR_INVALID_IMAGE) or not for this "GPU" (NO_BINARY_FOR_GPU).
  static std::unique_ptr<LoadedModule> Load(const void* image, int* error);
  ~LoadedModule();
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  Function* Find(const std::string& kernel);  // null: has none of this name

 private:
  LoadedModule() = default;
  void* library_ = nullptr;
  int fd_ = -1;
  const Module* module_ = nullptr;
  std::map<std::string, Function> functions_;
};

}  // namespace kb_emulator
