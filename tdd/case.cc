#include "tdd/case.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "kb/document.h"
#include "kb/file.h"
#include "tdd/case_reader.h"
#include "tdd/safe_path.h"

namespace kb {
namespace {

constexpr size_t kMaxAxes = 16, kMaxConstants = 32;
constexpr double kUsualThreshold = 0.9;

bool IsCaseName(std::string_view name) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 64 || !fits(name.front()) || !fits(name.back())) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return fits(c) || c == '-'; });
}

void ReadHead(const Value& file, SpecReader& reader, Case* value) {
  value->name = reader.Text(file, "name", true).value_or("");
  value->title = reader.Text(file, "title", true).value_or("");
  const std::string folder = FolderName(value->folder);
  if (!value->name.empty() && !IsCaseName(value->name)) {
    reader.Error(file["name"].line(), "the name " + Shown(value->name) + " is not one of a case",
                 "a-z, 0-9 and hyphens inside, at most 64");
  } else if (!value->name.empty() && value->name != folder) {
    reader.Error(file["name"].line(),
                 "the name " + Shown(value->name) + " is not that of the folder, " + Shown(folder),
                 "make them equal: the case is found by its folder");
  }
  value->arch = reader.Text(file, "arch").value_or("");
  if (!IsArchConstraint(value->arch)) {
    reader.Error(file["arch"].line(), "the arch " + Shown(value->arch) + " cannot be read",
                 "write e.g. \">=sm_80\" or sm_90a");
  }
  value->deterministic = reader.Flag(file, "deterministic");
  value->red_threshold = reader.Number(file, "red").value_or(kUsualThreshold);
  if (!(value->red_threshold >= 0.5 && value->red_threshold <= 1)) {
    reader.Error(file["red"].line(), "red is not between 0.5 and 1",
                 "it is the share of wrong kernels that the test must reject: 0.9 is usual");
  } else if (value->red_threshold < kUsualThreshold) {
    reader.Warn(file["red"].line(), "red is below 0.9: a weaker test than usual is let pass",
                "add tests until 0.9 is met");
  }
}

// The names of axes, then constants; the constants' values go into `constants`.
std::vector<std::string> ReadAxes(const Value& file, SpecReader& reader, Case* value,
                                  Axes* constants) {
  std::vector<std::string> names;
  if (file["axes"].IsNull() || file["axes"].AsMap().empty()) {
    reader.Error(std::max(1, file["axes"].line()), "no axes: nothing says how large a run is",
                 "add 'axes: {n: number of elements}'");
  }
  if (reader.CheckNames(file["axes"], "axes", kMaxAxes)) {
    for (const auto& [name, meaning] : file["axes"].AsMap()) names.push_back(name);
  }
  value->axis_names = names;
  if (!reader.CheckNames(file["constants"], "constants", kMaxConstants)) return names;
  for (const auto& [name, number] : file["constants"].AsMap()) {
    if (!number.IsInt()) {
      reader.Error(number.line(), "the constant " + Shown(name) + " is not an integer",
                   "write e.g. 64");
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      reader.Error(number.line(), Shown(name) + " is an axis and a constant", "rename one of them");
      continue;
    }
    names.push_back(name);
    (*constants)[name] = number.AsInt();
  }
  return names;
}

void CheckDistinct(const Value& file, SpecReader& reader) {
  std::set<std::string, std::less<>> seen;
  for (const char* section : {"axes", "constants", "inputs", "outputs"}) {
    for (const auto& [name, value] : file[section].AsMap()) {
      if (seen.insert(name).second) continue;
      reader.Error(value.line(), "the name " + Shown(name) + " in " + section + " is taken",
                   "axes, constants, inputs and outputs share one set of names: rename it");
    }
  }
}

void ReadCosts(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
               Case* value) {
  if (file["bytes"].IsNull()) {
    reader.Error(reader.top_line(), "no 'bytes': without it no time can be called impossible",
                 "add the least bytes that must move, e.g. 'bytes: 8*n'");
  } else if (auto formula = reader.Formula(file["bytes"], "bytes", names)) {
    value->bytes = *formula;
  }
  if (!file["flops"].IsNull()) {
    if (auto formula = reader.Formula(file["flops"], "flops", names)) value->flops = *formula;
  }
  value->flop_dtype = reader.Text(file, "flop_dtype").value_or("");
  if (!value->flop_dtype.empty() && !ParseDtype(value->flop_dtype)) {
    reader.Error(file["flop_dtype"].line(), "no dtype " + Shown(value->flop_dtype),
                 "one of f64, f32, f16, bf16, i8");
  }
}

