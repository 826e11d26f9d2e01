#include "indexer/vector_index.h"

#include <faiss/IndexIVF.h>
#include <faiss/impl/FaissException.h>
#include <faiss/impl/io.h>
#include <faiss/index_factory.h>
#include <faiss/index_io.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kb/error.h"

namespace kb {
namespace {

// 16 partial sums keep the SSE units busy. Measured for one query, one thread, medians of 15, on
// 15k x 256 and 100k x 256: this loop 0.7 and 5.7 ms, OpenBLAS sgemv 0.3-1.5 and 10 ms,
// faiss::fvec_inner_products_ny 2.7 and 18 ms, faiss::knn_inner_product 2.7 and 18 ms (0.4-1.5
// and 10 ms with its BLAS threshold at 1). It also gives the same bytes on every machine.
float InnerProduct(const float* a, const float* b, int dim) {
  constexpr int kLanes = 16;
  float lanes[kLanes] = {};
  int i = 0;
  for (; i + kLanes <= dim; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += a[i + j] * b[i + j];
  }
  float sum = 0;
  for (float lane : lanes) sum += lane;
  for (; i < dim; ++i) sum += a[i] * b[i];
  return sum;
}

void CheckMatrix(std::span<const float> matrix, int dim) {
  if (dim > 0 && matrix.size() % dim == 0) return;
  throw Error(fmt::format("vector index: {} numbers are no rows of {}: run kb index --rebuild",
                          matrix.size(), dim));
}

void CheckQuery(std::span<const float> query, int dim) {
  if (query.size() == static_cast<size_t>(dim)) return;
  throw Error(
      fmt::format("vector index: the question has {} dimensions, the index {}: another "
                  "embedder made it; run kb index --rebuild",
                  query.size(), dim));
}

bool IsNearer(const Neighbour& a, const Neighbour& b) {
  return a.similarity != b.similarity ? a.similarity > b.similarity : a.row < b.row;
}

// FAISS is parallel by OpenMP: two threads of it on two busy cores, or within a server's many
// threads, cost more than they give, and sums in another order would change the bytes.
class OneThread {
 public:
  OneThread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// A list per sqrt(n) rows or so, with the 39 training points a list that FAISS asks for.
int ListCount(int64_t n) {
  const auto lists = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  return static_cast<int>(std::clamp<int64_t>(lists, 1, std::max<int64_t>(1, n / 39)));
}

// FAISS leaks memory when it reads an index that is cut short, so the size is asked first:
// "kb-ivf-1 DIM BYTES\n", then FAISS's bytes.
constexpr std::string_view kMagic = "kb-ivf-1 ";

std::string HeaderOf(int dim, size_t bytes) { return fmt::format("{}{} {}\n", kMagic, dim, bytes); }

// The dimension; `*bytes` is left without the header. 0 if it is none of ours or cut short.
int ReadHeader(std::string_view* bytes) {
  if (!bytes->starts_with(kMagic)) return 0;
  const std::string_view line = bytes->substr(0, bytes->find('\n'));
  const char* end = line.data() + line.size();
  int dim = 0;
  size_t size = 0;
  const auto first = std::from_chars(line.data() + kMagic.size(), end, dim);
  if (first.ec != std::errc() || first.ptr == end) return 0;
  const auto second = std::from_chars(first.ptr + 1, end, size);
  if (second.ec != std::errc() || second.ptr != end || line.size() == bytes->size()) return 0;
  bytes->remove_prefix(line.size() + 1);
  return bytes->size() == size ? dim : 0;
}

}  // namespace

std::vector<float> AllSimilarities(std::span<const float> matrix, int dim,
                                   std::span<const float> query) {
  CheckMatrix(matrix, dim);
  CheckQuery(query, dim);
  std::vector<float> scores(matrix.size() / dim);
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = InnerProduct(matrix.data() + i * dim, query.data(), dim);
  }
  return scores;
}

std::vector<Neighbour> NearestExact(std::span<const float> matrix, int dim,
                                    std::span<const float> query, int k) {
  const std::vector<float> scores = AllSimilarities(matrix, dim, query);
  std::vector<Neighbour> all;
  all.reserve(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i])) all.push_back({static_cast<int64_t>(i), scores[i]});
  }
  const auto count = std::min<std::ptrdiff_t>(std::ssize(all), std::max(k, 0));
  std::partial_sort(all.begin(), all.begin() + count, all.end(), IsNearer);
  all.resize(count);
  return all;
}

