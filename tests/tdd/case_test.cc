#include "tdd/case.h"

#include "case_files.h"

namespace kb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(CaseFiles, AGoodCaseHasNoFindings) {
  const LoadedCase loaded = LoadCase(CaseFolder());
  EXPECT_TRUE(loaded.ok());
  EXPECT_EQ(Lines(loaded.diagnostics), "");
  const Case& value = loaded.value;
  EXPECT_EQ(value.name, "scale-f32");
  EXPECT_THAT(value.axis_names, ElementsAre("n"));
  ASSERT_EQ(value.inputs.size(), 2u);
  EXPECT_EQ(value.inputs[1].value, 0.5);
  EXPECT_TRUE(value.inputs[1].scalar);
  ASSERT_EQ(value.check.size(), 2u);
  EXPECT_EQ(value.check[1].label, "1000");
  EXPECT_EQ(value.check[1].axes.at("tile"), 256);
  EXPECT_EQ(value.time[0].axes.at("n"), 1 << 20);
  EXPECT_EQ(value.tolerances[0].rel, 1e-6);
  EXPECT_EQ(value.sha256.size(), 64u);
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  const char* says;  // a part of "path:line: error: message [rule] (mend)"
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class CaseFault : public CaseFiles, public ::testing::WithParamInterface<Fault> {};

TEST_P(CaseFault, IsOneClearLine) {
  const Fault& fault = GetParam();
  const LoadedCase loaded = LoadWith(With(kCaseYaml, fault.from, fault.to));
  EXPECT_FALSE(loaded.ok()) << "no error";
  EXPECT_EQ(loaded.diagnostics.size(), 1u) << Lines(loaded.diagnostics);
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr(fault.says));
}

const Fault kFaults[] = {
    {"header", "case/1", "case/2", "case.yaml:1: error: kb says 'case/2'"},
    {"yaml", "name: scale-f32", "name: [", "not YAML"},
    {"unknown-key", "flops:", "flop:",
     ":16: error: case.yaml has no key 'flop' [case-yaml] (did you mean 'flops'?)"},
    {"twice", "flops: n", "bytes: n", "has the key 'bytes' twice"},
    {"name", "name: scale-f32", "name: scale",
     ":2: error: the name 'scale' is not that of the folder, 'scale-f32'"},
    {"name-path", "name: scale-f32", "name: ../x", "is not one of a case"},
    {"title", "title: y = a x\n", "", "no 'title'"},
    {"arch", ">=sm_80", "hopper", "the arch 'hopper' cannot be read"},
    {"constant-name", "tile: 256", "tile: 256, min: 3", "'min' cannot be a name"},
    {"constant", "tile: 256", "tile: large", "the constant 'tile' is not an integer"},
    {"name-taken", "tile: 256", "y: 256", "the name 'y' in outputs is taken"},
    {"dtype", "x: {dtype: f32", "x: {dtype: f8", ":8: error: input x has no dtype 'f8'"},
    {"no-shape", "x: {dtype: f32, shape: [n], fill: normal 0 1}", "x: {dtype: f32}",
     "neither shape nor value"},
    {"shape-name", "shape: [n], fill", "shape: [m], fill",
     "input x: shape 'm' has no name 'm' [case-yaml] (the names are n and tile)"},
    {"shape-syntax", "shape: [n], fill", "shape: [\"2*\"], fill", "ends too early"},
    {"shape-zero", "shape: [n], fill", "shape: [n-1], fill", "workload 1: x: 'n-1' is 0"},
    {"shape-rank", "shape: [n], fill", "shape: [n,1,1,1,1,1,1,1,1], fill", "list of 1 to 8"},
    {"fill-kind", "normal 0 1", "gaussian 0 1", "there is no fill 'gaussian'"},
    {"fill-words", "normal 0 1", "normal 0", "not a word and two finite numbers"},
    {"fill-constant", "normal 0 1", "uniform 3 3", "a lowest value that is not below"},
    {"fill-deviation", "normal 0 1", "normal 0 0", "deviation that is not above 0"},
    {"fill-nan", "normal 0 1", "normal nan 1", "two finite numbers"},
    {"fill-dtype", "x: {dtype: f32", "x: {dtype: i32", "a normal fill of integers"},
    {"scalar-and-shape", "value: 0.5", "value: 0.5, shape: [n]", "has a value and a shape"},
    {"scalar-range", "a: {dtype: f32, value: 0.5", "a: {dtype: i32, value: 0.5",
     "does not hold its value"},
    {"scalar-text", "value: 0.5", "value: half", "'value' is 'half', not a number"},
    {"no-drawn-input", "  x: {dtype: f32, shape: [n], fill: normal 0 1}\n", "",
     "no input is drawn"},
    {"output-fill", "rel: 1e-6", "fill: normal 0 1", "output y has no key 'fill'"},
    {"rel-wide", "rel: 1e-6", "rel: 0.5", "rel is not between 0 and 0.1"},
    {"rel-nan", "rel: 1e-6", "rel: .nan", "not a number"},
    {"abs-negative", "rel: 1e-6", "abs: -1", "abs is below 0"},
    {"reduction-negative", "rel: 1e-6", "reduction: 0-n", "reduction is -1"},
    {"no-check", "check: [{n: 1}, {n: 1000}]", "check: []", "check is not a list of 1 to 64"},
    {"no-time", "  time: [{n: 1048576}]\n", "", "time is not a list"},
    {"wrong-axis", "{n: 1000}", "{m: 1000}",
     ":13: error: workload check[1] has no axis 'm' [case-yaml] (the axes are n)"},
    {"axis-missing", "{n: 1000}", "{}", "check[1] does not give n"},
    {"axis-negative", "{n: 1000}", "{n: -1}", "n is not an integer in 0..2^40"},
    {"axis-huge", "{n: 1048576}", "{n: 1099511627777}", "n is not an integer in 0..2^40"},
    {"same-workload", "{n: 1000}", "{n: 1}", "check[1] is 1 again"},
    {"check-too-large", "{n: 1000}", "{n: 8388609}", "more than 64 MiB"},
    {"time-too-large", "{n: 1048576}", "{n: 8589934593}", "more than 64 GiB"},
    {"elements", "shape: [n], fill", "shape: [n, 1099511627776, 2], fill",
     "more than 2^40 elements"},
    {"no-bytes", "bytes: 8*n\n", "", "no 'bytes'"},
    {"bytes-zero", "bytes: 8*n", "bytes: 0", "bytes is 0"},
    {"bytes-too-many", "bytes: 8*n", "bytes: 9*n", "more than all tensors hold (8)"},
    {"flops-overflow", "flops: n", "flops: (n << 40) << 40", "flops: overflow of 64 bits"},
    {"flop-dtype", "flops: n", "flops: n\nflop_dtype: fp4", "no dtype 'fp4'"},
    {"baseline-path", "baseline: naive", "baseline: ../naive", "has '..' in it"},
    {"red-low", "baseline: naive", "baseline: naive\nred: 0", "red is not between 0.5 and 1"},
    {"deterministic", "baseline: naive", "baseline: naive\ndeterministic: often",
     "'deterministic' is 'often', not a bool"},
};
INSTANTIATE_TEST_SUITE_P(Rules, CaseFault, ::testing::ValuesIn(kFaults));

