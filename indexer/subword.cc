#include "indexer/subword.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "indexer/bert_text.h"
#include "indexer/subword_model.h"
#include "kb/file.h"

namespace kb {
namespace {

using Normaliser = std::function<std::string(std::string)>;
using Words = std::vector<std::string>;
using Cutter = std::function<void(const std::string& word, bool first, Words* words)>;

constexpr size_t kMaxSteps = 256;  // of a sequence
constexpr size_t kMaxGrowth = 64;  // of a text by normalising

std::string ReplaceAll(const std::string& text, const std::string& from, const std::string& to) {
  std::string out;
  size_t at = 0;
  for (size_t hit; (hit = text.find(from, at)) != std::string::npos; at = hit + from.size()) {
    out.append(text, at, hit - at).append(to);
  }
  return out.append(text, at);
}

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Each run of at least `least` white space characters (ASCII) becomes `to`.
std::string ReplaceSpaces(const std::string& text, size_t least, bool blanks_only,
                          const std::string& to) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (blanks_only ? text[end] == ' ' : IsSpace(text[end]))) ++end;
    if (end - i >= least && end > i) {
      out += to;
    } else {
      end = std::max(end, i + 1);
      out.append(text, i, end - i);
    }
    i = end;
  }
  return out;
}

std::string StripSpaces(std::string text, bool left, bool right) {
  while (right && !text.empty() && IsSpace(text.back())) text.pop_back();
  size_t begin = 0;
  while (left && begin < text.size() && IsSpace(text[begin])) ++begin;
  return text.substr(begin);
}

Normaliser MakeReplace(const Value& json, const std::string& path) {
  const std::string to = json["content"].AsString();
  const std::string from = json["pattern"]["String"].AsString();
  if (!from.empty()) return [=](const std::string& text) { return ReplaceAll(text, from, to); };
  const std::string regex = json["pattern"]["Regex"].AsString();
  if (regex == "\\s+" || regex == " {2,}" || regex == " +") {
    const bool blanks = regex[0] == ' ';
    return [=, least = size_t{regex == " {2,}" ? 2u : 1u}](const std::string& text) {
      return ReplaceSpaces(text, least, blanks, to);
    };
  }
  FailTokenizer(path,
                fmt::format("the normaliser's pattern '{}' is not supported", Printable(regex)));
}

void AddNormalisers(const Value& json, const std::string& path, int depth,
                    std::vector<Normaliser>* steps) {
  if (json.IsNull()) return;
  const std::string& type = json["type"].AsString();
  if (depth > 4 || steps->size() > kMaxSteps)
    FailTokenizer(path, "the normaliser has too many parts");
  if (type == "Sequence") {
    for (const Value& part : json["normalizers"].AsList()) {
      AddNormalisers(part, path, depth + 1, steps);
    }
  } else if (type == "BertNormalizer") {
    const bool lower = json["lowercase"].AsBool(true);
    const BertOptions options{.clean = json["clean_text"].AsBool(true),
                              .cjk = json["handle_chinese_chars"].AsBool(true),
                              .strip = json["strip_accents"].AsBool(lower),
                              .lower = lower};
    steps->push_back([=](const std::string& text) { return BertNormalize(text, options); });
  } else if (type == "Lowercase") {
    steps->push_back([](const std::string& text) { return LowerCase(text); });
  } else if (type == "StripAccents") {
    steps->push_back([](const std::string& text) { return StripAccents(text); });
  } else if (type == "Strip") {
    steps->push_back([left = json["strip_left"].AsBool(true),
                      right = json["strip_right"].AsBool(true)](std::string text) {
      return StripSpaces(std::move(text), left, right);
    });
  } else if (type == "Prepend") {
    steps->push_back([prefix = json["prepend"].AsString()](const std::string& text) {
      return text.empty() ? text : prefix + text;
    });
  } else if (type == "Replace") {
    steps->push_back(MakeReplace(json, path));
  } else if (type != "NFC" && type != "NFD" && type != "NFKC" && type != "NFKD") {
    FailTokenizer(path, fmt::format("the normaliser '{}' is not supported", Printable(type)));
  }
}

