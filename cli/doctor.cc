#include "cli/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include "cli/command.h"
#include "cli/doctor_child.h"
#include "cli/doctor_probes.h"
#include "kb/file.h"
#include "tdd/toolchain.h"

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxDetail = 400;

// One thing to look for. Without a probe it is a program that says its version.
struct Item {
  const char* name;
  bool essential;
  std::string (*probe)(const DoctorPlaces& places);
  const char* purpose;
  const char* get;
  const char* repair = nullptr;  // if it is there but broken; nullptr: as `get`
};

constexpr char kToolkit[] = "the CUDA toolkit: https://developer.nvidia.com/cuda-downloads";

constexpr Item kItems[] = {
    {"libraries", true, [](const DoctorPlaces&) { return ProbeLibraries(); },
     "what kb is built from", "build kb again: scripts/run"},
    {"index", true, [](const DoctorPlaces& places) { return ProbeIndex(places.kb_dir); },
     "search, context, get and the tools for agents answer from it", "kb index skills",
     "kb index --rebuild skills"},
    {"gpu", false, [](const DoctorPlaces& places) { return ProbeGpu(places.nvml); },
     "running and profiling kernels; search, lint and advise need none",
     "a machine with an NVIDIA GPU, and its driver: https://www.nvidia.com/drivers"},
    {"nvrtc", false, [](const DoctorPlaces& places) { return ProbeNvrtc(places.nvrtc_folders); },
     "kb lint compiles the CUDA blocks of documents with it; no GPU needed", kToolkit},
    {"nvcc", false, nullptr, "building your kernels; kb itself does not call it", kToolkit},
    {"ncu", false, nullptr, "makes the reports that kb advise reads",
     "Nsight Compute, also part of the CUDA toolkit: https://developer.nvidia.com/nsight-compute"},
    {"compute-sanitizer", false, nullptr, "finds races and bad accesses in kernels", kToolkit},
    {"libcurl", false, [](const DoctorPlaces&) { return ProbeCurl(); },
     "kb index --embedder http:URL#MODEL", "apt install libcurl4"},
    {"git", false, nullptr, "kb eval diff, and the history of what is indexed", "apt install git"},
    {"bwrap", false, nullptr, "isolates programs; nothing of kb needs it yet",
     "apt install bubblewrap"},
    {"node", false, nullptr, "installers and inspectors for agents: npx skills add, mcp-inspector",
     "apt install nodejs npm, or https://nodejs.org for a newer one"},
    {"terminal", false, [](const DoctorPlaces&) { return ProbeTerminal(); },
     "how names beyond ASCII are shown", "export LANG=C.UTF-8"},
};

