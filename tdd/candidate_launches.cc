// workspace, tensor_maps and launches of launch.yaml.
#include <algorithm>
#include <array>

#include "tdd/candidate_reader.h"

namespace kb {
namespace {

constexpr size_t kMaxWorkspaces = 16, kMaxMaps = 16, kMaxLaunches = 64, kMaxArgs = 64;

const TensorSpec* FindTensor(const Case& for_case, std::string_view name) {
  for (const std::vector<TensorSpec>* list : {&for_case.inputs, &for_case.outputs}) {
    for (const TensorSpec& tensor : *list) {
      if (tensor.name == name) return &tensor;
    }
  }
  return nullptr;
}

bool HasWorkspace(const Candidate& candidate, std::string_view name) {
  return std::any_of(candidate.workspaces.begin(), candidate.workspaces.end(),
                     [&](const WorkspaceSpec& w) { return w.name == name; });
}

bool HasMap(const Candidate& candidate, std::string_view name) {
  return std::any_of(candidate.tensor_maps.begin(), candidate.tensor_maps.end(),
                     [&](const TensorMapSpec& m) { return m.name == name; });
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void CheckNew(const std::string& what, const std::string& name, int line, SpecReader& reader,
              const std::vector<std::string>& names, const Case& for_case,
              const Candidate& candidate) {
  if (FindTensor(for_case, name) == nullptr && !Contains(names, name) &&
      !HasWorkspace(candidate, name)) {
    return;
  }
  reader.Error(line, what + ": the name " + Shown(name) + " is taken", "rename it");
}

bool IsKernelName(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  if (name.empty() || name.size() > 128 || !letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

// {i32: cols}: an expression as a type.
std::optional<ArgSpec> ReadTyped(const Value& entry, const std::string& what, SpecReader& reader,
                                 const std::vector<std::string>& names) {
  const Value::Map& map = entry.AsMap();
  const std::optional<Dtype> type = map.size() == 1 ? ParseDtype(map[0].first) : std::nullopt;
  if (!type || *type == Dtype::kF16 || *type == Dtype::kBf16) {
    reader.Error(entry.line(), what + " is not one type and its expression",
                 "write {i32: cols}; the types are i32, i64, u32, i8, u8, f32 and f64");
    return std::nullopt;
  }
  const std::optional<Expression> formula = reader.Formula(map[0].second, what, names);
  if (!formula) return std::nullopt;
  ArgSpec arg;
  arg.expression = *formula;
  arg.type = *type;
  return arg;
}

std::optional<ArgSpec> ReadArg(const Value& entry, const std::string& what, SpecReader& reader,
                               const std::vector<std::string>& names, const Case& for_case,
                               const Candidate& candidate) {
  if (entry.IsMap()) return ReadTyped(entry, what, reader, names);
  const std::string text = entry.ToText();
  ArgSpec arg;
  if (FindTensor(for_case, text) != nullptr || HasWorkspace(candidate, text) ||
      HasMap(candidate, text)) {
    arg.name = text;
    return arg;
  }
  if (IsSpecName(text) && !Contains(names, text)) {
    std::vector<std::string> known = names;
    for (const auto* list : {&for_case.inputs, &for_case.outputs}) {
      for (const TensorSpec& tensor : *list) known.push_back(tensor.name);
    }
    for (const WorkspaceSpec& workspace : candidate.workspaces) known.push_back(workspace.name);
    for (const TensorMapSpec& map : candidate.tensor_maps) known.push_back(map.name);
    const std::string nearest = NearestOf(text, known);
    reader.Error(
        entry.line(), what + ": there is no " + Shown(text),
        nearest.empty() ? "the names are " + ListOf(known) : "did you mean '" + nearest + "'?");
    return std::nullopt;
  }
  const std::optional<Expression> formula = reader.Formula(entry, what, names);
  if (!formula) return std::nullopt;
  arg.expression = *formula;
  return arg;
}

void ReadDimensions(const Value& entry, const char* key, bool required, const std::string& what,
                    SpecReader& reader, const std::vector<std::string>& names,
                    Expression (&dimensions)[3]) {
  for (Expression& dimension : dimensions) dimension = Expression(1);
  if (entry[key].IsNull() && !required) return;
  const Value list = entry[key].IsList() || entry[key].IsNull()
                         ? entry[key]
                         : Value(Value::List{entry[key]});  // grid: 132
  if (list.IsNull()) {
    reader.Error(entry.line(), what + " has no " + key, std::string("add '") + key + ": [...]'");
    return;
  }
  const std::vector<Expression> read =
      reader.Formulas(list, what + ": " + key, std::size(dimensions), names);
  std::copy(read.begin(), read.end(), std::begin(dimensions));
}

void ReadLaunch(const Value& entry, const std::string& what, SpecReader& reader,
                const std::vector<std::string>& names, const Case& for_case, Candidate* candidate) {
  if (!reader.CheckKeys(entry, what,
                        {"kernel", "grid", "block", "shared", "cluster", "args", "when"})) {
    return;
  }
  LaunchSpec launch;
  launch.line = entry.line();
  launch.kernel = reader.Text(entry, "kernel", true).value_or("");
  if (!launch.kernel.empty() && !IsKernelName(launch.kernel)) {
    reader.Error(entry["kernel"].line(), what + ": " + Shown(launch.kernel) + " is no C name",
                 "name a function that is extern \"C\" __global__");
  }
  ReadDimensions(entry, "grid", true, what, reader, names, launch.grid);
  ReadDimensions(entry, "block", true, what, reader, names, launch.block);
  ReadDimensions(entry, "cluster", false, what, reader, names, launch.cluster);
  launch.when = Expression(1);
  for (const auto& [key, formula] :
       {std::pair("shared", &launch.shared), std::pair("when", &launch.when)}) {
    if (entry[key].IsNull()) continue;
    const std::string label = what + ": " + key;
    if (auto read = reader.Formula(entry[key], label, names)) *formula = *read;
  }
  const Value& args = entry["args"];
  if (!args.IsList() || args.AsList().empty() || args.AsList().size() > kMaxArgs) {
    reader.Error(args.IsNull() ? entry.line() : args.line(),
                 what + ": args is not a list of 1 to 64 arguments", "write e.g. [x, y, {i32: n}]");
    return;
  }
  for (size_t i = 0; i < args.AsList().size(); ++i) {
    const std::string label = what + ": args[" + std::to_string(i) + "]";
    auto arg = ReadArg(args.AsList()[i], label, reader, names, for_case, *candidate);
    if (arg) launch.args.push_back(std::move(*arg));
  }
  candidate->launches.push_back(std::move(launch));
}

// An output that no launch is given cannot be written; an input that none is given may be a slip.
void CheckAllPassed(const Value& launches, SpecReader& reader, const Case& for_case,
                    const Candidate& candidate) {
  std::vector<std::string> passed;
  for (const LaunchSpec& launch : candidate.launches) {
    for (const ArgSpec& arg : launch.args) passed.push_back(arg.name);
  }
  for (const TensorMapSpec& map : candidate.tensor_maps) {
    if (Contains(passed, map.name)) passed.push_back(map.tensor);
  }
  for (const TensorSpec& output : for_case.outputs) {
    if (Contains(passed, output.name)) continue;
    reader.Error(launches.line(), "no launch is given the output " + output.name,
                 "add it to the args of the kernel that writes it");
  }
  for (const TensorSpec& input : for_case.inputs) {
    if (input.scalar || Contains(passed, input.name)) continue;
    reader.Warn(launches.line(), "no launch is given the input " + input.name,
                "add it to args, unless the answer does not depend on it");
  }
}

void ReadMap(const std::string& name, const Value& entry, SpecReader& reader,
             const std::vector<std::string>& names, const Case& for_case, Candidate* candidate) {
  const std::string what = "tensor map " + name;
  CheckNew(what, name, entry.line(), reader, names, for_case, *candidate);
  if (!reader.CheckKeys(entry, what, {"tensor", "dtype", "dims", "strides", "box", "swizzle"})) {
    return;
  }
  TensorMapSpec map;
  map.name = name;
  map.line = entry.line();
  map.tensor = reader.Text(entry, "tensor", true).value_or("");
  const TensorSpec* tensor = FindTensor(for_case, map.tensor);
  if (tensor == nullptr || tensor->scalar) {
    reader.Error(entry.line(), what + ": there is no tensor " + Shown(map.tensor),
                 "name an input or output with a shape");
    return;
  }
  const std::optional<std::string> dtype = reader.Text(entry, "dtype");
  const std::optional<Dtype> parsed = dtype ? ParseDtype(*dtype) : tensor->dtype;
  if (!parsed) {
    reader.Error(entry["dtype"].line(), what + " has no dtype " + Shown(*dtype),
                 "leave it out: it is the tensor's");
    return;
  }
  map.dtype = *parsed;
  map.dims = reader.Formulas(entry["dims"], what + ": dims", 5, names);
  map.box = reader.Formulas(entry["box"], what + ": box", 5, names);
  if (entry["strides"].IsList() && !entry["strides"].AsList().empty()) {
    map.strides = reader.Formulas(entry["strides"], what + ": strides", 4, names);
  }
  if (map.box.size() != map.dims.size() || map.strides.size() + 1 != map.dims.size()) {
    reader.Error(entry.line(), what + ": box wants a length a dimension, strides one less",
                 "dims and box innermost first; strides in bytes, without the innermost");
  }
  const Value& swizzle = entry["swizzle"];
  constexpr std::array<int64_t, 4> kSwizzles = {0, 32, 64, 128};
  map.swizzle_bytes = static_cast<int>(std::clamp<int64_t>(swizzle.AsInt(), -1, 1000));
  if (!(swizzle.IsNull() || swizzle.IsInt()) ||
      std::find(kSwizzles.begin(), kSwizzles.end(), map.swizzle_bytes) == kSwizzles.end()) {
    reader.Error(swizzle.line(), what + ": swizzle is not 0, 32, 64 or 128", "write bytes");
  }
  candidate->tensor_maps.push_back(std::move(map));
}

}  // namespace

void ReadWorkspaces(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                    const Case& for_case, Candidate* candidate) {
  const Value& workspaces = file["workspace"];
  if (!reader.CheckNames(workspaces, "workspace", kMaxWorkspaces)) return;
  for (const auto& [name, entry] : workspaces.AsMap()) {
    const std::string what = "workspace " + name;
    if (!reader.CheckKeys(entry, what, {"bytes", "zero"})) continue;
    CheckNew(what, name, entry.line(), reader, names, for_case, *candidate);
    WorkspaceSpec workspace;
    workspace.name = name;
    workspace.zero = reader.Flag(entry, "zero");
    if (entry["bytes"].IsNull()) {
      reader.Error(entry.line(), what + " has no bytes", "add 'bytes: 4*n'");
      continue;
    }
    auto formula = reader.Formula(entry["bytes"], what + ": bytes", names);
    if (!formula) continue;
    workspace.bytes = *formula;
    candidate->workspaces.push_back(std::move(workspace));
  }
}

void ReadTensorMaps(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                    const Case& for_case, Candidate* candidate) {
  const Value& maps = file["tensor_maps"];
  if (!reader.CheckNames(maps, "tensor_maps", kMaxMaps)) return;
  if (candidate->kind == CandidateKind::kHost && !maps.AsMap().empty()) {
    reader.Error(maps.line(), "tensor_maps in a host candidate",
                 "it makes its own: leave them out");
    return;
  }
  for (const auto& [name, entry] : maps.AsMap()) {
    ReadMap(name, entry, reader, names, for_case, candidate);
  }
}

void ReadLaunches(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                  const Case& for_case, Candidate* candidate) {
  const Value& launches = file["launches"];
  if (candidate->kind == CandidateKind::kHost) {
    if (launches.IsNull()) return;
    reader.Error(launches.line(), "launches in a host candidate",
                 "kb_run launches: leave them out");
    return;
  }
  const size_t count = launches.AsList().size();
  if (!launches.IsList() || count < 1 || count > kMaxLaunches) {
    reader.Error(std::max(reader.top_line(), launches.line()),
                 "launches is not a list of 1 to 64 launches",
                 "add 'launches: [{kernel: ..., grid: [...], block: [...], args: [...]}]'");
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    ReadLaunch(launches.AsList()[i], "launch " + std::to_string(i), reader, names, for_case,
               candidate);
  }
  if (reader.ok()) CheckAllPassed(launches, reader, for_case, *candidate);
}

}  // namespace kb
