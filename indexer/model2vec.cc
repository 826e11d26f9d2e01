#include "indexer/model2vec.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "indexer/safetensors.h"
#include "indexer/subword.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"
#include "kb/sha256.h"

namespace kb {
namespace {

constexpr int64_t kMaxModelBytes = int64_t{4} << 30;
constexpr int64_t kMaxTokenizerBytes = 64 << 20;
constexpr int64_t kMaxDim = 16384;

std::string Read(const std::string& path, int64_t max_bytes) {
  std::string why;
  auto bytes = ReadFile(path, &why, max_bytes);
  if (!bytes) {
    throw Error(fmt::format("{}: {}: give a folder with model.safetensors and tokenizer.json",
                            Printable(path), why));
  }
  return *std::move(bytes);
}

SubwordTokenizer ReadTokenizer(const std::string& path, const std::string& bytes) {
  std::string why;
  const auto json = ParseJson(bytes, &why, {.max_bytes = kMaxTokenizerBytes, .max_depth = 64});
  if (!json) throw Error(fmt::format("{}: no JSON: {}: fetch it again", Printable(path), why));
  return SubwordTokenizer(path, *json);
}

class Model2Vec : public Embedder {
 public:
  explicit Model2Vec(const std::string& folder)
      : Model2Vec(folder + "/model.safetensors", folder + "/tokenizer.json") {}

  [[nodiscard]] int dim() const override { return dim_; }
  [[nodiscard]] std::string fingerprint() const override { return "model2vec:" + digest_; }

  [[nodiscard]] std::vector<float> Embed(std::span<const std::string> texts) const override {
    std::vector<float> matrix;
    matrix.reserve(texts.size() * dim_);
    std::vector<double> sum(dim_);
    for (const std::string& text : texts) {
      std::fill(sum.begin(), sum.end(), 0.0);
      for (int id : tokenizer_.Encode(text)) AddRow(id, &sum);
      double squares = 0;
      for (double v : sum) squares += v * v;
      if (!std::isfinite(squares)) Fail("a token's row holds NaN or infinity");
      const double length = std::sqrt(squares);
      for (double v : sum) matrix.push_back(length > 0 ? static_cast<float>(v / length) : 0.0f);
    }
    return matrix;
  }

 private:
  Model2Vec(const std::string& model, const std::string& tokenizer)
      : Model2Vec(model, Read(model, kMaxModelBytes), tokenizer,
                  Read(tokenizer, kMaxTokenizerBytes)) {}

  Model2Vec(const std::string& model, std::string model_bytes, const std::string& tokenizer,
            const std::string& tokenizer_bytes)
      : path_(model),
        digest_(Sha256(Sha256(model_bytes) + Sha256(tokenizer_bytes)).substr(0, 16)),
        file_(model, std::move(model_bytes)),
        tokenizer_(ReadTokenizer(tokenizer, tokenizer_bytes)) {
    FindEmbeddings();
    weights_ = FindColumn("weights");
    mapping_ = FindColumn("mapping");
    if (mapping_) CheckMapping();
    const int64_t ids = mapping_ ? mapping_->size() : rows_;
    if (tokenizer_.vocabulary_size() > ids ||
        (weights_ && tokenizer_.vocabulary_size() > weights_->size())) {
      Fail(fmt::format("it has vectors for {} tokens, the tokenizer has {}",
                       weights_ ? std::min(ids, weights_->size()) : ids,
                       tokenizer_.vocabulary_size()));
    }
  }

  [[noreturn]] void Fail(std::string_view why) const {
    throw Error(fmt::format("{}: {}: fetch the model's files again", Printable(path_), why));
  }

  void FindEmbeddings() {
    auto found = file_.Find("embeddings");
    if (!found) found = file_.Find("embedding.weight");
    if (!found) Fail("no tensor 'embeddings': no Model2Vec file");
    embeddings_ = *std::move(found);
    const std::vector<int64_t>& shape = embeddings_.shape;
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1 || shape[1] > kMaxDim) {
      Fail(fmt::format("'embeddings' is no matrix of 1 to {} columns", kMaxDim));
    }
    if (embeddings_.type == Tensor::Type::kF64 || embeddings_.type == Tensor::Type::kI32 ||
        embeddings_.type == Tensor::Type::kI64) {
      Fail("'embeddings' is none of F32, F16, BF16 and I8");
    }
    rows_ = shape[0];
    dim_ = static_cast<int>(shape[1]);
  }

  [[nodiscard]] std::optional<Tensor> FindColumn(std::string_view name) const {
    auto tensor = file_.Find(name);
    if (tensor && tensor->shape.size() != 1) Fail(fmt::format("'{}' is no list", name));
    return tensor;
  }

  void CheckMapping() const {
    if (mapping_->type != Tensor::Type::kI32 && mapping_->type != Tensor::Type::kI64) {
      Fail("'mapping' is neither I32 nor I64");
    }
    for (int64_t i = 0; i < mapping_->size(); ++i) {
      const double row = (*mapping_)[i];
      if (!(row >= 0 && row < static_cast<double>(rows_))) {
        Fail(fmt::format("'mapping' leads to row {}, of {}", row, rows_));
      }
    }
  }

  void AddRow(int64_t id, std::vector<double>* sum) const {
    const double weight = weights_ ? (*weights_)[id] : 1;
    const int64_t row = mapping_ ? static_cast<int64_t>((*mapping_)[id]) : id;
    for (int64_t j = 0; j < dim_; ++j) (*sum)[j] += weight * embeddings_[row * dim_ + j];
  }

  std::string path_;
  std::string digest_;
  SafeTensors file_;
  SubwordTokenizer tokenizer_;
  Tensor embeddings_;
  std::optional<Tensor> weights_;  // a factor for each token
  std::optional<Tensor> mapping_;  // the row of each token; without it, its id
  int64_t rows_ = 0;
  int dim_ = 0;
};

}  // namespace

std::unique_ptr<Embedder> OpenModel2Vec(const std::string& folder) {
  return std::make_unique<Model2Vec>(folder);
}

}  // namespace kb
