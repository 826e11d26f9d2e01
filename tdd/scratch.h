// A folder for the data of one run, in memory where the system has room for it; gone with the
// object.
#pragma once

#include <string>

namespace kb {

class Scratch {
 public:
  // Below `below`, or if that is "", below /dev/shm (if at least 8 GiB are free there), else the
  // system's temporary folder. Mode 0700. Throws Error if it cannot be made.
  explicit Scratch(const std::string& below = "");
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kb
