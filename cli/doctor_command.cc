// kb doctor: what Diagnose finds, as text or (cli/doctor.h) as JSON.
#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "cli/doctor.h"
#include "cli/run_commands.h"
#include "kb/json.h"

namespace kb {
namespace {

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string CheckText(const DoctorCheck& check, size_t width) {
  const bool fine = check.state == DoctorState::kFine;
  const char* state = fine ? "fine" : check.state == DoctorState::kMissing ? "missing" : "BROKEN";
  const std::string indent(width + 2, ' ');
  std::string text =
      Padded(check.name, width) + "  " + Padded(state, 7) + "  " + check.detail + "\n";
  if (fine) return text;
  return text + indent + "for      " + check.purpose + "\n" + indent + "get      " + check.mend +
         "\n";
}

std::string Summary(const std::vector<DoctorCheck>& checks) {
  const auto count = [&](DoctorState state) {
    return std::count_if(checks.begin(), checks.end(),
                         [&](const DoctorCheck& check) { return check.state == state; });
  };
  return std::string("kb ") + kVersion + (Works(checks) ? " works: " : " does not work: ") +
         std::to_string(count(DoctorState::kFine)) + " fine, " +
         std::to_string(count(DoctorState::kMissing)) + " missing, " +
         std::to_string(count(DoctorState::kBroken)) + " broken\n";
}

}  // namespace

int RunDoctor(const Args& args, Streams& streams) {
  const std::vector<DoctorCheck> checks = Diagnose(UsualPlaces(FindKbDir(args)));
  if (args.Has("--json")) {
    streams.out << WriteJson(DoctorJson(checks), 2) << '\n';
  } else {
    size_t width = 0;
    for (const DoctorCheck& check : checks) width = std::max(width, check.name.size());
    for (const DoctorCheck& check : checks) streams.out << CheckText(check, width);
    streams.out << Summary(checks);
  }
  return Works(checks) ? kFound : kNothing;
}

}  // namespace kb
