#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "cli/doctor_child.h"
#include "tests/cli/cli_fixture.h"

namespace kb {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Doctor : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    places_.kb_dir = ".kb";
    places_.path = std::filesystem::current_path().string() + "/bin";
    places_.nvml = "libthere-is-none.so.1";
    std::filesystem::create_directories("bin");
  }
  void TearDown() override {
    unsetenv("FAKE_NVML");
    CliTest::TearDown();
  }

  static void Program(const std::string& name, const std::string& script) {
    Write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    std::filesystem::permissions("bin/" + name, std::filesystem::perms::owner_all);
  }

  DoctorCheck Check(const std::string& name) {
    for (DoctorCheck& check : Diagnose(places_)) {
      if (check.name == name) return std::move(check);
    }
    ADD_FAILURE() << "no check " << name;
    return {};
  }

  DoctorPlaces places_;
};

TEST_F(Doctor, ReadsTheVersionsOfPrograms) {
  Program("nvcc", "echo 'Copyright (c) 2005-2025'; echo 'release 13.0, V13.0.88'");
  Program("node", "echo v18.19.0");
  Program("git", "echo 'git version 2.39.5' >&2");
  Program("ncu", "echo hello");
  EXPECT_THAT(Check("nvcc").detail, StartsWith("13.0, /"));
  EXPECT_THAT(Check("node").detail, StartsWith("18.19.0, "));
  EXPECT_THAT(Check("git").detail, StartsWith("2.39.5, "));
  EXPECT_THAT(Check("ncu").detail, StartsWith("version unknown, "));
  EXPECT_EQ(Check("ncu").state, DoctorState::kFine);
  EXPECT_EQ(Check("ncu").mend, "");
}

TEST_F(Doctor, SaysWhatAMissingProgramIsForAndHowToGetIt) {
  const DoctorCheck check = Check("compute-sanitizer");
  EXPECT_EQ(check.state, DoctorState::kMissing);
  EXPECT_FALSE(check.essential);
  EXPECT_EQ(check.detail, "not found in PATH");
  EXPECT_NE(check.purpose, "");
  EXPECT_THAT(check.mend, HasSubstr("toolkit"));
}

// What lies in the working folder is not run, though PATH may say so.
TEST_F(Doctor, RunsNothingFromARelativeFolder) {
  Program("git", "touch ran; echo 1.0");
  places_.path = "bin::.";
  EXPECT_EQ(Check("git").state, DoctorState::kMissing);
  EXPECT_FALSE(std::filesystem::exists("ran"));
}

struct Trouble {
  const char* script;
  const char* detail;
};

TEST_F(Doctor, BoundsProgramsThatMisbehave) {
  const Trouble table[] = {
      {"sleep 60", "no answer in time"},
      {"sleep 60 & echo 1.0", "1.0, "},
      {"exec 1>&- 2>&-; sleep 60", "no answer in time"},
      {"trap '' TERM INT; while :; do :; done", "no answer in time"},
      {"exit 3", "exit code 3"},
      {"kill -SEGV $$", "ended by signal 11"},
      {"while :; do echo 0123456789; done", "signal 9"},
      {"cat; echo 5.0", "5.0, "},
  };
  places_.deadline = milliseconds(700);
  for (const Trouble& trouble : table) {
    Program("git", trouble.script);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(Check("git").detail, HasSubstr(trouble.detail)) << trouble.script;
    EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(5000)) << trouble.script;
  }
}

TEST_F(Doctor, SaysThatAProgramCannotBeStarted) {
  Write("bin/git", "#!/nowhere/interpreter\n");
  std::filesystem::permissions("bin/git", std::filesystem::perms::owner_all);
  const DoctorCheck check = Check("git");
  EXPECT_EQ(check.state, DoctorState::kBroken);
  EXPECT_THAT(check.detail, HasSubstr("cannot be started"));
}

TEST_F(Doctor, SaysPlainlyThatThereIsNoGpu) {
  const DoctorCheck check = Check("gpu");
  EXPECT_EQ(check.state, DoctorState::kMissing);
  EXPECT_THAT(check.detail, StartsWith("no GPU: "));
  EXPECT_THAT(check.purpose, HasSubstr("need none"));
}

TEST_F(Doctor, NamesTheGpusThatTheDriverKnows) {
  places_.nvml = KB_FAKE_NVML;
  EXPECT_EQ(Check("gpu").detail,
            "Fake H200 (compute capability 9.0, 140 GiB); "
            "Fake H200 (compute capability 9.0, 140 GiB); driver 580.1");
}

