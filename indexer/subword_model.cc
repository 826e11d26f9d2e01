#include "indexer/subword_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "indexer/bert_text.h"
#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

constexpr int kMaxId = 1 << 24;
constexpr size_t kMaxTokenBytes = 1024;
constexpr size_t kMaxWordCharacters = 1000;  // WordPiece is quadratic in a word

}  // namespace

void FailTokenizer(const std::string& path, std::string_view why) {
  throw Error(fmt::format("{}: {}: use a Model2Vec folder whose tokenizer is WordPiece or Unigram",
                          Printable(path), why));
}

SubwordModel::SubwordModel(const Value& json, const std::string& path) : path_(path) {
  const std::string& type = json["type"].AsString();
  if (type == "Unigram") {
    ReadUnigram(json);
  } else if (type == "WordPiece" ||
             (json["type"].IsNull() && json.Has("continuing_subword_prefix"))) {
    ReadWordPiece(json);
  } else {
    FailTokenizer(path_, fmt::format("the model '{}' is not supported", Printable(type)));
  }
  if (vocabulary_.empty()) FailTokenizer(path_, "its vocabulary is empty");
}

void SubwordModel::Encode(std::string_view word, std::vector<int>* ids) const {
  unigram_ ? EncodeUnigram(word, ids) : EncodeWordPiece(word, ids);
}

void SubwordModel::Add(const std::string& token, int64_t id) {
  if (id < 0 || id > kMaxId)
    FailTokenizer(path_, fmt::format("a token has the impossible id {}", id));
  size_ = std::max(size_, static_cast<int>(id) + 1);
  if (token.size() > kMaxTokenBytes) {
    FailTokenizer(path_, fmt::format("a token has more than {} bytes", kMaxTokenBytes));
  }
  longest_ = std::max(longest_, token.size());
  vocabulary_.emplace(token, static_cast<int>(id));
}

void SubwordModel::ReadWordPiece(const Value& json) {
  for (const auto& [token, id] : json["vocab"].AsMap()) Add(token, id.AsInt(-1));
  const std::string unknown =
      json.Has("unk_token") ? json["unk_token"].AsString() : std::string("[UNK]");
  const auto found = vocabulary_.find(unknown);
  unknown_ = found == vocabulary_.end() ? -1 : found->second;
  if (json.Has("continuing_subword_prefix")) prefix_ = json["continuing_subword_prefix"].AsString();
  max_characters_ = static_cast<size_t>(
      std::clamp<int64_t>(json["max_input_chars_per_word"].AsInt(100), 1, kMaxWordCharacters));
}

void SubwordModel::ReadUnigram(const Value& json) {
  unigram_ = true;
  unknown_ = static_cast<int>(std::clamp<int64_t>(json["unk_id"].AsInt(-1), -1, kMaxId));
  double lowest = 0;
  for (const Value& entry : json["vocab"].AsList()) {
    const Value::List& pair = entry.AsList();
    if (pair.size() != 2 || !pair[0].IsString() || !pair[1].IsNumber()) {
      FailTokenizer(path_, "a Unigram token is no pair of text and number");
    }
    Add(pair[0].AsString(), static_cast<int64_t>(scores_.size()));
    scores_.push_back(pair[1].AsDouble());
    lowest = std::min(lowest, scores_.back());
  }
  unknown_score_ = lowest - 10;  // SentencePiece's kUnkPenalty
  bytes_ = json["byte_fallback"].AsBool(false);
  for (const auto& [token, id] : vocabulary_) {
    for (size_t n = 1; n < token.size(); ++n) prefixes_.insert({std::string(token, 0, n), 0});
  }
}

// Greedy, longest first; a word with a part that is unknown is unknown as a whole.
void SubwordModel::EncodeWordPiece(std::string_view word, std::vector<int>* ids) const {
  const auto characters = static_cast<size_t>(
      std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  if (characters > max_characters_) return;
  const size_t before = ids->size();
  for (size_t begin = 0; begin < word.size();) {
    const std::string prefix = begin > 0 ? prefix_ : "";
    size_t length = std::min(word.size() - begin, longest_);
    auto found = vocabulary_.end();
    for (; length > 0; --length) {
      found = vocabulary_.find(prefix + std::string(word.substr(begin, length)));
      if (found != vocabulary_.end()) break;
    }
    if (found == vocabulary_.end()) {
      ids->resize(before);
      return;
    }
    ids->push_back(found->second);
    begin += length;
  }
  ids->erase(std::remove(ids->begin() + static_cast<std::ptrdiff_t>(before), ids->end(), unknown_),
             ids->end());
}

struct SubwordModel::Step {
  double score = -std::numeric_limits<double>::infinity();
  size_t begin = 0;
  int id = -1;
};

// The cut with the greatest sum of scores (Viterbi).
void SubwordModel::EncodeUnigram(std::string_view word, std::vector<int>* ids) const {
  std::vector<Step> best(word.size() + 1);
  best[0].score = 0;
  for (size_t begin = 0; begin < word.size(); ++begin) {
    if (best[begin].score == -std::numeric_limits<double>::infinity()) continue;
    auto offer = [&](size_t length, int id, double score) {
      Step& step = best[begin + length];
      if (best[begin].score + score > step.score) step = {best[begin].score + score, begin, id};
    };
    std::string_view rest = word.substr(begin);
    (void)TakeCharacter(&rest);
    const size_t character = word.size() - begin - rest.size();
    bool known = false;
    for (size_t n = 1; n <= std::min(longest_, word.size() - begin); ++n) {
      const std::string_view piece = word.substr(begin, n);
      const auto token = vocabulary_.find(piece);
      if (token != vocabulary_.end() && token->second != unknown_) {
        offer(n, token->second, scores_[token->second]);
        known = known || n == character;
      }
      if (!prefixes_.contains(piece)) break;
    }
    if (!known) offer(character, -1, unknown_score_);
  }
  AppendPath(word, best, ids);
}

void SubwordModel::AppendPath(std::string_view word, const std::vector<Step>& best,
                              std::vector<int>* ids) const {
  std::vector<int> reversed;
  for (size_t end = word.size(); end > 0; end = best[end].begin) {
    if (best[end].id >= 0) reversed.push_back(best[end].id);
    for (size_t i = end; best[end].id < 0 && bytes_ && i > best[end].begin; --i) {
      const auto byte = static_cast<unsigned char>(word[i - 1]);
      const auto token = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
      if (token != vocabulary_.end()) reversed.push_back(token->second);
    }
  }
  ids->insert(ids->end(), reversed.rbegin(), reversed.rend());
}

}  // namespace kb
