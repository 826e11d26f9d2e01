#include "tdd/candidate.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "kb/document.h"
#include "kb/file.h"
#include "tdd/candidate_reader.h"
#include "tdd/cuda_text.h"
#include "tdd/safe_path.h"

namespace kb {
namespace {

constexpr size_t kMaxFlags = 16, kMaxFiles = 16, kMaxParams = 8, kMaxValues = 64;

bool IsNumber(std::string_view text, int64_t lowest, int64_t highest) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= lowest &&
         number <= highest;
}

// Macros are written in capitals, so that none can take the place of a keyword or a function.
bool IsMacroName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= 64 && name[0] >= 'A' && name[0] <= 'Z' &&
         std::all_of(name.begin(), name.end(), fits);
}

bool IsDefine(std::string_view flag) {
  if (!flag.starts_with("-D")) return false;
  const std::string_view define = flag.substr(2);
  const size_t equals = define.find('=');
  if (!IsMacroName(define.substr(0, equals))) return false;
  return equals == std::string_view::npos ||
         IsNumber(define.substr(equals + 1), INT64_MIN, INT64_MAX);
}

bool IsAllowedFlag(std::string_view flag, CandidateKind kind) {
  constexpr std::array<std::string_view, 22> kAllowed = {"--use_fast_math",
                                                         "-use_fast_math",
                                                         "-lineinfo",
                                                         "--generate-line-info",
                                                         "-std=c++17",
                                                         "--std=c++17",
                                                         "-std=c++20",
                                                         "--std=c++20",
                                                         "-O0",
                                                         "-O1",
                                                         "-O2",
                                                         "-O3",
                                                         "--fmad=true",
                                                         "--fmad=false",
                                                         "--ftz=true",
                                                         "--ftz=false",
                                                         "--prec-div=true",
                                                         "--prec-div=false",
                                                         "--prec-sqrt=true",
                                                         "--prec-sqrt=false",
                                                         "--extra-device-vectorization",
                                                         "-extra-device-vectorization"};
  if (std::find(kAllowed.begin(), kAllowed.end(), flag) != kAllowed.end()) return true;
  if (kind == CandidateKind::kHost && (flag == "-lcublas" || flag == "-lcublasLt")) return true;
  for (const std::string_view prefix : {"--maxrregcount=", "-maxrregcount="}) {
    if (flag.starts_with(prefix)) return IsNumber(flag.substr(prefix.size()), 16, 255);
  }
  return IsDefine(flag);
}

void ReadFlags(const Value& file, SpecReader& reader, Candidate* candidate) {
  const Value& flags = file["flags"];
  if (!flags.IsNull() && (!flags.IsList() || flags.AsList().size() > kMaxFlags)) {
    reader.Error(flags.line(), "flags is not a list of at most 16 options",
                 "write e.g. [--use_fast_math, -DBLOCK=256]");
    return;
  }
  for (const Value& flag : flags.AsList()) {
    const std::string text = flag.ToText();
    if (IsAllowedFlag(text, candidate->kind)) {
      candidate->flags.push_back(text);
      continue;
    }
    reader.Error(flag.line(), "the flag " + Shown(text) + " is not allowed",
                 "allowed: --use_fast_math -DNAME=INT --maxrregcount=N -std=c++17 -std=c++20 -O3 "
                 "-lineinfo --fmad= --ftz= --prec-div= --prec-sqrt=; host kind: -lcublas "
                 "-lcublasLt");
  }
}

void ReadParams(const Value& file, SpecReader& reader, Candidate* candidate) {
  if (!reader.CheckNames(file["params"], "params", kMaxParams)) return;
  for (const auto& [name, list] : file["params"].AsMap()) {
    std::vector<int64_t> values;
    for (const Value& value : list.AsList()) {
      if (value.IsInt()) values.push_back(value.AsInt());
    }
    if (!IsMacroName(name)) {
      reader.Error(list.line(), "the param " + Shown(name) + " is not in capitals",
                   "it becomes a macro of the source: A-Z, 0-9 and _");
    } else if (values.empty() || values.size() != list.AsList().size() ||
               values.size() > kMaxValues) {
      reader.Error(list.line(), "the param " + name + " is not a list of 1 to 64 integers",
                   "write e.g. [128, 256]");
    } else {
      candidate->params.emplace_back(name, std::move(values));
    }
  }
}