std::string BuildApproximate(std::span<const float> matrix, int dim) {
  CheckMatrix(matrix, dim);
  for (float v : matrix) {
    if (!std::isfinite(v)) throw Error("vector index: the matrix holds NaN or infinity");
  }
  const auto n = static_cast<int64_t>(matrix.size() / dim);
  if (n == 0) return HeaderOf(dim, 0);  // FAISS cannot train on nothing
  OneThread one_thread;
  try {
    const std::string kind = fmt::format("IVF{},SQ8", ListCount(n));
    std::unique_ptr<faiss::Index> index(
        faiss::index_factory(dim, kind.c_str(), faiss::METRIC_INNER_PRODUCT));
    auto& ivf = dynamic_cast<faiss::IndexIVF&>(*index);
    ivf.cp.seed = 1234;  // said, although it is FAISS's default: the bytes depend on it
    ivf.cp.min_points_per_centroid = 1;  // else FAISS prints a warning on small matrices
    // A sixteenth of the lists, 16 at least: recall@10 of .99 and more on clustered vectors.
    ivf.nprobe = std::max<size_t>(16, ivf.nlist / 16);
    index->train(n, matrix.data());
    index->add(n, matrix.data());
    faiss::VectorIOWriter writer;
    faiss::write_index(index.get(), &writer);
    return HeaderOf(dim, writer.data.size()).append(writer.data.begin(), writer.data.end());
  } catch (const faiss::FaissException& e) {
    throw Error(fmt::format("vector index: FAISS could not build it: {}", e.what()));
  }
}

struct ApproximateIndex::Rep {
  std::unique_ptr<faiss::Index> index;  // null: no rows
  int dim = 0;
};

ApproximateIndex::ApproximateIndex(std::string_view bytes) : rep_(std::make_unique<Rep>()) {
  rep_->dim = ReadHeader(&bytes);
  if (rep_->dim <= 0) throw Error("vector index: damaged or cut short: run kb index --rebuild");
  if (bytes.empty()) return;
  faiss::VectorIOReader reader;
  reader.data.assign(bytes.begin(), bytes.end());
  try {
    rep_->index.reset(faiss::read_index(&reader));
    if (dynamic_cast<const faiss::IndexIVF*>(rep_->index.get()) == nullptr) {
      throw Error("vector index: not an index that kb wrote: run kb index --rebuild");
    }
    if (rep_->index->d != rep_->dim) throw Error("vector index: damaged: run kb index --rebuild");
  } catch (const faiss::FaissException&) {
    throw Error("vector index: damaged: run kb index --rebuild");
  } catch (const std::bad_alloc&) {
    throw Error("vector index: out of memory, or damaged: run kb index --rebuild");
  }
}

ApproximateIndex::~ApproximateIndex() = default;

std::vector<Neighbour> ApproximateIndex::Nearest(std::span<const float> query, int k) const {
  CheckQuery(query, rep_->dim);
  const bool is_nan =
      std::any_of(query.begin(), query.end(), [](float v) { return std::isnan(v); });
  if (!rep_->index || k <= 0 || is_nan) return {};
  const auto count = std::min<int64_t>(k, rep_->index->ntotal);
  std::vector<float> scores(count);
  std::vector<faiss::Index::idx_t> rows(count);
  OneThread one_thread;
  try {
    rep_->index->search(1, query.data(), count, scores.data(), rows.data());
  } catch (const faiss::FaissException& e) {
    throw Error(fmt::format("vector index: FAISS could not search: {}", e.what()));
  }
  std::vector<Neighbour> found;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] >= 0) found.push_back({rows[i], scores[i]});
  }
  std::sort(found.begin(), found.end(), IsNearer);
  return found;
}

}  // namespace kb
