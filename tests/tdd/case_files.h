// A case and a candidate in a folder of the test's own, each made of few lines that a test can
// change.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tdd/candidate.h"

namespace kb {

inline constexpr const char* kCaseYaml = R"(kb: case/1
name: scale-f32
title: y = a x
arch: ">=sm_80"
axes: {n: number of elements}
constants: {tile: 256}
inputs:
  x: {dtype: f32, shape: [n], fill: normal 0 1}
  a: {dtype: f32, value: 0.5}
outputs:
  y: {dtype: f32, shape: [n], rel: 1e-6}
workloads:
  check: [{n: 1}, {n: 1000}]
  time: [{n: 1048576}]
bytes: 8*n
flops: n
baseline: naive
)";

inline constexpr const char* kLaunchYaml = R"yaml(kb: candidate/1
title: a thread an element
kind: device
source: kernel.cu
launches:
  - kernel: scale
    grid: ["ceil_div(n, tile)"]
    block: [tile]
    args: [x, y, n, a]
)yaml";

inline constexpr const char* kKernel = R"(
extern "C" __global__ void scale(const float* x, float* y, int n, float a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
)";

// `text` with the first `from` replaced; fails the test if there is none.
inline std::string With(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

class CaseFiles : public ::testing::Test {
 protected:
  CaseFiles() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    for (char& c : name) c = c == '/' ? '-' : c;
    root_ = ::testing::TempDir() + "kb-" + std::to_string(::getpid()) + "-" + name;
    Write("case.yaml", kCaseYaml);
    Write("reference.cc", "#include \"kb/case_test.h\"\n#include <cmath>\n");
    Write("test.cc", "#include \"kb/case_test.h\"\n");
    Write("candidates/naive/launch.yaml", kLaunchYaml);
    Write("candidates/naive/kernel.cu", kKernel);
  }
  ~CaseFiles() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::string CaseFolder() const { return root_ + "/scale-f32"; }
  [[nodiscard]] std::string CandidateFolder() const { return CaseFolder() + "/candidates/naive"; }

  void Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = CaseFolder() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

  LoadedCase LoadWith(const std::string& case_yaml) const {
    Write("case.yaml", case_yaml);
    return LoadCase(CaseFolder());
  }
  LoadedCandidate LaunchWith(const std::string& launch_yaml) const {
    Write("candidates/naive/launch.yaml", launch_yaml);
    return LoadCandidate(CandidateFolder(), LoadCase(CaseFolder()).value);
  }
  // Findings on a source in place of the kernel.
  Diagnostics LintOf(const std::string& source, CandidateKind kind = CandidateKind::kDevice) const {
    Candidate candidate;
    candidate.folder = CandidateFolder();
    candidate.kind = kind;
    candidate.source = "kernel.cu";
    candidate.source_text = source;
    candidate.files = {{"tile.cuh", ""}};
    return CheatLint(LoadCase(CaseFolder()).value, candidate);
  }

  std::string root_;
};

inline std::string Lines(const Diagnostics& diagnostics) {
  std::ostringstream all;
  for (const Diagnostic& d : diagnostics) all << FormatDiagnostic(d) << "\n";
  return all.str();
}

}  // namespace kb
