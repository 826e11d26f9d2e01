// What reference.cc and test.cc of a case are written with; they include it as
// "kb/case_test.h". Compiled into the judge, which holds the right answer and never runs a line
// of a candidate. All values are doubles, exactly as the kernel sees or wrote them: rounded to
// the tensor's dtype (i64 is exact up to 2^53). Tensors are flat, row-major.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kb::test {

template <class T>
using ByName = std::map<std::string, T, std::less<>>;

// ---- for reference.cc -------------------------------------------------------------------------

// The inputs of one run. An unknown name throws, which ends as INVALID_REFERENCE.
class Inputs {
 public:
  Inputs(ByName<int64_t> axes, ByName<double> scalars, ByName<std::vector<double>> tensors);
  [[nodiscard]] int64_t axis(std::string_view name) const;  // of an axis or a constant
  [[nodiscard]] double scalar(std::string_view name) const;
  [[nodiscard]] const std::vector<double>& operator[](std::string_view name) const;

 private:
  ByName<int64_t> axes_;
  ByName<double> scalars_;
  ByName<std::vector<double>> tensors_;
};

// The right outputs, to be filled in: in double, not rounded. Each has its size already and is 0.
// It must stay finite and, for integers, whole, unless a test has chosen the inputs itself.
class Outputs {
 public:
  explicit Outputs(ByName<std::vector<double>> tensors);
  [[nodiscard]] std::vector<double>& operator[](std::string_view name);
  // Element by element the sum of the absolute values of the terms that were added up. Optional:
  // feeds the tolerance (tdd/case.h) where terms cancel. Call it once, outside ParallelFor.
  [[nodiscard]] std::vector<double>& magnitude(std::string_view name);
  [[nodiscard]] const ByName<std::vector<double>>& tensors() const { return tensors_; }
  [[nodiscard]] const ByName<std::vector<double>>& magnitudes() const { return magnitudes_; }

 private:
  ByName<std::vector<double>> tensors_, magnitudes_;
};

namespace internal {
extern bool half_accumulate;  // while that mutant's outputs are computed
double RoundToHalf(double x);
void ParallelBlocks(int64_t n, const std::function<void(int64_t begin, int64_t end)>& block);
}  // namespace internal

// A sum in double. In the mutant "half-accumulate" it is rounded to half precision after each
// addition: use it for every sum that a kernel would keep, so that a test can show it would
// notice a kernel that keeps too few bits.
class Accumulator {
 public:
  explicit Accumulator(double start = 0) : sum_(start), half_(internal::half_accumulate) {}
  Accumulator& operator+=(double term) {
    sum_ += term;
    if (half_) sum_ = internal::RoundToHalf(sum_);
    return *this;
  }
  [[nodiscard]] double value() const { return sum_; }
  operator double() const { return sum_; }  // NOLINT(google-explicit-constructor)

 private:
  double sum_;
  bool half_;
};

// Calls `body(i)` for all i in [0, n) on all cores, in no order. Inside another ParallelFor it
// is a plain loop. The first exception of a body is thrown again here.
template <class Body>
void ParallelFor(int64_t n, const Body& body) {
  internal::ParallelBlocks(n, [&body](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

// c (m x n) = a (m x k) times b, which is k x n, or n x k if `b_transposed`: blocked, on all cores.
// `magnitude` (m x n, may be null) gets the sums of absolute products. Sums are Accumulators.
struct MatMulShape {
  int64_t m = 0, n = 0, k = 0;
  bool b_transposed = false;
};
void MatMul(const MatMulShape& shape, const std::vector<double>& a, const std::vector<double>& b,
            std::vector<double>* c, std::vector<double>* magnitude = nullptr);

// ---- for test.cc ------------------------------------------------------------------------------

class Workload {
 public:
  Workload(int index, std::string label, ByName<int64_t> axes)
      : index_(index), label_(std::move(label)), axes_(std::move(axes)) {}
  [[nodiscard]] int64_t axis(std::string_view name) const;  // of an axis or a constant
  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] int index() const { return index_; }

 private:
  int index_;
  std::string label_;
  ByName<int64_t> axes_;
};

// The workloads of `check:`, in order. A test program must run each of them at least once.
[[nodiscard]] const std::vector<Workload>& Workloads();
// How often a test should draw fresh inputs for one workload: 1 while mutants are tried.
[[nodiscard]] int Trials();

// How an input is filled, instead of as case.yaml says. Rounded to the input's dtype.
struct Filling {
  enum class Kind { kNormal, kUniform, kIntegers, kEach } kind = Kind::kNormal;
  double a = 0, b = 1;
  std::function<double(int64_t index)> each;
};
[[nodiscard]] Filling Constant(double value);
[[nodiscard]] Filling Normal(double mean, double standard_deviation);
[[nodiscard]] Filling Uniform(double lowest, double highest);
[[nodiscard]] Filling Integers(double lowest, double highest);           // both ends included
[[nodiscard]] Filling Each(std::function<double(int64_t index)> value);  // of the flat index
[[nodiscard]] Filling Values(std::vector<double> values);  // repeated as often as it takes

struct RunOptions {
  ByName<Filling> fill;  // by the input's name; the others are drawn as case.yaml says
};

// Draws fresh inputs, computes what is right, and gets the outputs of what is being judged: the
// candidate's, or a mutant's. A run that fails (launch error, hang, fault) fails the test; its
// outputs read as NaN. So does a run whose outputs are looked at by nobody. Write kb::test::Run in
// full: inside a TEST the name Run alone is GoogleTest's.
class Run {
 public:
  explicit Run(const Workload& workload, const RunOptions& options = {});
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] bool ok() const;
  // Whether all outputs, or one, are within the tolerance of case.yaml: else says where it is
  // worst, and how far off.
  [[nodiscard]] testing::AssertionResult Matches() const;
  [[nodiscard]] testing::AssertionResult Matches(std::string_view output) const;

  [[nodiscard]] const std::vector<double>& operator[](std::string_view output) const;
  [[nodiscard]] const std::vector<double>& want(std::string_view output) const;
  [[nodiscard]] const std::vector<double>& in(std::string_view input) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kb::test

// Written by the case's reference.cc.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out);
