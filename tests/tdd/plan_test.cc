#include "tdd/plan.h"

#include "case_files.h"
#include "kb/json.h"

namespace kb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlanRunTest : public CaseFiles {
 protected:
  Planned PlanOf(const std::string& launch_yaml, int64_t n) const {
    const LoadedCandidate loaded = LaunchWith(launch_yaml);
    EXPECT_EQ(Lines(loaded.diagnostics), "");
    return PlanRun(LoadCase(CaseFolder()).value, loaded.value, {{"n", n}, {"tile", 256}});
  }
  // The bytes of the scalar input `a` of a dtype, as hexadecimal digits.
  std::string ScalarBytes(const std::string& dtype, const std::string& value) const {
    Write("case.yaml", With(kCaseYaml, "a: {dtype: f32, value: 0.5}",
                            "a: {dtype: " + dtype + ", value: " + value + "}"));
    const Planned planned = PlanOf(kLaunchYaml, 1);
    return planned.plan ? ToValue(*planned.plan)["launches"]
                              .AsList()[0]["args"]
                              .AsList()[3]["bytes"]
                              .AsString()
                        : planned.why;
  }
};

TEST_F(PlanRunTest, FillsInEveryNumber) {
  const Planned planned =
      PlanOf(With(kLaunchYaml,
                  "launches:", "workspace: {w: {bytes: \"align(n, 256)\", zero: true}}\nlaunches:"),
             1000);
  ASSERT_TRUE(planned.plan) << planned.why;
  const RunPlan& plan = *planned.plan;
  ASSERT_EQ(plan.buffers.size(), 3u);
  EXPECT_EQ(plan.buffers[0].name, "x");
  EXPECT_EQ(plan.buffers[0].bytes, 4000);
  EXPECT_EQ(plan.buffers[1].role, BufferPlan::Role::kOutput);
  EXPECT_EQ(plan.buffers[2].bytes, 1024);
  EXPECT_TRUE(plan.buffers[2].zero);
  ASSERT_EQ(plan.launches.size(), 1u);
  const LaunchPlan& launch = plan.launches[0];
  EXPECT_THAT(launch.grid, ElementsAre(4, 1, 1));
  EXPECT_THAT(launch.block, ElementsAre(256, 1, 1));
  EXPECT_THAT(launch.cluster, ElementsAre(1, 1, 1));
  ASSERT_EQ(launch.args.size(), 4u);
  EXPECT_EQ(launch.args[0].buffer, "x");
  EXPECT_EQ(launch.args[2].bytes, std::string("\xe8\x03\0\0", 4));
  EXPECT_EQ(launch.args[3].bytes, std::string("\0\0\0\x3f", 4));
}

TEST_F(PlanRunTest, ALaunchWhoseWhenIsZeroIsLeftOut) {
  const std::string both =
      With(kLaunchYaml, "    block:", "    when: n % 4 == 0\n    block:") +
      "  - kernel: scale\n    when: n % 4\n    grid: 7\n    block: [32]\n    args: [x, y, n, a]\n";
  EXPECT_EQ(PlanOf(both, 8).plan->launches.at(0).grid[0], 1);
  EXPECT_EQ(PlanOf(both, 9).plan->launches.at(0).grid[0], 7);
}

TEST_F(PlanRunTest, TheFirstValueOfAParamCountsUnlessTheAxesSayOtherwise) {
  const std::string launch =
      With(With(kLaunchYaml, "launches:", "params: {BLOCK: [128, 64]}\nlaunches:"), "block: [tile]",
           "block: [BLOCK]");
  const LoadedCandidate loaded = LaunchWith(launch);
  ASSERT_EQ(Lines(loaded.diagnostics), "");
  const Case value = LoadCase(CaseFolder()).value;
  Axes axes = {{"n", 5}, {"tile", 256}};
  EXPECT_EQ(PlanRun(value, loaded.value, axes).plan->launches[0].block[0], 128);
  axes["BLOCK"] = 64;
  EXPECT_EQ(PlanRun(value, loaded.value, axes).plan->launches[0].block[0], 64);
}

TEST_F(PlanRunTest, ScalarsTravelInTheirOwnDtype) {
  struct Row {
    const char *dtype, *value, *bytes;
  };
  const Row rows[] = {
      {"f64", "1", "000000000000f03f"},
      {"f32", "-2", "000000c0"},
      {"f16", "1", "003c"},
      {"f16", "-65504", "fffb"},
      {"f16", "5.960464477539063e-08", "0100"},   // the least subnormal
      {"f16", "2.9802322387695312e-08", "0000"},  // half of it: ties to even
      {"f16", "1.00048828125", "003c"},
      {"f16", "1.00146484375", "023c"},  // ties to even
      {"f16", "6.1035e-05", "0004"},     // rounds up to the least normal
      {"bf16", "1", "803f"},
      {"bf16", "3.141592653589793", "4940"},
      {"bf16", "1.0e-40", "0100"},
      {"bf16", "0", "0000"},
      {"i64", "-2", "feffffffffffffff"},
      {"i32", "-2", "feffffff"},
      {"u32", "4294967295", "ffffffff"},
      {"i8", "-128", "80"},
      {"u8", "255", "ff"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ScalarBytes(row.dtype, row.value), row.bytes) << row.dtype << " " << row.value;
  }
}

