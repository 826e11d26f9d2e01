// Any bytes as a line to the worker or as its answer to kb: whatever is taken as a message comes
// out the same when it is written and read again, and its plans are sound.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "kb/json.h"
#include "tdd/worker_messages.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

template <typename Message>
void Survives(const kb::Value& value,
              std::optional<Message> (*from_value)(const kb::Value& value)) {
  const std::optional<Message> message = from_value(value);
  if (!message) return;
  const kb::Value written = ToValue(*message);
  const std::optional<Message> again = from_value(*kb::ParseJson(kb::WriteJson(written)));
  Check(again.has_value() && ToValue(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto value = kb::ParseJson({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  Survives(*value, kb::LoadFromValue);
  Survives(*value, kb::RunRequestFromValue);
  Survives(*value, kb::MeasureRequestFromValue);
  Survives(*value, kb::EnergyRequestFromValue);
  Survives(*value, kb::RunReplyFromValue);
  Survives(*value, kb::MeasureReplyFromValue);
  Survives(*value, kb::EnergyReplyFromValue);
  Survives(*value, kb::PeaksReplyFromValue);
  const auto run = kb::RunRequestFromValue(*value);
  if (run) Check(kb::IsSoundPlan(run->plan));
  return 0;
}
