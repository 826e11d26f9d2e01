// inputs and outputs of case.yaml, and their sizes in a workload.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "tdd/case_reader.h"

namespace kb {
namespace {

constexpr size_t kMaxInputs = 32, kMaxOutputs = 16, kMaxRank = 8;
constexpr double kMaxRel = 0.1;

struct Traits {
  Dtype dtype;
  bool floating;
  double lowest, highest;
  int step_bits;  // one rounding step is 2^-step_bits; integers: none
};
constexpr std::array<Traits, 9> kTraits = {{{Dtype::kF64, true, -1.7e308, 1.7e308, 52},
                                            {Dtype::kF32, true, -3.4e38, 3.4e38, 23},
                                            {Dtype::kF16, true, -65504, 65504, 10},
                                            {Dtype::kBf16, true, -3.3e38, 3.3e38, 7},
                                            {Dtype::kI64, false, -9.2e18, 9.2e18, 0},
                                            {Dtype::kI32, false, -2147483648.0, 2147483647.0, 0},
                                            {Dtype::kU32, false, 0, 4294967295.0, 0},
                                            {Dtype::kI8, false, -128, 127, 0},
                                            {Dtype::kU8, false, 0, 255, 0}}};

const Traits& TraitsOf(Dtype dtype) { return kTraits[static_cast<size_t>(dtype)]; }

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = text.find_first_not_of(' '); at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(' ', end);
  }
  return words;
}

bool ToNumber(std::string_view word, double* number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(*number);
}

bool IsWhole(double number) { return number == std::floor(number); }

// What is wrong with a fill for this dtype, or "".
std::string FillFault(const Fill& fill, Dtype dtype) {
  const Traits& traits = TraitsOf(dtype);
  if (fill.kind == Fill::Kind::kNormal) {
    if (!traits.floating) return "a normal fill of integers";
    if (!(fill.b > 0)) return "a standard deviation that is not above 0";
    const double far = std::fabs(fill.a) + 16 * fill.b;
    return far <= traits.highest ? "" : "values that the dtype cannot hold";
  }
  const bool integers = fill.kind == Fill::Kind::kIntegers;
  if (!integers && !traits.floating) return "a uniform fill of integers";
  if (integers && !(IsWhole(fill.a) && IsWhole(fill.b))) return "bounds that are not integers";
  // One value alone would make the output the same for every seed.
  if (!(fill.a < fill.b)) return "a lowest value that is not below the highest";
  const bool held = fill.a >= traits.lowest && fill.b <= traits.highest;
  return held ? "" : "values that the dtype cannot hold";
}

void ReadFill(const Value& entry, const std::string& what, SpecReader& reader, TensorSpec* tensor) {
  const std::string mend =
      "write 'normal MEAN SD' or 'uniform LOW HIGH' (floats), or 'integers LOW HIGH'";
  const std::optional<std::string> text = reader.Text(entry, "fill");
  if (!text) {
    if (!TraitsOf(tensor->dtype).floating && entry["fill"].IsNull()) {
      reader.Error(entry.line(), what + " has integers but no fill", mend);
    }
    return;
  }
  const std::vector<std::string_view> words = Words(*text);
  Fill& fill = tensor->fill;
  std::string fault;
  if (words.size() != 3 || !ToNumber(words[1], &fill.a) || !ToNumber(words[2], &fill.b)) {
    fault = "it is not a word and two finite numbers";
  } else if (words[0] == "normal") {
    fill.kind = Fill::Kind::kNormal;
  } else if (words[0] == "uniform") {
    fill.kind = Fill::Kind::kUniform;
  } else if (words[0] == "integers") {
    fill.kind = Fill::Kind::kIntegers;
  } else {
    fault = "there is no fill " + Shown(words[0]);
  }
  if (fault.empty()) fault = FillFault(fill, tensor->dtype);
  if (fault.empty()) return;
  reader.Error(entry["fill"].line(), what + ": fill " + Shown(*text) + ": " + fault, mend);
}

// dtype and shape, which inputs and outputs share.
bool ReadTensor(const Value& entry, const std::string& what, SpecReader& reader,
                const std::vector<std::string>& names, TensorSpec* tensor) {
  const std::optional<std::string> dtype = reader.Text(entry, "dtype", true);
  if (!dtype) return false;
  const std::optional<Dtype> parsed = ParseDtype(*dtype);
  if (!parsed) {
    reader.Error(entry["dtype"].line(), what + " has no dtype " + Shown(*dtype),
                 "one of f64, f32, f16, bf16, i64, i32, u32, i8 and u8");
    return false;
  }
  tensor->dtype = *parsed;
  if (tensor->scalar) return true;
  if (entry["shape"].IsNull()) {
    reader.Error(entry.line(), what + " has neither shape nor value",
                 "add 'shape: [n]', or 'value: 1e-5' if it is a scalar");
    return false;
  }
  tensor->shape = reader.Formulas(entry["shape"], what + ": shape", kMaxRank, names);
  return !tensor->shape.empty();
}

void ReadScalar(const Value& entry, const std::string& what, SpecReader& reader,
                TensorSpec* tensor) {
  const std::optional<double> value = reader.Number(entry, "value");
  if (!value) return;
  tensor->value = *value;
  const Traits& traits = TraitsOf(tensor->dtype);
  if (*value >= traits.lowest && *value <= traits.highest && (traits.floating || IsWhole(*value))) {
    return;
  }
  reader.Error(entry["value"].line(),
               what + ": " + std::string(DtypeName(tensor->dtype)) + " does not hold its value",
               "change the value or the dtype");
}

