#include "tdd/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "kb/file.h"
#include "tdd/compile_child.h"
#include "tdd/cubin.h"

namespace kb {
namespace {

void CompileHere(const CompileRequest& request, const Toolchain& toolchain, Compiled* compiled) {
  CompileResult result = toolchain.Compile(request);
  compiled->log = std::move(result.log);
  compiled->binary = std::move(result.cubin);
}

// A launch of a kernel that the cubin lacks; "" if all are there, or its sections do not tell.
std::string MissingKernel(const Candidate& candidate, const std::string& cubin) {
  constexpr std::string_view kText = ".text.";
  std::set<std::string, std::less<>> kernels;
  for (const ElfSection& section : ReadElfSections(cubin)) {
    if (section.name.starts_with(kText)) kernels.insert(section.name.substr(kText.size()));
  }
  if (kernels.empty()) return "";
  for (const LaunchSpec& launch : candidate.launches) {
    if (kernels.contains(launch.kernel)) continue;
    std::string names;
    for (const std::string& name : kernels) names += (names.empty() ? "" : ", ") + name;
    return fmt::format(
        "{}/launch.yaml:{}: no kernel {} in {} (it has: {}); kernels are declared "
        "extern \"C\" __global__",
        candidate.folder, launch.line, launch.kernel, candidate.source,
        Printable(names.substr(0, 300)));
  }
  return "";
}

Verdict VerdictOf(const Candidate& candidate, const Compiled& compiled) {
  if (compiled.binary.empty()) {
    const bool arch =
        compiled.log.find("invalid value for --gpu-architecture") != std::string::npos;
    return {arch ? Status::kInfraError : Status::kCompileError, "",
            arch ? compiled.compiler + " does not know " + compiled.arch +
                       ": install a newer CUDA toolkit"
                 : FirstError(compiled.log)};
  }
  if (candidate.kind != CandidateKind::kDevice) return {};
  const std::string missing = MissingKernel(candidate, compiled.binary);
  return missing.empty() ? Verdict() : Verdict{Status::kLinkError, "", missing};
}

}  // namespace

CompileRequest RequestFor(const Candidate& candidate, const std::string& arch) {
  CompileRequest request;
  request.source = candidate.source_text;
  request.name = candidate.source;
  request.arch = arch;
  for (const std::string& flag : candidate.flags) {
    const bool level = flag.size() == 3 && flag.starts_with("-O");  // nvcc's; NVRTC knows it not
    request.options.push_back(level ? "--ptxas-options=" + flag : flag);
  }
  for (const auto& [name, values] : candidate.params) {
    if (!values.empty()) request.options.push_back("-D" + name + "=" + std::to_string(values[0]));
  }
  for (const CandidateFile& file : candidate.files) {
    request.headers.push_back({file.name, file.text});
  }
  return request;
}

Compiled CompileCandidate(const Case& /*for_case*/, const Candidate& candidate,
                          const CompileRequestOf& how) {
  const auto begin = std::chrono::steady_clock::now();
  Compiled compiled;
  compiled.arch = how.arch;
  if (how.toolchain != nullptr) compiled.compiler = how.toolchain->version();
  CompileRequest request = RequestFor(candidate, how.arch);
  compiled.options = request.options;
  if (candidate.kind == CandidateKind::kHost) {
    CompileWithNvcc(candidate, how, &compiled);
  } else {
    request.options.emplace_back("--ptxas-options=-v");
    if (!how.kb.empty()) {
      CompileInChild(request, how, &compiled);
    } else if (how.toolchain != nullptr) {
      CompileHere(request, *how.toolchain, &compiled);
    } else {
      compiled.verdict = {Status::kSkipped, "no toolchain", "no compiler was given"};
    }
  }
  compiled.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!compiled.verdict.passed()) return compiled;
  compiled.verdict = VerdictOf(candidate, compiled);
  compiled.kernels = ReadPtxasLog(compiled.log);
  return compiled;
}

Value ToValue(const Compiled& compiled) {
  Value value, options = Value::List{}, kernels = Value::List{};
  for (const std::string& option : compiled.options) options.Add(option);
  for (const KernelResources& kernel : compiled.kernels) kernels.Add(ToValue(kernel));
  value.Set("compiler", compiled.compiler).Set("arch", compiled.arch);
  value.Set("options", options).Set("kernels", kernels);
  if (!compiled.verdict.passed()) value.Set("log", compiled.log);
  return value.Set("cpu_s", compiled.cpu_s).Set("wall_s", compiled.wall_s);
}

}  // namespace kb
