#include "tdd/red.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tdd/compile_batch.h"
#include "tdd/cubin.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// ---- a case, a candidate, its tests, a compiler and a GPU: all fakes ----

constexpr char kSource[] =
    "__global__ void F(float* y, int n) {\n"
    "  int i = blockIdx.x;\n"
    "  __syncthreads();\n"
    "  if (i < n) y[i] = 2 * i;\n"
    "}\n";

// Machine code: the source without what is said to change nothing.
class FakeToolchain : public Toolchain {
 public:
  [[nodiscard]] std::string version() const override { return "fake 1"; }
  [[nodiscard]] CompileResult Compile(const CompileRequest& request) const override {
    CompileResult result;
    if (request.source.find(refused) != std::string::npos) {
      result.log = "kernel.cu(4): error: refused\n1 error detected\n";
      return result;
    }
    result.ok = true;
    result.cubin = request.source;
    for (const auto& [what, as] : same) {
      const size_t at = result.cubin.find(what);
      if (at != std::string::npos) result.cubin.replace(at, what.size(), as);
    }
    return result;
  }
  std::string refused = "<no such text>";
  std::map<std::string, std::string> same;  // compiled as if it were
};

// What a program does when it runs, by a text in its source; all else is right.
struct Behaviour {
  std::string text;
  Status status = Status::kPassed;
  std::string fails;  // the test that sees it
};

struct World {
  std::vector<Behaviour> behaviours;
  std::mutex mutex;
  std::map<std::string, int> runs;  // of each program's binary
  int started = 0;
  int infra_left = 0;  // how many runs the machine still spoils
};

class FakeRunner : public Runner {
 public:
  explicit FakeRunner(World* world) : world_(world) {}
  [[nodiscard]] const Environment& environment() const override { return environment_; }
  [[nodiscard]] Verdict Load(const Program& program) override {
    programs_[program.id] = program.binary;
    if (program.binary.find("1 + i") != std::string::npos) {
      return {Status::kLinkError, "", "does not load"};
    }
    return {};
  }
  void Unload(int program) override { programs_.erase(program); }
  [[nodiscard]] RunReply Run(const RunRequest& request) override {
    const std::lock_guard lock(world_->mutex);
    const std::string& binary = programs_.at(request.program);
    ++world_->runs[binary];
    RunReply reply;
    if (binary != kSource && world_->infra_left > 0) {
      --world_->infra_left;
      reply.verdict = {Status::kInfraError, "", "the machine failed"};
      return reply;
    }
    std::ofstream(request.folder + "/out.y") << binary;
    for (const Behaviour& b : world_->behaviours) {
      if (binary.find(b.text) == std::string::npos) continue;
      reply.verdict.status = b.status;
      reply.verdict.message = b.text;
    }
    return reply;
  }
  [[nodiscard]] MeasureReply Measure(const MeasureRequest&) override { return {}; }
  [[nodiscard]] EnergyReply Energy(const EnergyRequest&) override { return {}; }
  [[nodiscard]] PeaksReply MeasurePeaks() override { return {}; }

 private:
  World* world_;
  Environment environment_;
  std::map<int, std::string> programs_;
};

class Red : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "red-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    case_.name = "double";
    case_.red_threshold = 0.9;
    candidate_.source = "kernel.cu";
    candidate_.source_text = kSource;
    tests_.builtin_mutants = {"zeros", "nan", "tail"};
    tests_.run = [this](const OutputSource& source, const std::string& mutant, uint64_t, double) {
      return RunFake(source, mutant);
    };
    options_.toolchain = toolchain_;
    options_.binary = kSource;
    options_.plans.resize(1);
    options_.start_runner = [this] {
      ++world_.started;
      return std::make_unique<FakeRunner>(&world_);
    };
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Test A sees zeros and what says so; B sees what says so; C sees nothing.
  TestReport RunFake(const OutputSource& source, const std::string& mutant) {
    TestReport report;
    report.tests = {{"T.A", true, ""}, {"T.B", true, ""}, {"T.C", true, ""}};
    report.cpu_s = 0.5;
    const auto fail = [&](size_t test) {
      report.tests[test].passed = false;
      report.verdict.status = Status::kIncorrectNumerical;
    };
    if (mutant == "nan") report.verdict = {Status::kSkipped, "equivalent", ""};
    if (mutant == "zeros") fail(0);
    if (mutant == broken_mutant_) report.verdict = {Status::kInfraError, "", "no room"};
    if (!mutant.empty()) return report;
    for (int run = 0; run < 2; ++run) {
      const std::string folder = folder_ + "/" + std::to_string(next_folder_++);
      fs::create_directory(folder);
      if (!source(0, folder).verdict.passed()) {
        fail(0);
        fail(1);
        continue;
      }
      std::ifstream in(folder + "/out.y");
      const std::string got(std::istreambuf_iterator<char>(in), {});
      for (const Behaviour& b : world_.behaviours) {
        if (got.find(b.text) == std::string::npos || b.fails.empty()) continue;
        fail(b.fails == "T.A" ? 0 : 1);
      }
    }
    return report;
  }

  RedReport Prove() { return ProveMutants(case_, candidate_, tests_, options_, {}); }

  static const MutantResult& Find(const RedReport& report, const std::string& now) {
    for (const MutantResult& mutant : report.mutants) {
      if (mutant.diff.find("+" + now) != std::string::npos) return mutant;
    }
    static const MutantResult none;
    ADD_FAILURE() << "no mutant with " << now;
    return none;
  }

  Case case_;
  Candidate candidate_;
  CaseTests tests_;
  MutantOptions options_;
  World world_;
  std::shared_ptr<FakeToolchain> toolchain_ = std::make_shared<FakeToolchain>();
  std::string folder_, broken_mutant_ = "<none>";
  std::atomic<int> next_folder_ = 0;
};

