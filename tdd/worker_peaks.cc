#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tdd/toolchain.h"
#include "tdd/worker_run.h"

namespace kb {
namespace {

constexpr int kCopies = 20, kProducts = 20;
constexpr int64_t kCopyBytes = int64_t{1} << 30;
constexpr int kSide = 8192;
constexpr size_t kRandomElements = 4 << 20;  // uploaded again and again
constexpr int64_t kLeastMemoryForProduct = int64_t{2} << 30;

// What cublas_api.h and library_types.h declare; written out, as no toolkit is needed to build kb.
constexpr int kTranspose = 1, kNoTranspose = 0, kBf16 = 14, kCompute32F = 68,
              kDefaultAlgorithm = -1;
struct Cublas {
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*set_stream)(void* handle, cuda::Stream stream) = nullptr;
  int (*gemm)(void* handle, int transpose_a, int transpose_b, int m, int n, int k,
              const void* alpha, const void* a, int a_type, int lda, const void* b, int b_type,
              int ldb, const void* beta, void* c, int c_type, int ldc, int compute,
              int algorithm) = nullptr;
  std::string path;
};

bool LoadCublas(const std::string& path, Cublas* cublas) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) return false;
  const auto find = [library](const char* name, auto* function) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    return *function != nullptr;
  };
  cublas->path = path;
  return find("cublasCreate_v2", &cublas->create) && find("cublasDestroy_v2", &cublas->destroy) &&
         find("cublasSetStream_v2", &cublas->set_stream) && find("cublasGemmEx", &cublas->gemm);
}

bool FindCublas(Cublas* cublas) {
  for (const std::string& folder : NvrtcFolders()) {
    for (const char* name : {"libcublas.so.13", "libcublas.so.12"}) {
      if (LoadCublas(folder.empty() ? name : folder + "/" + name, cublas)) return true;
    }
  }
  return false;
}

// Best of `samples` timed runs of `work`, in microseconds, after three that are not timed.
template <typename Work>
double BestMicroseconds(const Gpu& gpu, int samples, const Work& work) {
  const Stopwatch watch(gpu);
  double best = 0;
  for (int i = -3; i < samples; ++i) {
    watch.Start();
    work();
    watch.Stop();
    gpu.Synchronize();
    const double us = watch.Microseconds();
    if (i >= 0 && (best <= 0 || us < best)) best = us;
  }
  return best;
}

void MeasureCopy(const Gpu& gpu, Peaks* peaks) {
  size_t free = 0, total = 0;
  gpu.Check(gpu.driver().MemGetInfo(&free, &total), "say how much memory is free");
  int64_t bytes = kCopyBytes;
  while (bytes > 1 << 20 && bytes > static_cast<int64_t>(free / 8)) bytes /= 2;
  const DeviceMemory from(gpu, bytes, "a copy"), to(gpu, bytes, "a copy");
  const double us = BestMicroseconds(gpu, kCopies, [&] {
    gpu.Check(gpu.driver().MemcpyDtoDAsync(to.pointer(), from.pointer(), static_cast<size_t>(bytes),
                                           gpu.stream()),
              "copy");
  });
  if (us > 0) peaks->copy_bytes_per_s = 2e6 * static_cast<double>(bytes) / us;
  peaks->how = "copy of " + std::to_string(bytes >> 20) + " MiB on the device, bytes read plus " +
               "written, best of " + std::to_string(kCopies);
}

// Numbers of about a standard normal distribution, as bf16.
std::vector<uint16_t> RandomBf16() {
  std::mt19937 engine(std::random_device{}());
  std::normal_distribution<float> normal;
  std::vector<uint16_t> numbers(kRandomElements);
  for (uint16_t& number : numbers) {
    const float value = normal(engine);
    uint32_t bits = 0;
    static_assert(sizeof(bits) == sizeof(value));
    std::copy_n(reinterpret_cast<const char*>(&value), sizeof(bits),
                reinterpret_cast<char*>(&bits));
    number = static_cast<uint16_t>(bits >> 16);
  }
  return numbers;
}

void FillRandom(const Gpu& gpu, const DeviceMemory& memory, int64_t bytes) {
  static const std::vector<uint16_t> numbers = RandomBf16();
  const auto block = static_cast<int64_t>(numbers.size() * sizeof(uint16_t));
  for (int64_t at = 0; at < bytes; at += block) {
    gpu.Check(gpu.driver().MemcpyHtoD(memory.pointer() + static_cast<size_t>(at), numbers.data(),
                                      static_cast<size_t>(std::min(block, bytes - at))),
              "take random numbers");
  }
}

void MeasureProduct(const Gpu& gpu, Peaks* peaks) {
  Cublas cublas;
  void* handle = nullptr;
  if (gpu.environment().emulated || gpu.environment().memory_bytes < kLeastMemoryForProduct ||
      !FindCublas(&cublas) || cublas.create(&handle) != 0) {
    peaks->how += "; no cuBLAS found";
    return;
  }
  const int64_t bytes = int64_t{2} * kSide * kSide;
  const DeviceMemory a(gpu, bytes, "a matrix"), b(gpu, bytes, "a matrix"),
      c(gpu, bytes, "a matrix");
  FillRandom(gpu, a, bytes);
  FillRandom(gpu, b, bytes);
  const float one = 1, zero = 0;
  bool worked = cublas.set_stream(handle, gpu.stream()) == 0;
  const double us = BestMicroseconds(gpu, kProducts, [&] {
    worked = worked && cublas.gemm(handle, kTranspose, kNoTranspose, kSide, kSide, kSide, &one,
                                   reinterpret_cast<void*>(a.pointer()), kBf16, kSide,
                                   reinterpret_cast<void*>(b.pointer()), kBf16, kSide, &zero,
                                   reinterpret_cast<void*>(c.pointer()), kBf16, kSide, kCompute32F,
                                   kDefaultAlgorithm) == 0;
  });
  static_cast<void>(cublas.destroy(handle));
  if (worked && us > 0) peaks->bf16_flops_per_s = 2e6 * kSide * kSide * double{kSide} / us;
  peaks->how += "; bf16 product of side " + std::to_string(kSide) + ", random data, best of " +
                std::to_string(kProducts) + ", " + cublas.path;
}

}  // namespace

PeaksReply PeaksOfGpu(const Gpu& gpu) {
  PeaksReply reply;
  MeasureCopy(gpu, &reply.peaks);
  MeasureProduct(gpu, &reply.peaks);
  return reply;
}

}  // namespace kb
