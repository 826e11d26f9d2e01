// "Compiles" CUDA C++ for the emulator: the cubin is a host shared object that fake_cuda.so loads
// and runs on the CPU. For tests and for authors without a GPU; inline PTX is refused.
#pragma once

#include <string>

#include "tdd/toolchain.h"

namespace kb {

class EmulatedToolchain : public Toolchain {
 public:
  // `compiler`: absolute, or looked up in PATH.
  explicit EmulatedToolchain(std::string compiler = "g++") : compiler_(std::move(compiler)) {}
  // False: there is no such compiler; callers skip, and say so.
  [[nodiscard]] bool available() const;
  [[nodiscard]] std::string version() const override;  // "emulator (g++ 12.2.0)"
  // Of the options, -D, -U and -std are taken over. May be called from several threads at once.
  [[nodiscard]] CompileResult Compile(const CompileRequest& request) const override;

 private:
  std::string compiler_;
};

}  // namespace kb
