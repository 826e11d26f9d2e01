#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <utility>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/sha256.h"
#include "tdd/host_compiler.h"
#include "tdd/judge.h"
#include "tdd/judge_source.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kFlags = {"-std=c++20", "-O2", "-w", "-pthread", "-I."};
constexpr size_t kNameDigits = 16;

std::string Short(std::string_view text) { return Sha256(text).substr(0, kNameDigits); }

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
    kept_name_ = "-" + Short(identity) + ".o";
    return CompileAll(sources);
  }

 private:
  // All parts are kept: judge.cc is the same for all cases, and cases may share a reference or a
  // test.
  Verdict CompileAll(const CaseSources& sources) {
    std::vector<std::future<Verdict>> parts;
    std::vector<std::string> objects = {
        Kept("reference-" + Short(sources.reference), "reference.cc", &parts),
        Kept("test-" + Short(sources.test), "test.cc", &parts), Kept("judge", "judge.cc", &parts)};
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
      std::vector<std::string> arguments = kFlags;
      if (!compiler_.gtest.empty()) {
        arguments.insert(arguments.end(),
                         {"-I" + compiler_.gtest + "/include", "-I" + compiler_.gtest});
      }
      arguments.insert(arguments.end(), {"-c", source, "-o", object});
      return CompilerVerdict(RunCompiler(compiler_.command, arguments, workshop_.path()));
    });
  }

  std::string Kept(const std::string& part, const std::string& source,
                   std::vector<std::future<Verdict>>* parts) {
    std::string kept = judges_ + "/" + part + kept_name_;
    if (fs::exists(kept)) return kept;
    parts->push_back(Start(source, part + ".o"));
    new_parts_.emplace_back(part + ".o", kept);
    return part + ".o";
  }

  Verdict Link(const std::vector<std::string>& objects) {
    std::vector<std::string> arguments = {"-static", "-pthread", "-s", "-o", "judge"};
    arguments.insert(arguments.end(), objects.begin(), objects.end());
    if (compiler_.gtest.empty()) arguments.emplace_back("-lgtest");
    Verdict verdict = CompilerVerdict(RunCompiler(compiler_.command, arguments, workshop_.path()));
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
  HostCompiler compiler = FindHostCompiler(workshop.path(), &why);
  if (compiler.command.empty()) {
    return {Status::kSkipped, "no compiler", "cannot build the case's judge: " + why};
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
  try {
    const std::string judges = fs::absolute(judges_folder).string();
    const std::string path = judges + "/" + JudgeName(for_case, sources);
    if (access(path.c_str(), X_OK) == 0 && fs::is_regular_file(path)) return {path, {}};
    const Verdict verdict = BuildAt(path, sources, judges);
    return {verdict.passed() ? path : "", verdict};
  } catch (const std::exception& error) {
    return {"", {Status::kInfraError, "", error.what()}};
  }
}

}  // namespace kb
