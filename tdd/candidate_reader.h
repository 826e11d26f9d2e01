// The sections of launch.yaml, for LoadCandidate alone.
#pragma once

#include <string>
#include <vector>

#include "tdd/candidate.h"
#include "tdd/spec_reader.h"

namespace kb {

// `names`: what expressions may use: axes, constants and params.
void ReadWorkspaces(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                    const Case& for_case, Candidate* candidate);
void ReadTensorMaps(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                    const Case& for_case, Candidate* candidate);
void ReadLaunches(const Value& file, SpecReader& reader, const std::vector<std::string>& names,
                  const Case& for_case, Candidate* candidate);

}  // namespace kb
