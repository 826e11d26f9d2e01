#include "indexer/lsa.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "indexer/linalg.h"
#include "indexer/parallel.h"

namespace kb {
namespace {

constexpr size_t kOversampling = 10;
constexpr size_t kMinDf = 2;
constexpr double kMaxDfShare = 0.3;
constexpr float kTiny = 1e-6f;  // eigenvalues below this share of the largest are noise

struct Weighted {
  uint32_t index;
  float weight;
};

// The matrix both ways round, so that each product writes every output row from one thread.
struct SparseMatrix {
  Rows<Weighted> by_row;
  Rows<Weighted> by_column;
};

float LogCount(Packed p) { return 1.0f + std::log(static_cast<float>(PackedCount(p))); }

std::vector<uint32_t> DocumentFrequencies(RowsView<Packed> rows, size_t term_count) {
  std::vector<uint32_t> df(term_count, 0);
  for (const Packed p : rows.items) {
    if (PackedId(p) < term_count) ++df[PackedId(p)];
  }
  return df;
}

// The terms that get a vector, by spelling; the most frequent if there are too many.
std::vector<TermId> PickColumns(const std::vector<uint32_t>& df,
                                std::span<const std::string_view> terms, size_t rows, size_t most) {
  const double max_df = rows < 20 ? 1e9 : kMaxDfShare * static_cast<double>(rows);
  std::vector<TermId> picked;
  for (TermId id = 0; id < df.size(); ++id) {
    if (df[id] >= kMinDf && df[id] <= max_df) picked.push_back(id);
  }
  const auto by_spelling = [&](TermId a, TermId b) { return terms[a] < terms[b]; };
  std::sort(picked.begin(), picked.end(), by_spelling);
  if (picked.size() <= most) return picked;
  std::stable_sort(picked.begin(), picked.end(), [&](TermId a, TermId b) { return df[a] > df[b]; });
  picked.resize(most);
  std::sort(picked.begin(), picked.end(), by_spelling);
  return picked;
}

std::vector<Weighted> WeighRow(std::span<const Packed> row, std::span<const uint32_t> columns,
                               std::span<const float> idf) {
  std::vector<Weighted> out;
  for (const Packed p : row) {
    const uint32_t column = PackedId(p) < columns.size() ? columns[PackedId(p)] : kNoTerm;
    if (column >= idf.size()) continue;
    out.push_back({column, LogCount(p) * idf[column]});
  }
  // Summed in the order of columns, so that the numbering of terms leaves no trace in the bits.
  std::sort(out.begin(), out.end(),
            [](const Weighted& a, const Weighted& b) { return a.index < b.index; });
  float squares = 0;
  for (const Weighted& w : out) squares += w.weight * w.weight;
  const float scale = squares > 0 ? 1.0f / std::sqrt(squares) : 0.0f;
  for (Weighted& w : out) w.weight *= scale;
  return out;
}

SparseMatrix BuildMatrix(RowsView<Packed> rows, const LsaModel& model, size_t max_rows) {
  SparseMatrix m;
  const size_t n = std::min(rows.size(), max_rows);
  for (size_t i = 0; i < n; ++i) {
    m.by_row.Append(WeighRow(rows[rows.size() * i / n], model.columns, model.idf));
  }
  std::vector<uint64_t>& offsets = m.by_column.offsets;
  offsets.assign(model.idf.size() + 1, 0);
  for (const Weighted& w : m.by_row.items) ++offsets[w.index + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  m.by_column.items.resize(m.by_row.items.size());
  std::vector<uint64_t> next(offsets.begin(), offsets.end() - 1);
  for (size_t i = 0; i < n; ++i) {
    for (const Weighted& w : m.by_row.view()[i]) {
      m.by_column.items[next[w.index]++] = {static_cast<uint32_t>(i), w.weight};
    }
  }
  return m;
}

// out (rows x k) = sparse (rows x n) * dense (n x k).
std::vector<float> Multiply(RowsView<Weighted> sparse, const std::vector<float>& dense, size_t k,
                            int threads) {
  std::vector<float> out(sparse.size() * k, 0.0f);
  ParallelFor(sparse.size(), threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* const to = out.data() + i * k;
      for (const Weighted& w : sparse[i]) {
        const float* const from = dense.data() + w.index * k;
        for (size_t j = 0; j < k; ++j) to[j] += w.weight * from[j];
      }
    }
  });
  return out;
}

// The columns of y (n x k) made orthonormal, by the eigenvectors of y^T y; directions that are
// noise are dropped, so the result may have fewer columns (the new *k).
std::vector<float> Orthonormalise(const std::vector<float>& y, size_t n, size_t* k) {
  std::vector<float> gram(*k * *k);
  Gram(y, static_cast<int>(n), static_cast<int>(*k), gram);
  const Eigen eigen = SymmetricEigen(gram, static_cast<int>(*k));
  size_t kept = 0;
  while (kept < *k && eigen.values[kept] > kTiny * eigen.values[0]) ++kept;
  std::vector<float> basis(*k * kept);
  for (size_t i = 0; i < *k; ++i) {
    for (size_t j = 0; j < kept; ++j) {
      basis[i * kept + j] = eigen.vectors[i * *k + j] / std::sqrt(eigen.values[j]);
    }
  }
  std::vector<float> out(n * kept);
  MatMul(y, basis, static_cast<int>(n), static_cast<int>(*k), static_cast<int>(kept), out);
  *k = kept;
  return out;
}

// Numbers of zero mean and unit variance, good enough for a random projection.
std::vector<float> RandomMatrix(size_t n) {
  std::vector<float> out(n);
  uint64_t state = 0x243F6A8885A308D3ull;
  for (float& x : out) {
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      sum += static_cast<float>(state >> 40) / 16777216.0f - 0.5f;
    }
    x = sum * 1.7320508f;
  }
  return out;
}