TEST_F(Doctor, OutlivesADriverInTrouble) {
  const std::tuple<const char*, DoctorState, const char*> table[] = {
      {"none", DoctorState::kMissing, "there is no GPU"},
      {"fail", DoctorState::kBroken, "does not start: Driver Not Loaded"},
      {"lost", DoctorState::kFine, "a GPU that does not answer: Driver Not Loaded"},
      {"crash", DoctorState::kBroken, "ended by signal"},
      {"hang", DoctorState::kBroken, "no answer in time"},
  };
  places_.nvml = KB_FAKE_NVML;
  places_.deadline = milliseconds(2000);
  for (const auto& [mode, state, detail] : table) {
    setenv("FAKE_NVML", mode, 1);
    const DoctorCheck check = Check("gpu");
    EXPECT_EQ(check.state, state) << mode;
    EXPECT_THAT(check.detail, HasSubstr(detail)) << mode;
  }
}

TEST_F(Doctor, TellsAMissingIndexFromABrokenOne) {
  EXPECT_EQ(Check("index").state, DoctorState::kMissing);
  EXPECT_THAT(Check("index").mend, HasSubstr("kb index"));
  WriteSkill("a-skill", "Shared memory.", "## Idea\nText.\n");
  ASSERT_EQ(Run({"index", "skills"}).exit_code, kFound);
  const DoctorCheck check = Check("index");
  EXPECT_EQ(check.state, DoctorState::kFine);
  EXPECT_TRUE(check.essential);
  EXPECT_THAT(check.detail, HasSubstr("generation 1"));
  for (const auto& entry : std::filesystem::directory_iterator(".kb")) {
    if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "damage";
  }
  EXPECT_EQ(Check("index").state, DoctorState::kBroken);
  EXPECT_THAT(Check("index").mend, HasSubstr("--rebuild"));
  EXPECT_FALSE(Works(Diagnose(places_)));
}

TEST_F(Doctor, NamesTheLibrariesThatKbIsBuiltFrom) {
  const std::string detail = Check("libraries").detail;
  for (const char* name :
       {"SQLite 3.", "cmark 0.", "yaml-cpp ", "fmt ", "CLI11 ", "faiss ", "OpenBLAS "}) {
    const size_t at = detail.find(name);
    ASSERT_NE(at, std::string::npos) << name << " in " << detail;
    EXPECT_TRUE(std::isdigit(detail[at + std::strlen(name)]) != 0) << detail;
  }
}

TEST_F(Doctor, ExitsWithZeroWhereOnlyExtrasAreMissing) {
  setenv("KB_DIR", "nowhere", 1);
  const Result text = Run({"doctor"});
  const Result json = Run({"doctor", "--json"});
  unsetenv("KB_DIR");
  EXPECT_EQ(text.exit_code, kFound);
  EXPECT_EQ(text.talk, "");
  EXPECT_THAT(text.out, HasSubstr("kb " + std::string(kVersion) + " works: "));
  EXPECT_THAT(text.out, HasSubstr("get      kb index skills"));
  EXPECT_EQ(json.exit_code, kFound);
  const Value value = json.Json();
  EXPECT_TRUE(value["works"].AsBool());
  EXPECT_GE(value["checks"].AsList().size(), 12u);
  for (const Value& check : value["checks"].AsList()) {
    const bool fine = check["state"].AsString() == "fine";
    EXPECT_EQ(check["mend"].AsString().empty(), fine) << check["name"].AsString();
  }
}

TEST_F(Doctor, ExitsWithOneWhereTheIndexIsBroken) {
  Write(".kb/catalog.sqlite", "this is no database, but it is long enough to look like a file");
  const Result result = Run({"doctor"});
  EXPECT_EQ(result.exit_code, kNothing) << result.out;
  EXPECT_THAT(result.out, HasSubstr("does not work"));
}

TEST(DoctorChild, ReturnsWhatAProbeSaysAndSurvivesItsEnd) {
  const auto end = DoctorClock::now() + milliseconds(10000);
  DoctorChild fine(std::function<std::string()>([] { return std::string(20000, 'x'); }));
  EXPECT_EQ(fine.Collect(end).text.size(), 20000u);
  DoctorChild thrower(
      std::function<std::string()>([]() -> std::string { throw std::runtime_error("why"); }));
  const ChildOutput thrown = thrower.Collect(end);
  EXPECT_EQ(thrown.exit_code, 1);
  EXPECT_EQ(thrown.text, "why");
  DoctorChild killed(std::function<std::string()>([]() -> std::string {
    raise(SIGKILL);
    return "";
  }));
  EXPECT_EQ(killed.Collect(end).exit_code, 128 + SIGKILL);
}

// Not only the shell: what it started too.
TEST(DoctorChild, LeavesNoProcessBehind) {
  const std::string file = testing::TempDir() + "/kb_doctor_" + std::to_string(getpid());
  {
    DoctorChild child(std::vector<std::string>{"/bin/sh", "-c",
                                               "(sleep 0.4; echo late > " + file + ") & sleep 60"});
    EXPECT_TRUE(child.Collect(DoctorClock::now() + milliseconds(100)).timed_out);
  }
  std::this_thread::sleep_for(milliseconds(600));
  EXPECT_FALSE(std::filesystem::exists(file));
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace kb
