#include "indexer/terms.h"

namespace kb {

TermId TermTable::Intern(std::string_view term) {
  const auto [at, added] =
      ids_.try_emplace(std::string(term), first_ + static_cast<TermId>(terms_.size()));
  if (added) terms_.emplace_back(term);
  return at->second;
}

}  // namespace kb
