// kb advise: what AdviseJson says (cli/advise.h holds the schema of --json), as text.
#include <fmt/format.h>

#include <ostream>
#include <string>
#include <utility>

#include "cli/advise.h"
#include "cli/run_commands.h"
#include "kb/error.h"
#include "kb/file.h"
#include "kb/json.h"

namespace kb {
namespace {

constexpr int64_t kMaxReportBytes = 64 << 20;
constexpr size_t kIndent = 10;    // of what a word of the margin introduces
constexpr size_t kColumns = 100;  // of text that is wrapped

// `text` behind the word `margin`, wrapped, and indented below it.
std::string Paragraph(std::string_view margin, std::string_view text) {
  std::string out = fmt::format("  {:<{}}", margin, kIndent - 2);
  size_t column = kIndent;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (column > kIndent && column + 1 + end - at > kColumns) {
      out += '\n' + std::string(kIndent, ' ');
      column = kIndent;
    } else if (column > kIndent) {
      out += ' ';
      ++column;
    }
    out += text.substr(at, end - at);
    column += end - at;
    at = end + 1;
  }
  return out + '\n';
}

std::string Duration(const Value& seconds) {
  if (!seconds.IsNumber()) return "duration not given";
  const double s = seconds.AsDouble();
  if (s >= 1) return fmt::format("{:.3g} s", s);
  return s >= 1e-3 ? fmt::format("{:.4g} ms", s * 1e3) : fmt::format("{:.4g} us", s * 1e6);
}

// "dram__... = 91.38 % (>= 60)"
std::string EvidenceLine(const Value& e, std::string_view margin) {
  const std::string& unit = e["unit"].AsString();
  return fmt::format("  {:<{}}{} = {:.4g}{} ({} {:.4g})\n", margin, kIndent - 2,
                     Printable(e["metric"].AsString()), e["value"].AsDouble(),
                     unit.empty() ? "" : " " + Printable(unit), e["op"].AsString(),
                     e["threshold"].AsDouble());
}

std::string Why(const Value& finding) {
  std::string out;
  for (const Value& e : finding["evidence"].AsList()) {
    out += EvidenceLine(e, out.empty() ? "why" : "");
  }
  return out;
}

// What contributes comes with its advice; the first of its metrics will do.
std::string Also(const Value& kernel) {
  std::string out;
  for (const Value& finding : kernel["also"].AsList()) {
    const std::string& bound = finding["bound"].AsString();
    out += Paragraph("also", (bound.empty() ? "" : bound + ": ") + finding["says"].AsString() +
                                 (bound.empty() ? " " + finding["advice"].AsString() : ""));
    out += EvidenceLine(finding["evidence"].AsList()[0], "");
  }
  return out;
}

std::string Sources(const Value& kernel) {
  std::string out;
  for (const Value& skill : kernel["skills"].AsList()) {
    const std::string& id = skill["id"].AsString();
    const bool found = skill["found"].AsBool();
    out += Paragraph(out.empty() ? "read" : "", found ? skill["command"].AsString() : id);
  }
  for (const Value& entry : kernel["entries"].AsList()) {
    out += Paragraph(out.empty() ? "read" : "", Printable(entry["command"].AsString()) + "  (" +
                                                    entry["kind"].AsString() + ": " +
                                                    Printable(entry["title"].AsString()) + ")");
  }
  return out;
}

std::string CannotTell(const Value& kernel) {
  std::string bounds;
  size_t missing = 0;
  for (const Value& unknown : kernel["unknown"].AsList()) {
    bounds += (bounds.empty() ? "" : ", ") + unknown["bound"].AsString();
    missing += unknown["missing"].AsList().size();
  }
  if (bounds.empty()) return "";
  const std::string& first = kernel["unknown"].AsList()[0]["missing"].AsList()[0].AsString();
  return Paragraph("unknown", fmt::format("{}: {} metrics are missing, such as {}; --json has all",
                                          bounds, missing, first));
}

std::string KernelText(const Value& kernel) {
  std::string out =
      fmt::format("{}  {}\n", Printable(kernel["name"].AsString()), Duration(kernel["duration_s"]));
  out += Paragraph(
      "launch",
      Printable(fmt::format("grid {}, block {}, compute capability {}", kernel["grid"].AsString(),
                            kernel["block"].AsString(), kernel["compute_capability"].AsString())));
  const Value& finding = kernel["finding"];
  if (finding.IsNull()) {
    out += Paragraph("bound", "cannot be told from this report");
  } else {
    out += Paragraph("bound", kernel["bound"].AsString() + ": " + finding["says"].AsString());
    out += Why(finding);
    out += Paragraph("do", finding["advice"].AsString());
  }
  out += Also(kernel);
  out += Sources(kernel);
  return out + CannotTell(kernel);
}

bool SaysSomething(const Value& advice) {
  for (const Value& kernel : advice["kernels"].AsList()) {
    if (!kernel["bound"].IsNull()) return true;
  }
  return false;
}

std::string ReadReport(const std::string& path) {
  std::string why;
  auto text = ReadFile(path, &why, kMaxReportBytes);
  if (!text) {
    throw Error("cannot read " + path + ": " + why +
                "; make it with ncu --import REPORT.ncu-rep --csv --page raw");
  }
  return std::move(*text);
}

}  // namespace

int RunAdvise(const Args& args, Streams& streams) {
  if (!args.Has("--ncu")) {
    throw Error("which report? kb advise --ncu FILE.csv (ncu --csv --page raw)");
  }
  const Value advice = AdviseJson(ReadReport(args.Get("--ncu")), FindKbDir(args),
                                  static_cast<size_t>(args.GetInt("--longest", 0)));
  if (args.Has("--json")) {
    streams.out << WriteJson(advice, 2) << '\n';
  } else {
    std::string_view gap;
    for (const Value& kernel : advice["kernels"].AsList()) {
      streams.out << std::exchange(gap, "\n") << KernelText(kernel);
    }
  }
  if (!streams.quiet && !advice["index"].AsBool()) {
    streams.talk << "note: nothing is indexed, so skills are only named; kb index skills\n";
  }
  return SaysSomething(advice) ? kFound : kNothing;
}

}  // namespace kb
