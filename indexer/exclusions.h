// What a description says it is not for. "Use for X. Do not use for Y; for Z, use other-skill."
// names Y and Z, and a search that counts those words finds the wrong skill.
#pragma once

#include <string>
#include <string_view>

namespace kb {

// `description` without the rest of each sentence from a cue on: "do not use", "not for",
// "out of scope", "for Z, use ..." and their like. Sentences end at . ; ! ? and white space.
[[nodiscard]] std::string WithoutExclusions(std::string_view description);

}  // namespace kb
