// kb new skill, kb new trace: a file to start from. What is still to be written stands in it as
// "[fill in: ...]", which kb lint warns of (scaffold-placeholder). With --json: {path}.
#include <ctime>
#include <string>

#include "cli/run_commands.h"
#include "cli/scaffold.h"
#include "kb/file.h"

namespace kb {
namespace {

constexpr char kSkill[] = R"(---
name: @NAME@
description: "[fill in: what the skill is for.] Use when [fill in: the symptoms, error texts and identifiers that somebody in trouble would type]."
license: CC-BY-4.0
metadata:
  kb-arch: ">=sm_80"
  kb-cuda: ">=12.0"
  kb-dtype: "any"
  kb-bound: "memory"
  kb-topics: "@NAME@"
  kb-license-spdx: "CC-BY-4.0"
---
# @TITLE@

## When to use / When not to
Use it when [fill in: the situation].

Not for [fill in: what looks alike, and the skill that it needs instead].

## The idea
1. [fill in: about ten lines, one fact each]

## The smallest code
```cuda
// [fill in: the smallest kernel that compiles alone and shows the idea]
extern "C" __global__ void example(float* out) { out[threadIdx.x] = 0.0f; }
```

## Pitfalls
- [fill in: a symptom, its cause, its mend]

## How to check
[fill in: a command, and what it should print]

## Sources
- [fill in: document and section of each fact]
)";

constexpr char kTrace[] = R"(---
kb: trace/1
id: @NAME@
title: "[fill in: what was tried]"
task: {op: "[fill in: operation]", dtype: "[fill in: e.g. bf16]", shape: "[fill in: sizes]"}
goal: {metric: "time", target: "[fill in: what would be good enough]", baseline: "[fill in: what it is measured against]"}
hardware: {gpu: "[fill in: name]", cc: "[fill in: e.g. 9.0]"}
toolchain: {cuda: "[fill in: e.g. 13.0]"}
agent: {name: "[fill in: who or what did the work]"}
license: CC-BY-4.0
created: "@DATE@"
result: {status: "open"}
---
# [fill in: what was tried]

[fill in: what was known at the start, and why this was worth trying]

## Attempts

```yaml kb:attempt
id: A1
hypothesis: "[fill in: what should get better, and why]"
change: {kind: "[fill in: e.g. new kernel]"}
tests: {status: NOT_RUN}
decision: park
why: "[fill in: what was learned; a time only if the tests PASSED]"
```

## Lessons

```yaml kb:lesson
id: L1
claim: "[fill in: one sentence]"
applies_when: "[fill in: where it holds]"
not_when: "[fill in: where it does not]"
evidence: [A1]
confidence: reported
falsifier: "[fill in: what would show that it is wrong]"
```
)";

constexpr char kEvals[] = R"({
  "should_trigger": [
    {"prompt": "[fill in: a question that this skill answers, in a stranger's words; eight or more]"}
  ],
  "should_not_trigger": [
    {"prompt": "[fill in: a question that only sounds alike; five or more]", "better": null}
  ]
}
)";

std::string Today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

}  // namespace

int RunNewSkill(const Args& args, Streams& streams) {
  const std::string name = CheckedName(args, "NAME", "kb new skill");
  const std::string folder = args.Get("--dir", "skills") + "/" + name;
  CheckMissing(folder, "edit what it holds, or choose another name");
  MakeFolders(folder + "/evals");
  WriteFileAtomically(folder + "/evals/evals.json", kEvals);
  WriteFileAtomically(folder + "/SKILL.md",
                      Filled(kSkill, {{"@NAME@", name}, {"@TITLE@", TitleOf(name)}}));
  TellMade(folder + "/SKILL.md", "write what stands in [fill in: ...]; kb lint names what is left",
           args, streams);
  return kFound;
}

int RunNewTrace(const Args& args, Streams& streams) {
  const std::string name = CheckedName(args, "NAME", "kb new trace");
  const std::string today = Today();
  const std::string folder = args.Get("--dir", "traces") + "/" + today.substr(0, 4);
  const std::string path = folder + "/" + name + ".md";
  CheckMissing(path, "edit it, or choose another name");
  MakeFolders(folder);
  WriteFileAtomically(path, Filled(kTrace, {{"@NAME@", name}, {"@DATE@", today}}));
  TellMade(path, "write what stands in [fill in: ...]; kb lint names what is left", args, streams);
  return kFound;
}

}  // namespace kb
