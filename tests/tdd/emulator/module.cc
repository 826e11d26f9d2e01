#include "tests/tdd/emulator/module.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace kb_emulator {
namespace {

constexpr int kInvalidImage = 200;
constexpr int kNoBinaryForGpu = 209;

// An ELF file's size: its section headers stand at the end. 0: no ELF file.
uint64_t ElfBytes(const void* image) {
  Elf64_Ehdr header;
  memcpy(&header, image, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  return header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
}

// In a file of memory. `*fd` stays open as long as the library is: dlopen knows libraries by their
// paths, and would take a new file of the same number for the old one.
void* OpenImage(const void* image, uint64_t bytes, int* fd) {
  *fd = memfd_create("emulated-cubin", MFD_CLOEXEC);
  if (*fd < 0 || write(*fd, image, bytes) != static_cast<ssize_t>(bytes)) return nullptr;
  void* library = dlopen(("/proc/self/fd/" + std::to_string(*fd)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fprintf(stderr, "emulator: %s\n", dlerror());
  return library;
}

}  // namespace

std::unique_ptr<LoadedModule> LoadedModule::Load(const void* image, int* error) {
  *error = kInvalidImage;
  uint64_t bytes = image == nullptr ? 0 : ElfBytes(image);
  if (bytes == 0) return nullptr;
  *error = kNoBinaryForGpu;
  std::unique_ptr<LoadedModule> loaded(new LoadedModule);
  void* library = loaded->library_ = OpenImage(image, bytes, &loaded->fd_);
  if (library == nullptr) return nullptr;
  loaded->module_ = static_cast<const Module*>(dlsym(library, "kb_emulator_module"));
  if (loaded->module_ == nullptr || loaded->module_->abi != kAbi) return nullptr;
  *error = 0;
  return loaded;
}

LoadedModule::~LoadedModule() {
  if (library_ != nullptr) dlclose(library_);
  if (fd_ >= 0) close(fd_);
}

Function* LoadedModule::Find(const std::string& kernel) {
  auto found = functions_.find(kernel);
  if (found != functions_.end()) return &found->second;
  const void* symbol = dlsym(library_, ("kb_kernel_" + kernel).c_str());
  if (symbol == nullptr) return nullptr;
  return &(functions_[kernel] = {module_, static_cast<const Kernel*>(symbol)});
}

}  // namespace kb_emulator