// The right singular vectors v (columns x dim), each scaled by its singular value to the power
// of -1/2: strong, common directions count less, which ranks better than the plain projection.
std::vector<float> ScaledRightVectors(const SparseMatrix& m, const LsaOptions& options, int* dim) {
  const size_t rows = m.by_row.view().size(), columns = m.by_column.view().size();
  const auto sketch = static_cast<size_t>(options.dim) + kOversampling;
  size_t k = std::min({sketch, rows, columns});
  std::vector<float> y = Multiply(m.by_row.view(), RandomMatrix(columns * k), k, options.threads);
  y = Orthonormalise(y, rows, &k);
  for (int i = 0; i < options.iterations; ++i) {
    const std::vector<float> z = Multiply(m.by_column.view(), y, k, options.threads);
    y = Multiply(m.by_row.view(), z, k, options.threads);
    y = Orthonormalise(y, rows, &k);
  }
  const std::vector<float> b = Multiply(m.by_column.view(), y, k, options.threads);
  std::vector<float> gram(k * k);
  Gram(b, static_cast<int>(columns), static_cast<int>(k), gram);
  const Eigen eigen = SymmetricEigen(gram, static_cast<int>(k));  // values: sigma squared
  size_t kept = 0;
  while (kept < k && kept < static_cast<size_t>(options.dim) &&
         eigen.values[kept] > kTiny * eigen.values[0]) {
    ++kept;
  }
  std::vector<float> turn(k * kept);
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = 0; j < kept; ++j) {
      turn[i * kept + j] = eigen.vectors[i * k + j] * std::pow(eigen.values[j], -0.75f);
    }
  }
  std::vector<float> v(columns * kept);
  MatMul(b, turn, static_cast<int>(columns), static_cast<int>(k), static_cast<int>(kept), v);
  *dim = static_cast<int>(kept);
  return v;
}

}  // namespace

LsaModel TrainLsa(RowsView<Packed> rows, std::span<const std::string_view> terms,
                  const LsaOptions& options) {
  LsaModel model;
  model.columns.assign(terms.size(), kNoTerm);
  const std::vector<uint32_t> df = DocumentFrequencies(rows, terms.size());
  for (const TermId id :
       PickColumns(df, terms, rows.size(), static_cast<size_t>(options.max_columns))) {
    model.columns[id] = static_cast<uint32_t>(model.idf.size());
    model.idf.push_back(std::log(static_cast<float>(rows.size()) / static_cast<float>(df[id])));
  }
  if (model.idf.size() < 2 || rows.size() < 2) return LsaModel{};
  const SparseMatrix matrix = BuildMatrix(rows, model, static_cast<size_t>(options.max_rows));
  if (matrix.by_row.items.empty()) return LsaModel{};
  model.matrix = ScaledRightVectors(matrix, options, &model.dim);
  return model.dim > 0 ? std::move(model) : LsaModel{};
}

LsaView ViewOf(const LsaModel& model) {
  return {model.dim, model.columns, model.idf, model.matrix};
}

LsaView ViewOf(const Snapshot& snapshot) {
  const SectionFile& file = snapshot.file();
  LsaView view = {static_cast<int>(snapshot.vector_meta().dim), file.Section<uint32_t>(kLsaColumns),
                  file.Section<float>(kLsaIdf), file.Section<float>(kLsaMatrix)};
  const bool whole = view.matrix.size() == view.idf.size() * static_cast<size_t>(view.dim);
  return whole && !view.idf.empty() ? view : LsaView{};
}

std::vector<float> EmbedRow(const LsaView& model, std::span<const Packed> row) {
  const auto dim = static_cast<size_t>(model.dim);
  std::vector<float> out(dim, 0.0f);
  for (const Weighted& w : WeighRow(row, model.columns, model.idf)) {
    const float* const from = model.matrix.data() + w.index * dim;
    for (size_t j = 0; j < dim; ++j) out[j] += w.weight * from[j];
  }
  float squares = 0;
  for (const float x : out) squares += x * x;
  const float scale = squares > 0 ? 1.0f / std::sqrt(squares) : 0.0f;
  for (float& x : out) x *= scale;
  return out;
}

std::vector<Packed> CountTerms(std::vector<TermId> terms) {
  std::sort(terms.begin(), terms.end());
  std::vector<Packed> out;
  for (size_t i = 0; i < terms.size();) {
    size_t j = i;
    while (j < terms.size() && terms[j] == terms[i]) ++j;
    out.push_back(Pack(terms[i], static_cast<uint32_t>(std::min<size_t>(j - i, 255))));
    i = j;
  }
  return out;
}

}  // namespace kb
