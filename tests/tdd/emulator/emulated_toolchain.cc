#include "tests/tdd/emulator/emulated_toolchain.h"

#include <fstream>
#include <mutex>
#include <sstream>

#include "kb/file.h"
#include "tdd/process.h"
#include "tdd/scratch.h"
#include "tests/tdd/emulator/kernel_text.h"

namespace kb {
namespace {

constexpr const char* kRoot = KB_SOURCE_DIR;
constexpr double kTimeout_s = 120;

ProcessResult RunCompiler(std::vector<std::string> argv, const std::string& folder) {
  ProcessOptions options;
  options.argv = std::move(argv);
  options.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TMPDIR=" + folder};
  options.folder = folder;
  options.timeout_s = kTimeout_s;
  options.output_bytes = 16 << 20;
  options.sandbox = false;
  return RunProcess(options);
}

void Write(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::string> TakenOver(const std::vector<std::string>& options) {
  std::vector<std::string> words;
  bool standard = false;
  for (std::string option : options) {
    if (option.starts_with("--std=") || option.starts_with("-std=")) {
      words.push_back("-std=" + option.substr(option.find('=') + 1));
      standard = true;
    } else if (option.starts_with("-D") || option.starts_with("-U")) {
      words.push_back(option);
    }
  }
  if (!standard) words.push_back("-std=c++17");
  return words;
}

CompileResult Failed(const std::string& log) {
  CompileResult result;
  result.log = log.substr(0, 64 << 10);
  return result;
}

// The kernels' text with its own macros expanded; CUDA's words are left in it.
ProcessResult Preprocess(const std::string& compiler, const CompileRequest& request,
                         const std::vector<std::string>& options, const std::string& folder) {
  std::string path = folder + "/" + std::string(BaseName(request.name));
  for (const SourceHeader& header : request.headers) Write(folder + "/" + header.name, header.text);
  Write(path, request.source);
  std::vector<std::string> argv = {compiler,
                                   "-E",
                                   "-x",
                                   "c++",
                                   "-nostdinc",
                                   "-isystem",
                                   std::string(kRoot) + "/tests/tdd/emulator/include",
                                   "-D__CUDACC__=1",
                                   "-D__CUDACC_RTC__=1",
                                   "-D__NVCC__=1",
                                   "-D__CUDA_ARCH__=900",
                                   "-w"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back(std::string(BaseName(request.name)));
  return RunCompiler(argv, folder);
}

std::string TextToCompile(const std::string& preprocessed) {
  std::string text = "#include \"tests/tdd/emulator/cuda_on_cpu.h\"\n";
  text += RewriteShared(preprocessed);
  text += "\n# 1 \"emulator\"\n";
  for (const std::string& kernel : FindKernels(preprocessed)) text += "KB_KERNEL(" + kernel + ")\n";
  return text + "KB_END\n";
}

}  // namespace

bool EmulatedToolchain::available() const {
  return RunCompiler({compiler_, "-dumpfullversion"}, "").exit_code == 0;
}

std::string EmulatedToolchain::version() const {
  std::string number = RunCompiler({compiler_, "-dumpfullversion"}, "").out;
  return "emulator (" + compiler_ + " " + number.substr(0, number.find('\n')) + ")";
}

CompileResult EmulatedToolchain::Compile(const CompileRequest& request) const {
  Scratch scratch;
  const std::string& folder = scratch.path();
  const std::vector<std::string> options = TakenOver(request.options);
  ProcessResult preprocessed = Preprocess(compiler_, request, options, folder);
  if (preprocessed.exit_code != 0) return Failed(preprocessed.why + preprocessed.talk);
  if (int line = FindInlineAssembly(preprocessed.out); line > 0) {
    return Failed(request.name + ":" + std::to_string(line) +
                  ": error: the emulator does not run inline PTX\n");
  }
  Write(folder + "/emulated.cc", TextToCompile(preprocessed.out));
  // -fsanitize=alignment with traps: a misaligned vector access faults, as on a GPU.
  std::vector<std::string> argv = {compiler_,
                                   "-x",
                                   "c++",
                                   "-O1",
                                   "-w",
                                   "-shared",
                                   "-fPIC",
                                   "-fvisibility=hidden",
                                   "-fno-exceptions",
                                   "-fno-strict-aliasing",
                                   "-fno-toplevel-reorder",
                                   "-fno-gnu-unique",
                                   "-fsanitize=alignment",
                                   "-fsanitize-undefined-trap-on-error",
                                   "-fno-stack-protector",
                                   "-I" + std::string(kRoot),
                                   "-o",
                                   "emulated.so"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back("emulated.cc");
  ProcessResult compiled = RunCompiler(argv, folder);
  if (compiled.exit_code != 0) return Failed(compiled.why + compiled.talk);
  CompileResult result;
  result.cubin = ReadFile(folder + "/emulated.so", nullptr, 64 << 20).value_or("");
  result.ok = !result.cubin.empty();
  return result;
}

}  // namespace kb