// ---- built-in mutants ----

TEST_F(Red, BuiltinMutantsAreKilledSurviveOrAreEquivalent) {
  const RedReport red = ProveRed(case_, tests_, 1);
  ASSERT_EQ(red.mutants.size(), 3u);
  EXPECT_EQ(red.mutants[0].fate, MutantFate::kKilled);
  EXPECT_THAT(red.mutants[0].killed_by, ElementsAre("T.A"));
  EXPECT_EQ(red.mutants[1].fate, MutantFate::kEquivalent);
  EXPECT_EQ(red.mutants[2].fate, MutantFate::kSurvived);
  EXPECT_DOUBLE_EQ(*red.Score(), 0.5);
  EXPECT_EQ(red.verdict.status, Status::kWeakTest);
  EXPECT_THAT(red.verdict.message, HasSubstr("0.50"));
  EXPECT_THAT(red.verdict.message, HasSubstr("tail"));
  EXPECT_THAT(red.UselessTests(), ElementsAre("T.B", "T.C"));
  EXPECT_DOUBLE_EQ(red.cpu_s, 1.5);
}

TEST_F(Red, AtTheThresholdItPasses) {
  case_.red_threshold = 0.5;
  EXPECT_TRUE(ProveRed(case_, tests_, 1).verdict.passed());
  case_.red_threshold = 0.51;
  EXPECT_FALSE(ProveRed(case_, tests_, 1).verdict.passed());
}

TEST_F(Red, WhatTheMachineSpoiltIsNeitherKilledNorSurvived) {
  broken_mutant_ = "tail";
  const RedReport red = ProveRed(case_, tests_, 1);
  EXPECT_EQ(red.mutants[2].fate, MutantFate::kNotRun);
  EXPECT_EQ(red.verdict.status, Status::kInfraError);
  EXPECT_THAT(red.verdict.message, HasSubstr("no room"));
}

TEST_F(Red, WithoutAMutantThatTellsTheTestIsWeak) {
  tests_.builtin_mutants = {"nan"};
  const RedReport red = ProveRed(case_, tests_, 1);
  EXPECT_EQ(red.Score(), std::nullopt);
  EXPECT_EQ(red.verdict.status, Status::kWeakTest);
}

// ---- source mutants ----

TEST_F(Red, EachFateOfASourceMutantIsToldApart) {
  toolchain_->refused = "i <= n";
  toolchain_->same = {{"2 + i", "2 * i"}, {"blockIdx.y", "blockIdx.z"}};
  world_.behaviours = {{"if (true)", Status::kRuntimeError, ""},
                       {"blockIdx.z", Status::kPassed, "T.B"}};
  const RedReport red = Prove();
  EXPECT_EQ(Find(red, "  if (i <= n) y").fate, MutantFate::kNotCompiled);
  EXPECT_THAT(Find(red, "  if (i <= n) y").note, HasSubstr("refused"));
  EXPECT_EQ(Find(red, "  if (i < n) y[i] = 2 + i").fate, MutantFate::kEquivalent);
  EXPECT_EQ(Find(red, "  if (i < n) y[1 + i]").fate, MutantFate::kNotCompiled);  // does not load
  EXPECT_EQ(Find(red, "  int i = blockIdx.y").fate, MutantFate::kKilled);
  EXPECT_THAT(Find(red, "  int i = blockIdx.y").killed_by, ElementsAre("T.B"));
  EXPECT_THAT(Find(red, "  if (true) y").killed_by, ElementsAre("runtime"));
  EXPECT_EQ(Find(red, "  ;").fate, MutantFate::kSurvived);
  EXPECT_EQ(red.Count(MutantFate::kKilled, "source"), 2);
  EXPECT_EQ(red.Count(MutantFate::kSurvived), 1);
  EXPECT_DOUBLE_EQ(*red.Score("source"), 2.0 / 3);
  EXPECT_EQ(red.Score("builtin"), std::nullopt);
  EXPECT_EQ(red.verdict.status, Status::kWeakTest);
  EXPECT_THAT(red.tests, ElementsAre("T.A", "T.B", "T.C"));
  EXPECT_THAT(red.UselessTests(), ElementsAre("T.A", "T.C"));
}

