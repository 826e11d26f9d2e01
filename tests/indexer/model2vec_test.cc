#include "indexer/model2vec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "indexer/subword.h"
#include "kb/error.h"
#include "kb/json.h"

namespace kb {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// ---- tokenizers ----

constexpr const char* kWordPiece = R"({
  "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                 "strip_accents": null, "lowercase": true},
  "pre_tokenizer": {"type": "BertPreTokenizer"},
  "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 12,
            "vocab": {"[PAD]": 0, "[UNK]": 1, "load": 2, "##s": 3, "tile": 4, "cafe": 5,
                      "##ing": 6, "核": 7, ".": 8, "tma": 9, "-": 10, "lo": 11, "##ad": 12}}
})";

constexpr const char* kUnigram = R"({
  "normalizer": {"type": "Sequence", "normalizers": [
    {"type": "BertNormalizer", "lowercase": true},
    {"type": "Replace", "pattern": {"String": "."}, "content": " . "},
    {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "},
    {"type": "Strip", "strip_left": false, "strip_right": true}]},
  "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always",
                    "split": false},
  "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
            "vocab": [["[UNK]", 0.0], ["▁load", -2.0], ["▁lo", -3.0], ["ad", -3.0], ["s", -4.0],
                      ["▁load▁tile", -3.5], ["▁tile", -2.0], ["▁.", -2.5], ["▁", -5.0]]}
})";

std::vector<int> Encode(const char* tokenizer, std::string_view text) {
  return SubwordTokenizer("t.json", ParseJson(tokenizer).value()).Encode(text);
}

struct Encoding {
  std::string_view text;
  std::vector<int> ids;
};

TEST(SubwordTokenizer, WordPieceReadsAsBertDoes) {
  const Encoding table[] = {
      {"load", {2}},
      {"loads", {2, 3}},
      {"LOADING  tile\n", {2, 6, 4}},
      {"Café", {5}},
      {"cafe\xCC\x81", {5}},  // combining acute
      {"TMA-load.", {9, 10, 2, 8}},
      {"load核tile", {2, 7, 4}},
      {"lo\xE2\x80\x8B"
       "ad",
       {2}},                       // a zero-width space is a control character
      {"loadx tile", {4}},         // an unknown word is left out whole
      {"loadloadload tile", {4}},  // more than 12 characters
      {"[UNK] tile", {4}},
      {"", {}},
      {" \t\n", {}},
      {std::string_view("\xff\xfe\0tile", 7), {4}},
  };
  for (const auto& [text, ids] : table) EXPECT_EQ(Encode(kWordPiece, text), ids) << text;
}

TEST(SubwordTokenizer, UnigramTakesTheBestCut) {
  const Encoding table[] = {
      {"load", {1}},
      {"loads", {1, 4}},
      {"load tile", {5}},
      {"load  Tile", {5}},
      {"tile load", {6, 1}},
      {"tile.", {6, 7}},
      {"los", {2, 4}},
      {"loxad", {2, 3}},  // x is unknown
      {"", {}},
      {"   ", {}},
      {"核", {8}},
  };
  for (const auto& [text, ids] : table) EXPECT_EQ(Encode(kUnigram, text), ids) << text;
}

TEST(SubwordTokenizer, MetaspaceSplitsAtSpaces) {
  std::string json = kUnigram;
  json.replace(json.find("\"split\": false"), 14, "\"split\": true");
  EXPECT_THAT(Encode(json.c_str(), "load tile"), ElementsAre(1, 6));
}

TEST(SubwordTokenizer, UnknownCharactersFallBackToBytes) {
  const char* json = R"({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram",
      "unk_id": 0, "byte_fallback": true,
      "vocab": [["<unk>", 0], ["▁", -1], ["a", -1], ["<0xC3>", -9], ["<0xA9>", -9]]}})";
  EXPECT_THAT(Encode(json, "aéa"), ElementsAre(1, 2, 3, 4, 2));
}

struct BadTokenizer {
  const char* json;
  const char* error;
};