TEST_F(CaseFiles, WideTolerancesAndWeakThresholdsAreWarnings) {
  LoadedCase loaded = LoadWith(With(kCaseYaml, "rel: 1e-6", "rel: 1e-3"));
  EXPECT_TRUE(loaded.ok());
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("a lower precision passes"));
  loaded = LoadWith(std::string(kCaseYaml) + "red: 0.8\n");
  EXPECT_TRUE(loaded.ok());
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("red is below 0.9"));
}

TEST_F(CaseFiles, RelIsOneRoundingStepUnlessSaid) {
  const LoadedCase loaded = LoadWith(With(kCaseYaml, "y: {dtype: f32, shape: [n], rel: 1e-6}",
                                          "y: {dtype: bf16, shape: [n], reduction: n}"));
  EXPECT_EQ(loaded.value.tolerances[0].rel, 1.0 / 128);
  EXPECT_EQ(loaded.value.tolerances[0].reduction.text(), "n");
}

TEST_F(CaseFiles, TheHashChangesWithEachFile) {
  const std::string before = LoadCase(CaseFolder()).value.sha256;
  Write("test.cc", "#include \"kb/case_test.h\"\n\n");
  const std::string after = LoadCase(CaseFolder()).value.sha256;
  EXPECT_NE(before, after);
  Write("reference.cc", "// other\n");
  EXPECT_NE(after, LoadCase(CaseFolder()).value.sha256);
}

TEST_F(CaseFiles, ATestMayNotIncludeWhatTheHashDoesNotCover) {
  Write("test.cc", "#include \"kb/case_test.h\"\n  # include \"helper.h\"\n");
  const LoadedCase loaded = LoadCase(CaseFolder());
  EXPECT_FALSE(loaded.ok());
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("test.cc:2: error: includes '\"helper.h\"'"));
}

TEST_F(CaseFiles, AMissingFileOrFolderIsAFinding) {
  std::filesystem::remove(CaseFolder() + "/test.cc");
  EXPECT_THAT(Lines(LoadCase(CaseFolder()).diagnostics), HasSubstr("test.cc cannot be read"));
  EXPECT_FALSE(LoadCase(root_ + "/none").ok());
  EXPECT_FALSE(LoadCase("").ok());
}

TEST_F(CaseFiles, TheFolderMayBeWrittenInManyWays) {
  for (const char* suffix : {"/", "/.", "/candidates/.."}) {
    const LoadedCase loaded = LoadCase(CaseFolder() + suffix);
    EXPECT_TRUE(loaded.ok()) << suffix << Lines(loaded.diagnostics);
  }
}

}  // namespace
}  // namespace kb