std::vector<std::string> ProtectedFiles(const Case& for_case) {
  std::vector<std::string> files;
  for (const char* name : {"case.yaml", "reference.cc", "test.cc"}) {
    files.push_back(for_case.folder + "/" + name);
  }
  return files;
}

// The bytes of a file that launch.yaml names, or nullopt and an error at `line`.
std::optional<std::string> ReadNamed(const std::string& what, const std::string& name, int line,
                                     const Case& for_case, const Candidate& candidate,
                                     SpecReader& reader) {
  const std::string mend = "name a plain file in the candidate's own folder";
  if (IsProtectedName(name)) {
    reader.Error(line, what + " " + Shown(name) + " has the name of a file of a case or a test",
                 "rename it, e.g. kernel.cu");
    return std::nullopt;
  }
  std::string why;
  std::optional<std::string> bytes =
      ReadInside(candidate.folder, name, kMaxSourceBytes, &why, ProtectedFiles(for_case));
  if (!bytes) {
    reader.Error(line, what + " " + Shown(name) + " " + why, mend);
  } else if (bytes->find('\0') != std::string::npos) {
    reader.Error(line, what + " " + Shown(name) + " holds a NUL byte", "save it as plain text");
    return std::nullopt;
  }
  return bytes;
}

void ReadSources(const Value& file, SpecReader& reader, const Case& for_case,
                 Candidate* candidate) {
  const std::optional<std::string> source = reader.Text(file, "source", true);
  if (source && !source->ends_with(".cu")) {
    reader.Error(file["source"].line(), "the source " + Shown(*source) + " does not end in .cu",
                 "name a CUDA C++ file");
  } else if (source) {
    const int line = file["source"].line();
    candidate->source = *source;
    candidate->source_text =
        ReadNamed("the source", *source, line, for_case, *candidate, reader).value_or("");
  }
  const Value& files = file["files"];
  if (!files.IsNull() && (!files.IsList() || files.AsList().size() > kMaxFiles)) {
    reader.Error(files.line(), "files is not a list of at most 16 names", "write e.g. [tile.cuh]");
    return;
  }
  for (const Value& entry : files.AsList()) {
    const std::string name = entry.ToText();
    const bool again = std::any_of(candidate->files.begin(), candidate->files.end(),
                                   [&](const CandidateFile& f) { return f.name == name; });
    if (again || name == candidate->source) {
      reader.Error(entry.line(), "the file " + Shown(name) + " is named twice", "leave one out");
      continue;
    }
    if (auto bytes = ReadNamed("the file", name, entry.line(), for_case, *candidate, reader)) {
      candidate->files.push_back({name, std::move(*bytes)});
    }
  }
}

void ReadHead(const Value& file, SpecReader& reader, Candidate* candidate) {
  candidate->title = reader.Text(file, "title", true).value_or("");
  const std::string kind = reader.Text(file, "kind", true).value_or("device");
  candidate->kind = kind == "host" ? CandidateKind::kHost : CandidateKind::kDevice;
  if (kind != "host" && kind != "device") {
    reader.Error(file["kind"].line(), "no kind " + Shown(kind), "write device or host");
  }
  candidate->arch = reader.Text(file, "arch").value_or("");
  if (!IsArchConstraint(candidate->arch)) {
    reader.Error(file["arch"].line(), "the arch " + Shown(candidate->arch) + " cannot be read",
                 "write e.g. \">=sm_80\" or sm_90a");
  }
  candidate->scope = reader.Text(file, "scope").value_or("");
  candidate->not_when = reader.Text(file, "not_when").value_or("");
  candidate->limit = reader.Text(file, "limit").value_or("");
  candidate->precision_declared = reader.Flag(file, "precision_declared");
}

std::vector<std::string> NamesFor(const Case& for_case, const Candidate& candidate) {
  std::vector<std::string> names = for_case.axis_names;
  if (!for_case.check.empty()) {  // with the constants
    names.clear();
    for (const auto& [name, value] : for_case.check[0].axes) names.push_back(name);
  }
  for (const auto& [name, values] : candidate.params) names.push_back(name);
  return names;
}

