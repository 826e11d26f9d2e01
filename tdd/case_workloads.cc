// workloads of case.yaml, and what its sources may include.
#include <algorithm>
#include <set>

#include "tdd/case_reader.h"

namespace kb {
namespace {

constexpr size_t kMaxCheck = 64, kMaxTime = 32;

std::string LabelOf(const Case& value, const Axes& axes) {
  std::string label;
  for (const std::string& name : value.axis_names) {
    label += (label.empty() ? "" : " x ") + std::to_string(axes.find(name)->second);
  }
  return label;
}

// False if an axis is missing or bad.
bool ReadWorkload(const Value& entry, const std::string& what, SpecReader& reader,
                  const Axes& constants, Case* value, Workload* workload) {
  if (!entry.IsMap()) {
    reader.Error(entry.line(), what + " is a " + entry.TypeName() + ", not a map of axes",
                 "write {axis: length, ...}");
    return false;
  }
  workload->axes = constants;
  bool good = true;
  const auto fault = [&](int line, const std::string& message, const std::string& mend) {
    reader.Error(line, what + message, mend);
    good = false;
  };
  for (const auto& [name, length] : entry.AsMap()) {
    const auto& names = value->axis_names;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string nearest = NearestOf(name, names);
      fault(length.line(), " has no axis " + Shown(name),
            nearest.empty() ? "the axes are " + ListOf(names) : "did you mean '" + nearest + "'?");
    } else if (!length.IsInt() || length.AsInt() < 0 || length.AsInt() > kMaxElements) {
      fault(length.line(), ": " + name + " is not an integer in 0..2^40", "write e.g. 1000");
    } else if (!workload->axes.insert({name, length.AsInt()}).second) {
      fault(length.line(), " gives " + name + " twice", "leave one of them out");
    }
  }
  for (const std::string& name : value->axis_names) {
    if (good && !workload->axes.contains(name)) {
      fault(entry.line(), " does not give " + name, "add '" + name + ": ...'");
    }
  }
  if (good) workload->label = LabelOf(*value, workload->axes);
  return good;
}

std::vector<Workload> ReadList(const Value& list, const std::string& key, size_t limit,
                               SpecReader& reader, const Axes& constants, Case* value,
                               int line_above) {
  std::vector<Workload> workloads;
  const size_t count = list.AsList().size();
  if (!list.IsList() || count < 1 || count > limit) {
    reader.Error(std::max(line_above, list.line()),
                 "workloads: " + key + " is not a list of 1 to " + std::to_string(limit) + " maps",
                 "write e.g. '" + key + ": [{n: 1000}]'");
    return workloads;
  }
  std::set<std::string> labels;
  for (const Value& entry : list.AsList()) {
    Workload workload;
    const std::string what = "workload " + key + "[" + std::to_string(workloads.size()) + "]";
    if (!ReadWorkload(entry, what, reader, constants, value, &workload)) continue;
    if (!labels.insert(workload.label).second) {
      reader.Error(entry.line(), what + " is " + workload.label + " again", "leave it out");
    }
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

std::string CostFault(const Case& value, const Workload& workload, int64_t tensor_bytes) {
  std::string why;
  const std::optional<int64_t> bytes = value.bytes.Evaluate(workload.axes, &why);
  if (!bytes) return "bytes: " + why;
  if (*bytes < 1) return "bytes is " + std::to_string(*bytes);
  if (*bytes > tensor_bytes) {
    return "bytes is " + std::to_string(*bytes) + ", more than all tensors hold (" +
           std::to_string(tensor_bytes) + "): it says the least that must move";
  }
  const std::optional<int64_t> flops = value.flops.Evaluate(workload.axes, &why);
  if (!flops) return "flops: " + why;
  if (*flops < 0) return "flops is " + std::to_string(*flops);
  for (const Tolerance& tolerance : value.tolerances) {
    const std::optional<int64_t> length = tolerance.reduction.Evaluate(workload.axes, &why);
    if (!length) return tolerance.output + ": reduction: " + why;
    if (*length < 0) return tolerance.output + ": reduction is " + std::to_string(*length);
  }
  return "";
}

}  // namespace

void ReadWorkloads(const Value& file, SpecReader& reader, const Axes& constants, Case* value) {
  const Value& workloads = file["workloads"];
  if (workloads.IsNull()) {
    reader.Error(reader.top_line(), "no workloads: nothing would be run",
                 "add 'workloads:' with check: [{...}] and time: [{...}]");
    return;
  }
  if (!reader.CheckKeys(workloads, "workloads", {"check", "time"})) return;
  const int line = workloads.line();
  value->check = ReadList(workloads["check"], "check", kMaxCheck, reader, constants, value, line);
  value->time = ReadList(workloads["time"], "time", kMaxTime, reader, constants, value, line);
}

WorkloadSize MeasureWorkload(const Case& value, const Workload& workload) {
  WorkloadSize size;
  for (const std::vector<TensorSpec>* list : {&value.inputs, &value.outputs}) {
    for (const TensorSpec& tensor : *list) {
      if (tensor.scalar) continue;
      const std::optional<int64_t> bytes = BytesOf(tensor, workload.axes, &size.why);
      if (!bytes) return size;
      size.bytes += *bytes;  // at most 48 tensors of 2^43 bytes
      size.elements += *bytes / DtypeBytes(tensor.dtype);
    }
  }
  if (size.bytes > kMaxTimeBytes) {
    size.why = "its tensors hold more than 64 GiB";
    return size;
  }
  size.why = CostFault(value, workload, size.bytes);
  return size;
}

void CheckIncludes(std::string_view source, const std::string& path, SpecReader& reader) {
  int line = 0;
  for (size_t at = 0; at < source.size(); ++line) {
    const size_t end = std::min(source.find('\n', at), source.size());
    std::string_view text = source.substr(at, end - at);
    at = end + 1;
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with("#")) continue;
    text.remove_prefix(1);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (!text.starts_with("include")) continue;
    text.remove_prefix(7);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const bool ours = text.starts_with("\"kb/case_test.h\"");
    const bool system = text.starts_with("<") && text.find("..") == std::string_view::npos &&
                        !text.starts_with("</");
    if (ours || system) continue;
    reader.ErrorIn(path, line + 1,
                   "includes " + Shown(text) + ", which the case's sha256 does not cover",
                   "include \"kb/case_test.h\" and system headers alone");
  }
}

}  // namespace kb