// The absolute path of a program; "" if there is none.
std::string FindProgram(const std::string& name, const DoctorPlaces& places) {
  std::vector<std::string> folders;
  for (size_t at = 0; at <= places.path.size();) {
    const size_t end = std::min(places.path.find(':', at), places.path.size());
    folders.push_back(places.path.substr(at, end - at));
    at = end + 1;
  }
  folders.insert(folders.end(), places.cuda_folders.begin(), places.cuda_folders.end());
  for (const std::string& folder : folders) {
    if (!folder.starts_with('/')) continue;  // "." in PATH: whatever lies about here
    std::string path = folder;
    path.append("/").append(name);
    std::error_code error;
    if (fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

// The first "12.34..." of what a program says: "release 13.0, V13.0.88" -> "13.0".
std::string VersionIn(const std::string& text) {
  const auto is_digit = [&](size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  for (size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(at)) continue;
    size_t end = at;
    bool dotted = false;
    while (is_digit(end) || (text[end] == '.' && is_digit(end + 1))) dotted |= text[end++] == '.';
    if (dotted) return text.substr(at, end - at);
    at = end;
  }
  return "";
}

// One line that can be shown, without our path for a mark.
std::string OneLine(std::string_view text) {
  return Printable(text.substr(0, std::min(text.find('\n'), kMaxDetail)));
}

class Running {
 public:
  Running(const Item& item, const DoctorPlaces& places) : item_(&item) {
    if (item.probe != nullptr) {
      child_ = std::make_unique<DoctorChild>(
          std::function<std::string()>([&] { return item.probe(places); }));
    } else if (path_ = FindProgram(item.name, places); !path_.empty()) {
      child_ = std::make_unique<DoctorChild>(std::vector<std::string>{path_, "--version"});
    }
  }

  DoctorCheck Finish(DoctorClock::time_point deadline) {
    DoctorCheck check = {item_->name, DoctorState::kFine, item_->essential, "", item_->purpose, ""};
    if (child_ == nullptr) {
      check.state = DoctorState::kMissing;
      check.detail = "not found in PATH";
    } else {
      Judge(child_->Collect(deadline), &check);
    }
    if (check.state == DoctorState::kMissing) check.mend = item_->get;
    if (check.state == DoctorState::kBroken) {
      check.mend = item_->repair == nullptr ? item_->get : item_->repair;
    }
    return check;
  }

 private:
  void Judge(const ChildOutput& output, DoctorCheck* check) const {
    check->state = DoctorState::kBroken;
    if (output.timed_out) {
      check->detail = "no answer in time";
    } else if (!output.started) {
      check->detail = path_ + " cannot be started";
    } else if (output.exit_code > 128) {
      check->detail = "ended by signal " + std::to_string(output.exit_code - 128);
    } else if (item_->probe != nullptr) {
      JudgeProbe(output, check);
    } else {
      JudgeProgram(output, check);
    }
  }

  static void JudgeProbe(const ChildOutput& output, DoctorCheck* check) {
    const char mark = output.exit_code == 0 && !output.text.empty() ? output.text[0] : '\0';
    if (mark == '+') check->state = DoctorState::kFine;
    if (mark == '-') check->state = DoctorState::kMissing;
    const bool marked = mark == '+' || mark == '-' || mark == '!';
    check->detail = OneLine(std::string_view(output.text).substr(marked ? 1 : 0));
  }

  void JudgeProgram(const ChildOutput& output, DoctorCheck* check) const {
    const std::string version = VersionIn(output.text);
    if (output.exit_code != 0) {
      check->detail = path_ + " --version fails with exit code " + std::to_string(output.exit_code);
      return;
    }
    check->state = DoctorState::kFine;
    check->detail = (version.empty() ? "version unknown" : version) + ", " + Printable(path_);
  }

  const Item* item_;
  std::string path_;
  std::unique_ptr<DoctorChild> child_;
};

const char* StateName(DoctorState state) {
  if (state == DoctorState::kFine) return "fine";
  return state == DoctorState::kMissing ? "missing" : "broken";
}

// Where toolkits and stand-alone profilers put programs.
std::vector<std::string> CudaFolders() {
  std::vector<std::string> folders;
  for (const std::string& library : NvrtcFolders()) {
    if (!library.empty()) folders.push_back(fs::path(library).parent_path().string() + "/bin");
  }
  std::vector<std::string> profilers;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/opt/nvidia/nsight-compute", error)) {
    profilers.push_back(entry.path().string());
  }
  std::sort(profilers.rbegin(), profilers.rend());
  folders.insert(folders.end(), profilers.begin(), profilers.end());
  return folders;
}

}  // namespace

DoctorPlaces UsualPlaces(const std::string& kb_dir) {
  DoctorPlaces places;
  places.kb_dir = kb_dir;
  const char* path = std::getenv("PATH");
  places.path = path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path;
  places.cuda_folders = CudaFolders();
  places.nvrtc_folders = NvrtcFolders();
  return places;
}

std::vector<DoctorCheck> Diagnose(const DoctorPlaces& places) {
  const auto deadline = DoctorClock::now() + places.deadline;
  std::vector<std::unique_ptr<Running>> running;
  for (const Item& item : kItems) running.push_back(std::make_unique<Running>(item, places));
  std::vector<DoctorCheck> checks;
  for (const auto& probe : running) checks.push_back(probe->Finish(deadline));
  return checks;
}

bool Works(const std::vector<DoctorCheck>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const DoctorCheck& check) {
    return check.essential && check.state == DoctorState::kBroken;
  });
}

Value DoctorJson(const std::vector<DoctorCheck>& checks) {
  Value::List list;
  for (const DoctorCheck& check : checks) {
    list.push_back(Value(Value::Map{{"name", check.name},
                                    {"state", StateName(check.state)},
                                    {"essential", check.essential},
                                    {"detail", check.detail},
                                    {"purpose", check.purpose},
                                    {"mend", check.mend}}));
  }
  return Value(Value::Map{
      {"works", Works(checks)}, {"version", kVersion}, {"checks", Value(std::move(list))}});
}

}  // namespace kb