TEST_F(Red, AFaultEndsTheMutantsRunsAndIsNoTestsMerit) {
  world_.behaviours = {{"if (true)", Status::kTimeoutRun, ""}};
  const RedReport red = Prove();
  const MutantResult& mutant = Find(red, "  if (true) y");
  EXPECT_THAT(mutant.killed_by, ElementsAre("timeout"));
  for (const auto& [binary, runs] : world_.runs) {
    if (binary.find("if (true)") != std::string::npos) {
      EXPECT_EQ(runs, 1);
    }
  }
}

TEST_F(Red, TwoMutantsOfTheSameCodeCountOnce) {
  toolchain_->same = {{"2 + i", "2 * k"}, {"i <= n) y[i] = 2 * i", "i < n) y[i] = 2 * k"}};
  const RedReport red = Prove();
  EXPECT_EQ(red.Count(MutantFate::kDuplicate), 1);
}

TEST_F(Red, ADroppedBarrierIsTriedSeveralTimesBeforeItSurvives) {
  options_.trials = 3;
  (void)Prove();
  for (const auto& [binary, runs] : world_.runs) {
    const bool no_barrier = binary.find("__syncthreads") == std::string::npos;
    EXPECT_EQ(runs, no_barrier ? 6 : 2) << binary;  // two a trial
  }
}

TEST_F(Red, TheSanitizerMayKillWhatLuckLetLive) {
  std::vector<std::string> asked;
  options_.sanitizer_kills = [&](const Mutant& mutant, const std::string& cubin) {
    asked.push_back(mutant.operation);
    return cubin == mutant.source;
  };
  const RedReport red = Prove();
  EXPECT_THAT(asked, ElementsAre("dropped-sync"));
  EXPECT_THAT(Find(red, "  ;").killed_by, ElementsAre("sanitizer"));
  EXPECT_EQ(Find(red, "  ;").fate, MutantFate::kKilled);
}

TEST_F(Red, WithoutAGpuMutantsAreCompiledAndNotRun) {
  options_.start_runner = nullptr;
  toolchain_->refused = "i <= n";
  const RedReport builtin = ProveRed(case_, tests_, 1);
  const RedReport red = ProveMutants(case_, candidate_, tests_, options_, builtin);
  EXPECT_EQ(red.Count(MutantFate::kNotCompiled), 1);
  EXPECT_GT(red.Count(MutantFate::kNotRun), 3);
  EXPECT_EQ(red.Score("source"), std::nullopt);
  EXPECT_EQ(red.Score(), builtin.Score());
  EXPECT_EQ(red.verdict.status, builtin.verdict.status);
}

TEST_F(Red, ACandidateThatFailsHasNoMutantsRun) {
  world_.behaviours = {{"__global__", Status::kPassed, "T.A"}};
  const RedReport red = Prove();
  EXPECT_EQ(red.Count(MutantFate::kKilled), 0);
  EXPECT_EQ(red.verdict.status, Status::kInfraError);
  EXPECT_THAT(red.verdict.message, HasSubstr("the candidate itself"));
}

TEST_F(Red, AMachinesFaultIsTriedAgainOnANewWorker) {
  options_.workers = 1;
  world_.infra_left = 1;
  world_.behaviours = {{"", Status::kPassed, ""}};
  const RedReport red = Prove();
  EXPECT_EQ(red.Count(MutantFate::kNotRun), 0) << red.verdict.message;
  EXPECT_EQ(world_.started, 2);
  world_.infra_left = 1000;
  EXPECT_EQ(Prove().verdict.status, Status::kInfraError);
}

