#include "tdd/worker_program.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kb/file.h"

namespace kb {
namespace {

constexpr int64_t kMaxProgramBytes = 256 << 20;
constexpr unsigned kMaxNames = 64;
constexpr int kUsualSharedBytes = 48 << 10;
constexpr size_t kSlotWords = 16;  // an argument's place: 128 bytes, a tensor map's size
constexpr size_t kMaxParameterBytes = 32764;
constexpr size_t kMaxArguments = 4096;

WorkerFault Fault(Status status, std::string message) {
  return WorkerFault({status, "", std::move(message)});
}

std::string Times(const std::array<int64_t, 3>& counts) {
  return std::to_string(counts[0]) + "x" + std::to_string(counts[1]) + "x" +
         std::to_string(counts[2]);
}

int Swizzle(int bytes) {
  switch (bytes) {
    case 32:
      return 1;
    case 64:
      return 2;
    case 128:
      return 3;
    default:
      return 0;
  }
}

// Of the candidate's doing, or does it only show a fault of code that ran before?
bool IsLaunchFault(cuda::Result result) {
  return result < cuda::kIllegalAddress || result == cuda::kLaunchOutOfResources ||
         result > cuda::kLaunchFailed;
}

}  // namespace

LoadedProgram::LoadedProgram(const Gpu& gpu, bool host, const std::string& path) : gpu_(gpu) {
  if (host) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) {
      const char* error = dlerror();
      throw Fault(Status::kLinkError, error == nullptr ? "does not load" : error);
    }
    run_ = reinterpret_cast<decltype(run_)>(dlsym(library, "kb_run"));
    if (run_ != nullptr) return;
    throw Fault(Status::kLinkError,
                "the shared object has no function kb_run; define extern \"C\" int "
                "kb_run(const kb_args*, CUstream_st*)");
  }
  std::string why;
  const auto image = ReadFile(path, &why, kMaxProgramBytes);
  if (!image) throw Fault(Status::kInfraError, "the worker cannot read " + path + ": " + why);
  const cuda::Result result = gpu.driver().ModuleLoadData(&module_, image->c_str());
  if (result == 0) return;
  throw Fault(Status::kLinkError, "the cubin does not load on " + gpu.environment().gpu + " (" +
                                      gpu.environment().arch + "): " + gpu.driver().Text(result));
}

LoadedProgram::~LoadedProgram() {
  if (module_ != nullptr) static_cast<void>(gpu_.driver().ModuleUnload(module_));
}

