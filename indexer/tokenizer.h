// The code-aware tokenizer: the same for documents and questions, so that an identifier is
// always found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

// Lower-case terms of `text`, in order, repeats kept. For an identifier
// (`cudaFuncSetAttribute`, `cp.async.bulk`, `sm_90a`, `__launch_bounds__`, `std::span`): the
// whole of it and its parts (camel, snake, dot, ::, hyphen, letter-digit edges). For a word
// of prose: its English stem (Snowball). Stop words are left out. Any bytes are accepted;
// those that are not UTF-8 separate words. A term is at most 64 bytes.
[[nodiscard]] std::vector<std::string> Tokenize(std::string_view text);

// The identifiers of a question: terms that are whole identifiers (not prose), lower-case.
// A document that has one of them is never left out for being below the threshold.
[[nodiscard]] std::vector<std::string> Identifiers(std::string_view text);

}  // namespace kb
