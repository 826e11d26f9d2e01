// kb tdd peaks: what this GPU reaches at copying and at matrix products, measured now. With --json
// {gpu, copy_bytes_per_s, bf16_flops_per_s (null: no cuBLAS), how}.
#include <fmt/format.h>

#include <ostream>

#include "cli/run_commands.h"
#include "cli/table.h"
#include "cli/tdd_places.h"
#include "kb/json.h"

namespace kb {

int RunTddPeaks(const Args& args, Streams& streams) {
  const Workshop workshop(args, streams);
  ProofSession session(workshop.tools());
  Verdict why;
  Runner* runner = session.runner(&why);
  const PeaksReply reply = runner == nullptr ? PeaksReply{why, {}} : session.peaks();
  if (!reply.verdict.passed()) {
    streams.talk << "kb tdd peaks: " << VerdictName(reply.verdict) << ": " << reply.verdict.message
                 << '\n';
    return kCouldNot;
  }
  const Peaks& peaks = reply.peaks;
  const bool product = peaks.bf16_flops_per_s > 0;
  if (args.Has("--json")) {
    Value value;
    value.Set("gpu", runner->environment().gpu).Set("copy_bytes_per_s", peaks.copy_bytes_per_s);
    value.Set("bf16_flops_per_s", product ? Value(peaks.bf16_flops_per_s) : Value())
        .Set("how", peaks.how);
    streams.out << WriteJson(value, 2) << '\n';
    return kFound;
  }
  Table table({{""}, {""}});
  table.AddRow({"GPU", runner->environment().gpu});
  table.AddRow(
      {"copy, read plus written", fmt::format("{:.3f} TB/s", peaks.copy_bytes_per_s / 1e12)});
  table.AddRow(
      {"bf16 matrix product", product ? fmt::format("{:.1f} TFLOP/s", peaks.bf16_flops_per_s / 1e12)
                                      : "not measured: no cuBLAS found"});
  table.AddRow({"how", peaks.how});
  streams.out << table.Draw();
  return kFound;
}

}  // namespace kb
