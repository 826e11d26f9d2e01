// Other programs, measured from outside: fork, exec, wait.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace kb::bench {

struct Run {
  int exit_code = -1;  // 128 + signal if a signal ended it
  double wall_s = 0;   // CLOCK_MONOTONIC around spawn and wait
  double cpu_s = 0;    // user and system, of the process and what it waited for
  double peak_mib = 0;
};

// Runs argv[0] (a path) with its output thrown away. Linux counts the caller's resident size
// into the peak of what it spawns: call this from a small process.
[[nodiscard]] Run Measure(const std::vector<std::string>& argv);

// The same; throws std::runtime_error if the program does not end with `exit_code`.
Run MeasureOrThrow(const std::vector<std::string>& argv, int exit_code = 0);

[[nodiscard]] double SecondsNow();

// The value at or below which the share `q` of `values` lies; 0 if there are none.
[[nodiscard]] double Quantile(std::vector<double> values, double q);

// Of `runs`, a part of each (&Run::wall_s).
[[nodiscard]] std::vector<double> PartOf(const std::vector<Run>& runs, double Run::*part);

// Calls `work` in a forked child and returns its result, so that the caller stays small.
// Throws std::runtime_error if the child fails.
template <typename Work>
auto InChild(const Work& work) {
  using Result = decltype(work());
  static_assert(std::is_trivially_copyable_v<Result>);
  Result result = {};
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
  const pid_t child = fork();
  if (child == 0) {
    int exit_code = 1;
    try {
      result = work();
      exit_code = write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1;
    } catch (const std::exception& error) {
      dprintf(STDERR_FILENO, "retrieval_bench: %s\n", error.what());
    }
    _exit(exit_code);
  }
  close(ends[1]);
  const bool whole = read(ends[0], &result, sizeof(result)) == sizeof(result);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!whole || status != 0) throw std::runtime_error("a part of the benchmark failed");
  return result;
}

}  // namespace kb::bench
