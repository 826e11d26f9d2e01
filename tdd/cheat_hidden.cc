// What keeps code out of a reader's sight: other files, names made of pieces, other spellings.
#include <algorithm>
#include <array>

#include "tdd/cheat_internal.h"
#include "tdd/safe_path.h"
#include "tdd/spec_reader.h"

namespace kb {
namespace {

constexpr const char* kRule = "cheat-hidden";

constexpr std::array<std::string_view, 10> kDevice = {"cuda_bf16.h",      "cuda_fp16.h",
                                                      "cuda_fp8.h",       "cuda_fp6.h",
                                                      "cuda_fp4.h",       "mma.h",
                                                      "cuda_pipeline.h",  "cuda_awbarrier.h",
                                                      "math_constants.h", "cooperative_groups.h"};
constexpr std::array<std::string_view, 3> kDeviceFolders = {"cuda/", "cub/", "cooperative_groups/"};
constexpr std::array<std::string_view, 27> kHost = {"cuda_runtime.h",  "cuda_runtime_api.h",
                                                    "cuda.h",          "kb_candidate.h",
                                                    "kb/candidate.h",  "cstdint",
                                                    "cstddef",         "cstring",
                                                    "cmath",           "climits",
                                                    "cfloat",          "limits",
                                                    "algorithm",       "array",
                                                    "type_traits",     "utility",
                                                    "tuple",           "functional",
                                                    "numeric",         "vector",
                                                    "stdint.h",        "stddef.h",
                                                    "math.h",          "string.h",
                                                    "limits.h",        "float.h",
                                                    "initializer_list"};
constexpr std::array<std::string_view, 4> kHostFolders = {"thrust/", "cublas", "cutlass/", "cute/"};

template <size_t N>
bool IsOneOf(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
template <size_t N>
bool BeginsWithOneOf(std::string_view name, const std::array<std::string_view, N>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return name.starts_with(folder); });
}

bool IsAllowed(const CheatFile& file, std::string_view name) {
  if (!PathFault(name).empty()) return false;
  const auto& files = file.candidate.files;
  if (std::any_of(files.begin(), files.end(),
                  [&](const CandidateFile& f) { return f.name == name; })) {
    return true;
  }
  if (IsOneOf(name, kDevice) || BeginsWithOneOf(name, kDeviceFolders)) return true;
  return file.host() && (IsOneOf(name, kHost) || BeginsWithOneOf(name, kHostFolders));
}

// The name between <> or quotes of an include at `at` of the code, or "".
std::string IncludeName(const CheatFile& file, size_t at, std::string_view rest) {
  if (rest.starts_with("<")) {
    const size_t close = rest.find('>');
    return close == std::string_view::npos ? "" : std::string(rest.substr(1, close - 1));
  }
  if (!rest.starts_with("\"")) return "";
  const auto& strings = file.text.strings;
  const auto found = std::lower_bound(
      strings.begin(), strings.end(), at,
      [](const CudaString& string, size_t offset) { return string.offset < offset; });
  return found != strings.end() && found->offset == at ? found->text : "";
}

void CheckInclude(CheatFile& file, size_t at, size_t end) {
  const std::string_view rest =
      std::string_view(file.text.code).substr(at, end > at ? end - at : 0);
  const std::string name = IncludeName(file, at, rest);
  if (IsAllowed(file, name)) return;
  file.AddAt(Severity::kError, kRule, at,
             name.empty() ? "an include whose file cannot be told"
                          : "includes " + Shown(name) + ", which is not one of the allowed files",
             file.host() ? "CUDA's, CUB's, Thrust's and cuBLAS' headers and those under 'files:'"
                         : "cuda_bf16.h, cuda_fp16.h, cuda/*, cub/*, mma.h, cooperative_groups.h "
                           "and those under 'files:' of launch.yaml");
}

void CheckDirective(CheatFile& file, size_t hash, size_t end) {
  const std::string_view code = file.text.code;
  size_t at = std::min(code.find_first_not_of(" \t", hash + 1), end);
  const std::string_view word = WordAt(code, at);
  at = std::min(code.find_first_not_of(" \t", at + word.size()), end);
  if (word == "include") return CheckInclude(file, at, end);
  if (word == "include_next" || word == "import" || word == "embed") {
    file.AddAt(Severity::kError, kRule, hash, "#" + std::string(word) + " takes in another file",
               "include it, with its name under 'files:'");
  }
  if (word != "define") return;
  const std::string_view body = code.substr(at, end - at);
  const size_t paste = body.find('#');
  if (paste == std::string_view::npos) return;
  const bool glued = body.substr(paste, 2) == "##" || body.find("##") != std::string_view::npos;
  file.AddAt(glued && file.host() ? Severity::kError : Severity::kWarning, kRule, hash,
             glued ? "a macro that pastes names together: they cannot be read"
                   : "a macro that makes strings of its arguments: they cannot be read",
             "write the names out, or use a template");
}

}  // namespace

void FindHiddenCode(CheatFile& file) {
  for (const auto& [line, what] : file.text.odd) {
    file.Add(Severity::kError, kRule, line, what + ": a compiler may read it in another way",
             "write it plainly");
  }
  const std::string_view code = file.text.code;
  for (size_t at = 0; at < code.size();) {
    const size_t end = std::min(code.find('\n', at), code.size());
    const size_t first = code.find_first_not_of(" \t\r", at);
    if (first < end && code[first] == '#') CheckDirective(file, first, end);
    at = end + 1;
  }
}

}  // namespace kb