void CheckEntryPoints(const Candidate& candidate, SpecReader& reader) {
  std::string code = CudaText(candidate.source_text).code;
  for (const CandidateFile& file : candidate.files) code += "\n" + CudaText(file.text).code;
  if (candidate.kind == CandidateKind::kHost && !HasWord(code, "kb_run")) {
    reader.Error(0, Shown(candidate.source) + " has no kb_run",
                 "add extern \"C\" int kb_run(const kb_args*, cudaStream_t)");
  }
  for (const LaunchSpec& launch : candidate.launches) {
    if (HasWord(code, launch.kernel)) continue;
    reader.Error(launch.line, Shown(candidate.source) + " has no kernel " + Shown(launch.kernel),
                 "write extern \"C\" __global__ void " + Printable(launch.kernel) + "(...)");
  }
}

// A plan that cannot be made is told here, before anything is compiled.
void CheckPlans(const Case& for_case, const Candidate& candidate, SpecReader& reader) {
  for (const std::vector<Workload>* list : {&for_case.check, &for_case.time}) {
    for (const Workload& workload : *list) {
      const Planned planned = PlanRun(for_case, candidate, workload.axes);
      if (planned.plan) continue;
      reader.Error(planned.line, "workload " + workload.label + ": " + planned.why,
                   "mend the expression, or launch it under a 'when'");
      return;
    }
  }
}

void ReadAll(const Value& file, SpecReader& reader, const Case& for_case, Candidate* candidate) {
  reader.CheckKeys(
      file, "launch.yaml",
      {"kb", "title", "kind", "source", "files", "flags", "arch", "workspace", "tensor_maps",
       "launches", "params", "precision_declared", "scope", "not_when", "limit", "equivalent"});
  ReadHead(file, reader, candidate);
  ReadFlags(file, reader, candidate);
  ReadParams(file, reader, candidate);
  ReadSources(file, reader, for_case, candidate);
  const std::vector<std::string> names = NamesFor(for_case, *candidate);
  ReadWorkspaces(file, reader, names, for_case, candidate);
  ReadTensorMaps(file, reader, names, for_case, candidate);
  ReadLaunches(file, reader, names, for_case, candidate);
  if (!reader.ok()) return;
  CheckEntryPoints(*candidate, reader);
  CheckPlans(for_case, *candidate, reader);
}

}  // namespace

bool LoadedCandidate::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity >= Severity::kError; });
}

LoadedCandidate LoadCandidate(const std::string& folder, const Case& for_case) {
  LoadedCandidate loaded;
  Candidate& candidate = loaded.value;
  candidate.folder = folder;
  candidate.id = FolderName(folder);
  SpecReader reader("launch-yaml", folder + "/launch.yaml");
  std::string why;
  const std::optional<std::string> yaml =
      ReadInside(folder, "launch.yaml", kMaxSpecBytes, &why, ProtectedFiles(for_case));
  if (!PathFault(candidate.id).empty()) {
    reader.Error(0, "the folder's name " + Shown(candidate.id) + " " + PathFault(candidate.id),
                 "rename the folder: it is the candidate's id");
  }
  if (!yaml) {
    reader.Error(0, "launch.yaml " + why, "name a folder with launch.yaml and its source");
    loaded.diagnostics = reader.Take();
    return loaded;
  }
  if (for_case.axis_names.empty() || for_case.check.empty() || for_case.outputs.empty()) {
    reader.Error(0, "its case " + Shown(for_case.folder) + " cannot be used",
                 "mend case.yaml first");
    loaded.diagnostics = reader.Take();
    return loaded;
  }
  const Value file = reader.Read(*yaml, "candidate/1");
  if (file.IsMap()) ReadAll(file, reader, for_case, &candidate);
  std::vector<NamedBytes> files = {{"launch.yaml", *yaml},
                                   {candidate.source, candidate.source_text}};
  for (const CandidateFile& header : candidate.files) files.push_back({header.name, header.text});
  candidate.sha256 = Sha256OfFiles(files);
  loaded.diagnostics = reader.Take();
  return loaded;
}

}  // namespace kb
