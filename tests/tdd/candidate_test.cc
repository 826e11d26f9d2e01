#include "tdd/candidate.h"

#include <sys/stat.h>

#include "case_files.h"

namespace kb {
namespace {

using ::testing::HasSubstr;

TEST_F(CaseFiles, AGoodCandidateHasNoFindings) {
  const LoadedCandidate loaded = LaunchWith(kLaunchYaml);
  EXPECT_EQ(Lines(loaded.diagnostics), "");
  const Candidate& candidate = loaded.value;
  EXPECT_EQ(candidate.id, "naive");
  EXPECT_EQ(candidate.source_text, kKernel);
  ASSERT_EQ(candidate.launches.size(), 1u);
  EXPECT_EQ(candidate.launches[0].args.size(), 4u);
  EXPECT_EQ(candidate.launches[0].line, 6);
  EXPECT_EQ(candidate.sha256.size(), 64u);
}

struct Fault {
  const char* name;
  const char* from;
  const char* to;
  const char* says;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class LaunchFault : public CaseFiles, public ::testing::WithParamInterface<Fault> {};

TEST_P(LaunchFault, IsOneClearLine) {
  const Fault& fault = GetParam();
  const LoadedCandidate loaded = LaunchWith(With(kLaunchYaml, fault.from, fault.to));
  EXPECT_FALSE(loaded.ok()) << "no error";
  EXPECT_EQ(loaded.diagnostics.size(), 1u) << Lines(loaded.diagnostics);
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr(fault.says));
}

const Fault kFaults[] = {
    {"header", "candidate/1", "case/1", "launch.yaml:1: error: kb says 'case/1'"},
    {"unknown-key", "launches:", "flag: []\nlaunches:",
     ":5: error: launch.yaml has no key 'flag' [launch-yaml] (did you mean 'flags'?)"},
    {"kind", "kind: device", "kind: program", ":3: error: no kind 'program'"},
    {"title", "title: a thread an element\n", "", "no 'title'"},
    {"source-missing", "source: kernel.cu", "source: other.cu",
     ":4: error: the source 'other.cu' cannot be read: No such file"},
    {"source-absolute", "source: kernel.cu", "source: /etc/kernel.cu",
     "the source '/etc/kernel.cu' is absolute"},
    {"source-parent", "source: kernel.cu", "source: ../naive/kernel.cu", "has '..' in it"},
    {"source-folder", "source: kernel.cu", "source: .", "does not end in .cu"},
    {"source-test", "source: kernel.cu", "source: scale_test.cu",
     "has the name of a file of a case or a test"},
    {"source-option", "source: kernel.cu", "source: -x.cu", "begins with '-'"},
    {"source-kind", "source: kernel.cu", "source: kernel.so", "does not end in .cu"},
    {"files", "launches:", "files: [../../test.cc]\nlaunches:", "has the name of a file of a case"},
    {"files-again", "launches:", "files: [kernel.cu]\nlaunches:", "is named twice"},
    {"flag", "launches:", "flags: [--use_fast_math, -include/etc/passwd]\nlaunches:",
     "the flag '-include/etc/passwd' is not allowed"},
    {"flag-define",
     "launches:", "flags: [\"-Dfor=1\"]\nlaunches:", "the flag '-Dfor=1' is not allowed"},
    {"flag-define-text", "launches:", "flags: [\"-DX=if(0)\"]\nlaunches:", "is not allowed"},
    {"flag-registers", "launches:", "flags: [--maxrregcount=0]\nlaunches:", "is not allowed"},
    {"flag-host", "launches:", "flags: [-lcublas]\nlaunches:", "is not allowed"},
    {"arch", "launches:", "arch: best\nlaunches:", "the arch 'best' cannot be read"},
    {"kernel-missing", "kernel: scale", "kernel: scal",
     ":6: error: 'kernel.cu' has no kernel 'scal'"},
    {"kernel-name", "kernel: scale", "kernel: \"sc ale\"", "'sc ale' is no C name"},
    {"no-grid", "    grid: [\"ceil_div(n, tile)\"]\n", "", "launch 0 has no grid"},
    {"grid-syntax", "[\"ceil_div(n, tile)\"]", "[ceil_div(n, tile)]",
     "one with a comma wants quotes"},
    {"grid-name", "ceil_div(n, tile)", "ceil_div(n, tiel)",
     ":7: error: launch 0: grid 'ceil_div(n, tiel)' has no name 'tiel' [launch-yaml] (did you mean "
     "'tile'?)"},
    {"grid-zero", "ceil_div(n, tile)", "n / tile",
     ":6: error: workload 1: kernel scale: grid x is 0, not 1 to 2147483647"},
    {"grid-many", "[\"ceil_div(n, tile)\"]", "[1, n]", "grid y is 1048576, not 1 to 65535"},
    {"block-many", "block: [tile]", "block: [1024, 2]", "a block of 2048 threads, over 1024"},
    {"block-z", "block: [tile]", "block: [1, 1, 65]", "block z is 65"},
    {"shared", "block: [tile]", "block: [tile]\n    shared: 232449",
     "shared is 232449, not 0 to 232448"},
    {"cluster", "block: [tile]", "block: [tile]\n    cluster: [2]",
     "grid x is 1, no multiple of the cluster's 2"},
    {"cluster-large", "block: [tile]", "block: [tile]\n    cluster: [17]", "cluster x is 17"},
    {"no-args", "args: [x, y, n, a]", "args: []", "args is not a list of 1 to 64"},
    {"arg-name", "[x, y, n, a]", "[x, y, n, alpha]", "there is no 'alpha'"},
    {"arg-type", "[x, y, n, a]", "[x, y, {f8: n}, a]", "is not one type and its expression"},
    {"arg-range", "[x, y, n, a]", "[x, y, \"n << 20\", a]", "which i32 does not hold"},
    {"no-output", "[x, y, n, a]", "[x, x, n, a]", "no launch is given the output y"},
    {"never-launched", "block: [tile]", "block: [tile]\n    when: n < 0", "no kernel is launched"},
    {"workspace-name",
     "launches:", "workspace: {x: {bytes: 4}}\nlaunches:", "the name 'x' is taken"},
    {"workspace-bytes",
     "launches:", "workspace: {w: {bytes: 0}}\nlaunches:", "workspace w: bytes is 0"},
    {"workspace-large",
     "launches:", "workspace: {w: {bytes: 1 << 36}}\nlaunches:", "more than 64 GiB"},
    {"workspace-key", "launches:", "workspace: {w: {}}\nlaunches:", "workspace w has no bytes"},
    {"map-tensor", "launches:", "tensor_maps: {m: {tensor: z, dims: [n], box: [64]}}\nlaunches:",
     "there is no tensor 'z'"},
    {"map-scalar", "launches:", "tensor_maps: {m: {tensor: a, dims: [n], box: [64]}}\nlaunches:",
     "there is no tensor 'a'"},
    {"map-rank", "launches:", "tensor_maps: {m: {tensor: x, dims: [n], box: [64, 1]}}\nlaunches:",
     "box wants a length a dimension"},
    {"map-box",
     "launches:", "tensor_maps: {m: {tensor: x, dims: [n], box: [257]}}\nlaunches:", "box is 257"},
    {"map-rows", "launches:", "tensor_maps: {m: {tensor: x, dims: [n], box: [3]}}\nlaunches:",
     "not multiples of 16 bytes"},
    {"map-end", "launches:", "tensor_maps: {m: {tensor: x, dims: [n+1], box: [64]}}\nlaunches:",
     "reaches 8 bytes, x has 4"},
    {"map-swizzle",
     "launches:", "tensor_maps: {m: {tensor: x, dims: [n], box: [64], swizzle: 96}}\nlaunches:",
     "swizzle is not"},
    {"map-swizzle-rows",
     "launches:", "tensor_maps: {m: {tensor: x, dims: [n], box: [64], swizzle: 128}}\nlaunches:",
     "256 bytes, over the swizzle's 128"},
    {"params",
     "launches:", "params: {block: [1]}\nlaunches:", "the param 'block' is not in capitals"},
    {"params-empty",
     "launches:", "params: {BLOCK: []}\nlaunches:", "not a list of 1 to 64 integers"},
    {"host-launches", "kind: device", "kind: host", "launches in a host candidate"},
};
INSTANTIATE_TEST_SUITE_P(Rules, LaunchFault, ::testing::ValuesIn(kFaults));

TEST_F(CaseFiles, AHostCandidateHasNoLaunches) {
  Write("candidates/naive/kernel.cu", "extern \"C\" int kb_run(const void*, void*) { return 0; }");
  const LoadedCandidate loaded = LaunchWith(
      "kb: candidate/1\ntitle: t\nkind: host\nsource: kernel.cu\nflags: [-lcublas]\n"
      "workspace: {w: {bytes: 4*n}}\n");
  EXPECT_EQ(Lines(loaded.diagnostics), "");
  const Planned planned = PlanRun(LoadCase(CaseFolder()).value, loaded.value, {{"n", 3}});
  ASSERT_TRUE(planned.plan) << planned.why;
  EXPECT_TRUE(planned.plan->launches.empty());
  EXPECT_EQ(planned.plan->axes, std::vector<int64_t>{3});
  EXPECT_EQ(planned.plan->scalars, std::vector<double>{0.5});
  EXPECT_EQ(planned.plan->buffers.size(), 3u);
}

TEST_F(CaseFiles, AHostCandidateWithoutItsEntryIsRefused) {
  const LoadedCandidate loaded =
      LaunchWith("kb: candidate/1\ntitle: t\nkind: host\nsource: kernel.cu\n");
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("has no kb_run"));
}

TEST_F(CaseFiles, AKernelInACommentIsNotThere) {
  Write("candidates/naive/kernel.cu", "// scale\nconst char* s = \"scale\";\n");
  EXPECT_THAT(Lines(LaunchWith(kLaunchYaml).diagnostics), HasSubstr("has no kernel 'scale'"));
}

TEST_F(CaseFiles, HeadersAreReadAndHashed) {
  const std::string launch = With(kLaunchYaml, "launches:", "files: [tile.cuh]\nlaunches:");
  Write("candidates/naive/tile.cuh", "#define TILE 1\n");
  const LoadedCandidate before = LaunchWith(launch);
  EXPECT_EQ(Lines(before.diagnostics), "");
  ASSERT_EQ(before.value.files.size(), 1u);
  EXPECT_EQ(before.value.files[0].text, "#define TILE 1\n");
  Write("candidates/naive/tile.cuh", "#define TILE 2\n");
  EXPECT_NE(LaunchWith(launch).value.sha256, before.value.sha256);
}

TEST_F(CaseFiles, LinksAndOtherKindsOfFileAreRefused) {
  namespace fs = std::filesystem;
  const std::string kernel = CandidateFolder() + "/kernel.cu";
  const auto says = [&] { return Lines(LaunchWith(kLaunchYaml).diagnostics); };
  fs::remove(kernel);
  fs::create_symlink("/etc/passwd", kernel);
  EXPECT_THAT(says(), HasSubstr("symlink out of the folder"));
  fs::remove(kernel);
  fs::create_symlink("../../test.cc", kernel);
  EXPECT_THAT(says(), HasSubstr("symlink out of the folder"));
  fs::remove(kernel);
  fs::create_hard_link(CaseFolder() + "/test.cc", kernel);
  EXPECT_THAT(says(), HasSubstr("a file of the case under another name"));
  fs::remove(kernel);
  Write("candidates/naive/a.txt", kKernel);
  fs::create_hard_link(CandidateFolder() + "/a.txt", kernel);
  EXPECT_THAT(says(), HasSubstr("has 2 hard links"));
  fs::remove(kernel);
  ASSERT_EQ(::mkfifo(kernel.c_str(), 0600), 0);
  EXPECT_THAT(says(), HasSubstr("is not a regular file"));
  fs::remove(kernel);
  fs::create_directory(kernel);
  EXPECT_THAT(says(), HasSubstr("is not a regular file"));
  fs::remove(kernel);
  fs::create_symlink("b.txt", kernel);  // inside: as good as the file itself
  Write("candidates/naive/b.txt", kKernel);
  EXPECT_EQ(says(), "");
  Write("candidates/naive/b.txt", std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(says(), HasSubstr("larger than 1048576 bytes"));
  Write("candidates/naive/b.txt", std::string("a\0b", 3));
  EXPECT_THAT(says(), HasSubstr("holds a NUL byte"));
}

TEST_F(CaseFiles, ALaunchFileThatLeavesTheFolderIsRefused) {
  namespace fs = std::filesystem;
  fs::rename(CandidateFolder() + "/launch.yaml", CaseFolder() + "/other.yaml");
  fs::create_symlink("../../other.yaml", CandidateFolder() + "/launch.yaml");
  const LoadedCandidate loaded = LoadCandidate(CandidateFolder(), LoadCase(CaseFolder()).value);
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("launch.yaml is or passes a symlink"));
}

TEST_F(CaseFiles, AFolderWithoutAPlainNameIsRefused) {
  namespace fs = std::filesystem;
  fs::rename(CandidateFolder(), CaseFolder() + "/candidates/na ive");
  const LoadedCandidate loaded =
      LoadCandidate(CaseFolder() + "/candidates/na ive", LoadCase(CaseFolder()).value);
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("the folder's name 'na ive' has characters"));
}

TEST_F(CaseFiles, ACandidateOfACaseThatCannotBeUsedIsOneFinding) {
  const LoadedCandidate loaded = LoadCandidate(CandidateFolder(), Case());
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.diagnostics.size(), 1u);
  EXPECT_THAT(Lines(loaded.diagnostics), HasSubstr("mend case.yaml first"));
}

}  // namespace
}  // namespace kb
