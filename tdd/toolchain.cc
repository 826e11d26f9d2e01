#include "tdd/toolchain.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

namespace kb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxLogBytes = 64 << 10;
constexpr const char* kLibraryNames[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"};

// What nvrtc.h declares; written out so that kb builds where no toolkit is installed.
using Program = struct ProgramOfNvrtc*;
struct Functions {
  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*create)(Program* program, const char* source, const char* name, int headers,
                const char* const* header_sources, const char* const* header_names) = nullptr;
  int (*destroy)(Program* program) = nullptr;
  int (*compile)(Program program, int count, const char* const* options) = nullptr;
  int (*log_size)(Program program, size_t* size) = nullptr;
  int (*log)(Program program, char* log) = nullptr;
  int (*cubin_size)(Program program, size_t* size) = nullptr;
  int (*cubin)(Program program, char* cubin) = nullptr;
};

template <typename Function>
bool Load(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool LoadAll(void* library, Functions* functions) {
  return Load(library, "nvrtcVersion", &functions->version) &&
         Load(library, "nvrtcGetErrorString", &functions->error_string) &&
         Load(library, "nvrtcCreateProgram", &functions->create) &&
         Load(library, "nvrtcDestroyProgram", &functions->destroy) &&
         Load(library, "nvrtcCompileProgram", &functions->compile) &&
         Load(library, "nvrtcGetProgramLogSize", &functions->log_size) &&
         Load(library, "nvrtcGetProgramLog", &functions->log) &&
         Load(library, "nvrtcGetCUBINSize", &functions->cubin_size) &&
         Load(library, "nvrtcGetCUBIN", &functions->cubin);
}

std::string BoundedLog(std::string log) {
  while (!log.empty() && log.back() == '\0') log.pop_back();
  if (log.size() <= kMaxLogBytes) return log;
  constexpr std::string_view kCut = "\n[the log is cut here]\n";
  log.resize(kMaxLogBytes - kCut.size());
  log.resize(std::min(log.size(), log.rfind('\n')));  // npos: no line end to cut at
  return log.append(kCut);
}

// One program of the library; its log and cubin are read before it is destroyed.
class ProgramHandle {
 public:
  ProgramHandle(const Functions& functions, const CompileRequest& request) : f_(functions) {
    std::vector<const char*> texts, names;
    for (const SourceHeader& header : request.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    result_ = f_.create(&program_, request.source.c_str(), request.name.c_str(),
                        static_cast<int>(names.size()), texts.data(), names.data());
  }
  ~ProgramHandle() {
    if (program_ != nullptr) f_.destroy(&program_);
  }
  ProgramHandle(const ProgramHandle&) = delete;
  ProgramHandle& operator=(const ProgramHandle&) = delete;

  bool Compile(const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    if (result_ == 0) result_ = f_.compile(program_, static_cast<int>(words.size()), words.data());
    return result_ == 0;
  }

  std::string Log() const { return Read(f_.log_size, f_.log); }
  std::string Cubin() const { return Read(f_.cubin_size, f_.cubin); }
  const char* Failure() const { return f_.error_string(result_); }

 private:
  std::string Read(int (*size_of)(Program, size_t*), int (*read)(Program, char*)) const {
    size_t size = 0;
    if (program_ == nullptr || size_of(program_, &size) != 0) return "";
    std::string bytes(size, '\0');
    return read(program_, bytes.data()) == 0 ? bytes : "";
  }

  const Functions& f_;
  Program program_ = nullptr;
  int result_ = 0;
};

bool NamesStandard(const std::vector<std::string>& options) {
  for (std::string_view option : options) {
    option.remove_prefix(std::min(option.find_first_not_of('-'), option.size()));
    if (option.starts_with("std=")) return true;
  }
  return false;
}

class Nvrtc : public Toolchain {
 public:
  Nvrtc(const Functions& functions, std::vector<std::string> includes)
      : functions_(functions), includes_(std::move(includes)) {}

  std::string version() const override {
    int major = 0, minor = 0;
    functions_.version(&major, &minor);
    return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  }

  CompileResult Compile(const CompileRequest& request) const override {
    CompileResult result;
    if (request.source.find('\0') != std::string::npos) {
      result.log = request.name + ": error: the source has a NUL byte\n";
      return result;
    }
    std::vector<std::string> options = {"--gpu-architecture=" + request.arch};
    if (!NamesStandard(request.options)) options.push_back("--std=c++17");
    for (const std::string& folder : includes_) options.push_back("--include-path=" + folder);
    options.insert(options.end(), request.options.begin(), request.options.end());

    ProgramHandle program(functions_, request);
    bool compiled = program.Compile(options);
    result.log = BoundedLog(program.Log());
    if (compiled) result.cubin = program.Cubin();
    result.ok = !result.cubin.empty();
    if (compiled && !result.ok) {
      result.log += "no machine code for --gpu-architecture=" + request.arch + ": say sm_NN\n";
    } else if (!compiled && result.log.empty()) {
      result.log = std::string(program.Failure()) + "\n";
    }
    return result;
  }

 private:
  Functions functions_;
  std::vector<std::string> includes_;
};

// include/ and include/cccl/ of the toolkit that `library` belongs to.
std::vector<std::string> IncludeFolders(void* symbol) {
  Dl_info info = {};
  if (dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return {};
  fs::path folder = fs::path(info.dli_fname).parent_path();
  for (int up = 0; up < 3; ++up, folder = folder.parent_path()) {
    std::error_code error;
    fs::path include = folder / "include";
    if (!fs::exists(include / "cuda_fp16.h", error)) continue;
    std::vector<std::string> folders = {include.string()};
    if (fs::exists(include / "cccl", error)) folders.push_back((include / "cccl").string());
    return folders;
  }
  return {};
}

// "/usr/local/cuda-12.9" before "/usr/local/cuda-9.2": by number, newest first.
std::vector<std::string> VersionedToolkits() {
  std::vector<std::pair<double, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/usr/local", error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with("cuda-")) {
      found.emplace_back(std::atof(name.c_str() + 5), entry.path().string());
    }
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> toolkits;
  for (auto& [version, path] : found) toolkits.push_back(std::move(path));
  return toolkits;
}

}  // namespace

std::vector<std::string> NvrtcFolders() {
  std::vector<std::string> toolkits;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && *value != '\0') toolkits.emplace_back(value);
  }
  toolkits.emplace_back("/usr/local/cuda");
  for (std::string& toolkit : VersionedToolkits()) toolkits.push_back(std::move(toolkit));
  std::vector<std::string> folders;
  for (const std::string& toolkit : toolkits) folders.push_back(toolkit + "/lib64");
  folders.emplace_back();
  return folders;
}

// The library stays loaded: its threads and thread-local state do not survive dlclose.
std::unique_ptr<Toolchain> OpenNvrtc(std::string* why, const std::vector<std::string>& folders) {
  std::string looked_in;
  for (const std::string& folder : folders) {
    looked_in += (looked_in.empty() ? "" : ", ") + (folder.empty() ? "the loader's path" : folder);
    for (const char* name : kLibraryNames) {
      std::string path = folder.empty() ? name : folder + "/" + name;
      void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
      Functions functions;
      if (library == nullptr || !LoadAll(library, &functions)) continue;
      return std::make_unique<Nvrtc>(functions,
                                     IncludeFolders(reinterpret_cast<void*>(functions.version)));
    }
  }
  if (why != nullptr) {
    *why = "no NVRTC (libnvrtc.so) in " + looked_in +
           ": install a CUDA toolkit, 12 or newer, or set CUDA_HOME to where it is";
  }
  return nullptr;
}

}  // namespace kb
