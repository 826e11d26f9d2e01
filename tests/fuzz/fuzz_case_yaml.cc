// Any bytes as case.yaml: findings, each with a mend; and if there is no error, then every workload
// has shapes, sizes and costs within the bounds.
#include <cstdint>

#include "spec_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const SpecFolder files;
  files.Write("case.yaml", std::string_view(reinterpret_cast<const char*>(bytes), size));
  const kb::LoadedCase loaded = kb::LoadCase(files.folder());
  SpecFolder::CheckFindings(loaded.diagnostics);
  if (!loaded.ok()) return 0;
  const kb::Case& value = loaded.value;
  SpecFolder::Check(value.name == "copy" && value.tolerances.size() == value.outputs.size());
  SpecFolder::Check(!value.check.empty() && !value.time.empty() && !value.axis_names.empty());
  for (const std::vector<kb::Workload>* list : {&value.check, &value.time}) {
    for (const kb::Workload& workload : *list) {
      int64_t total = 0;
      for (const kb::TensorSpec& tensor : value.outputs) {
        const auto held = kb::BytesOf(tensor, workload.axes);
        SpecFolder::Check(held.has_value() && *held > 0);
        total += *held;
      }
      SpecFolder::Check(total <= int64_t{64} << (list == &value.check ? 20 : 30));
      SpecFolder::Check(value.bytes.Evaluate(workload.axes).value_or(0) > 0);
    }
  }
  return 0;
}
