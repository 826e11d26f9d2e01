#include "tdd/judge/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <mutex>

#include "tdd/judge/wire.h"

namespace kb::test::internal {
namespace {

// The part of the elements that one thread has looked at.
struct Part {
  Difference sum;
  double worst_excess = -1, worst_distance = -1;  // of sum.worst: tolerances off | distance

  void Worst(int64_t at, double got, double want, double allowed, double distance) {
    double excess = allowed > 0 ? distance / allowed : kInfinity;
    if (std::isnan(excess)) excess = distance = kInfinity;
    if (excess < worst_excess || (excess == worst_excess && distance < worst_distance)) return;
    if (excess == worst_excess && distance == worst_distance && at > sum.worst) return;
    worst_excess = excess;
    worst_distance = distance;
    sum.worst = at;
    sum.got = got;
    sum.want = want;
    sum.worst_allowed = allowed;
  }

  void Add(const Format& format, int64_t at, double got, double want, double allowed) {
    const double distance = std::fabs(got - want);
    if (!std::isfinite(got) || !std::isfinite(want)) {
      // The rounded reference may itself be infinite or NaN: then only the same will do.
      const double rounded = Round(format, want);
      if (got == rounded || (std::isnan(got) && std::isnan(want))) {
        ++sum.matched;
        return;
      }
      if (std::isfinite(want)) ++sum.nonfinite;
      return Worst(at, got, want, allowed, kInfinity);
    }
    if (distance <= allowed) ++sum.matched;  // false for NaN
    if (distance == 0) return;
    sum.max_abs = std::max(sum.max_abs, distance);
    if (want != 0) sum.max_rel = std::max(sum.max_rel, distance / std::fabs(want));
    if (got != Round(format, want)) {
      sum.max_ulp = std::max(sum.max_ulp, UlpDistance(format, got, want));
    }
    Worst(at, got, want, allowed, distance);
  }

  void Add(const Part& other) {
    sum.matched += other.sum.matched;
    sum.nonfinite += other.sum.nonfinite;
    sum.max_abs = std::max(sum.max_abs, other.sum.max_abs);
    sum.max_rel = std::max(sum.max_rel, other.sum.max_rel);
    sum.max_ulp = std::max(sum.max_ulp, other.sum.max_ulp);
    if (other.sum.worst < 0) return;
    Worst(other.sum.worst, other.sum.got, other.sum.want, other.sum.worst_allowed,
          other.worst_distance);
  }
};

std::string Short(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.9g", std::isnan(value) ? std::fabs(value) : value);
  return text;
}

// "[3, 17]" of a flat index.
std::string Position(int64_t at, const std::vector<int64_t>& shape) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    if (!text.empty()) text.insert(0, ", ");
    text.insert(0, std::to_string(at % shape[d]));
    at /= shape[d];
  }
  return "[" + text + "]";
}

}  // namespace

Difference Compare(const Format& format, const Allowed& allowed, const std::vector<double>& want,
                   const std::vector<double>* magnitude, const std::vector<double>& got) {
  Part all;
  std::mutex mutex;
  const auto n = static_cast<int64_t>(want.size());
  ParallelBlocks(n, [&](int64_t begin, int64_t end) {
    Part part;
    for (int64_t i = begin; i < end; ++i) {
      double tolerance = allowed.abs + allowed.rel * std::fabs(want[i]);
      if (magnitude != nullptr) tolerance += allowed.slack * (*magnitude)[i];
      part.Add(format, i, got[i], want[i], tolerance);
    }
    std::lock_guard<std::mutex> lock(mutex);
    all.Add(part);
  });
  all.sum.count = n;
  return all.sum;
}

std::string CompareLine(int workload, const std::string& output, const Difference& difference) {
  const Difference& d = difference;
  std::string line = "compare " + std::to_string(workload) + " " + output;
  for (double value : {d.max_abs, d.max_rel, d.max_ulp}) line += " " + Number(value);
  for (int64_t value : {d.count, d.matched, d.worst, d.nonfinite}) {
    line += " " + std::to_string(value);
  }
  return line + " " + Number(d.got) + " " + Number(d.want);
}

std::string Describe(const std::string& output, const std::vector<int64_t>& shape,
                     const Difference& difference) {
  const Difference& d = difference;
  std::string text = output + Position(d.worst, shape) + " is " + Short(d.got) + ", not " +
                     Short(d.want) + " (+- " + Short(d.worst_allowed) + "); " +
                     std::to_string(d.count - d.matched) + " of " + std::to_string(d.count) +
                     " elements are off";
  if (d.nonfinite > 0) text += ", " + std::to_string(d.nonfinite) + " of them not finite";
  return text;
}

}  // namespace kb::test::internal
