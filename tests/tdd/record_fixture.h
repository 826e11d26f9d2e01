// What the tests of news and records share: a case, candidates with files, evaluations.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "kb/file.h"
#include "tdd/record.h"
#include "tdd/safe_path.h"
#include "tests/tdd/measure_fakes.h"

namespace kb::test {

class RecordTest : public testing::Test {
 protected:
  void SetUp() override {
    case_ = CopyCase({1 << 20, 1 << 26});
    case_.title = "Copy of floats";
    case_.arch = ">=sm_80";
    candidate_ = Make("wide", "title: wide loads\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // A candidate on disk.
  Candidate Make(const std::string& id, const std::string& yaml,
                 const std::string& code = "extern \"C\" __global__ void copy(float* y) {}\n") {
    Candidate candidate = CopyCandidate(id);
    candidate.folder = root_ + "/candidates/" + id;
    candidate.title = id + " loads";
    candidate.source = "kernel.cu";
    candidate.source_text = code;
    std::filesystem::create_directories(candidate.folder);
    WriteFileAtomically(candidate.folder + "/launch.yaml", yaml);
    WriteFileAtomically(candidate.folder + "/kernel.cu", code);
    candidate.sha256 = Sha256OfFiles({{"launch.yaml", yaml}, {"kernel.cu", code}});
    return candidate;
  }

  struct Numbers {
    double ratio = 1.25, percent = 95, half = 0.001;
    std::string gpu = "NVIDIA H200";
  };

  static Value Item(const char* workload, bool cold, double us, const Numbers& numbers) {
    const double low = numbers.ratio - numbers.half, high = numbers.ratio + numbers.half;
    return Value(Value::Map{
        {"workload", workload},
        {"cold_l2", cold},
        {"baseline", Value(Value::Map{{"id", "naive"}, {"median", us * numbers.ratio}})},
        {"candidate", Value(Value::Map{{"id", "wide"}, {"median", us}})},
        {"ratio",
         Value(Value::Map{{"median", numbers.ratio}, {"ci95", Value(Value::List{low, high})}})},
        {"faster", low > 1 ? Value(true) : Value(false)},
        {"percent_of_roofline", numbers.percent},
        {"bound", "memory"}});
  }

  static Value Mutant(const char* name, const char* status) {
    return Value(Value::Map{{"name", name}, {"status", status}});
  }

  Evaluation Evaluate(const Candidate& candidate, const Numbers& numbers,
                      const std::string& created = "2026-11-30T12:00:00Z") const {
    Evaluation evaluation;
    evaluation.case_identity = Value(Value::Map{{"name", case_.name}, {"sha256", case_.sha256}});
    evaluation.candidate_identity =
        Value(Value::Map{{"id", candidate.id}, {"kind", "device"}, {"sha256", candidate.sha256}});
    evaluation.environment =
        Value(Value::Map{{"gpu", numbers.gpu}, {"arch", "sm_90"}, {"cuda", "13.0"}});
    evaluation.created = created;
    const Value red(Value::Map{
        {"mutants", Value(Value::List{Mutant("no-op", "killed"), Mutant("zeros", "killed"),
                                      Mutant("narrow", "survived"), Mutant("same", "equivalent"),
                                      Mutant("loop-bound:4:1", "declared-equivalent")})}});
    const Value measure(Value::List{Item("67108864", true, 187.8, numbers),
                                    Item("67108864", false, 187, numbers),
                                    Item("1048576", true, 3, {0.99, 40, 0.001, ""})});
    evaluation.stages = {{"red", {}, 1, red},
                         {"green", {}, 1, Value(Value::Map{{"deterministic", true}})},
                         {"sanitize", {}, 1, Value()},
                         {"measure", {}, 1, measure},
                         {"plausible", {}, 0, Value()}};
    return evaluation;
  }

  Recorded Record(const Candidate& candidate, const Evaluation& evaluation,
                  bool claim_negative = false) {
    RecordRequest request;
    request.of_case = &case_;
    request.candidate = &candidate;
    request.evaluation = &evaluation;
    request.news = JudgeNews(case_, evaluation, FindEntries(nnk_, case_.name), claim_negative);
    request.nnk_folder = nnk_;
    return RecordEntry(request);
  }

  std::string Text(const std::string& id) const {
    return ReadFile(nnk_ + "/" + id + "/NNK.md").value_or("");
  }

  const std::string root_ = testing::TempDir() + "kb_record_" + std::to_string(getpid());
  const std::string nnk_ = root_ + "/nnk";
  Case case_;
  Candidate candidate_;
};

}  // namespace kb::test
