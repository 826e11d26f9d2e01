// What is installed, what works, and how to get what is missing. Each probe runs in a child
// process, all at once: a driver that hangs or a library that crashes is a finding, not our end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "kb/value.h"

namespace kb {

enum class DoctorState {
  kFine,
  kMissing,  // kb works without it
  kBroken,   // it is there and does not work
};

struct DoctorCheck {
  std::string name;  // "index", "gpu", "nvcc", ...
  DoctorState state = DoctorState::kFine;
  bool essential = false;  // kb's main job needs it
  std::string detail;      // version, place, or what is wrong; one line
  std::string purpose;     // what it is good for
  std::string mend;        // how to get or repair it; "" if it is fine
};

// Where to look; tests look elsewhere.
struct DoctorPlaces {
  std::string kb_dir;                     // the index, which need not exist
  std::string path;                       // folders of programs, as in $PATH
  std::vector<std::string> cuda_folders;  // where programs of a toolkit are, beside `path`
  std::vector<std::string> nvrtc_folders;
  std::string nvml = "libnvidia-ml.so.1";
  std::chrono::milliseconds deadline{10000};  // of all probes together
};

// As this process finds them.
[[nodiscard]] DoctorPlaces UsualPlaces(const std::string& kb_dir);

// Never throws for what it finds; takes no longer than the deadline and a moment.
[[nodiscard]] std::vector<DoctorCheck> Diagnose(const DoctorPlaces& places);

// False if something essential is broken.
[[nodiscard]] bool Works(const std::vector<DoctorCheck>& checks);

// {works, version, checks: [{name, state: "fine"|"missing"|"broken", essential, detail,
//  purpose, mend}...]}
[[nodiscard]] Value DoctorJson(const std::vector<DoctorCheck>& checks);

}  // namespace kb