std::string LoadedProgram::KernelNames() const {
  const cuda::Driver& driver = gpu_.driver();
  unsigned count = 0;
  if (driver.ModuleGetFunctionCount == nullptr || driver.ModuleEnumerateFunctions == nullptr ||
      driver.FuncGetName == nullptr || driver.ModuleGetFunctionCount(&count, module_) != 0) {
    return "";
  }
  std::vector<cuda::Function> functions(std::min(count, kMaxNames));
  if (driver.ModuleEnumerateFunctions(functions.data(), static_cast<unsigned>(functions.size()),
                                      module_) != 0) {
    return "";
  }
  std::string names;
  for (const cuda::Function function : functions) {
    const char* name = nullptr;
    if (driver.FuncGetName(&name, function) == 0)
      names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names.empty() ? "; it has none" : "; it has " + names;
}

cuda::Function LoadedProgram::Find(const std::string& kernel) const {
  cuda::Function function = nullptr;
  const cuda::Result result = gpu_.driver().ModuleGetFunction(&function, module_, kernel.c_str());
  if (result == 0) return function;
  if (result != cuda::kNotFound) throw gpu_.CandidateFault(result, "kernel " + kernel);
  throw Fault(Status::kLinkError, "the cubin has no kernel " + kernel + KernelNames() +
                                      "; declare it extern \"C\" __global__");
}

Call::Call(const Gpu& gpu, const LoadedProgram& program, const RunPlan& plan,
           const FindBuffer& find)
    : gpu_(gpu), program_(program), axes_(plan.axes), scalars_(plan.scalars) {
  for (const BufferPlan& buffer : plan.buffers) {
    const Buffer& found = find(buffer.name);
    if (buffer.zero) cleared_.push_back(&found);
    pointers_.push_back(reinterpret_cast<void*>(found.pointer()));
    bytes_.push_back(found.bytes());
  }
  if (program.host()) return;
  const Maps maps = EncodeMaps(plan, find);
  for (const LaunchPlan& launch : plan.launches) AddLaunch(launch, find, maps);
}

Call::Maps Call::EncodeMaps(const RunPlan& plan, const FindBuffer& find) const {
  Maps maps;
  for (const TensorMapPlan& map : plan.maps) {
    if (gpu_.driver().TensorMapEncodeTiled == nullptr) {
      throw Fault(Status::kLaunchError, "this driver makes no tensor maps; " + map.name +
                                            " needs one of CUDA 12 or newer");
    }
    const std::vector<uint64_t> dims(map.dims.begin(), map.dims.end());
    std::vector<uint64_t> strides(map.strides.begin(), map.strides.end());
    const std::vector<uint32_t> box(map.box.begin(), map.box.end());
    const std::vector<uint32_t> steps(dims.size(), 1);
    if (dims.empty() || dims.size() > 5 || box.size() != dims.size() ||
        strides.size() + 1 != dims.size()) {
      throw Fault(Status::kLaunchError, "tensor map " + map.name +
                                            " needs 1 to 5 dims, a box of as many, and a stride "
                                            "for all but the first");
    }
    strides.push_back(0);  // never a null pointer
    const cuda::Result result = gpu_.driver().TensorMapEncodeTiled(
        &maps[map.name], map.data_type, static_cast<uint32_t>(dims.size()),
        reinterpret_cast<void*>(find(map.buffer).pointer()), dims.data(), strides.data(),
        box.data(), steps.data(), 0, Swizzle(map.swizzle_bytes), 2, 0);
    if (result == 0) continue;
    throw Fault(Status::kLaunchError,
                "tensor map " + map.name + ": " + gpu_.driver().Text(result) +
                    "; strides are multiples of 16 bytes, box sides at most 256, and the box's "
                    "first side in bytes a multiple of 16 and at most the swizzle");
  }
  return maps;
}

void Call::AddLaunch(const LaunchPlan& plan, const FindBuffer& find, const Maps& maps) {
  auto launch = std::make_unique<Launch>();
  launch->function = program_.Find(plan.kernel);
  launch->name = "launch " + std::to_string(launches_.size() + 1) + " (kernel " + plan.kernel +
                 ", grid " + Times(plan.grid) + ", block " + Times(plan.block) + ", shared " +
                 std::to_string(plan.shared_bytes) + ")";
  if (plan.args.size() > kMaxArguments) {
    throw Fault(Status::kLaunchError, launch->name + ": more than 4,096 arguments");
  }
  for (int i = 0; i < 3; ++i) {
    launch->config.grid[i] = static_cast<unsigned>(plan.grid[static_cast<size_t>(i)]);
    launch->config.block[i] = static_cast<unsigned>(plan.block[static_cast<size_t>(i)]);
    launch->cluster.value.cluster[i] = static_cast<unsigned>(plan.cluster[static_cast<size_t>(i)]);
  }
  launch->config.shared_bytes = static_cast<unsigned>(plan.shared_bytes);
  launch->config.stream = gpu_.stream();
  launch->cluster.id = cuda::kAttributeCluster;
  if (plan.cluster[0] * plan.cluster[1] * plan.cluster[2] > 1) {
    launch->config.attributes = &launch->cluster;
    launch->config.attribute_count = 1;
  }
  // The driver reads as many bytes as the kernel declares, whatever we give: zeros stand behind.
  launch->bytes.resize(plan.args.size() * kSlotWords + kMaxParameterBytes / 8 + 1);
  for (size_t i = 0; i < plan.args.size(); ++i) {
    const ArgPlan& arg = plan.args[i];
    uint64_t* slot = launch->bytes.data() + i * kSlotWords;
    launch->arguments.push_back(slot);
    if (!arg.buffer.empty()) {
      *slot = find(arg.buffer).pointer();
    } else if (!arg.map.empty()) {
      const auto map = maps.find(arg.map);
      if (map == maps.end()) {
        throw Fault(Status::kInfraError, "the plan has no tensor map " + arg.map);
      }
      std::memcpy(slot, &map->second, sizeof(map->second));
    } else {
      std::memcpy(slot, arg.bytes.data(), std::min<size_t>(arg.bytes.size(), 8));
    }
  }
  CheckArguments(plan, *launch);
  launch->arguments.resize(kMaxArguments, launch->bytes.data() + plan.args.size() * kSlotWords);
  SetAttributes(*launch);
  launches_.push_back(std::move(launch));
}

// What the kernel declares against what it gets, where the driver tells (12.4 and newer).
void Call::CheckArguments(const LaunchPlan& plan, const Launch& launch) const {
  if (gpu_.driver().FuncGetParamInfo == nullptr) return;
  size_t count = 0, offset = 0, bytes = 0;
  while (count < kMaxArguments &&
         gpu_.driver().FuncGetParamInfo(launch.function, count, &offset, &bytes) == 0) {
    if (count < plan.args.size()) {
      const ArgPlan& arg = plan.args[count];
      const size_t given = !arg.buffer.empty() ? 8 : !arg.map.empty() ? 128 : arg.bytes.size();
      if (given != bytes) {
        throw Fault(Status::kLaunchError, launch.name + ": argument " + std::to_string(count + 1) +
                                              " has " + std::to_string(bytes) +
                                              " bytes in the kernel and " + std::to_string(given) +
                                              " in launch.yaml");
      }
    }
    ++count;
  }
  if (count == plan.args.size()) return;
  throw Fault(Status::kLaunchError, launch.name + ": the kernel takes " + std::to_string(count) +
                                        " arguments, launch.yaml gives " +
                                        std::to_string(plan.args.size()));
}

void Call::SetAttributes(const Launch& launch) const {
  const cuda::Driver& driver = gpu_.driver();
  const auto set = [&](int attribute, int value) {
    const cuda::Result result = driver.FuncSetAttribute(launch.function, attribute, value);
    if (result == 0) return;
    throw Fault(Status::kLaunchError, launch.name + ": " + driver.Text(result));
  };
  int fixed = 0, allowed = 0;
  gpu_.Check(driver.FuncGetAttribute(&fixed, cuda::kStaticSharedBytes, launch.function),
             "read a kernel's attribute");
  const int dynamic = static_cast<int>(launch.config.shared_bytes);
  if (dynamic > kUsualSharedBytes - fixed) {
    gpu_.Check(driver.FuncGetAttribute(&allowed, cuda::kMaxDynamicSharedBytes, launch.function),
               "read a kernel's attribute");
    if (dynamic > allowed) set(cuda::kMaxDynamicSharedBytes, dynamic);
  }
  const unsigned* cluster = launch.cluster.value.cluster;
  if (cluster[0] * cluster[1] * cluster[2] > 8) set(cuda::kNonPortableClusterAllowed, 1);
}

void Call::Enqueue() const {
  for (const Buffer* buffer : cleared_) buffer->FillAsync(0);
  for (const auto& launch : launches_) EnqueueLaunch(*launch);
  if (program_.host()) RunHost();
}

void Call::EnqueueLaunch(const Launch& launch) const {
  const cuda::Result result = gpu_.driver().LaunchKernelEx(
      &launch.config, launch.function, const_cast<void**>(launch.arguments.data()), nullptr);
  if (result == 0) return;
  if (!IsLaunchFault(result)) throw gpu_.CandidateFault(result, "before " + launch.name);
  throw Fault(Status::kLaunchError, launch.name + ": " + gpu_.driver().Text(result));
}

void Call::RunHost() const {
  kb_args args = {};
  args.version = 1;
  args.buffers = static_cast<int32_t>(pointers_.size());
  args.pointers = pointers_.data();
  args.bytes = bytes_.data();
  args.axes = static_cast<int32_t>(axes_.size());
  args.axis_values = axes_.data();
  args.scalars = static_cast<int32_t>(scalars_.size());
  args.scalar_values = scalars_.data();
  gpu_.NoteHostCode();
  const int code = program_.Run(args, gpu_.stream());
  if (code == 0) return;
  throw WorkerFault({Status::kRuntimeError, "", "kb_run returned " + std::to_string(code)}, true);
}

}  // namespace kb
