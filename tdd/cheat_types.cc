// Types narrower than the case's, addresses used as numbers, and streams of the candidate's own.
#include <algorithm>
#include <array>
#include <set>

#include "tdd/cheat_internal.h"
#include "tdd/spec_reader.h"

namespace kb {
namespace {

// The narrowest float among the tensors: 64, 32, 16; 0: none.
int NarrowestFloat(const Case& for_case) {
  int bits = 0;
  for (const std::vector<TensorSpec>* list : {&for_case.inputs, &for_case.outputs}) {
    for (const TensorSpec& tensor : *list) {
      const bool floating = tensor.dtype == Dtype::kF64 || tensor.dtype == Dtype::kF32 ||
                            tensor.dtype == Dtype::kF16 || tensor.dtype == Dtype::kBf16;
      if (!floating || tensor.scalar) continue;
      const int own = 8 * DtypeBytes(tensor.dtype);
      bits = bits == 0 ? own : std::min(bits, own);
    }
  }
  return bits;
}

// What a name says of the width of the floats that it works on; 64: nothing.
int BitsOfName(std::string_view word) {
  constexpr std::array<std::string_view, 9> kEight = {"fp8",  "fp6",  "fp4",  "e4m3", "e5m2",
                                                      "e2m1", "e2m3", "e3m2", "ue8m0"};
  constexpr std::array<std::string_view, 7> kSixteen = {"half",    "bf16",   "bfloat16", "fp16",
                                                        "float16", "__hfma", "f16x2"};
  constexpr std::array<std::string_view, 3> kTensor = {"tf32", "TF32", "32F_FAST"};
  const auto holds = [&](std::string_view part) {
    return word.find(part) != std::string_view::npos;
  };
  if (std::any_of(kEight.begin(), kEight.end(), holds)) return 8;
  if (std::any_of(kSixteen.begin(), kSixteen.end(), holds)) return 16;
  if (std::any_of(kTensor.begin(), kTensor.end(), holds)) return 19;
  if (word == "CUBLAS_COMPUTE_16F" || word == "CUDA_R_16F" || word == "CUDA_R_16BF") return 16;
  return word == "float" || word == "float2" || word == "float4" ? 32 : 64;
}

int BitsOfPtx(std::string_view text) {
  int bits = 64;
  for (const auto& [part, own] :
       {std::pair(".e4m3", 8), std::pair(".e5m2", 8), std::pair(".e2m1", 8), std::pair(".f16", 16),
        std::pair(".bf16", 16), std::pair(".tf32", 19)}) {
    if (text.find(part) != std::string_view::npos) bits = std::min(bits, own);
  }
  return bits;
}

void AddNarrow(CheatFile& file, size_t offset, std::string_view what, int bits, int least) {
  const std::string width = bits == 19 ? "tf32" : std::to_string(bits) + "-bit floats";
  file.AddAt(Severity::kWarning, "cheat-narrow", offset,
             Shown(what) + " means " + width + ", the case's narrowest have " +
                 std::to_string(least) + " bits",
             "compute in the case's precision, or say 'precision_declared: true' in launch.yaml");
}

// `int half` somewhere: then half is a number of the candidate's own, not a type.
bool HalfIsVariable(std::string_view code) {
  constexpr std::array<std::string_view, 9> kTypes = {
      "int", "unsigned", "long", "auto", "float", "short", "size_t", "int64_t", "bool"};
  for (size_t at = FindWord(code, "half"); at != std::string_view::npos;
       at = FindWord(code, "half", at + 1)) {
    size_t end = at;
    while (end > 0 && code[end - 1] == ' ') --end;
    size_t begin = end;
    while (begin > 0 && end - begin < 32 && IsWordCharacter(code[begin - 1])) --begin;
    const std::string_view before = code.substr(begin, end - begin);
    if (std::find(kTypes.begin(), kTypes.end(), before) != kTypes.end()) return true;
  }
  return false;
}

constexpr std::array<std::string_view, 14> kIntegers = {
    "unsigned", "long", "size_t",    "int64_t", "uint64_t",  "uintptr_t", "intptr_t",
    "uint32_t", "int",  "ptrdiff_t", "u64",     "ulonglong", "ull",       "std"};

// `(cast(p)) % 16` and `& 15` ask for alignment alone.
bool AsksForAlignment(std::string_view code, size_t at) {
  at = SkipBlanks(code, at);
  if (at < code.size() && code[at] == '(') at = AfterBracket(code.substr(0, at + 500), at);
  for (at = SkipBlanks(code, at); at < code.size() && code[at] == ')';)
    at = SkipBlanks(code, at + 1);
  if (at + 1 >= code.size()) return false;
  return code[at] == '%' || (code[at] == '&' && code[at + 1] != '&');
}

void FindCasts(CheatFile& file) {
  const std::string_view code = file.plain;
  constexpr std::string_view kCast = "reinterpret_cast";
  for (size_t at = FindWord(code, kCast); at != std::string_view::npos;
       at = FindWord(code, kCast, at + 1)) {
    const size_t open = SkipBlanks(code, at + kCast.size());
    const size_t close = code.substr(0, open + 200).find('>', open);
    if (open >= code.size() || code[open] != '<' || close == std::string_view::npos) continue;
    const std::string_view type = code.substr(open + 1, close - open - 1);
    const std::string_view first = WordAt(type, SkipBlanks(type, 0));
    const bool integer = std::find(kIntegers.begin(), kIntegers.end(), first) != kIntegers.end();
    if (!integer || type.find('*') != std::string_view::npos ||
        type.find('&') != std::string_view::npos || AsksForAlignment(code, close + 1)) {
      continue;
    }
    file.AddAt(Severity::kWarning, "cheat-address", at,
               "an address becomes a number: could be the key of a cache",
               "work on the data, whatever its address");
  }
}

// Names of pointers in the parameter lists of kernels.
std::set<std::string_view> PointerParameters(std::string_view code) {
  std::set<std::string_view> names;
  size_t end = 0;
  for (size_t at = FindWord(code, "__global__"); at != std::string_view::npos;
       at = FindWord(code, "__global__", std::max(at + 1, end))) {
    const size_t open = code.substr(0, at + 500).find('(', at);
    if (open == std::string_view::npos) continue;
    end = AfterBracket(code.substr(0, open + 4000), open);
    bool pointer = false;
    for (size_t i = open; i < end;) {
      const std::string_view word = WordAt(code, i);
      if (code[i] == '*') pointer = true;
      if (code[i] == ',') pointer = false;
      const bool qualifier =
          word == "__restrict__" || word == "const" || word == "restrict" || word == "__restrict";
      if (pointer && !word.empty() && !qualifier) names.insert(word);
      i += std::max<size_t>(1, word.size());
    }
  }
  return names;
}

bool IsComparison(std::string_view two) { return two == "==" || two == "!="; }

bool IsNull(std::string_view code, size_t at) {
  const std::string_view word = WordAt(code, SkipBlanks(code, at));
  return word == "nullptr" || word == "NULL" || word == "0";
}

void FindComparedPointers(CheatFile& file) {
  const std::string_view code = file.plain;
  const std::set<std::string_view> pointers = PointerParameters(code);
  if (pointers.empty()) return;
  for (size_t at = 0; at < code.size();) {
    const std::string_view word = WordAt(code, at);
    if (word.empty()) {
      ++at;
      continue;
    }
    const size_t next = SkipBlanks(code, at + word.size());
    const size_t before =
        at < 1 ? std::string_view::npos : code.find_last_not_of(" \t\r\n", at - 1);
    const bool after_it =
        IsComparison(code.substr(std::min(next, code.size()), 2)) && !IsNull(code, next + 2);
    // `*p == 1`, `a[i] == p[0]` and `threadIdx.p == 1` compare data.
    const bool data = (before != std::string_view::npos &&
                       (code[before] == '*' || code[before] == '.' || code[before] == '>')) ||
                      (next < code.size() && code[next] == '[');
    const bool before_it =
        before != std::string_view::npos && before > 0 && IsComparison(code.substr(before - 1, 2));
    if (pointers.contains(word) && !data && (after_it || before_it)) {
      file.AddAt(Severity::kWarning, "cheat-address", at,
                 "the pointer " + Shown(word) + " is compared: could be the key of a cache",
                 "work on the data, whatever its address");
    }
    at += word.size();
  }
}

}  // namespace

void FindNarrowTypes(CheatFile& file) {
  const int least = NarrowestFloat(file.for_case);
  if (least == 0 || file.candidate.precision_declared) return;
  const std::string_view code = file.plain;
  const bool half_is_variable = HalfIsVariable(code);
  for (size_t at = 0; at < code.size();) {
    const std::string_view word = WordAt(code, at);
    if (word.size() >= 3 && word.size() <= 64) {
      const int bits = BitsOfName(word);
      if (bits < least && !(half_is_variable && word == "half"))
        AddNarrow(file, at, word, bits, least);
    }
    at += std::max<size_t>(1, word.size());
  }
  for (const CudaString& string : file.text.strings) {
    const int bits = BitsOfPtx(string.text);
    if (bits < least) AddNarrow(file, string.offset, string.text, bits, least);
  }
}

void FindAddressKeys(CheatFile& file) {
  FindCasts(file);
  FindComparedPointers(file);
  if (!file.host()) return;
  const std::string_view code = file.plain;
  for (size_t at = FindWord(code, "uintptr_t"); at != std::string_view::npos;
       at = FindWord(code, "uintptr_t", at + 1)) {
    file.AddAt(Severity::kWarning, "cheat-address", at,
               "uintptr_t makes a number of an address: could be the key of a cache",
               "work on the data, whatever its address");
  }
}

void FindDefaultStreams(CheatFile& file) {
  const std::string_view code = file.plain;
  if (const size_t at = code.find("<<<"); !file.host() && at != std::string_view::npos) {
    file.AddAt(Severity::kWarning, "cheat-stream", at,
               "a kernel that launches kernels: their work can outlive the call that is timed",
               "declare each launch in launch.yaml");
  }
  if (!file.host()) return;
  for (size_t at = code.find("<<<"); at != std::string_view::npos && file.found.size() < 200;
       at = code.find("<<<", at + 3)) {
    const std::string_view window = code.substr(0, at + 2000);
    const size_t end = window.find(">>>", at);
    int commas = 0;
    for (size_t i = at + 3; i < std::min(end, window.size());) {
      if (window[i] == ',') ++commas;
      i = window[i] == '(' || window[i] == '{' ? AfterBracket(window, i) : i + 1;
    }
    if (commas >= 3) continue;
    file.AddAt(Severity::kWarning, "cheat-stream", at,
               "a launch without a stream: work on the default stream is not what is timed",
               "write <<<grid, block, shared, stream>>>");
  }
}

}  // namespace kb
