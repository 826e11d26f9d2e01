// Cuts text into the tokens of a Hugging Face tokenizer.json: WordPiece (BERT) and Unigram
// (SentencePiece) models. Source: the documentation of Hugging Face's tokenizers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kb/value.h"

namespace kb {

class SubwordTokenizer {
 public:
  // Throws Error with `path` if `json` is no tokenizer, is damaged, or has a part that is not
  // supported (says which): a BPE model, the Precompiled normaliser, unusual patterns. Unicode
  // normal forms are taken for granted (the text is NFC), added tokens are plain text.
  SubwordTokenizer(std::string path, const Value& json);
  ~SubwordTokenizer();

  // The ids of the text's tokens, in order, without unknown ones and special tokens. Linear in
  // the text for WordPiece, times the longest token for Unigram.
  [[nodiscard]] std::vector<int> Encode(std::string_view text) const;

  // One more than the largest id.
  [[nodiscard]] int vocabulary_size() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace kb
