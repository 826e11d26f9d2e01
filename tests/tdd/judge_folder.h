// One folder of judges for all tests of a program: the part that judges share is compiled once.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tdd/scratch.h"

namespace kb {

inline std::string SharedJudges() {
  static const Scratch scratch(::testing::TempDir());
  return scratch.path();
}

}  // namespace kb
