#include <algorithm>
#include <numeric>

#include "kb/case_test.h"

// The k first of each row in the order: larger value, then lower column.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  const int64_t cols = in.axis("cols"), k = in.axis("k");
  const std::vector<double>& x = in["x"];
  std::vector<double>& values = out["values"];
  std::vector<double>& columns = out["columns"];
  kb::test::ParallelFor(in.axis("rows"), [&](int64_t r) {
    const double* row = &x[r * cols];
    std::vector<int64_t> order(cols);
    std::iota(order.begin(), order.end(), int64_t{0});
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [row](int64_t a, int64_t b) {
      return row[a] > row[b] || (row[a] == row[b] && a < b);
    });
    for (int64_t i = 0; i < k; ++i) {
      values[r * k + i] = row[order[i]];
      columns[r * k + i] = static_cast<double>(order[i]);
    }
  });
}
