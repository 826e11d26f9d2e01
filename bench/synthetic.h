// Corpora of any size that are the same each time: folders of skills whose words have Zipf's
// frequencies. They say how time and memory grow; nothing about quality.
#pragma once

#include <string>
#include <vector>

namespace kb::bench {

// Writes FOLDER/skill-N/SKILL.md and two references each, one section a passage, until there are
// about `passages`; each has some 200 words. Returns the paths.
std::vector<std::string> WriteSynthetic(const std::string& folder, int passages);

// Questions of ten words about skills of such a corpus.
[[nodiscard]] std::vector<std::string> SyntheticQuestions(int passages, int count);

}  // namespace kb::bench
