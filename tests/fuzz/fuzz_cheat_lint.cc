// Any bytes as a kernel's source: bounded findings on lines that it has; code keeps the source's
// lines, and stripping what was stripped changes nothing.
#include <algorithm>
#include <cstdint>

#include "spec_folder.h"
#include "tdd/cuda_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  kb::Candidate candidate;
  candidate.kind = bytes[0] % 2 == 0 ? kb::CandidateKind::kDevice : kb::CandidateKind::kHost;
  candidate.source = "kernel.cu";
  candidate.source_text.assign(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  kb::Case value;
  value.inputs.resize(1);
  const auto lines =
      std::count(candidate.source_text.begin(), candidate.source_text.end(), '\n') + 1;
  const kb::Diagnostics found = kb::CheatLint(value, candidate);
  SpecFolder::CheckFindings(found);
  SpecFolder::Check(found.size() <= 200);
  for (const kb::Diagnostic& d : found) SpecFolder::Check(d.line >= 1 && d.line <= lines);
  const kb::CudaText text(candidate.source_text);
  SpecFolder::Check(text.code.size() <= candidate.source_text.size());
  if (text.odd.empty()) SpecFolder::Check(kb::CudaText(text.code).code == text.code);
  return 0;
}