void ReadInput(const std::string& name, const Value& entry, SpecReader& reader,
               const std::vector<std::string>& names, Case* value) {
  const std::string what = "input " + name;
  TensorSpec tensor;
  tensor.name = name;
  if (!reader.CheckKeys(entry, what, {"dtype", "shape", "fill", "value"})) return;
  tensor.scalar = !entry["value"].IsNull();
  if (tensor.scalar && (!entry["shape"].IsNull() || !entry["fill"].IsNull())) {
    reader.Error(entry.line(), what + " has a value and a shape or fill",
                 "a scalar has dtype and value alone");
    return;
  }
  if (!ReadTensor(entry, what, reader, names, &tensor)) return;
  if (tensor.scalar) {
    ReadScalar(entry, what, reader, &tensor);
  } else {
    ReadFill(entry, what, reader, &tensor);
  }
  value->inputs.push_back(std::move(tensor));
}

void ReadTolerance(const Value& entry, const std::string& what, SpecReader& reader,
                   const std::vector<std::string>& names, const TensorSpec& tensor, Case* value) {
  const Traits& traits = TraitsOf(tensor.dtype);
  const double step = traits.floating ? std::ldexp(1.0, -traits.step_bits) : 0;
  Tolerance tolerance;
  tolerance.output = tensor.name;
  tolerance.rel = reader.Number(entry, "rel").value_or(step);
  tolerance.abs = reader.Number(entry, "abs").value_or(0);
  if (!(tolerance.rel >= 0 && tolerance.rel <= kMaxRel)) {
    reader.Error(entry["rel"].line(), what + ": rel is not between 0 and 0.1",
                 "write what rounding explains; one step of " +
                     std::string(DtypeName(tensor.dtype)) + " is the default");
  } else if (traits.floating && tolerance.rel > std::max(1024 * step, 0.0)) {
    reader.Warn(entry["rel"].line(),
                what + ": rel is over 1024 rounding steps of " + DtypeName(tensor.dtype) +
                    ": a lower precision passes",
                "give 'reduction' and the reference's magnitude instead");
  }
  if (tolerance.abs < 0) {
    reader.Error(entry["abs"].line(), what + ": abs is below 0", "write 0 or more");
  }
  if (!entry["reduction"].IsNull()) {
    if (auto formula = reader.Formula(entry["reduction"], what + ": reduction", names)) {
      tolerance.reduction = *formula;
    }
  }
  value->tolerances.push_back(std::move(tolerance));
}

void ReadOutput(const std::string& name, const Value& entry, SpecReader& reader,
                const std::vector<std::string>& names, Case* value) {
  const std::string what = "output " + name;
  TensorSpec tensor;
  tensor.name = name;
  if (!reader.CheckKeys(entry, what, {"dtype", "shape", "rel", "abs", "reduction"})) return;
  if (!ReadTensor(entry, what, reader, names, &tensor)) return;
  ReadTolerance(entry, what, reader, names, tensor, value);
  value->outputs.push_back(std::move(tensor));
}

}  // namespace

void ReadTensors(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                 Case* value) {
  const Value& inputs = file["inputs"];
  const Value& outputs = file["outputs"];
  if (inputs.IsNull() || outputs.IsNull()) {
    reader.Error(reader.top_line(), std::string("no ") + (inputs.IsNull() ? "inputs" : "outputs"),
                 "add e.g. 'x: {dtype: f32, shape: [n]}' below it");
  }
  if (reader.CheckNames(inputs, "inputs", kMaxInputs)) {
    for (const auto& [name, entry] : inputs.AsMap()) ReadInput(name, entry, reader, names, value);
    const bool drawn =
        std::any_of(inputs.AsMap().begin(), inputs.AsMap().end(),
                    [](const auto& entry) { return entry.second["value"].IsNull(); });
    if (!drawn) {
      reader.Error(inputs.line(), "no input is drawn: the answer would be the same each time",
                   "add an input with a shape");
    }
  }
  if (reader.CheckNames(outputs, "outputs", kMaxOutputs)) {
    for (const auto& [name, entry] : outputs.AsMap()) {
      ReadOutput(name, entry, reader, names, value);
    }
    if (outputs.AsMap().empty()) {
      reader.Error(outputs.line(), "outputs is empty", "add what the kernel writes");
    }
  }
}

std::optional<std::vector<int64_t>> ShapeOf(const TensorSpec& tensor, const Axes& axes,
                                            std::string* why) {
  const auto fail = [&](const std::string& reason) {
    if (why != nullptr) *why = tensor.name + ": " + reason;
    return std::nullopt;
  };
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (const Expression& formula : tensor.shape) {
    std::string reason;
    const std::optional<int64_t> length = formula.Evaluate(axes, &reason);
    if (!length) return fail(Shown(formula.text()) + ": " + reason);
    if (*length < 1) return fail(Shown(formula.text()) + " is " + std::to_string(*length));
    if (*length > kMaxElements / elements) return fail("more than 2^40 elements");
    elements *= *length;
    shape.push_back(*length);
  }
  return shape;
}

std::optional<int64_t> BytesOf(const TensorSpec& tensor, const Axes& axes, std::string* why) {
  const std::optional<std::vector<int64_t>> shape = ShapeOf(tensor, axes, why);
  if (!shape) return std::nullopt;
  int64_t bytes = DtypeBytes(tensor.dtype);
  for (const int64_t length : *shape) bytes *= length;
  return bytes;
}

}  // namespace kb
