#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "cli/advise.h"
#include "cli/advise_rules.h"
#include "indexer/retriever.h"
#include "kb/error.h"

namespace kb {
namespace {

constexpr int kMaxEntries = 3;  // documents beside the skills that the rules name
constexpr size_t kMaxSkills = 4;

// What the index knows; nothing where there is none.
class Library {
 public:
  explicit Library(const std::string& kb_dir) {
    std::error_code error;
    if (kb_dir.empty() || !std::filesystem::is_directory(kb_dir, error)) return;
    try {
      retriever_ = std::make_unique<Retriever>(kb_dir);
    } catch (const Error&) {
      // Nothing indexed, or the index is damaged: the advice stands without it.
    }
  }

  [[nodiscard]] bool exists() const { return retriever_ != nullptr; }

  Value Skill(const std::string& id) {
    bool found = false;
    if (exists()) {
      const auto [at, is_new] = known_.try_emplace(id, false);
      if (is_new) at->second = retriever_->catalog().FindDocument(id).has_value();
      found = at->second;
    }
    Value command;
    if (found) command = "kb get " + id;
    return Value(Value::Map{{"id", id}, {"found", found}, {"command", std::move(command)}});
  }

  // Documents that answer the rule's question and apply to `arch`, without those in `skills`.
  Value::List Entries(const AdviceRule& rule, const std::string& arch,
                      const std::vector<std::string>& skills) {
    Value::List list;
    if (!exists()) return list;
    for (const Hit& hit : Hits(rule, arch)) {
      const bool named = std::count(skills.begin(), skills.end(), hit.bundle_id) > 0;
      if (named || list.size() == kMaxEntries) continue;
      list.push_back(Value(Value::Map{{"id", hit.bundle_id},
                                      {"kind", KindName(hit.document.kind)},
                                      {"state", hit.document.state},
                                      {"title", hit.document.title},
                                      {"command", "kb get " + hit.bundle_id}}));
    }
    return list;
  }

 private:
  const std::vector<Hit>& Hits(const AdviceRule& rule, const std::string& arch) {
    const auto [at, is_new] = hits_.try_emplace({rule.id, arch});
    if (is_new) {
      Query query;
      query.text = rule.query;
      query.filters.arch = arch;
      query.k = kMaxEntries + static_cast<int>(kMaxSkills);
      at->second = retriever_->Search(query).hits;
    }
    return at->second;
  }

  std::unique_ptr<Retriever> retriever_;
  std::map<std::string, bool> known_;
  std::map<std::pair<std::string, std::string>, std::vector<Hit>> hits_;
};

std::vector<std::string> SkillsOf(const AdviceRule& rule) {
  std::vector<std::string> skills;
  for (const char* skill : rule.skills) {
    if (skill != nullptr) skills.emplace_back(skill);
  }
  return skills;
}

// Those of the bound first, then those of what contributes; each once.
std::vector<std::string> SkillsOf(const KernelAdvice& advice) {
  std::vector<std::string> skills;
  const auto add = [&](const AdviceRule& rule) {
    for (std::string& skill : SkillsOf(rule)) {
      const bool known = std::count(skills.begin(), skills.end(), skill) > 0;
      if (!known && skills.size() < kMaxSkills) skills.push_back(std::move(skill));
    }
  };
  if (advice.bound) add(*advice.bound->rule);
  for (const Finding& finding : advice.also) {
    if (finding.rule->rank == kContributes) add(*finding.rule);
  }
  return skills;
}

Value TextList(const std::vector<std::string>& texts) {
  return Value(Value::List(texts.begin(), texts.end()));
}

Value EvidenceJson(const Evidence& evidence) {
  return Value(Value::Map{{"metric", evidence.metric},
                          {"value", evidence.value},
                          {"unit", evidence.unit},
                          {"op", evidence.at_least ? ">=" : "<"},
                          {"threshold", evidence.threshold}});
}

Value FindingJson(const Finding& finding) {
  const AdviceRule& rule = *finding.rule;
  Value::List evidence;
  for (const Evidence& e : finding.evidence) evidence.push_back(EvidenceJson(e));
  return Value(Value::Map{{"rule", rule.id},
                          {"bound", rule.bound},
                          {"says", rule.says},
                          {"advice", rule.advice},
                          {"evidence", Value(std::move(evidence))},
                          {"source", rule.source},
                          {"skills", TextList(SkillsOf(rule))},
                          {"query", rule.query}});
}

Value UnknownJson(const std::vector<Unknown>& unknown) {
  Value::List list;
  for (const Unknown& u : unknown) {
    list.push_back(Value(Value::Map{{"bound", u.bound}, {"missing", TextList(u.missing)}}));
  }
  return Value(std::move(list));
}

// "9.0" -> "sm_90"; "" if it is no compute capability.
std::string ArchOf(const std::string& capability) {
  std::string digits;
  for (const char c : capability) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != '.')
      return "";
  }
  return digits.size() < 2 || digits.size() > 3 ? "" : "sm_" + digits;
}

