// Runs commands in process, in a temporary working folder.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kb/json.h"
#include "kb/value.h"

namespace kb {

class CliTest : public testing::Test {
 protected:
  struct Result {
    int exit_code;
    std::string out, talk;
    // The output as JSON; null, and a failure, if it is none.
    [[nodiscard]] Value Json() const {
      std::string why;
      const auto value = ParseJson(out, &why);
      EXPECT_TRUE(value.has_value()) << why << ": " << out;
      return value.value_or(Value());
    }
  };

  void SetUp() override {
    unsetenv("KB_DIR");
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("kb_cli_") + test->name() + "_" + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
    old_ = std::filesystem::current_path();
    std::filesystem::current_path(root_);
  }

  void TearDown() override {
    std::filesystem::current_path(old_);
    std::filesystem::remove_all(root_);
  }

  static void Write(const std::string& path, const std::string& text) {
    const auto folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    std::ofstream(path, std::ios::binary) << text;
  }

  // A skill whose body is `body`.
  static void WriteSkill(const std::string& name, const std::string& description,
                         const std::string& body) {
    Write("skills/" + name + "/SKILL.md", "---\nname: " + name + "\ndescription: " + description +
                                              "\nlicense: Apache-2.0\n---\n# " + name + "\n\n" +
                                              body);
  }

  Result Run(const std::vector<std::string>& argv) {
    std::ostringstream out, talk;
    Streams streams = {out, talk, terminal_, false, columns_, terminal_, false};
    const int exit_code = RunMain(argv, streams);
    return {exit_code, out.str(), talk.str()};
  }

  bool terminal_ = false;
  int columns_ = 80;

 private:
  std::filesystem::path root_, old_;
};

}  // namespace kb
