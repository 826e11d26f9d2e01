#include "kb/trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kb/lenient_yaml.h"

namespace kb {
namespace {

// A number, or a text that starts with one: "33.0", "33.0 us", "1.25x".
std::optional<double> NumberOf(const Value& value) {
  if (value.IsNumber()) return value.AsDouble();
  const std::string& text = value.AsString();
  const char* begin = text.data() + std::min(text.find_first_not_of(" ~+"), text.size());
  double number = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

// A list of texts, or one text with its parts between commas or blanks.
std::vector<std::string> Texts(const Value& value) {
  std::vector<std::string> texts;
  for (const Value& item : value.AsList()) texts.push_back(item.ToText());
  const std::string text = value.ToText();
  for (size_t at = text.find_first_not_of(" ,"); at < text.size();) {
    const size_t end = std::min(text.find_first_of(" ,", at), text.size());
    texts.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(" ,", end);
  }
  return texts;
}

bool HasWord(std::string_view info, std::string_view word) {
  for (size_t at = info.find(word); at != std::string_view::npos; at = info.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || info[at - 1] == ' ' || info[at - 1] == '\t';
    if (starts && (end == info.size() || info[end] == ' ' || info[end] == '\t')) return true;
  }
  return false;
}

class Reader {
 public:
  explicit Reader(const Document& document) : document_(document) {}

  Trace Run() {
    trace_.best = document_.front_matter["result"]["best"].ToText();
    for (const Block& block : document_.blocks) {
      if (block.type != BlockType::kCode) continue;
      if (HasWord(block.info, "kb:attempt")) AddAttempt(block);
      if (HasWord(block.info, "kb:lesson")) AddLesson(block);
    }
    trace_.structured = !trace_.attempts.empty();
    if (!trace_.structured) {
      trace_.attempts = ReadJournal(document_);
      Report(Severity::kNote, "trace-journal", 0,
             "no kb:attempt blocks; " + std::to_string(trace_.attempts.size()) +
                 " attempts are guessed from the text",
             "write each attempt as a fenced block: ```yaml kb:attempt");
    }
    return std::move(trace_);
  }

 private:
  [[nodiscard]] int LineOf(const Block& block) const {
    return document_.body_line + block.first_line - 1;
  }

  void Report(Severity severity, const char* rule, int line, std::string message,
              const char* mend) {
    trace_.diagnostics.push_back({severity, rule, document_.path, line, std::move(message), mend});
  }

  // False if there is one too many, which is said once.
  bool HasRoom(size_t count, const Block& block) {
    if (count == kMaxAttempts && !full_) {
      full_ = true;
      Report(Severity::kError, "trace-limit", LineOf(block),
             "more than " + std::to_string(kMaxAttempts) +
                 " attempts or lessons; the rest is left out",
             "split the trace");
    }
    return count < kMaxAttempts;
  }

  Value ReadFields(const Block& block) {
    const int line = LineOf(block);
    LenientYaml yaml = ParseYamlLeniently(block.text, line);
    if (yaml.how != LenientYaml::How::kParsed) {
      Report(Severity::kError, "trace-yaml", line + yaml.error.line,
             "not YAML: " + yaml.error.message + "; read as well as it can be",
             "quote values that hold \": \" or start with a special character");
    }
    if (!yaml.value.IsMap()) {
      Report(Severity::kError, "trace-map", line,
             std::string("the block is no map of keys to values (") + yaml.value.TypeName() + ")",
             "write \"key: value\" lines");
    }
    return std::move(yaml.value);
  }

  // time.<key> in time.unit, or time.<key>_us and the like.
  std::optional<double> TimeOf(const Value& time, const std::string& key) {
    const std::optional<double> value = NumberOf(time[key]);
    if (value && time["unit"].IsString()) return ToMicroseconds(*value, time["unit"].AsString());
    for (const char* unit : {"ns", "us", "ms", "s"}) {
      const std::optional<double> with_unit = NumberOf(time[key + "_" + unit]);
      if (with_unit) return ToMicroseconds(*with_unit, unit);
    }
    return std::nullopt;
  }

  void AddAttempt(const Block& block) {
    if (!HasRoom(trace_.attempts.size(), block)) return;
    Attempt attempt;
    attempt.fields = ReadFields(block);
    attempt.line = LineOf(block);
    const Value& fields = attempt.fields;
    attempt.id = fields["id"].ToText();
    const Value& parent = fields["parent"];
    attempt.parent = parent.AsList().empty() ? parent.ToText() : parent.AsList()[0].ToText();
    attempt.hypothesis = fields["hypothesis"].ToText();
    attempt.decision = fields["decision"].ToText();
    attempt.status = fields["tests"]["status"].ToText();
    attempt.why = fields["why"].ToText();
    const Value& time = fields["time"];
    attempt.median_us = TimeOf(time, "median");
    attempt.baseline_us = TimeOf(time, "baseline");
    attempt.speedup = NumberOf(time["speedup"]);
    if (NumberOf(time["median"]) && !attempt.median_us) {
      Report(Severity::kWarning, "trace-unit", std::max(time.line(), attempt.line),
             "the time of attempt " + attempt.id + " has no unit that is known",
             "set time.unit to ns, us, ms or s");
    }
    trace_.attempts.push_back(std::move(attempt));
  }

  void AddLesson(const Block& block) {
    if (!HasRoom(trace_.lessons.size(), block)) return;
    Lesson lesson;
    lesson.fields = ReadFields(block);
    lesson.line = LineOf(block);
    const Value& fields = lesson.fields;
    lesson.id = fields["id"].ToText();
    lesson.claim = fields["claim"].ToText();
    lesson.evidence = Texts(fields["evidence"]);
    lesson.counter_evidence = Texts(fields["counter_evidence"]);
    lesson.confidence = fields["confidence"].ToText();
    lesson.falsifier = fields["falsifier"].ToText();
    lesson.nnk = fields["nnk"].ToText();
    trace_.lessons.push_back(std::move(lesson));
  }

  const Document& document_;
  Trace trace_;
  bool full_ = false;
};

}  // namespace

std::optional<double> ToMicroseconds(double value, std::string_view unit) {
  constexpr struct {
    std::string_view unit;
    double microseconds;
  } kUnits[] = {
      {"us", 1},
      {"ns", 1e-3},
      {"ms", 1e3},
      {"s", 1e6},
      {"\xC2\xB5s", 1},
      {"\xCE\xBCs", 1},
      {"usec", 1},
      {"nsec", 1e-3},
      {"msec", 1e3},
      {"sec", 1e6},
      {"microseconds", 1},
      {"milliseconds", 1e3},
      {"nanoseconds", 1e-3},
      {"seconds", 1e6},
  };
  for (const auto& known : kUnits) {
    if (known.unit == unit) return value * known.microseconds;
  }
  return std::nullopt;
}

Trace ParseTrace(const Document& document) { return Reader(document).Run(); }

}  // namespace kb
