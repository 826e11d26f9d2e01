#include "indexer/http_embedder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "indexer/http_client.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr int kMaxBatch = 2048;  // OpenAI's own limit
constexpr int kMaxWaitMs = 60000;

bool HasScheme(std::string_view url, std::string_view scheme) {
  return url.size() > scheme.size() &&
         std::equal(scheme.begin(), scheme.end(), url.begin(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
}

bool IsWorthAnotherTry(const HttpReply& response) {
  return response.failure == HttpReply::Failure::kBroken ||
         (response.failure == HttpReply::Failure::kNone &&
          (response.status == 429 || response.status >= 500));
}

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

class HttpEmbedder : public Embedder {
 public:
  explicit HttpEmbedder(HttpEmbedderOptions options)
      : options_(std::move(options)), name_(PublicUrl(options_.url)) {
    options_.batch_size = std::clamp(options_.batch_size, 1, kMaxBatch);
    options_.timeout_s = std::clamp(options_.timeout_s, 1, 24 * 3600);
  }

  [[nodiscard]] int dim() const override {
    const std::lock_guard lock(mutex_);
    LearnDim();
    return dim_;
  }

  [[nodiscard]] std::string fingerprint() const override {
    return fmt::format("http:{}#{}", name_, options_.model);
  }

  [[nodiscard]] std::vector<float> Embed(std::span<const std::string> texts) const override {
    const std::lock_guard lock(mutex_);
    std::vector<size_t> rows;  // of the texts that are sent
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!IsBlank(texts[i])) rows.push_back(i);
    }
    std::vector<std::vector<float>> vectors(texts.size());
    for (size_t begin = 0; begin < rows.size(); begin += options_.batch_size) {
      const size_t end = std::min(rows.size(), begin + options_.batch_size);
      EmbedBatch(texts, std::span(rows).subspan(begin, end - begin), &vectors);
    }
    if (!texts.empty()) LearnDim();
    std::vector<float> matrix;
    matrix.reserve(texts.size() * dim_);
    for (auto& vector : vectors) {
      vector.resize(dim_);
      matrix.insert(matrix.end(), vector.begin(), vector.end());
    }
    return matrix;
  }

 private:
  [[noreturn]] void Fail(std::string_view why, std::string_view mend) const {
    std::string text = fmt::format("embedding by {} (model {}): {}: {}", name_,
                                   Printable(options_.model), why, mend);
    // A server may quote the key that it was sent.
    constexpr std::string_view kHidden = "[key]";
    const std::string& key = options_.api_key;
    for (size_t at = 0; !key.empty() && (at = text.find(key, at)) != std::string::npos;
         at += kHidden.size()) {
      text.replace(at, key.size(), kHidden);
    }
    throw Error(text);
  }

  void LearnDim() const {
    if (dim_ != 0) return;
    const std::string probe[] = {"dimension"};
    const size_t row[] = {0};
    std::vector<std::vector<float>> vector(1);
    EmbedBatch(probe, row, &vector);
  }

  // Fills (*vectors)[row] for each of `rows`.
  void EmbedBatch(std::span<const std::string> texts, std::span<const size_t> rows,
                  std::vector<std::vector<float>>* vectors) const {
    Value input{Value::List{}};
    for (size_t row : rows) input.Add(Value(texts[row]));
    Value request;
    request.Set("model", options_.model);
    request.Set("input", std::move(input));
    request.Set("encoding_format", "float");
    const std::string body = PostWithRetries(WriteJson(request));

    std::string why;
    const auto answer =
        ParseJson(body, &why, {.max_bytes = HttpClient::kMaxResponseBytes, .max_depth = 16});
    if (!answer) Fail("the answer is no JSON: " + why, kIsItAnEndpoint);
    const Value::List& data = (*answer)["data"].AsList();
    if (data.size() != rows.size()) {
      Fail(fmt::format("{} texts were sent, {} embeddings came back", rows.size(), data.size()),
           kIsItAnEndpoint);
    }
    for (size_t i = 0; i < data.size(); ++i) {
      const int64_t index = data[i]["index"].AsInt(static_cast<int64_t>(i));
      if (index < 0 || index >= static_cast<int64_t>(rows.size()) ||
          !(*vectors)[rows[index]].empty()) {
        Fail(fmt::format("index {} is out of range or comes twice", index), kIsItAnEndpoint);
      }
      (*vectors)[rows[index]] = ReadVector(data[i]["embedding"]);
    }
  }

  // Of length 1, or zeros.
  std::vector<float> ReadVector(const Value& embedding) const {
    std::vector<float> vector;
    double squares = 0;
    for (const Value& number : embedding.AsList()) {
      vector.push_back(static_cast<float>(number.AsDouble(std::nan(""))));
      squares += double{vector.back()} * vector.back();
    }
    if (vector.empty()) Fail("an embedding is empty or no list of numbers", kIsItAnEndpoint);
    if (!std::isfinite(squares))
      Fail("an embedding holds what is no finite number", kIsItAnEndpoint);
    if (dim_ == 0) dim_ = static_cast<int>(vector.size());
    if (vector.size() != static_cast<size_t>(dim_)) {
      Fail(fmt::format("an embedding has {} dimensions, earlier ones {}", vector.size(), dim_),
           "the model changed while indexing; run kb index --rebuild");
    }
    const double length = std::sqrt(squares);
    for (float& v : vector) v = length > 0 ? static_cast<float>(v / length) : 0.0f;
    return vector;
  }

  std::string PostWithRetries(const std::string& body) const {
    int64_t wait_ms = std::clamp(options_.first_wait_ms, 0, kMaxWaitMs);
    for (int retry = 0;; ++retry) {
      HttpReply response = client_.Post(options_.url, options_.api_key, body, options_.timeout_s);
      if (response.failure == HttpReply::Failure::kNone && response.status == 200)
        return std::move(response.body);
      if (retry >= options_.retries || !IsWorthAnotherTry(response)) Explain(response, retry);
      const int64_t asked_ms = std::clamp<int64_t>(response.retry_after_s, 0, 3600) * 1000;
      std::this_thread::sleep_for(
          std::chrono::milliseconds(std::min<int64_t>(std::max(wait_ms, asked_ms), kMaxWaitMs)));
      wait_ms = std::min<int64_t>(wait_ms * 2, kMaxWaitMs);
    }
  }

  [[noreturn]] void Explain(const HttpReply& response, int retries) const {
    const std::string tries = retries == 0 ? "" : fmt::format(" after {} tries", retries + 1);
    switch (response.failure) {
      case HttpReply::Failure::kNone:
        break;
      case HttpReply::Failure::kTooLarge:
        Fail(fmt::format("the answer is over {} MiB", HttpClient::kMaxResponseBytes >> 20),
             "lower the batch size");
      case HttpReply::Failure::kTimeout:
        Fail(fmt::format("no answer within {} s", options_.timeout_s),
             "give it more time or a smaller batch");
      case HttpReply::Failure::kBroken:
      case HttpReply::Failure::kOther:
        Fail(response.why + tries, "is the server running, and the URL right?");
    }
    if (response.status == 401 || response.status == 403) {
      Fail(fmt::format("HTTP {}: not allowed", response.status), "set KB_EMBED_API_KEY");
    }
    if (response.status >= 300 && response.status < 400) {
      Fail(fmt::format("HTTP {}: a redirect", response.status), "give the URL that it leads to");
    }
    Fail(fmt::format("HTTP {}{}: {}", response.status, tries,
                     Printable(std::string_view(response.body).substr(0, 200))),
         response.status == 404 ? "is the path right, e.g. /v1/embeddings?"
                                : "ask the server's log");
  }

  static constexpr const char* kIsItAnEndpoint = "is it an OpenAI-compatible embeddings endpoint?";

  HttpEmbedderOptions options_;
  std::string name_;  // the URL, safe to print
  mutable HttpClient client_;
  mutable std::mutex mutex_;  // guards client_ and dim_
  mutable int dim_ = 0;       // 0: not known yet
};

}  // namespace

std::unique_ptr<Embedder> MakeHttpEmbedder(HttpEmbedderOptions options) {
  if (!HasScheme(options.url, "http://") && !HasScheme(options.url, "https://")) {
    throw Error(
        fmt::format("embedding by http: {} is no http:// or https:// URL: give one such as "
                    "http://127.0.0.1:11434/v1/embeddings",
                    PublicUrl(options.url)));
  }
  for (const std::string* text : {&options.url, &options.api_key}) {  // both go into headers
    if (std::any_of(text->begin(), text->end(),
                    [](char c) { return c >= 0 && (c <= ' ' || c == 127); })) {
      throw Error(
          fmt::format("embedding by http: the {} holds a space or control character: "
                      "remove it",
                      text == &options.url ? "URL" : "key in KB_EMBED_API_KEY"));
    }
  }
  return std::make_unique<HttpEmbedder>(std::move(options));
}

}  // namespace kb
