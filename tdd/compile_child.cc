#include "tdd/compile_child.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "tdd/judge_source.h"
#include "tdd/process.h"
#include "tdd/scratch.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr char kRequestFile[] = "request.json", kBinaryFile[] = "binary", kLogFile[] = "log",
               kVersionFile[] = "version";
constexpr int64_t kMemoryBytes = int64_t{24} << 30;  // address space: the compilers reserve much
constexpr int64_t kMaxBinaryBytes = 256 << 20;
constexpr size_t kMaxLogBytes = 64 << 10;

std::vector<std::string> ChildEnvironment(const std::string& folder) {
  std::vector<std::string> environment = {"TMPDIR=" + folder, "HOME=" + folder, "LC_ALL=C"};
  for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) environment.push_back(std::string(name) + "=" + value);
  }
  return environment;
}

ProcessOptions ChildOptions(std::vector<std::string> argv, const std::string& folder,
                            double timeout_s) {
  ProcessOptions options;
  options.argv = std::move(argv);
  options.environment = ChildEnvironment(folder);
  options.folder = folder;
  options.timeout_s = timeout_s;
  options.memory_bytes = kMemoryBytes;
  options.file_bytes = kMaxBinaryBytes;
  return options;
}

std::string ReadOr(const std::string& path, int64_t max_bytes) {
  return ReadFile(path, nullptr, max_bytes).value_or("");
}

// What became of the child, if it did not say itself that it was done.
Verdict HowItEnded(const ProcessResult& result, double timeout_s) {
  if (!result.started) {
    return {Status::kInfraError, "", "the compiler could not be started: " + result.why};
  }
  if (result.timed_out) {
    return {Status::kTimeoutBuild, "",
            fmt::format("not compiled after {:.0f} s: look for templates or constexpr loops that "
                        "do not end",
                        timeout_s)};
  }
  return {Status::kCompileError, "",
          fmt::format("the compiler ended with {} and no answer: too deep or too much for it",
                      result.exit_code > 128 ? fmt::format("signal {}", result.exit_code - 128)
                                             : fmt::format("exit code {}", result.exit_code))};
}

Value ToValue(const CompileRequest& request) {
  Value value, options = Value::List{}, headers = Value::List{};
  for (const std::string& option : request.options) options.Add(option);
  for (const SourceHeader& header : request.headers) {
    headers.Add(Value().Set("name", header.name).Set("text", header.text));
  }
  value.Set("source", request.source).Set("name", request.name).Set("arch", request.arch);
  return value.Set("options", options).Set("headers", headers);
}

CompileRequest RequestFrom(const Value& value) {
  CompileRequest request = {
      value["source"].AsString(), value["name"].AsString(), value["arch"].AsString(), {}};
  for (const Value& option : value["options"].AsList())
    request.options.push_back(option.AsString());
  for (const Value& header : value["headers"].AsList()) {
    request.headers.push_back({header["name"].AsString(), header["text"].AsString()});
  }
  return request;
}

// nvcc of the toolkits that NVRTC is looked for in, or "nvcc" of PATH.
std::string FindNvcc() {
  for (const std::string& folder : NvrtcFolders()) {
    const fs::path nvcc = fs::path(folder).parent_path() / "bin" / "nvcc";
    std::error_code ignored;
    if (!folder.empty() && fs::is_regular_file(nvcc, ignored)) return nvcc.string();
  }
  return "nvcc";
}

// nvcc's number of an architecture: "-gencode=arch=compute_90a,code=sm_90a".
std::vector<std::string> NvccArgv(const Candidate& candidate, const std::string& arch) {
  const std::string number = arch.starts_with("sm_") ? arch.substr(3) : arch;
  std::vector<std::string> argv = {FindNvcc(),
                                   "-shared",
                                   "-Xcompiler=-fPIC",
                                   "-std=c++17",
                                   "-gencode=arch=compute_" + number + ",code=sm_" + number,
                                   "-Xptxas=-v",
                                   "-cudart=shared",
                                   "-I.",
                                   "-o",
                                   kBinaryFile};
  for (const std::string& flag : candidate.flags) {
    if (flag.find("-std=") != std::string::npos) argv[3] = flag;
  }
  for (const std::string& flag : candidate.flags) {
    if (flag.find("-std=") == std::string::npos) argv.push_back(flag);
  }
  for (const auto& [name, values] : candidate.params) {
    if (!values.empty()) argv.push_back("-D" + name + "=" + std::to_string(values[0]));
  }
  argv.push_back(candidate.source);
  return argv;
}

