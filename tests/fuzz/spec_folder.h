// A case with one candidate on disk, for the fuzzers that replace one of its files.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tdd/candidate.h"

class SpecFolder {
 public:
  SpecFolder() {
    std::error_code error;
    const bool memory = std::filesystem::is_directory("/dev/shm", error);
    root_ = std::string(memory ? "/dev/shm" : "/tmp") + "/kb_fuzz_spec_" + std::to_string(getpid());
    std::filesystem::create_directories(candidate());
    Write("case.yaml",
          "kb: case/1\nname: copy\ntitle: y = x\naxes: {n: elements}\ninputs:\n"
          "  x: {dtype: f32, shape: [n, 64]}\n  a: {dtype: bf16, value: 0.5}\noutputs:\n"
          "  y: {dtype: f32, shape: [n, 64]}\nworkloads: {check: [{n: 3}], time: [{n: 1000}]}\n"
          "bytes: 8*n\nbaseline: naive\n");
    Write("reference.cc", "");
    Write("test.cc", "");
    Write("candidates/naive/launch.yaml", "kb: candidate/1\n");
    Write("candidates/naive/kernel.cu", "extern \"C\" __global__ void copy(float*, float*);");
  }
  ~SpecFolder() { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string folder() const { return root_ + "/copy"; }
  [[nodiscard]] std::string candidate() const { return folder() + "/candidates/naive"; }
  void Write(const std::string& name, std::string_view text) const {
    std::ofstream(folder() + "/" + name, std::ios::binary) << text;
  }

  static void Check(bool holds) {
    if (!holds) std::abort();
  }
  // Findings that a person can act on.
  static void CheckFindings(const kb::Diagnostics& diagnostics) {
    Check(diagnostics.size() <= 1000);
    for (const kb::Diagnostic& d : diagnostics) {
      Check(!d.message.empty() && !d.mend.empty() && d.line >= 0);
      Check(kb::FormatDiagnostic(d).find('\n') == std::string::npos);
    }
  }

 private:
  std::string root_;
};
