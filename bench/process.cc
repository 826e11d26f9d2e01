#include "bench/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

extern char** environ;

namespace kb::bench {

double SecondsNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Run Measure(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_WRONLY, 0);
  }
  Run run;
  pid_t child = -1;
  int status = 0;
  rusage usage = {};
  const double start = SecondsNow();
  const int error = posix_spawn(&child, words[0], &quiet, nullptr, words.data(), environ);
  if (error == 0) wait4(child, &status, 0, &usage);
  run.wall_s = SecondsNow() - start;
  posix_spawn_file_actions_destroy(&quiet);
  if (error != 0) return run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.cpu_s = Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
  run.peak_mib = static_cast<double>(usage.ru_maxrss) / 1024;
  return run;
}

Run MeasureOrThrow(const std::vector<std::string>& argv, int exit_code) {
  const Run run = Measure(argv);
  if (run.exit_code == exit_code) return run;
  std::string line;
  for (const std::string& word : argv) line += " " + word;
  throw std::runtime_error("exit code " + std::to_string(run.exit_code) + " of" + line);
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size())));
  return values[std::clamp<size_t>(rank, 1, values.size()) - 1];
}

std::vector<double> PartOf(const std::vector<Run>& runs, double Run::*part) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(run.*part);
  return values;
}

}  // namespace kb::bench