// Spaces become `mark`, one is put in front, and each mark begins a word if `split`.
void CutAtMarks(const std::string& word, const std::string& mark, bool prepend, bool split,
                Words* words) {
  std::string text = ReplaceAll(word, " ", mark);
  if (prepend && !text.empty() && !text.starts_with(mark)) text.insert(0, mark);
  size_t begin = 0;
  while (split && begin < text.size()) {
    const size_t end = std::min(text.find(mark, begin + mark.size()), text.size());
    words->push_back(text.substr(begin, end - begin));
    begin = end;
  }
  if (!split && !text.empty()) words->push_back(std::move(text));
}

void AddCutters(const Value& json, const std::string& path, int depth, std::vector<Cutter>* steps) {
  if (json.IsNull()) return;
  const std::string& type = json["type"].AsString();
  if (depth > 4 || steps->size() > kMaxSteps)
    FailTokenizer(path, "the pre-tokenizer has too many parts");
  if (type == "Sequence") {
    for (const Value& part : json["pretokenizers"].AsList()) {
      AddCutters(part, path, depth + 1, steps);
    }
  } else if (type == "BertPreTokenizer" || type == "WhitespaceSplit") {
    steps->push_back(
        [bert = type == "BertPreTokenizer"](const std::string& text, bool, Words* words) {
          for (auto& word : bert ? BertWords(text) : SpaceWords(text))
            words->push_back(std::move(word));
        });
  } else if (type == "Metaspace") {
    const std::string mark = json.Has("replacement") ? json["replacement"].AsString() : "\u2581";
    const std::string& scheme = json["prepend_scheme"].AsString();
    const bool first_only = scheme == "first";
    const bool never = scheme == "never" || !json["add_prefix_space"].AsBool(true);
    if (mark.empty()) FailTokenizer(path, "the pre-tokenizer Metaspace has no replacement");
    steps->push_back(
        [=, split = json["split"].AsBool(true)](const std::string& word, bool first, Words* words) {
          CutAtMarks(word, mark, !never && (first || !first_only), split, words);
        });
  } else {
    FailTokenizer(path, fmt::format("the pre-tokenizer '{}' is not supported", Printable(type)));
  }
}

}  // namespace

struct SubwordTokenizer::Rep {
  Rep(std::string file, const Value& json) : path(std::move(file)), model(json["model"], path) {
    AddNormalisers(json["normalizer"], path, 0, &normalisers);
    AddCutters(json["pre_tokenizer"], path, 0, &cutters);
  }

  std::string path;
  SubwordModel model;
  std::vector<Normaliser> normalisers;
  std::vector<Cutter> cutters;
};

SubwordTokenizer::SubwordTokenizer(std::string path, const Value& json)
    : rep_(std::make_unique<Rep>(std::move(path), json)) {}

SubwordTokenizer::~SubwordTokenizer() = default;

int SubwordTokenizer::vocabulary_size() const { return rep_->model.size(); }

std::vector<int> SubwordTokenizer::Encode(std::string_view text) const {
  std::string normal(text);
  for (const Normaliser& normalise : rep_->normalisers) {
    normal = normalise(std::move(normal));
    if (normal.size() > kMaxGrowth * (text.size() + 64))
      FailTokenizer(rep_->path, "its normaliser never ends");
  }
  Words words{std::move(normal)};
  for (const Cutter& cut : rep_->cutters) {
    Words next;
    for (size_t i = 0; i < words.size(); ++i) cut(words[i], i == 0, &next);
    words = std::move(next);
  }
  std::vector<int> ids;
  for (const std::string& word : words) rep_->model.Encode(word, &ids);
  return ids;
}

}  // namespace kb