TEST(SubwordTokenizer, UnsupportedPartsAreNamed) {
  const BadTokenizer table[] = {
      {"{}", "model '' is not supported"},
      {"[]", "model '' is not supported"},
      {R"({"model": {"type": "BPE"}})", "model 'BPE'"},
      {R"({"model": {"type": "WordPiece", "vocab": {}}})", "empty"},
      {R"({"model": {"type": "WordPiece", "vocab": {"a": -1}}})", "impossible id -1"},
      {R"({"model": {"type": "WordPiece", "vocab": {"a": 99999999}}})", "impossible id"},
      {R"({"model": {"type": "WordPiece", "vocab": {"a": "b"}}})", "impossible id"},
      {R"({"model": {"type": "Unigram", "vocab": [["a"]]}})", "no pair"},
      {R"({"model": {"type": "Unigram", "vocab": [["a", "b"]]}})", "no pair"},
      {R"({"normalizer": {"type": "Precompiled"}, "model": {"type": "WordPiece", "vocab": {"a": 0}}})",
       "normaliser 'Precompiled'"},
      {R"({"normalizer": {"type": "Replace", "pattern": {"Regex": "(a+)+"}},
           "model": {"type": "WordPiece", "vocab": {"a": 0}}})",
       "pattern '(a+)+'"},
      {R"({"pre_tokenizer": {"type": "ByteLevel"}, "model": {"type": "WordPiece", "vocab": {"a": 0}}})",
       "pre-tokenizer 'ByteLevel'"},
  };
  for (auto [json, error] : table) {
    try {
      SubwordTokenizer("folder/t.json", ParseJson(json).value());
      ADD_FAILURE() << json;
    } catch (const Error& e) {
      EXPECT_THAT(e.what(), HasSubstr(error)) << json;
      EXPECT_THAT(e.what(), HasSubstr("folder/t.json")) << json;
    }
  }
}

TEST(SubwordTokenizer, NormalisersThatGrowForEverAreStopped) {
  std::string steps;
  for (int i = 0; i < 60; ++i) {
    steps += R"({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"},)";
  }
  steps.pop_back();
  const std::string json = R"({"normalizer": {"type": "Sequence", "normalizers": [)" + steps +
                           R"(]}, "model": {"type": "WordPiece", "vocab": {"a": 0}}})";
  EXPECT_THROW((void)Encode(json.c_str(), "aaaa"), Error);
}

// ---- files ----

struct Column {
  std::string name, type, shape;
  std::string bytes;
};

