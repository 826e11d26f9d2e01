// kb tdd new CASE: a case to start from, red first: its test fails until somebody says what must
// be true, its reference throws, its naive kernel writes nothing. With --json: {path}.
#include <string>
#include <utility>
#include <vector>

#include "cli/run_commands.h"
#include "cli/scaffold.h"
#include "kb/file.h"

namespace kb {
namespace {

constexpr char kCaseYaml[] = R"(kb: case/1
name: @NAME@
title: "@TITLE@: say in one line what a kernel must compute"
arch: ">=sm_80"
axes: {n: number of elements}
inputs:                            # in the order of the kernel's arguments
  x: {dtype: f32, shape: [n], fill: normal 0 1}
outputs:
  y: {dtype: f32, shape: [n]}      # optional: rel, abs, reduction (how many terms are added up)
workloads:
  check: [{n: 1}, {n: 31}, {n: 1000}, {n: 4097}]   # small and awkward: each mutant runs them all
  time: [{n: 67108864}]            # several times the L2
bytes: 8*n                         # least that must move through device memory
baseline: naive
)";

constexpr char kReference[] =
    R"(// The answer, in double. Inputs hold what the kernel sees, already rounded to their dtype.
#include <stdexcept>

#include "kb/case_test.h"

void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const std::vector<double>& x = in["x"];
  std::vector<double>& y = out["y"];
  kb::test::ParallelFor(in.axis("n"), [&](int64_t i) { y[i] = x[i]; });
  throw std::runtime_error("reference.cc: write what the kernel must compute, then delete this line");
}
)";

constexpr char kTest[] =
    R"(// The kernel's tests. They run in the judge, which asks for the kernel's outputs.
#include "kb/case_test.h"

TEST(@SUITE@, MatchesReference) {
  for (const kb::test::Workload& workload : kb::test::Workloads()) {
    const kb::test::Run run(workload);
    EXPECT_TRUE(run.Matches()) << workload.label();
  }
}

TEST(@SUITE@, SaysWhatElseMustBeTrue) {
  FAIL() << "test.cc: state a property of the kernel (a special input, an invariant), see it fail, "
            "then make it pass";
}
)";

constexpr char kLaunch[] = R"yaml(kb: candidate/1
title: the simplest kernel that is right
kind: device
source: kernel.cu
launches:
  - kernel: @IDENTIFIER@
    grid: ["ceil_div(n, 256)"]
    block: [256]
    args: [x, y, {i32: n}]
)yaml";

constexpr char kKernel[] =
    R"(extern "C" __global__ void @IDENTIFIER@(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // Write y[i] here: as it stands, the tests must fail.
}
)";

// "row-sum" -> "row_sum", "RowSum".
std::string Identifier(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : c;
  return name[0] >= '0' && name[0] <= '9' ? "k" + name : name;
}

std::string Suite(const std::string& name) {
  std::string suite;
  bool upper = true;
  for (const char c : name) {
    if (c != '-') suite += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '-';
  }
  return name[0] >= '0' && name[0] <= '9' ? "Case" + suite : suite;
}

}  // namespace

int RunTddNew(const Args& args, Streams& streams) {
  const std::string name = CheckedName(args, "CASE", "kb tdd new");
  const std::string folder = args.Get("--dir", "tdd/cases") + "/" + name;
  CheckMissing(folder, "edit what it holds, or choose another name");
  MakeFolders(folder + "/candidates/naive");
  const std::vector<std::pair<std::string, std::string>> words = {
      {"@NAME@", name},
      {"@TITLE@", TitleOf(name)},
      {"@SUITE@", Suite(name)},
      {"@IDENTIFIER@", Identifier(name)}};
  const std::pair<const char*, const char*> files[] = {{"/reference.cc", kReference},
                                                       {"/test.cc", kTest},
                                                       {"/candidates/naive/launch.yaml", kLaunch},
                                                       {"/candidates/naive/kernel.cu", kKernel},
                                                       {"/case.yaml", kCaseYaml}};
  for (const auto& [path, text] : files) WriteFileAtomically(folder + path, Filled(text, words));
  TellMade(
      folder + "/case.yaml",
      "write reference.cc and test.cc; kb tdd check says what is wrong, kb tdd red whether the "
      "test can fail",
      args, streams);
  return kFound;
}

}  // namespace kb
