#include "bench/machine.h"

#include <sys/utsname.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace kb::bench {
namespace {

std::string CpuModel() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace

std::string MachineLine() {
  utsname system = {};
  uname(&system);
#ifdef __clang__
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
#ifdef NDEBUG
  const std::string build = "release";
#else
  const std::string build = "DEBUG BUILD: times mean nothing";
#endif
  return CpuModel() + "; " + std::to_string(std::thread::hardware_concurrency()) + " cores; " +
         system.sysname + " " + system.release + " " + system.machine + "; " + compiler + "; " +
         build;
}

std::string LoadLine() {
  double loads[3] = {};
  if (getloadavg(loads, 3) != 3) return "load average unknown";
  char text[64];
  std::snprintf(text, sizeof(text), "load average %.2f %.2f %.2f", loads[0], loads[1], loads[2]);
  return text;
}

}  // namespace kb::bench
