#include "tdd/news.h"

#include <algorithm>
#include <cstdio>

#include "kb/document.h"

namespace kb {
namespace {

// Where candidates may differ in what they run on.
constexpr const char* kArchs[] = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_89",
                                  "sm_90", "sm_100", "sm_103", "sm_110", "sm_120"};

std::string Ratio(const Headline& h) {
  char text[96];
  std::snprintf(text, sizeof text, "%.4g [%.4g, %.4g]", h.speedup, h.low, h.high);
  return text;
}

News None(std::string why) {
  News news;
  news.why = std::move(why);
  return news;
}

bool Stands(const KnownEntry& entry) {
  return ClaimKindOf(entry.front_matter) == ClaimKind::kFaster && entry.state.best &&
         (entry.state.state == "proved" || entry.state.state == "replicated");
}

// The entry's own candidate, measured again.
News JudgeOwn(const KnownEntry& entry, const Value& evaluation) {
  std::vector<EvidenceFile> evidence = entry.evidence;
  evidence.push_back({"this run", EvidenceDigest(evaluation), evaluation});
  const EntryState now = StateFromEvidence(entry.front_matter, evidence);
  News news = None("nnk/" + entry.id + " is this candidate: kb tdd prove adds the run to it");
  news.entry = entry.id;
  if (now.state == "refuted" && entry.state.state != "refuted") {
    news.kind = NewsKind::kRefutation;
    news.why = "nnk/" + entry.id + " no longer holds: " + now.why;
  }
  return news;
}

// Whether a candidate for `arch` runs where none of the entries does; "" is anywhere.
bool IsNewArch(const std::string& arch, const std::vector<const KnownEntry*>& entries) {
  return std::any_of(std::begin(kArchs), std::end(kArchs), [&](const char* a) {
    return MatchesArch(arch, a) &&
           std::none_of(entries.begin(), entries.end(), [a](const KnownEntry* entry) {
             return MatchesArch(entry->front_matter["scope"]["arch"].ToText(), a);
           });
  });
}

// Above the best entry on the same GPU, workload, cache state and baseline by both intervals.
News JudgeAgainst(const Headline& headline, const std::vector<const KnownEntry*>& entries,
                  const Value& evaluation) {
  const KnownEntry* best = nullptr;
  for (const KnownEntry* entry : entries) {
    const Headline& other = *entry->state.best;
    const bool comparable = other.gpu == headline.gpu && other.workload == headline.workload &&
                            other.cold_l2 == headline.cold_l2 &&
                            other.baseline == headline.baseline;
    if (!comparable) continue;
    if (best == nullptr || other.speedup > best->state.best->speedup) best = entry;
  }
  News news;
  if (best == nullptr) {
    news.kind = NewsKind::kNewScope;
    news.why = "no entry was measured on " + headline.gpu + " with " + headline.workload +
               " against " + headline.baseline;
    return news;
  }
  const Headline& prior = *best->state.best;
  const std::string both = Ratio(headline) + " against " + Ratio(prior) + " of nnk/" + best->id;
  if (headline.low > prior.high) {
    news.kind = NewsKind::kFaster;
    news.why = "faster: " + both;
    news.supersedes = {best->id};
  } else if (const Value& arch = evaluation["candidate"]["arch"];
             arch.IsString() && IsNewArch(arch.AsString(), entries)) {
    news.kind = NewsKind::kNewScope;
    news.why = "runs on " + (arch.AsString().empty() ? "any GPU" : arch.AsString()) +
               ", where no entry does";
  } else {
    news.why = "not better than what is known: " + both;
  }
  return news;
}

News JudgeClaim(const Case& for_case, const Value& evaluation, const Headline& headline,
                const std::vector<KnownEntry>& entries, bool claim_negative) {
  News news;
  if (claim_negative) {
    news.claim = ClaimKind::kNegative;
    const bool holds = Supports(ClaimKind::kNegative, headline);
    news.kind = holds ? NewsKind::kNegative : NewsKind::kNone;
    news.why = (holds ? "it does not help: " : "an improvement above 1 % is not excluded: ") +
               Ratio(headline) + " against " + headline.baseline;
    return news;
  }
  const bool baseline = evaluation["candidate"]["id"].AsString() == for_case.baseline;
  if (baseline || !Supports(ClaimKind::kFaster, headline)) {
    if (!baseline) return None("not faster than " + headline.baseline + ": " + Ratio(headline));
    news.claim = ClaimKind::kBaseline;
    news.kind = entries.empty() ? NewsKind::kNewCase : NewsKind::kNone;
    news.why = entries.empty() ? "the first entry of the case: its baseline" : "it is the baseline";
    return news;
  }
  std::vector<const KnownEntry*> standing;
  for (const KnownEntry& entry : entries) {
    if (Stands(entry)) standing.push_back(&entry);
  }
  if (!standing.empty()) return JudgeAgainst(headline, standing, evaluation);
  news.kind = NewsKind::kNewCase;
  news.why = "no entry of the case " + for_case.name + " stands";
  return news;
}

}  // namespace

const char* NewsKindName(NewsKind kind) {
  constexpr const char* kNames[] = {"none",      "new-case",   "faster",
                                    "new-scope", "refutation", "negative"};
  return kNames[static_cast<size_t>(kind)];
}

News JudgeNews(const Case& for_case, const Evaluation& evaluation,
               const std::vector<KnownEntry>& entries, bool claim_negative) {
  const Value value = ToValue(evaluation);
  if (value["environment"]["emulated"].AsBool()) return None("emulated: no GPU ran it");
  const std::string& sha256 = value["candidate"]["sha256"].AsString();
  for (const KnownEntry& entry : entries) {
    const bool own = entry.front_matter["candidate"]["sha256"].ToText() == sha256;
    if (own && !sha256.empty()) return JudgeOwn(entry, value);
  }
  if (!evaluation.verdict.passed()) return None("it did not pass");
  const std::optional<Headline> headline = HeadlineOf(value);
  if (!headline) return None("nothing was timed");
  News news = JudgeClaim(for_case, value, *headline, entries, claim_negative);
  for (const KnownEntry& entry : entries) {
    const bool superseded =
        std::count(news.supersedes.begin(), news.supersedes.end(), entry.id) > 0;
    if (news.recordable() && !superseded) news.related.push_back(entry.id);
  }
  return news;
}

StageReport NewsReport(const News& news) {
  const auto ids = [](const std::vector<std::string>& list) {
    Value::List values;
    for (const std::string& id : list) values.emplace_back(id);
    return Value(std::move(values));
  };
  StageReport report;
  report.name = "news";
  report.detail = Value(Value::Map{{"kind", NewsKindName(news.kind)},
                                   {"why", news.why},
                                   {"claim", ClaimKindName(news.claim)},
                                   {"entry", news.entry},
                                   {"supersedes", ids(news.supersedes)},
                                   {"related", ids(news.related)}});
  return report;
}

}  // namespace kb
