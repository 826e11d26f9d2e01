// What `kb doctor` runs in its child processes. Each writes one line: "+detail" if the thing is
// fine, "-why" if it is missing, "!why" if it is there but broken.
#pragma once

#include <string>
#include <vector>

namespace kb {

// The GPUs that the NVIDIA driver knows: name, compute capability, memory, driver version.
[[nodiscard]] std::string ProbeGpu(const std::string& nvml);
[[nodiscard]] std::string ProbeCurl();
[[nodiscard]] std::string ProbeNvrtc(const std::vector<std::string>& folders);
// Opens the index and asks it something.
[[nodiscard]] std::string ProbeIndex(const std::string& kb_dir);
// The libraries that kb is built from, with their versions; SQLite is asked to work.
[[nodiscard]] std::string ProbeLibraries();
// Character set and kind of terminal.
[[nodiscard]] std::string ProbeTerminal();

}  // namespace kb