template <typename T>
std::string Bytes(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string SafeTensorsOf(const std::vector<Column>& columns) {
  std::string header = R"({"__metadata__":{"format":"np"})", data;
  for (const Column& column : columns) {
    const size_t begin = data.size();
    data += column.bytes;
    header += ",\"" + column.name + "\":{\"dtype\":\"" + column.type +
              "\",\"shape\":" + column.shape + ",\"data_offsets\":[" + std::to_string(begin) + "," +
              std::to_string(data.size()) + "]}";
  }
  header += "}";
  return Bytes<uint64_t>({header.size()}) + header + data;
}

// Row i of 13 is [i, 1].
std::vector<float> Rows() {
  std::vector<float> rows;
  for (int i = 0; i < 13; ++i) rows.insert(rows.end(), {static_cast<float>(i), 1.0f});
  return rows;
}

Column Embeddings() { return {"embeddings", "F32", "[13,2]", Bytes(Rows())}; }

class Folder {
 public:
  Folder() : path_(fs::path(testing::TempDir()) / fs::path("m2v_XXXXXX")) {
    std::string pattern = path_.string();
    path_ = mkdtemp(pattern.data());
    Write("tokenizer.json", kWordPiece);
    Write("model.safetensors", SafeTensorsOf({Embeddings()}));
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  void Remove(const std::string& name) const { fs::remove(path_ / name); }
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::vector<float> Embed(std::vector<std::string> texts) const {
    return OpenModel2Vec(path())->Embed(texts);
  }
  [[nodiscard]] std::string ErrorOfOpening() const {
    try {
      (void)OpenModel2Vec(path());
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }

 private:
  fs::path path_;
};

void ExpectDirection(const std::vector<float>& row, double x, double y) {
  ASSERT_EQ(row.size(), 2u);
  const double length = std::sqrt(x * x + y * y);
  EXPECT_NEAR(row[0], x / length, 1e-6);
  EXPECT_NEAR(row[1], y / length, 1e-6);
}

TEST(Model2Vec, RowIsTheNormalisedMeanOfTheTokens) {
  Folder folder;
  EXPECT_EQ(OpenModel2Vec(folder.path())->dim(), 2);
  ExpectDirection(folder.Embed({"loads"}), 2 + 3, 2);
  ExpectDirection(folder.Embed({"tma - nonsense tma"}), 9 + 10 + 9, 3);
}

TEST(Model2Vec, TextOfUnknownWordsIsZeros) {
  Folder folder;
  EXPECT_THAT(folder.Embed({"xyzzy", "tile", ""}),
              ElementsAre(0, 0, testing::FloatNear(0.9701425f, 1e-6f),
                          testing::FloatNear(0.2425356f, 1e-6f), 0, 0));
  EXPECT_THAT(folder.Embed({}), IsEmpty());
}

TEST(Model2Vec, ReadsAllNumberTypes) {
  std::vector<uint16_t> half, brain;
  std::vector<int8_t> bytes;
  for (float v : Rows()) {
    uint32_t bits = 0;
    std::memcpy(&bits, &v, 4);
    brain.push_back(static_cast<uint16_t>(bits >> 16));
    const uint32_t exponent = bits >> 23;
    half.push_back(v == 0 ? uint16_t{0}
                          : static_cast<uint16_t>((exponent - 112) << 10 | (bits >> 13 & 1023)));
    bytes.push_back(static_cast<int8_t>(v));
  }
  for (const Column& column : {Column{"embeddings", "F16", "[13,2]", Bytes(half)},
                               Column{"embeddings", "BF16", "[13,2]", Bytes(brain)},
                               Column{"embeddings", "I8", "[13,2]", Bytes(bytes)},
                               Column{"embedding.weight", "F32", "[13,2]", Bytes(Rows())}}) {
    Folder folder;
    folder.Write("model.safetensors", SafeTensorsOf({column}));
    ExpectDirection(folder.Embed({"tma load"}), 11, 2);
  }
}

TEST(Model2Vec, WeightsAndMappingOfAQuantizedVocabulary) {
  Folder folder;
  std::vector<double> weights(13, 1.0);
  weights[9] = 3;  // tma
  std::vector<int32_t> mapping{0, 0, 1, 1, 2, 2, 2, 2, 2, 1, 0, 0, 0};
  folder.Write("model.safetensors",
               SafeTensorsOf({{"embeddings", "F32", "[3,2]", Bytes<float>({5, 0, 1, 2, 0, 7})},
                              {"weights", "F64", "[13]", Bytes(weights)},
                              {"mapping", "I32", "[13]", Bytes(mapping)}}));
  ExpectDirection(folder.Embed({"tma tile"}), 3 * 1 + 0, 3 * 2 + 7);
}

TEST(Model2Vec, FingerprintChangesWithEachFile) {
  Folder folder;
  const std::string first = OpenModel2Vec(folder.path())->fingerprint();
  EXPECT_EQ(OpenModel2Vec(folder.path())->fingerprint(), first);
  folder.Write("tokenizer.json", std::string(kWordPiece) + " ");
  const std::string second = OpenModel2Vec(folder.path())->fingerprint();
  EXPECT_NE(second, first);
  Column other = Embeddings();
  other.bytes[0] = 1;
  folder.Write("model.safetensors", SafeTensorsOf({other}));
  EXPECT_NE(OpenModel2Vec(folder.path())->fingerprint(), second);
}

TEST(Model2Vec, MissingFilesAreNamed) {
  for (const char* name : {"model.safetensors", "tokenizer.json"}) {
    Folder folder;
    folder.Remove(name);
    EXPECT_THAT(folder.ErrorOfOpening(), HasSubstr(name));
  }
}

TEST(Model2Vec, FileCutAnywhereIsDamaged) {
  const std::string whole = SafeTensorsOf({Embeddings()});
  Folder folder;
  for (size_t size = 0; size < whole.size(); ++size) {
    folder.Write("model.safetensors", whole.substr(0, size));
    EXPECT_THAT(folder.ErrorOfOpening(), HasSubstr("model.safetensors: ")) << size;
  }
}

struct Damage {
  std::string bytes;
  const char* error;
};

TEST(Model2Vec, DamagedModelsAreErrorsWithAReason) {
  auto with = [](std::string type, std::string shape, size_t bytes) {
    return SafeTensorsOf(
        {{"embeddings", std::move(type), std::move(shape), std::string(bytes, '\0')}});
  };
  auto header = [](const std::string& json) { return Bytes<uint64_t>({json.size()}) + json; };
  const Damage table[] = {
      {Bytes<uint64_t>({1ull << 40}) + "{}", "claims 1099511627776 bytes"},
      {Bytes<uint64_t>({~0ull}) + "{}", "claims"},
      {header("[1, 2]"), "no JSON object"},
      {header("{"), "no JSON object"},
      {header("{}"), "no tensor 'embeddings'"},
      {header(R"({"embeddings": 3})"), "type ''"},
      {with("F8_E4M3", "[13,2]", 26), "type 'F8_E4M3'"},
      {with("F64", "[13,2]", 208), "none of F32"},
      {with("F32", "[13,2]", 100), "has 100 bytes, its shape asks for 104"},
      {with("F32", "[13,-2]", 104), "no possible shape"},
      {with("F32", "[4611686018427387904,4]", 0), "no possible shape"},
      {with("F32", "[26]", 104), "no matrix"},
      {with("F32", "[0,2]", 0), "no matrix"},
      {with("F32", "[13,0]", 0), "no matrix"},
      {with("F32", "[1,65536]", 262144), "no matrix"},
      {with("F32", "[12,2]", 96), "vectors for 12 tokens, the tokenizer has 13"},
      {header(R"({"embeddings":{"dtype":"F32","shape":[13,2],"data_offsets":[0,104]}})"),
       "outside"},
      {header(R"({"embeddings":{"dtype":"F32","shape":[13,2],"data_offsets":[104,0]}})"),
       "outside"},
      {header(R"({"embeddings":{"dtype":"F32","shape":[13,2],"data_offsets":[-8,96]}})"),
       "outside"},
      {header(R"({"embeddings":{"dtype":"F32","shape":[13,2],"data_offsets":[0]}})"), "outside"},
      {SafeTensorsOf({Embeddings(), {"weights", "F32", "[3]", Bytes<float>({1, 1, 1})}}),
       "vectors for 3 tokens"},
      {SafeTensorsOf({Embeddings(), {"weights", "F32", "[13,1]", std::string(52, '\0')}}),
       "no list"},
      {SafeTensorsOf({Embeddings(), {"mapping", "F32", "[13]", std::string(52, '\0')}}),
       "neither I32 nor I64"},
      {SafeTensorsOf(
           {Embeddings(), {"mapping", "I32", "[13]", Bytes(std::vector<int32_t>(13, 13))}}),
       "leads to row 13, of 13"},
      {SafeTensorsOf(
           {Embeddings(), {"mapping", "I64", "[13]", Bytes(std::vector<int64_t>(13, -1))}}),
       "leads to row -1"},
  };
  for (const auto& [bytes, error] : table) {
    Folder folder;
    folder.Write("model.safetensors", bytes);
    EXPECT_THAT(folder.ErrorOfOpening(), HasSubstr(error));
    EXPECT_THAT(folder.ErrorOfOpening(), HasSubstr(folder.path())) << error;
  }
}

TEST(Model2Vec, NanRowsAreErrorsWhenUsed) {
  Folder folder;
  std::vector<float> rows = Rows();
  rows[2 * 4] = std::nanf("");  // tile
  folder.Write("model.safetensors", SafeTensorsOf({{"embeddings", "F32", "[13,2]", Bytes(rows)}}));
  EXPECT_NO_THROW((void)folder.Embed({"tma"}));
  EXPECT_THROW((void)folder.Embed({"tile"}), Error);
}

TEST(Model2Vec, DamagedTokenizersAreErrors) {
  for (const char* json : {"", "{", "null", "{\"model\": 3}"}) {
    Folder folder;
    folder.Write("tokenizer.json", json);
    EXPECT_THAT(folder.ErrorOfOpening(), HasSubstr("tokenizer.json")) << json;
  }
}

}  // namespace
}  // namespace kb
