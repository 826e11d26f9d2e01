#include "tdd/ptxas.h"

#include <algorithm>
#include <charconv>

namespace kb {
namespace {

constexpr size_t kMaxKernels = 1000;

// The number before `unit`, as in "36 bytes smem"; 0 if it is not there.
int NumberBefore(std::string_view line, std::string_view unit) {
  const size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return 0;
  const size_t begin = line.find_last_not_of("0123456789", at - 1) + 1;  // npos + 1 is 0
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + at, number);
  return number;
}

std::string_view Quoted(std::string_view line) {
  const size_t begin = line.find('\'');
  const size_t end = begin == std::string_view::npos ? begin : line.find('\'', begin + 1);
  return end == std::string_view::npos ? "" : line.substr(begin + 1, end - begin - 1);
}

bool Has(std::string_view line, std::string_view part) {
  return line.find(part) != std::string_view::npos;
}

}  // namespace

std::vector<KernelResources> ReadPtxasLog(std::string_view log) {
  constexpr std::string_view kProperties = "Function properties for ";
  std::vector<KernelResources> kernels;
  bool properties = false;  // the next line with a stack frame is of this kernel, no function
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (Has(line, "Compiling entry function '") && kernels.size() < kMaxKernels) {
      kernels.emplace_back().kernel = Quoted(line);
      properties = true;
    }
    if (kernels.empty()) continue;
    KernelResources& kernel = kernels.back();
    if (Has(line, kProperties)) {
      properties = line.substr(line.find(kProperties) + kProperties.size()) == kernel.kernel;
    } else if (properties && Has(line, " bytes stack frame")) {
      kernel.stack_bytes = NumberBefore(line, " bytes stack frame");
      kernel.spill_store_bytes = NumberBefore(line, " bytes spill stores");
      kernel.spill_load_bytes = NumberBefore(line, " bytes spill loads");
    } else if (Has(line, ": Used ") && Has(line, " registers")) {
      kernel.registers = NumberBefore(line, " registers");
      kernel.barriers = NumberBefore(line, " barriers");
      kernel.shared_bytes = NumberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

Value ToValue(const KernelResources& kernel) {
  Value value;
  value.Set("name", kernel.kernel).Set("registers", kernel.registers);
  value.Set("barriers", kernel.barriers).Set("stack_bytes", kernel.stack_bytes);
  value.Set("spill_store_bytes", kernel.spill_store_bytes);
  value.Set("spill_load_bytes", kernel.spill_load_bytes);
  return value.Set("shared_bytes", kernel.shared_bytes);
}

}  // namespace kb