Value KernelJson(const KernelAdvice& advice, Library& library) {
  const NcuKernel& kernel = *advice.kernel;
  const std::vector<std::string> names = SkillsOf(advice);
  Value duration, bound, finding;
  if (const auto seconds = kernel.Seconds("gpu__time_duration.sum")) duration = *seconds;
  Value::List also, skills, entries;
  if (advice.bound) {
    bound = advice.bound->rule->bound;
    finding = FindingJson(*advice.bound);
    entries = library.Entries(*advice.bound->rule, ArchOf(kernel.compute_capability), names);
  }
  for (const Finding& other : advice.also) also.push_back(FindingJson(other));
  for (const std::string& name : names) skills.push_back(library.Skill(name));
  return Value(Value::Map{{"id", kernel.id},
                          {"name", kernel.name},
                          {"block", kernel.block},
                          {"grid", kernel.grid},
                          {"compute_capability", kernel.compute_capability},
                          {"duration_s", std::move(duration)},
                          {"bound", std::move(bound)},
                          {"finding", std::move(finding)},
                          {"also", Value(std::move(also))},
                          {"unknown", UnknownJson(advice.unknown)},
                          {"skills", Value(std::move(skills))},
                          {"entries", Value(std::move(entries))}});
}

// The `count` kernels of longest duration, in the order of the report; 0: all.
std::vector<const NcuKernel*> Longest(const std::vector<NcuKernel>& kernels, size_t count) {
  std::vector<const NcuKernel*> chosen;
  for (const NcuKernel& kernel : kernels) chosen.push_back(&kernel);
  if (count == 0 || count >= chosen.size()) return chosen;
  const auto duration = [](const NcuKernel* kernel) {
    return kernel->Seconds("gpu__time_duration.sum").value_or(0);
  };
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const auto* a, const auto* b) { return duration(a) > duration(b); });
  chosen.resize(count);
  std::sort(chosen.begin(), chosen.end());  // addresses: places in `kernels`
  return chosen;
}

}  // namespace

Value AdviseJson(std::string_view csv, const std::string& kb_dir, size_t max_kernels) {
  const NcuReport report = ReadNcuCsv(csv, AdviceMetrics());
  const std::vector<const NcuKernel*> kernels = Longest(report.kernels, max_kernels);
  Library library(kb_dir);
  Value::List list;
  for (const NcuKernel* kernel : kernels) list.push_back(KernelJson(Advise(*kernel), library));
  const auto left_out = static_cast<int64_t>(report.kernels.size() - kernels.size());
  return Value(Value::Map{{"page", report.page == NcuPage::kRaw ? "raw" : "details"},
                          {"kernels", Value(std::move(list))},
                          {"left_out", left_out},
                          {"other_lines", report.other_lines},
                          {"index", library.exists()}});
}

}  // namespace kb