TEST_F(PlanRunTest, TypedArgumentsAreEncoded) {
  const Planned planned = PlanOf(
      With(kLaunchYaml, "args: [x, y, n, a]",
           "args: [x, y, {i64: n}, {u32: n}, {f32: n}, {u8: \"n % 256\"}, {f64: n}, 7, \"2*n\"]"),
      1);
  std::vector<size_t> sizes;
  for (const ArgPlan& arg : planned.plan->launches[0].args) sizes.push_back(arg.bytes.size());
  EXPECT_THAT(sizes, ElementsAre(0, 0, 8, 4, 4, 1, 8, 4, 4));
}

TEST_F(PlanRunTest, TensorMapsAreWorkedOut) {
  Write("case.yaml",
        With(kCaseYaml, "x: {dtype: f32, shape: [n]", "x: {dtype: f32, shape: [n, 64]"));
  const Planned planned = PlanOf(With(With(kLaunchYaml, "launches:",
                                           "tensor_maps:\n  m: {tensor: x, dims: [64, n], strides: "
                                           "[256], box: [32, 8], swizzle: 128}\nlaunches:"),
                                      "args: [x,", "args: [m,"),
                                 16);
  ASSERT_TRUE(planned.plan) << planned.why;
  ASSERT_EQ(planned.plan->maps.size(), 1u);
  const TensorMapPlan& map = planned.plan->maps[0];
  EXPECT_EQ(map.data_type, 7);
  EXPECT_THAT(map.dims, ElementsAre(64, 16));
  EXPECT_THAT(map.strides, ElementsAre(256));
  EXPECT_EQ(map.swizzle_bytes, 128);
  EXPECT_EQ(planned.plan->launches[0].args[0].map, "m");
}

TEST_F(PlanRunTest, SaysWhyNotAndOnWhichLine) {
  const LoadedCandidate loaded = LaunchWith(kLaunchYaml);
  const Planned planned =
      PlanRun(LoadCase(CaseFolder()).value, loaded.value, {{"n", 1}});  // no tile
  EXPECT_FALSE(planned.plan);
  EXPECT_EQ(planned.why, "kernel scale: grid x: 'ceil_div(n, tile)': unknown name 'tile'");
  EXPECT_EQ(planned.line, 6);
}

RunPlan Example() {
  RunPlan plan;
  plan.buffers = {{BufferPlan::Role::kInput, "x", 16, false},
                  {BufferPlan::Role::kWorkspace, "w", 4, true}};
  plan.maps = {{"m", "x", 9, {64, 8}, {128}, {64, 8}, 128}};
  LaunchPlan launch;
  launch.kernel = "k";
  launch.grid = {3, 2, 1};
  launch.shared_bytes = 100;
  launch.args = {{"x", "", ""}, {"", "m", ""}, {"", "", std::string("\0\xff", 2)}};
  plan.launches = {launch};
  plan.axes = {1, -2};
  plan.scalars = {0.1, 3};
  return plan;
}

TEST(RunPlan, SurvivesJsonUnchanged) {
  const Value value = ToValue(Example());
  const std::optional<Value> parsed = ParseJson(WriteJson(value));
  ASSERT_TRUE(parsed);
  const std::optional<RunPlan> again = RunPlanFromValue(*parsed);
  ASSERT_TRUE(again);
  EXPECT_EQ(WriteJson(ToValue(*again)), WriteJson(value));
  EXPECT_EQ(again->launches[0].args[2].bytes, Example().launches[0].args[2].bytes);
  EXPECT_EQ(again->scalars, Example().scalars);
}

TEST(RunPlan, AnEmptyPlanSurvivesToo) {
  const std::optional<Value> parsed = ParseJson(WriteJson(ToValue(RunPlan())));
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(RunPlanFromValue(*parsed));
}

TEST(RunPlan, WhatIsNoPlanIsRefused) {
  const std::string good = WriteJson(ToValue(Example()));
  const auto refused = [&](const std::string& from, const std::string& to) {
    const std::optional<Value> parsed = ParseJson(With(good, from, to));
    EXPECT_TRUE(parsed) << to;
    return parsed && !RunPlanFromValue(*parsed);
  };
  EXPECT_TRUE(refused("\"name\":\"x\"", "\"name\":\"../x\""));
  EXPECT_TRUE(refused("\"role\":\"input\"", "\"role\":\"secret\""));
  EXPECT_TRUE(refused("\"bytes\":16", "\"bytes\":-16"));
  EXPECT_TRUE(refused("\"bytes\":16", "\"bytes\":\"16\""));
  EXPECT_TRUE(refused("\"grid\":[3,2,1]", "\"grid\":[3,2]"));
  EXPECT_TRUE(refused("\"grid\":[3,2,1]", "\"grid\":[0,2,1]"));
  EXPECT_TRUE(refused("\"kernel\":\"k\"", "\"kernel\":\"\""));
  EXPECT_TRUE(refused("\"bytes\":\"00ff\"", "\"bytes\":\"00f\""));
  EXPECT_TRUE(refused("\"bytes\":\"00ff\"", "\"bytes\":\"\""));
  EXPECT_TRUE(refused("\"bytes\":\"00ff\"", "\"bytes\":\"000102030405060708\""));
  EXPECT_TRUE(refused("\"strides\":[128]", "\"strides\":[]"));
  EXPECT_TRUE(refused("\"zero\":true", "\"zero\":1"));
  EXPECT_TRUE(refused("\"scalars\":[", "\"scalars\":[null,"));
  EXPECT_TRUE(refused("\"axes\"", "\"axis\""));
  EXPECT_FALSE(RunPlanFromValue(Value()));
  EXPECT_FALSE(RunPlanFromValue(Value("plan")));
}

}  // namespace
}  // namespace kb
