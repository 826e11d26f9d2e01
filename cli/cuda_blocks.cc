#include "cli/cuda_blocks.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <thread>

#include "kb/lint.h"
#include "kb/markdown.h"
#include "kb/sha256.h"

namespace kb {
namespace {

constexpr const char kRule[] = "cuda-block-compiles";
constexpr const char kSourceName[] = "block.cu";
constexpr const char kDefaultArch[] = "sm_80";

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t,"), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find_first_of(" \t,")));
    text.remove_prefix(words.back().size());
  }
}

// The lowest architecture of ">=sm_90 <sm_100", "sm_90a", ...; "" if it names none.
std::string LowestArch(std::string_view constraint) {
  for (std::string_view word : SplitWords(constraint)) {
    if (word.starts_with("<")) continue;
    word.remove_prefix(std::min(word.find_first_not_of(">="), word.size()));
    if (word.starts_with("sm_")) return std::string(word);
  }
  return "";
}

// The architecture to compile for; nullopt if the block is not to be compiled.
std::optional<std::string> ArchOf(const Block& block, const std::string& lowest) {
  const auto words = SplitWords(block.info);
  if (block.type != BlockType::kCode || words.empty() || words[0] != "cuda") return std::nullopt;
  std::string arch = lowest.empty() ? kDefaultArch : lowest;
  for (const std::string_view word : words) {
    if (word == "fragment") return std::nullopt;
    if (word.starts_with("sm_")) arch = word;
  }
  return arch;
}

// The compiler's first error, its line turned into the file's: "line 57: identifier ...".
// "block.cu(12): error: ...", and "block.cu(12): catastrophic error: ..." alike.
std::string FirstError(const std::string& log, int fence_line) {
  const std::vector<std::string_view> lines = SplitLines(log);
  const std::string start = std::string(kSourceName) + "(";
  for (const std::string_view line : lines) {
    const size_t close = line.find("): ");
    const bool is_error = line.find("error: ") != std::string_view::npos ||
                          line.find("error #") != std::string_view::npos;
    if (!is_error) continue;
    if (!line.starts_with(start) || close == std::string_view::npos) return std::string(line);
    int number = 0;
    std::from_chars(line.data() + start.size(), line.data() + close, number);
    std::string_view message = line.substr(close + 3);
    if (message.starts_with("error: ")) message.remove_prefix(7);
    return "line " + std::to_string(fence_line + number) + ": " + std::string(message);
  }
  return lines.empty() ? "the compiler does not say why" : std::string(lines.front());
}

Diagnostic Finding(const CudaBlock& block, const std::string& what) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::kError;
  diagnostic.rule = kRule;
  diagnostic.path = block.path;
  diagnostic.line = block.fence_line;
  diagnostic.message = "the block does not compile for " + block.arch + ": " + what;
  const Rule* rule = FindRule(kRule);
  diagnostic.mend = rule == nullptr ? "" : rule->mend;
  return diagnostic;
}

// The file whose being there says that the block compiles; "" if nothing is remembered.
std::string CacheFile(const Toolchain& toolchain, const CudaBlock& block,
                      const std::string& cache_dir) {
  if (cache_dir.empty()) return "";
  return cache_dir + "/" + Sha256(toolchain.version() + "\n" + block.arch + "\n" + block.code);
}

// "" if it compiles.
std::string WhyNot(const Toolchain& toolchain, const CudaBlock& block,
                   const std::string& cache_dir) {
  const std::string cached = CacheFile(toolchain, block, cache_dir);
  std::error_code error;
  if (!cached.empty() && std::filesystem::exists(cached, error)) return "";
  CompileRequest request;
  request.source = block.code;
  request.name = kSourceName;
  request.arch = block.arch;
  const CompileResult result = toolchain.Compile(request);
  if (!result.ok) return FirstError(result.log, block.fence_line);
  if (!cached.empty()) {  // a cache that cannot be written costs time, nothing else
    std::filesystem::create_directories(cache_dir, error);
    std::ofstream(cached).close();
  }
  return "";
}

}  // namespace

std::vector<CudaBlock> CudaBlocksOf(const Document& document) {
  std::vector<CudaBlock> blocks;
  const std::string lowest = LowestArch(document.scope.arch);
  for (const Block& block : document.blocks) {
    const auto arch = ArchOf(block, lowest);
    if (!arch) continue;
    blocks.push_back({document.path, document.body_line - 1 + block.first_line, *arch, block.text});
  }
  return blocks;
}

Diagnostics CompileCudaBlocks(const Toolchain& toolchain, const std::vector<CudaBlock>& blocks,
                              const CompileOptions& options) {
  std::vector<std::string> wrong(blocks.size());
  std::atomic<size_t> next = 0;
  std::atomic<int64_t> done = 0;
  const auto work = [&] {
    for (size_t i = next++; i < blocks.size(); i = next++) {
      wrong[i] = WhyNot(toolchain, blocks[i], options.cache_dir);
      const int64_t now_done = ++done;
      if (options.progress) options.progress(now_done);
    }
  };
  {
    std::vector<std::jthread> workers;
    for (int i = 1; i < options.threads; ++i) workers.emplace_back(work);
    work();
  }
  Diagnostics findings;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!wrong[i].empty()) findings.push_back(Finding(blocks[i], wrong[i]));
  }
  return findings;
}

}  // namespace kb
