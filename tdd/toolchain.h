// Compiles CUDA C++ to a cubin without running it. NVRTC is opened when first used
// (dlopen), so kb builds and runs where no toolkit is installed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kb {

struct CompileRequest {
  std::string source;
  std::string name = "kernel.cu";      // shown in the log
  std::string arch = "sm_80";          // e.g. "sm_90a"
  std::vector<std::string> options;    // further compiler options
};

struct CompileResult {
  bool ok = false;
  std::string cubin;   // empty unless ok
  std::string log;     // the compiler's own words, bounded to 64 KiB
};

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  [[nodiscard]] virtual std::string version() const = 0;  // e.g. "NVRTC 13.0"
  [[nodiscard]] virtual CompileResult Compile(const CompileRequest& request) const = 0;
};

// NVRTC from CUDA_HOME, /usr/local/cuda or the loader's path. Null if there is none;
// `*why` then says what was looked for and how to get it. Thread-safe once opened.
[[nodiscard]] std::unique_ptr<Toolchain> OpenNvrtc(std::string* why);

}  // namespace kb
