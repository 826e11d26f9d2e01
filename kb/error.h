// The one exception type: kb could not do what was asked (disk full, corrupt
// catalog, missing tool). Bad content is never an Error; it is a Diagnostic.
#pragma once

#include <stdexcept>
#include <string>

namespace kb {

// `what()` is one complete line: what failed, where, why, and how to mend it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kb