TEST_F(Red, WhatTheAuthorDeclaresIsCountedApartUpToATenth) {
  std::string body;
  for (int i = 0; i < 20; ++i) body += "  y" + std::to_string(i) + " = a + b;\n";
  candidate_.source_text = "__global__ void F() {\n" + body + "}\n";
  options_.binary = candidate_.source_text;
  for (int i = 0; i < 3; ++i) {
    const std::string line = "y" + std::to_string(i) + " = a ";
    options_.declared.push_back({"arithmetic", line + "+ b;", line + "- b;", "why", 1});
  }
  const RedReport red = Prove();  // all survive
  EXPECT_EQ(red.Count(MutantFate::kDeclared), 2);
  EXPECT_EQ(red.Count(MutantFate::kSurvived), 18);
  EXPECT_THAT(red.findings, ElementsAre(HasSubstr("beyond a tenth")));
  EXPECT_EQ(Find(red, "  y0 = a - b").note, "why");

  world_.behaviours = {{"a - b", Status::kPassed, "T.A"}};
  EXPECT_THAT(Prove().findings, Contains(HasSubstr("but was killed by T.A")));
}

TEST_F(Red, AHostCandidateOrNoCompilerIsSaid) {
  options_.toolchain = nullptr;
  EXPECT_THAT(Prove().findings, ElementsAre(HasSubstr("no compiler")));
  candidate_.kind = CandidateKind::kHost;
  EXPECT_THAT(Prove().findings, ElementsAre(HasSubstr("device candidates")));
}

TEST_F(Red, TheSectionHasWhatThePageReads) {
  const RedReport builtin = ProveRed(case_, tests_, 1);
  const Value red = ToValue(ProveMutants(case_, candidate_, tests_, options_, builtin));
  EXPECT_TRUE(red["score"].IsDouble());
  EXPECT_TRUE(red["source_score"].IsDouble());
  EXPECT_EQ(red["tests"].AsList().size(), 3u);
  EXPECT_EQ(red["useless_tests"].AsList().size(), 2u);
  const Value& first = red["mutants"].AsList()[0];
  EXPECT_EQ(first["name"].AsString(), "zeros");
  EXPECT_EQ(first["kind"].AsString(), "builtin");
  EXPECT_EQ(first["status"].AsString(), "killed");
  EXPECT_EQ(first["killed_by"].AsList()[0].AsString(), "T.A");
  const Value& last = red["mutants"].AsList().back();
  EXPECT_EQ(last["kind"].AsString(), "source");
  EXPECT_THAT(last["diff"].AsString(), HasSubstr("\n+"));
  EXPECT_GT(last["line"].AsInt(), 0);
  int all = 0;
  for (const auto& [fate, count] : red["counts"].AsMap()) all += static_cast<int>(count.AsInt());
  EXPECT_EQ(static_cast<size_t>(all), red["mutants"].AsList().size());
}

// ---- parts ----

