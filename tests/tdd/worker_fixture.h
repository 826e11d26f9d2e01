// A worker over tests/tdd/small_cuda.cc, plans for its kernels, and folders of inputs.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kb/file.h"
#include "tdd/runner.h"
#include "tdd/sandbox.h"

namespace kb::test {

namespace fs = std::filesystem;

inline constexpr int kN = 100;
inline constexpr double kScalar = 0.5;

template <typename T>
std::string Bytes(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

inline std::vector<float> Floats(const std::string& path) {
  const std::string bytes = ReadFile(path).value_or("");
  std::vector<float> floats(bytes.size() / sizeof(float));
  std::memcpy(floats.data(), bytes.data(), floats.size() * sizeof(float));
  return floats;
}

// y = kernel(x), kN floats.
inline RunPlan Plan(const std::string& kernel) {
  RunPlan plan;
  plan.buffers = {{BufferPlan::Role::kInput, "x", 4 * kN, false},
                  {BufferPlan::Role::kOutput, "y", 4 * kN, false}};
  LaunchPlan launch;
  launch.kernel = kernel;
  launch.args = {{"x", "", ""}, {"y", "", ""}, {"", "", Bytes(kN)}};
  plan.launches = {launch};
  return plan;
}

inline RunPlan HostPlan(int64_t manner) {
  RunPlan plan = Plan("");
  plan.launches.clear();
  plan.axes = {kN, manner};
  plan.scalars = {kScalar};
  return plan;
}

enum Manner {
  kRight,
  kExits,
  kFails,
  kCrashes,
  kForks,
  kHides,
  kCounts,
  kWrites,
  kForges,
  kResets,
  kLosesContext,
  kDeinitializes,
  kPersists
};

class WorkerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "kb_worker_" + std::to_string(getpid());
    fs::create_directories(folder_);
    options_.kb = KB_BINARY;
    options_.driver = KB_SMALL_CUDA;
    options_.environment = {std::string("FAKE_DRIVER=") + KB_SMALL_CUDA,
                            "FAKE_OUTSIDE=" + folder_ + "/outside"};
    for (int set = 0; set < 4; ++set) WriteInputs(set);
  }
  void TearDown() override {
    runner_.reset();
    fs::remove_all(folder_);
  }

  std::string Inputs(int set) const { return folder_ + "/inputs" + std::to_string(set); }

  // x[i] = i + 1000 * set.
  void WriteInputs(int set) {
    fs::create_directories(Inputs(set));
    std::ofstream file(Inputs(set) + "/in.x", std::ios::binary);
    for (int i = 0; i < kN; ++i) file << Bytes(static_cast<float>(i + 1000 * set));
  }

  Runner& Start() {
    Verdict why;
    runner_ = StartWorker(options_, &why);
    EXPECT_NE(runner_, nullptr) << why.message;
    return *runner_;
  }

  // Program 1: all kernels of the fake.
  Runner& StartWithKernels() {
    Runner& runner = Start();
    const Verdict loaded = runner.Load({1, false,
                                        "FAKE\nadd_one\nlazy\nslow\nnone\nwrites_nothing\npast_"
                                        "end\nbefore_start\npast_input\nmutates\n"
                                        "illegal\ntrap\nmisaligned\nhang\ncrash\ncounts\nscratch"});
    EXPECT_TRUE(loaded.passed()) << loaded.message;
    return runner;
  }

  // Program 2.
  Runner& StartWithHost() {
    Runner& runner = StartWithKernels();
    const Verdict loaded =
        runner.Load({2, true, ReadFile(KB_HOST_CANDIDATE, nullptr, 64 << 20).value_or("")});
    EXPECT_TRUE(loaded.passed()) << loaded.message;
    return runner;
  }

  RunReply RunPlanned(const RunPlan& plan, int program = 1, double timeout_s = 20) {
    RunRequest request;
    request.program = program;
    request.plan = plan;
    request.folder = Inputs(0);
    request.timeout_s = timeout_s;
    fs::remove(Inputs(0) + "/out.y");
    return runner_->Run(request);
  }
  RunReply RunKernel(const std::string& kernel) { return RunPlanned(Plan(kernel)); }

  void ExpectRight(const RunReply& reply) {
    EXPECT_TRUE(reply.verdict.passed()) << VerdictName(reply.verdict) << reply.verdict.message;
    const std::vector<float> y = Floats(Inputs(0) + "/out.y");
    ASSERT_EQ(y.size(), kN);
    EXPECT_EQ(y[0], 1);
    EXPECT_EQ(y[kN - 1], kN);
  }

  MeasureRequest Request(const RunPlan& baseline, const RunPlan& candidate) const {
    MeasureRequest request;
    request.baseline = {1, baseline};
    request.candidate = {candidate.launches.empty() ? 2 : 1, candidate};
    for (int set = 0; set < 4; ++set) request.input_folders.push_back(Inputs(set));
    request.rounds = 6;
    request.checked_rounds = {0, 3};
    request.check_folder = folder_ + "/check";
    return request;
  }

  std::string folder_;
  WorkerOptions options_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace kb::test
