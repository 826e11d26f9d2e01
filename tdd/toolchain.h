// Compiles CUDA C++ to a cubin without running it. NVRTC is opened when first used
// (dlopen), so kb builds and runs where no toolkit is installed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct SourceHeader {
  std::string name, text;  // what `#include "name"` gives
};

struct CompileRequest {
  std::string source;                // CUDA C++; no NUL bytes
  std::string name = "kernel.cu";    // shown in the log
  std::string arch = "sm_80";        // e.g. "sm_90a"
  std::vector<std::string> options;  // further compiler options; C++17 unless they say --std
  std::vector<SourceHeader> headers = {};
};

struct CompileResult {
  bool ok = false;
  std::string cubin;  // an ELF file; empty unless ok
  std::string log;    // the compiler's own words, bounded to 64 KiB
};

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  [[nodiscard]] virtual std::string version() const = 0;  // e.g. "NVRTC 13.0"
  // Source that does not compile is a result, not an Error. Takes as long as the compiler
  // takes: hostile source is compiled in a child with a deadline.
  [[nodiscard]] virtual CompileResult Compile(const CompileRequest& request) const = 0;
};

// Where NVRTC is looked for, in this order: below $CUDA_HOME and $CUDA_PATH, below
// /usr/local/cuda and /usr/local/cuda-* (newest first), and "", the loader's own path.
[[nodiscard]] std::vector<std::string> NvrtcFolders();

// The first NVRTC found in `folders`, with the headers of its toolkit. Null if there is
// none; `*why` (may be null) then says in one line what was looked for and how to get it.
// Compile may be called from several threads at once.
[[nodiscard]] std::unique_ptr<Toolchain> OpenNvrtc(
    std::string* why, const std::vector<std::string>& folders = NvrtcFolders());

}  // namespace kb
