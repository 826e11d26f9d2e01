#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <utility>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/sha256.h"
#include "tdd/judge.h"
#include "tdd/judge_source.h"
#include "tdd/process.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const Words kFlags = {"-std=c++20", "-O2", "-w", "-pthread", "-I."};
constexpr double kBuildTimeoutS = 180;
constexpr int64_t kMemoryBytes = int64_t{8} << 30;
constexpr size_t kNameDigits = 16;
constexpr char kInstall[] =
    "install g++ and libgtest-dev (Debian, Ubuntu) or gcc-c++, glibc-static, libstdc++-static and "
    "gtest-devel (Fedora), or set CXX; or build the judge where they are and carry it";

std::string Short(std::string_view text) { return Sha256(text).substr(0, kNameDigits); }

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

ProcessResult Compile(const Words& compiler, const Words& arguments, const std::string& folder) {
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

// A compiler and the GoogleTest to link with: a library that it finds, or source.
struct HostCompiler {
  Words command;         // empty: none
  std::string identity;  // its version and the library's place
  std::string gtest;     // "": the library; else the folder of GoogleTest's source
};

std::string GoogleTestSource() {
  for (const char* folder : {"/usr/src/googletest/googletest", "/usr/src/gtest"}) {
    if (fs::exists(std::string(folder) + "/src/gtest-all.cc")) return folder;
  }
  return "";
}

HostCompiler FindCompiler(const std::string& folder, std::string* why) {
  HostCompiler found;
  for (const std::string& name :
       {Variable("CXX"), std::string("c++"), std::string("g++"), std::string("clang++")}) {
    const Words command = Split(name);
    if (command.empty()) continue;
    const ProcessResult version = Compile(command, {"--version"}, folder);
    if (version.exit_code != 0) continue;
    const ProcessResult library = Compile(command, {"-print-file-name=libgtest.a"}, folder);
    found.gtest = library.out.starts_with('/') ? "" : GoogleTestSource();
    found.identity = version.out + library.out + found.gtest;
    if (library.out.starts_with('/') || !found.gtest.empty()) {
      found.command = command;
      return found;
    }
    *why = "GoogleTest is not there for " + name;
  }
  if (why->empty()) *why = "no C++ compiler";
  return found;
}

// The line that says what is wrong.
std::string FirstError(const ProcessResult& result) {
  if (!result.started) return result.why;
  constexpr std::string_view kSigns[] = {"error:", "undefined reference", "multiple definition",
                                         "cannot find"};
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

Verdict VerdictOf(const ProcessResult& result) {
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

// A folder in which one judge is built; gone with the object.
class Workshop {
 public:
  explicit Workshop(const std::string& judges_folder) : path_(judges_folder + "/.build-XXXXXX") {
    std::error_code error;
    fs::create_directories(judges_folder, error);
    if (error || mkdtemp(path_.data()) == nullptr) {
      throw Error("cannot build a judge in " + judges_folder + ": " +
                  (error ? error.message() : std::strerror(errno)) +
                  "; give a folder that can be written");
    }
  }
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

  void Write(std::string_view name, std::string_view text) const {
    const fs::path path = fs::path(path_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw Error("cannot write " + path.string() + ": " + std::strerror(errno));
  }

 private:
  std::string path_;
};

struct CaseSources {
  std::string reference, test;
};

class Build {
 public:
  Build(const Workshop& workshop, HostCompiler compiler, std::string judges_folder)
      : workshop_(workshop), compiler_(std::move(compiler)), judges_(std::move(judges_folder)) {}

  [[nodiscard]] Verdict Make(const CaseSources& sources) {
    workshop_.Write("reference.cc", sources.reference);
    workshop_.Write("test.cc", sources.test);
    workshop_.Write("kb/case_test.h", "#pragma once\n#include \"tdd/case_test.h\"\n");
    std::string all, identity = compiler_.identity;
    for (const SourceFile& file : JudgeSourceFiles()) {
      workshop_.Write(file.path, file.text);
      identity += file.text;
      if (file.path.ends_with(".cc")) all += fmt::format("#include \"{}\"\n", file.path);
    }
    workshop_.Write("judge.cc", all);
    kept_name_ = "judge-" + Short(identity) + ".o";
    return CompileAll();
  }

 private:
  // The part that is the same for all cases is kept.
  Verdict CompileAll() {
    std::vector<std::future<Verdict>> parts;
    Words objects = {"reference.o", "test.o", Kept("judge", "judge.cc", &parts)};
    parts.push_back(Start("reference.cc", "reference.o"));
    parts.push_back(Start("test.cc", "test.o"));
    if (!compiler_.gtest.empty()) {
      objects.push_back(Kept("gtest", compiler_.gtest + "/src/gtest-all.cc", &parts));
    }
    Verdict first;
    for (std::future<Verdict>& part : parts) {
      const Verdict verdict = part.get();
      if (first.passed()) first = verdict;
    }
    if (!first.passed()) return first;
    return Link(objects);
  }

  std::future<Verdict> Start(const std::string& source, const std::string& object) {
    return std::async(std::launch::async, [this, source, object] {
      Words arguments = kFlags;
      if (!compiler_.gtest.empty()) {
        arguments.insert(arguments.end(),
                         {"-I" + compiler_.gtest + "/include", "-I" + compiler_.gtest});
      }
      arguments.insert(arguments.end(), {"-c", source, "-o", object});
      return VerdictOf(Compile(compiler_.command, arguments, workshop_.path()));
    });
  }

  std::string Kept(const std::string& part, const std::string& source,
                   std::vector<std::future<Verdict>>* parts) {
    const std::string kept = fs::absolute(judges_).string() + "/" + part + "-" + kept_name_;
    if (fs::exists(kept)) return kept;
    parts->push_back(Start(source, part + ".o"));
    new_parts_.emplace_back(part + ".o", kept);
    return part + ".o";
  }

  Verdict Link(const Words& objects) {
    Words arguments = {"-static", "-pthread", "-s", "-o", "judge"};
    arguments.insert(arguments.end(), objects.begin(), objects.end());
    if (compiler_.gtest.empty()) arguments.emplace_back("-lgtest");
    Verdict verdict = VerdictOf(Compile(compiler_.command, arguments, workshop_.path()));
    if (!verdict.passed()) return verdict;
    std::error_code ignored;
    for (const auto& [name, kept] : new_parts_) {
      fs::rename(workshop_.path() + "/" + name, kept, ignored);
    }
    return verdict;
  }

  const Workshop& workshop_;
  HostCompiler compiler_;
  std::string judges_, kept_name_;
  std::vector<std::pair<std::string, std::string>> new_parts_;
};

std::string JudgeName(const Case& for_case, const CaseSources& sources) {
  std::string all;
  auto add = [&all](std::string_view text) {
    all += fmt::format("{} ", text.size());
    all += text;
  };
  for (const std::string& flag : kFlags) add(flag);
  for (const SourceFile& file : JudgeSourceFiles()) add(file.text);
  add(sources.reference);
  add(sources.test);
  return for_case.name + "-" + Short(all);
}

Verdict BuildAt(const std::string& path, const CaseSources& sources,
                const std::string& judges_folder) {
  const Workshop workshop(judges_folder);
  std::string why;
  HostCompiler compiler = FindCompiler(workshop.path(), &why);
  if (compiler.command.empty()) {
    return {Status::kSkipped, "no compiler",
            "cannot build the case's judge: " + why + "; " + kInstall};
  }
  Verdict verdict = Build(workshop, std::move(compiler), judges_folder).Make(sources);
  if (!verdict.passed()) return verdict;
  std::error_code error;
  fs::rename(workshop.path() + "/judge", path, error);
  if (error) throw Error("cannot write " + path + ": " + error.message());
  return {};
}

}  // namespace

BuiltJudge BuildJudge(const Case& for_case, const std::string& judges_folder) {
  CaseSources sources;
  for (auto [name, text] :
       {std::pair{"/reference.cc", &sources.reference}, std::pair{"/test.cc", &sources.test}}) {
    std::string why;
    std::optional<std::string> read = ReadFile(for_case.folder + name, &why);
    if (!read) return {"", {Status::kInvalidCase, "", for_case.folder + name + ": " + why}};
    *text = std::move(*read);
  }
  const std::string path = judges_folder + "/" + JudgeName(for_case, sources);
  if (access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path)) return {path, {}};
  try {
    const Verdict verdict = BuildAt(path, sources, judges_folder);
    return {verdict.passed() ? path : "", verdict};
  } catch (const std::exception& error) {
    return {"", {Status::kInfraError, "", error.what()}};
  }
}

}  // namespace kb
