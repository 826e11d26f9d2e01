#include "tdd/judge_link.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace kb {
namespace {

constexpr int64_t kLargestTensor = int64_t{1} << 40;
// Half a single-precision rounding step: what one addition of a sum may lose.
constexpr double kStep = 0x1p-23;

const char* FillName(Fill::Kind kind) {
  constexpr const char* kNames[] = {"normal", "uniform", "integers"};
  return kNames[static_cast<int>(kind)];
}

// Address space for the values of the largest cases and the stacks of the threads, and no more
// than lets a judge that runs wild fail before the machine does.
int64_t MemoryLimit() {
  return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) + (int64_t{16} << 30);
}

bool AddTensor(const TensorSpec& tensor, const Axes& axes, std::vector<std::string>* lines,
               std::string* why) {
  const std::optional<std::vector<int64_t>> shape = ShapeOf(tensor, axes, why);
  if (!shape) {
    *why = tensor.name + ": " + *why;
    return false;
  }
  std::string line = "shape " + tensor.name;
  for (int64_t dimension : *shape) line += fmt::format(" {}", dimension);
  lines->push_back(line);
  return true;
}

bool AddWorkload(const Case& for_case, const Workload& workload, std::vector<std::string>* lines,
                 std::string* why) {
  lines->push_back("workload " + workload.label);
  for (const auto& [name, value] : workload.axes) {
    lines->push_back(fmt::format("axis {} {}", name, value));
  }
  for (const TensorSpec& input : for_case.inputs) {
    if (!input.scalar && !AddTensor(input, workload.axes, lines, why)) return false;
  }
  for (const TensorSpec& output : for_case.outputs) {
    if (!AddTensor(output, workload.axes, lines, why)) return false;
  }
  for (const Tolerance& tolerance : for_case.tolerances) {
    const std::optional<int64_t> reduction = tolerance.reduction.Evaluate(workload.axes, why);
    if (!reduction) {
      *why = "reduction of " + tolerance.output + ": " + *why;
      return false;
    }
    const double terms = static_cast<double>(std::max<int64_t>(*reduction, 0));
    lines->push_back(fmt::format("allowed {} {} {} {}", tolerance.output, tolerance.abs,
                                 tolerance.rel, kStep * std::sqrt(terms)));
  }
  return true;
}

ProcessOptions JudgeOptions(const std::string& judge, const std::string& scratch, double timeout_s,
                            int channel) {
  ProcessOptions options;
  options.argv = {judge};
  // Large vectors in large pages: their first touch is what costs (glibc 2.35 and later).
  options.environment = {"LC_ALL=C", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  options.folder = scratch;
  options.timeout_s = timeout_s;
  options.memory_bytes = MemoryLimit();
  options.file_bytes = kLargestTensor;
  options.channel = channel;
  return options;
}

}  // namespace

std::optional<std::vector<std::string>> TaskLines(const Case& for_case, const JudgeTask& task,
                                                  std::string* why) {
  std::vector<std::string> lines;
  if (task.session) lines.push_back("session");
  lines.push_back(fmt::format("seed {}", task.seed));
  if (!task.mutant.empty()) {
    const size_t colon = std::min(task.mutant.find(':'), task.mutant.size());
    lines.push_back("mutant " + task.mutant.substr(0, colon));
    if (colon < task.mutant.size()) lines.back() += " " + task.mutant.substr(colon + 1);
  }
  if (task.first_failure) lines.push_back("first-failure");
  lines.push_back("scratch " + task.scratch);
  for (const TensorSpec& input : for_case.inputs) {
    const char* dtype = DtypeName(input.dtype);
    if (input.scalar) {
      lines.push_back(fmt::format("scalar {} {} {}", input.name, dtype, input.value));
    } else {
      lines.push_back(fmt::format("input {} {} {} {} {}", input.name, dtype,
                                  FillName(input.fill.kind), input.fill.a, input.fill.b));
    }
  }
  for (const TensorSpec& output : for_case.outputs) {
    lines.push_back(fmt::format("output {} {}", output.name, DtypeName(output.dtype)));
  }
  for (const Workload& workload : task.session ? for_case.time : for_case.check) {
    if (!AddWorkload(for_case, workload, &lines, why)) return std::nullopt;
  }
  lines.push_back("end");
  return lines;
}

JudgeLink::JudgeLink(const std::string& judge, const std::string& scratch, double timeout_s)
    : JudgeLink(judge, scratch, timeout_s, MakeChannel()) {}

JudgeLink::JudgeLink(const std::string& judge, const std::string& scratch, double timeout_s,
                     ChannelPair pair)
    : channel_(std::move(pair.ours)) {
  const Channel theirs(pair.theirs);  // closed here once the judge has its own
  process_ = std::make_unique<Process>(JudgeOptions(judge, scratch, timeout_s, theirs.fd()));
}

std::string TakeWord(std::string_view* line) {
  const size_t end = std::min(line->find(' '), line->size());
  std::string word(line->substr(0, end));
  line->remove_prefix(std::min(end + 1, line->size()));
  return word;
}

std::optional<Comparison> ParseComparison(const std::vector<Workload>& workloads,
                                          std::string_view words) {
  std::istringstream in{std::string(words)};
  Comparison c;
  size_t workload = 0;
  int64_t count = 0, matched = 0;
  std::string max_abs, max_rel, max_ulp, got, want;  // streams do not read "nan" and "inf"
  in >> workload >> c.output >> max_abs >> max_rel >> max_ulp >> count >> matched >> c.worst >>
      c.nonfinite >> got >> want;
  if (!in || workload >= workloads.size()) return std::nullopt;
  auto number = [](const std::string& text) { return std::strtod(text.c_str(), nullptr); };
  c.workload = workloads[workload].label;
  c.max_abs = number(max_abs);
  c.max_rel = number(max_rel);
  c.max_ulp = number(max_ulp);
  c.got = number(got);
  c.want = number(want);
  // All of them must match for 1: a share so near to it that it rounds there is not 1.
  c.matched = count == 0 ? 1 : static_cast<double>(matched) / static_cast<double>(count);
  return c;
}

Verdict ParseFault(std::string_view words) {
  Verdict verdict;
  verdict.status = ParseStatus(TakeWord(&words)).value_or(Status::kInfraError);
  verdict.kind = TakeWord(&words);
  if (verdict.kind == "-") verdict.kind.clear();
  verdict.message = Unescape(words);
  return verdict;
}

std::string Unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) != "\\x" || i + 3 >= text.size()) {
      plain += text[i];
      continue;
    }
    const char digits[] = {text[i + 2], text[i + 3], '\0'};
    plain += static_cast<char>(std::strtol(digits, nullptr, 16));
    i += 3;
  }
  return plain;
}

}  // namespace kb
