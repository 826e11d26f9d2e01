// Compilers in child processes. Of compile.cc alone.
#pragma once

#include "tdd/compile.h"

namespace kb {

// Fills in verdict, binary, log, compiler and times.
void CompileInChild(const CompileRequest& request, const CompileRequestOf& how, Compiled* compiled);
void CompileWithNvcc(const Candidate& candidate, const CompileRequestOf& how, Compiled* compiled);

// The first line of `log` that tells of an error, without its folder.
[[nodiscard]] std::string FirstError(const std::string& log);

}  // namespace kb