void WriteFiles(const Candidate& candidate, const std::string& folder) {
  const std::string header(CandidateHeader());
  std::vector<CandidateFile> files = {{"kb_candidate.h", header}, {"kb/candidate.h", header}};
  files.insert(files.end(), candidate.files.begin(), candidate.files.end());
  files.push_back({candidate.source, candidate.source_text});
  for (const CandidateFile& file : files) {
    const fs::path path = fs::path(folder) / file.name;
    std::error_code ignored;
    fs::create_directories(path.parent_path(), ignored);
    WriteFileAtomically(path.string(), file.text);
  }
}

}  // namespace

std::string FirstError(const std::string& log) {
  size_t at = log.find("error");
  if (at == std::string::npos) at = log.find_first_not_of(" \n\r\t");
  if (at == std::string::npos) return "the compiler says nothing";
  const size_t begin = log.rfind('\n', at) + 1;  // npos + 1 is 0
  return Printable(log.substr(begin, std::min(log.find('\n', at), begin + 300) - begin));
}

void CompileInChild(const CompileRequest& request, const CompileRequestOf& how,
                    Compiled* compiled) {
  const Scratch scratch(how.temp);
  const std::string& folder = scratch.path();
  WriteFileAtomically(folder + "/" + kRequestFile, WriteJson(ToValue(request)));
  const bool named = how.kb.find('/') == std::string::npos;  // looked up in PATH
  const std::string kb = named ? how.kb : fs::absolute(how.kb).string();
  const ProcessResult result =
      RunProcess(ChildOptions({kb, "compile-child"}, folder, how.timeout_s));
  compiled->cpu_s = result.cpu_s;
  if (!result.started || result.timed_out || result.exit_code != 0) {
    compiled->verdict = HowItEnded(result, how.timeout_s);
    if (result.exit_code == 2) compiled->verdict = {Status::kSkipped, "no toolchain", result.talk};
    return;
  }
  compiled->binary = ReadOr(folder + "/" + kBinaryFile, kMaxBinaryBytes);
  compiled->log = ReadOr(folder + "/" + kLogFile, kMaxLogBytes);
  compiled->compiler = ReadOr(folder + "/" + kVersionFile, 1000);
}

void CompileWithNvcc(const Candidate& candidate, const CompileRequestOf& how, Compiled* compiled) {
  const Scratch scratch(how.temp);
  WriteFiles(candidate, scratch.path());
  const std::vector<std::string> argv = NvccArgv(candidate, how.arch);
  compiled->compiler = argv[0];
  compiled->options = {argv.begin() + 1, argv.end()};
  const ProcessResult result = RunProcess(ChildOptions(argv, scratch.path(), how.timeout_s));
  compiled->cpu_s = result.cpu_s;
  compiled->log = (result.talk + result.out).substr(0, kMaxLogBytes);
  if (!result.started) {
    compiled->verdict = {
        Status::kSkipped, "no toolchain",
        "host candidates need nvcc: install a CUDA toolkit or set CUDA_HOME (" + result.why + ")"};
  } else if (result.timed_out || result.exit_code > 128) {
    compiled->verdict = HowItEnded(result, how.timeout_s);
  } else if (result.exit_code == 0) {
    compiled->binary = ReadOr(scratch.path() + "/" + kBinaryFile, kMaxBinaryBytes);
  }
}

int ServeCompile() {
  std::string why = "kb compile-child: serves kb itself, in a folder with request.json";
  try {
    const std::optional<std::string> text = ReadFile(kRequestFile, nullptr, 64 << 20);
    const std::optional<Value> value = text ? ParseJson(*text) : std::nullopt;
    const std::unique_ptr<Toolchain> nvrtc = value ? OpenNvrtc(&why) : nullptr;
    if (nvrtc != nullptr) {
      const CompileResult result = nvrtc->Compile(RequestFrom(*value));
      WriteFileAtomically(kVersionFile, nvrtc->version());
      WriteFileAtomically(kLogFile, result.log);
      if (result.ok) WriteFileAtomically(kBinaryFile, result.cubin);
      return 0;
    }
  } catch (const std::exception& error) {  // also bad_alloc: the source is too much
    std::fputs(error.what(), stderr);
    return 3;
  }
  std::fputs(why.c_str(), stderr);
  return 2;
}

}  // namespace kb
