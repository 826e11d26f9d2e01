// What the two halves of the red stage share. Of red.cc and red_mutants.cc alone.
#pragma once

#include <functional>

#include "tdd/red.h"

namespace kb {

// The verdict over all mutants of `report` so far.
[[nodiscard]] Verdict RedVerdict(const RedReport& report);

// Adds the names that `report.tests` lacks.
void AddTests(const TestReport& from, RedReport* report);

// `count` calls of `work`, each with its number, by `threads` threads. What `work` throws is
// thrown again after all have ended.
void InParallel(int threads, int count, const std::function<void(int)>& work);

}  // namespace kb
