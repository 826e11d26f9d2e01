// What the tests of measuring share: a case, candidates, a runner and a judge without a GPU.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tdd/measure.h"

namespace kb::test {

// y = x over n floats: 8 n bytes.
inline Case CopyCase(std::vector<int64_t> sizes = {1 << 20}) {
  Case c;
  c.name = "copy";
  c.sha256 = std::string(64, 'c');
  c.axis_names = {"n"};
  TensorSpec x;
  x.name = "x";
  x.shape = {*Expression::Parse("n")};
  c.inputs = {x};
  x.name = "y";
  c.outputs = {x};
  c.tolerances = {{"y", 0, 0, Expression()}};
  for (const int64_t n : sizes) c.time.push_back({std::to_string(n), {{"n", n}}});
  c.bytes = *Expression::Parse("8*n");
  c.baseline = "naive";
  return c;
}

inline Candidate CopyCandidate(const std::string& id, CandidateKind kind = CandidateKind::kDevice) {
  Candidate candidate;
  candidate.id = id;
  candidate.kind = kind;
  candidate.sha256 = std::string(64, 'd');
  if (kind == CandidateKind::kHost) return candidate;
  LaunchSpec launch;
  launch.kernel = "copy";
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = launch.block[i] = launch.cluster[i] = Expression(1);
  }
  launch.when = Expression(1);
  candidate.launches = {launch};
  return candidate;
}

// Answers as a worker with a perfect clock would, and what a test changes of that.
class FakeRunner : public Runner {
 public:
  double baseline_us = 125, candidate_us = 100, noise = 0.002;
  double now = 0;           // our clock: moves while "the GPU" works
  double lie = 1;           // times reported are multiplied by it
  double worker_lie = 1;    // and its wall clock
  int throttled_every = 0;  // 3: each third round
  bool forgets_outputs = false;
  Verdict verdict;
  std::vector<MeasureRequest> requests;
  int energies = 0;

  const Environment& environment() const override { return environment_; }
  Verdict Load(const Program&) override { return {}; }
  void Unload(int) override {}
  RunReply Run(const RunRequest&) override { return {}; }
  PeaksReply MeasurePeaks() override { return {}; }

  MeasureReply Measure(const MeasureRequest& request) override {
    requests.push_back(request);
    MeasureReply reply;
    reply.verdict = verdict;
    double us = 0;
    const auto time = [&](int program) {
      const double mean = program == 0 ? baseline_us : candidate_us;
      const double real = mean * (1 + noise * normal_(random_));
      us += real + 40;
      return real * lie;
    };
    for (int i = 0; i < request.rounds; ++i) {
      const double b = time(request.baseline.program), c = time(request.candidate.program);
      reply.candidate_us.insert(reply.candidate_us.end(), {c, time(request.candidate.program)});
      reply.baseline_us.insert(reply.baseline_us.end(), {b, time(request.baseline.program)});
      reply.throttled.push_back(throttled_every > 0 && i % throttled_every == 0);
    }
    int k = 0;
    for (const int round : request.checked_rounds) {
      if (forgets_outputs) break;
      reply.checked.push_back({round, round % static_cast<int>(request.input_folders.size()),
                               request.check_folder + "/" + std::to_string(k++)});
    }
    reply.wall_s = us * 1e-6 * worker_lie;
    now += us * 1e-6 + 0.05;
    reply.conditions = Value(Value::Map{{"sm_mhz", 1980}});
    return reply;
  }

  EnergyReply Energy(const EnergyRequest& request) override {
    ++energies;
    now += request.seconds + 0.2;
    const double us = request.timed.program == 0 ? baseline_us : candidate_us;
    return {{}, us * 1e-6 * 500, static_cast<int64_t>(request.seconds / (us * 1e-6))};
  }

 private:
  Environment environment_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> normal_;
};

class FakeJudge : public JudgeSession {
 public:
  int wrong_from = 1 << 30;  // the number of the first check that fails
  Status wrong_as = Status::kIncorrectNumerical;
  std::vector<int> drawn_for;  // the workload of each set
  std::vector<int> checked_sets;
  std::set<std::string> folders;

  Verdict DrawInputs(int workload, int set, const std::string& folder) override {
    EXPECT_EQ(set, static_cast<int>(drawn_for.size()));
    drawn_for.push_back(workload);
    EXPECT_TRUE(folders.insert(folder).second) << "each set has a folder of its own";
    return {};
  }
  Verdict Check(int set, const std::string&, std::vector<Comparison>*) override {
    checked_sets.push_back(set);
    if (static_cast<int>(checked_sets.size()) < wrong_from) return {};
    return {wrong_as, "", "y[7] is 0, want 1"};
  }
};

}  // namespace kb::test