void ReadBaseline(const Value& file, SpecReader& reader, Case* value) {
  value->baseline = reader.Text(file, "baseline", true).value_or("");
  if (value->baseline.empty()) return;
  const std::string fault = PathFault(value->baseline);
  if (!fault.empty() || value->baseline.find('/') != std::string::npos) {
    reader.Error(
        file["baseline"].line(),
        "the baseline " + Shown(value->baseline) + " " + (fault.empty() ? "is a path" : fault),
        "write the name of a folder in candidates/");
    return;
  }
  std::error_code error;
  const std::string launch = value->folder + "/candidates/" + value->baseline + "/launch.yaml";
  if (!std::filesystem::exists(launch, error)) {
    reader.Warn(
        file["baseline"].line(),
        "there is no candidates/" + value->baseline + "/launch.yaml: nothing to compare with",
        "add the baseline candidate");
  }
}

// What is read must make sense in each workload too.
void CheckWorkloads(const Value& file, SpecReader& reader, const Case& value) {
  int64_t checked = 0, elements = 0;
  for (const auto& [list, key] :
       {std::pair(&value.check, "check"), std::pair(&value.time, "time")}) {
    for (size_t i = 0; i < list->size(); ++i) {
      const int line = file["workloads"][key].AsList()[i].line();
      const WorkloadSize size = MeasureWorkload(value, (*list)[i]);
      if (!size.why.empty()) {
        reader.Error(line, "workload " + (*list)[i].label + ": " + size.why,
                     "mend the expression or the axes");
        return;
      }
      if (list == &value.check) {
        checked += size.bytes;
        elements += size.elements;
      }
      if (checked > kMaxCheckBytes) {
        reader.Error(line, "the check workloads hold more than 64 MiB in all",
                     "make them smaller: each wrong kernel runs them all");
        return;
      }
    }
  }
  if (elements > kUsualCheckElements) {
    reader.Warn(file["workloads"]["check"].line(),
                "the check workloads hold " + std::to_string(elements) +
                    " elements: each wrong kernel runs them all",
                "stay under about 2 million in all");
  }
}

void ReadFiles(const std::string& yaml, SpecReader& reader, Case* value) {
  std::vector<NamedBytes> files = {{"case.yaml", yaml}};
  for (const char* name : {"reference.cc", "test.cc"}) {
    std::string why;
    std::optional<std::string> bytes = ReadInside(value->folder, name, kMaxSourceBytes, &why);
    if (!bytes) {
      reader.Error(0, std::string(name) + " " + why, "a case is case.yaml, reference.cc, test.cc");
      continue;
    }
    CheckIncludes(*bytes, value->folder + "/" + name, reader);
    files.push_back({name, std::move(*bytes)});
  }
  if (files.size() == 3) value->sha256 = Sha256OfFiles(files);
}

}  // namespace

bool LoadedCase::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity >= Severity::kError; });
}

LoadedCase LoadCase(const std::string& folder) {
  LoadedCase loaded;
  Case& value = loaded.value;
  value.folder = folder;
  SpecReader reader("case-yaml", folder + "/case.yaml");
  std::string why;
  const std::optional<std::string> yaml = ReadInside(folder, "case.yaml", kMaxSpecBytes, &why);
  if (!yaml) {
    reader.Error(0, "case.yaml " + why, "name a folder with case.yaml, reference.cc and test.cc");
    loaded.diagnostics = reader.Take();
    return loaded;
  }
  const Value file = reader.Read(*yaml, "case/1");
  if (file.IsMap()) {
    reader.CheckKeys(
        file, "case.yaml",
        {"kb", "name", "title", "arch", "axes", "constants", "inputs", "outputs", "workloads",
         "bytes", "flops", "flop_dtype", "baseline", "red", "deterministic"});
    Axes constants;
    ReadHead(file, reader, &value);
    const std::vector<std::string> names = ReadAxes(file, reader, &value, &constants);
    ReadTensors(file, reader, names, &value);
    CheckDistinct(file, reader);
    ReadCosts(file, reader, names, &value);
    ReadBaseline(file, reader, &value);
    ReadWorkloads(file, reader, constants, &value);
    ReadFiles(*yaml, reader, &value);
    if (reader.ok()) CheckWorkloads(file, reader, value);
  }
  loaded.diagnostics = reader.Take();
  return loaded;
}

}  // namespace kb
