// A loop over [0, n) cut into equal pieces, one a thread. Results must not depend on the cut.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace kb {

// Calls body(begin, end) on `threads` threads; rethrows the first exception after all ended.
template <typename Body>
void ParallelFor(size_t n, int threads, const Body& body) {
  const size_t pieces =
      std::clamp<size_t>(static_cast<size_t>(std::max(threads, 1)), 1, std::max<size_t>(n, 1));
  if (pieces == 1) return body(size_t{0}, n);
  std::vector<std::exception_ptr> failures(pieces);
  std::vector<std::thread> workers;
  for (size_t i = 0; i < pieces; ++i) {
    workers.emplace_back([&, i] {
      try {
        body(n * i / pieces, n * (i + 1) / pieces);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace kb
