#include "tdd/host_compiler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "kb/file.h"

namespace kb {
namespace {

using Words = std::vector<std::string>;

constexpr double kBuildTimeoutS = 180;
constexpr int64_t kMemoryBytes = int64_t{8} << 30;
constexpr char kInstall[] =
    "install g++ and libgtest-dev (Debian, Ubuntu) or gcc-c++, glibc-static, libstdc++-static and "
    "gtest-devel (Fedora), or set CXX; or build the judge where they are and carry it";

Words Split(const std::string& text) {
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string GoogleTestSource() {
  for (const char* folder : {"/usr/src/googletest/googletest", "/usr/src/gtest"}) {
    if (std::filesystem::exists(std::string(folder) + "/src/gtest-all.cc")) return folder;
  }
  return "";
}

// The line that says what is wrong.
std::string FirstError(const ProcessResult& result) {
  if (!result.started) return result.why;
  constexpr std::string_view kSigns[] = {"undefined reference", "multiple definition",
                                         "cannot find -l", "error:"};
  for (std::string_view sign : kSigns) {
    const size_t at = result.talk.find(sign);
    if (at == std::string::npos) continue;
    const size_t newline = result.talk.rfind('\n', at);
    const size_t begin = newline == std::string::npos ? 0 : newline + 1;
    return result.talk.substr(begin, result.talk.find('\n', at) - begin);
  }
  if (result.too_much_output) return "the compiler says too much";
  return result.talk.substr(0, result.talk.find('\n')) +
         fmt::format(" (exit code {})", result.exit_code);
}

}  // namespace

ProcessResult RunCompiler(const Words& compiler, const Words& arguments,
                          const std::string& folder) {
  ProcessOptions options;
  options.argv = compiler;
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = {"LC_ALL=C", "PATH=" + Variable("PATH"), "TMPDIR=" + folder,
                         "CCACHE_DISABLE=1"};
  options.folder = folder;
  options.timeout_s = kBuildTimeoutS;
  options.memory_bytes = kMemoryBytes;
  return RunProcess(options);
}

HostCompiler FindHostCompiler(const std::string& folder, std::string* why) {
  HostCompiler found;
  for (const std::string& name :
       {Variable("CXX"), std::string("c++"), std::string("g++"), std::string("clang++")}) {
    const Words command = Split(name);
    if (command.empty()) continue;
    const ProcessResult version = RunCompiler(command, {"--version"}, folder);
    if (version.exit_code != 0) continue;
    const ProcessResult library = RunCompiler(command, {"-print-file-name=libgtest.a"}, folder);
    found.gtest = library.out.starts_with('/') ? "" : GoogleTestSource();
    found.identity = version.out + library.out + found.gtest;
    if (library.out.starts_with('/') || !found.gtest.empty()) {
      found.command = command;
      return found;
    }
    *why = "GoogleTest is not there for " + name;
  }
  if (why->empty()) *why = "no C++ compiler";
  *why += std::string("; ") + kInstall;
  return found;
}

Verdict CompilerVerdict(const ProcessResult& result) {
  if (result.started && result.exit_code == 0) return {};
  if (!result.started) return {Status::kInfraError, "", Printable(result.why)};
  if (result.timed_out) {
    return {Status::kTimeoutBuild, "",
            fmt::format("the compiler took over {:g} s for the case's judge", kBuildTimeoutS)};
  }
  const std::string error = Printable(FirstError(result));
  if (error.find("cannot find -l") != std::string::npos) {
    return {Status::kSkipped, "no compiler", error + ": " + kInstall};
  }
  return {Status::kInvalidReference, "", "the case's judge does not compile: " + error};
}

}  // namespace kb