TEST(CompileAll, ADeadlineIsKeptThoughACompilerHangs) {
  struct Gate {
    std::atomic<bool> open = false;
    std::atomic<int> begun = 0, ended = 0;
  };
  class Hangs : public Toolchain {
   public:
    explicit Hangs(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
    [[nodiscard]] std::string version() const override { return ""; }
    [[nodiscard]] CompileResult Compile(const CompileRequest& request) const override {
      ++gate_->begun;
      while (request.source == "hang" && !gate_->open) std::this_thread::yield();
      ++gate_->ended;
      return {true, request.source, ""};
    }

   private:
    std::shared_ptr<Gate> gate_;
  };
  auto gate = std::make_shared<Gate>();
  const std::vector<CompileRequest> requests = {
      {"a", "", "", {}}, {"hang", "", "", {}}, {"b", "", "", {}}};
  const Batch batch = CompileAll(std::make_shared<Hangs>(gate), requests, 1, 0.1);
  EXPECT_TRUE(batch.left_running);
  EXPECT_TRUE(batch.items[0].finished);
  EXPECT_EQ(batch.items[0].result.cubin, "a");
  EXPECT_FALSE(batch.items[1].finished);
  EXPECT_FALSE(batch.items[2].finished);
  gate->open = true;
  while (gate->ended != gate->begun) std::this_thread::yield();
  EXPECT_EQ(gate->begun, 2) << "a request was begun after the deadline";

  const Batch whole = CompileAll(std::make_shared<Hangs>(gate), requests, 8, 30);
  EXPECT_FALSE(whole.left_running);
  for (const BatchItem& item : whole.items) EXPECT_TRUE(item.finished && item.result.ok);
  EXPECT_THAT(CompileAll(nullptr, {}, 0, 1).items, IsEmpty());
}

TEST(ReadEquivalents, TakesWholeEntriesAndNamesTheOthers) {
  std::string pattern = ::testing::TempDir() + "equivalent-XXXXXX";
  const std::string folder = mkdtemp(pattern.data());
  EXPECT_THAT(ReadEquivalents(folder).entries, IsEmpty());
  std::ofstream(folder + "/launch.yaml")
      << "kb: candidate/1\nequivalent:\n"
         "  - {mutant: comparison, was: \"  if (a < b) f();\", now: \"if (a <= b) f();\", "
         "reason: a is never b}\n"
         "  - {mutant: comparison, was: x}\n  - 3\n";
  const DeclaredEquivalents read = ReadEquivalents(folder);
  ASSERT_EQ(read.entries.size(), 1u);
  EXPECT_EQ(read.diagnostics.size(), 2u);
  EXPECT_EQ(read.diagnostics[0].line, 4);
  Mutant mutant;
  mutant.operation = "comparison";
  mutant.was = "    if (a < b) f();  ";
  mutant.now = "    if (a <= b) f();  ";
  EXPECT_NE(FindEquivalent(read.entries, mutant), nullptr);
  mutant.now = "    if (a > b) f();";
  EXPECT_EQ(FindEquivalent(read.entries, mutant), nullptr);
  fs::remove_all(folder);
}

TEST(CodeDigest, OfWhatIsNoElfIsOfAllItsBytes) {
  EXPECT_EQ(CodeDigest("a"), CodeDigest("a"));
  EXPECT_NE(CodeDigest("a"), CodeDigest("b"));
  EXPECT_NE(CodeDigest(""), CodeDigest("\x7f"
                                       "ELF"));
}

TEST(CodeDigest, IsBlindToNamesAndLinesAndSeesCodeConstantsAndSharedMemory) {
  std::string why;
  const auto nvrtc = OpenNvrtc(&why);
  const char* require = std::getenv("KB_REQUIRE_CUDA");
  ASSERT_FALSE(nvrtc == nullptr && require != nullptr && std::string(require) == "1") << why;
  if (nvrtc == nullptr) GTEST_SKIP() << why;
  const auto digest = [&](const std::string& body, const std::string& name = "k.cu",
                          std::vector<std::string> options = {}) {
    const CompileResult result = nvrtc->Compile(
        {"extern \"C\" __global__ void F(float* y) {\n" + body + "\n}\n", name, "sm_90a", options});
    EXPECT_TRUE(result.ok) << result.log;
    EXPECT_THAT(ReadElfSections(result.cubin), Not(IsEmpty()));
    return CodeDigest(result.cubin);
  };
  const std::string one = digest("y[threadIdx.x] = 1;");
  EXPECT_EQ(one, digest("y[threadIdx.x] = 1;"));
  EXPECT_EQ(one, digest("\n\n  unsigned i = threadIdx.x;\n  y[i] = 3 - 2;", "other.cu"));
  EXPECT_EQ(one, digest("y[threadIdx.x] = 1;", "k.cu", {"-lineinfo"}));
  EXPECT_NE(one, digest("y[threadIdx.x] = 2;"));
  const std::string shared =
      "__shared__ float s[64]; s[threadIdx.x] = 1; __syncthreads(); "
      "y[threadIdx.x] = s[threadIdx.y];";
  std::string larger = shared;
  larger.replace(larger.find("64"), 2, "96");
  EXPECT_NE(digest(shared), digest(larger));
}

TEST(ReadElfSections, DamagedFilesAreTaken) {
  std::string file(
      "\x7f"
      "ELF\x02\x01",
      6);
  file.resize(64 + 3 * 64, '\0');
  const auto put = [&](size_t at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) file[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(40, 64, 8);
  put(58, 64, 2);
  put(60, 3, 2);
  EXPECT_EQ(ReadElfSections(file).size(), 3u);
  for (uint64_t wild : {uint64_t{255}, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{63}}) {
    for (size_t at = 40; at < file.size(); at += 2) {
      const std::string kept = file;
      put(at, wild, std::min<size_t>(8, file.size() - at));
      for (const ElfSection& section : ReadElfSections(file)) {
        EXPECT_LE(section.bytes.size(), file.size());
      }
      (void)CodeDigest(file);
      file = kept;
    }
  }
  for (size_t size = 0; size < file.size(); ++size) (void)ReadElfSections(file.substr(0, size));
}

}  // namespace
}  // namespace kb
