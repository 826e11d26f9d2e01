// The vocabulary of a tokenizer.json and how it cuts a word: WordPiece or Unigram.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kb/value.h"

namespace kb {

// Throws Error: `path`, `why` and how to mend it.
[[noreturn]] void FailTokenizer(const std::string& path, std::string_view why);

class SubwordModel {
 public:
  // Of the "model" part. Throws Error with `path`.
  SubwordModel(const Value& json, const std::string& path);

  // One more than the largest id.
  [[nodiscard]] int size() const { return size_; }

  // Appends the ids of a word, without unknown ones.
  void Encode(std::string_view word, std::vector<int>* ids) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Vocabulary = std::unordered_map<std::string, int, Hash, std::equal_to<>>;
  struct Step;  // of Unigram's search

  void Add(const std::string& token, int64_t id);
  void ReadWordPiece(const Value& json);
  void ReadUnigram(const Value& json);
  void EncodeWordPiece(std::string_view word, std::vector<int>* ids) const;
  void EncodeUnigram(std::string_view word, std::vector<int>* ids) const;
  void AppendPath(std::string_view word, const std::vector<Step>& best,
                  std::vector<int>* ids) const;

  std::string path_;
  bool unigram_ = false;
  bool bytes_ = false;  // what is unknown becomes <0x00> ... <0xFF>
  Vocabulary vocabulary_;
  Vocabulary prefixes_;  // Unigram: the proper beginnings of tokens; the ids mean nothing
  std::vector<double> scores_;
  double unknown_score_ = 0;
  std::string prefix_ = "##";
  size_t max_characters_ = 100;
  size_t longest_ = 0;  // token, in bytes
  int unknown_ = -1;
  int size_ = 0;
};

}  // namespace kb
