// Any bytes as model.safetensors or tokenizer.json: an Error or a model, never a crash.
#include <cstdint>
#include <string>
#include <string_view>

#include "indexer/safetensors.h"
#include "indexer/subword.h"
#include "kb/error.h"
#include "kb/json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    const kb::SafeTensors file("fuzz", bytes);
    for (const char* name : {"embeddings", "weights", "mapping"}) {
      const auto tensor = file.Find(name);
      for (int64_t i = 0; tensor && i < tensor->size(); ++i) {
        volatile double value = (*tensor)[i];
        (void)value;
      }
    }
  } catch (const kb::Error&) {
  }
  const size_t split = bytes.find('\0');  // a tokenizer, then a text
  const auto json = kb::ParseJson(std::string_view(bytes).substr(0, split));
  if (!json) return 0;
  try {
    const kb::SubwordTokenizer tokenizer("fuzz", *json);
    const std::string text = split == std::string::npos ? "Text, tëxt 核." : bytes.substr(split);
    for (int id : tokenizer.Encode(text)) {
      if (id < 0 || id >= tokenizer.vocabulary_size()) __builtin_trap();
    }
  } catch (const kb::Error&) {
  }
  return 0;
}
