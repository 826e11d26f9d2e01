// The state of a GPU by NVML (libnvidia-ml.so.1, opened when first asked for): clocks, temperature,
// power, why clocks are held down, who else computes, energy. Nothing here fails: what cannot be
// read is absent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "kb/value.h"

namespace kb {

class Nvml {
 public:
  // The GPU of that uuid ("GPU-..."). `library`: "" is libnvidia-ml.so.1.
  explicit Nvml(const std::string& gpu_uuid, const std::string& library = "");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] bool available() const;
  [[nodiscard]] std::string driver_version() const;  // "580.159.04"; "" if not known
  // {sm_mhz, memory_mhz, temperature_c, power_w, throttle_reasons: [names], processes: n}.
  [[nodiscard]] Value Conditions() const;
  // Whether clocks are held down now: power, heat, or a brake. Idle clocks are not.
  [[nodiscard]] bool Throttled() const;
  [[nodiscard]] std::optional<int64_t> EnergyMillijoules() const;  // since the driver was loaded

 private:
  struct Functions;
  std::unique_ptr<Functions> f_;
};

}  // namespace kb
