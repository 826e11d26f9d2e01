#include "cli/ncu_csv.h"

#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "cli/ncu_records.h"
#include "kb/error.h"

namespace kb {
namespace {

constexpr size_t kNone = std::string_view::npos;

// "1,234.50" -> 1234.5; nullopt for what is no finite number.
std::optional<double> ParseNumber(std::string_view cell) {
  constexpr size_t kLongest = 64;  // digits of a double, with thousands separators
  if (cell.empty() || cell.size() > kLongest) return std::nullopt;
  std::string digits;
  for (const char c : cell) {
    if (c != ',') digits += c;
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Where a table has what; kNone: not at all.
struct Columns {
  size_t id = kNone, process = kNone, name = kNone, block = kNone, grid = kNone, cc = kNone;
  size_t section = kNone, metric = kNone, unit = kNone, value = kNone;
  size_t count = 0;

  [[nodiscard]] bool IsDetails() const { return metric != kNone && value != kNone; }
};

Columns FindColumns(const Cells& header) {
  Columns columns;
  columns.count = header.size();
  const std::pair<std::string_view, size_t*> known[] = {
      {"ID", &columns.id},
      {"Process ID", &columns.process},
      {"Kernel Name", &columns.name},
      {"Block Size", &columns.block},
      {"Grid Size", &columns.grid},
      {"CC", &columns.cc},
      {"Section Name", &columns.section},
      {"Metric Name", &columns.metric},
      {"Metric Unit", &columns.unit},
      {"Metric Value", &columns.value},
  };
  for (size_t i = 0; i < header.size(); ++i) {
    for (const auto& [name, column] : known) {
      if (header[i] == name && *column == kNone) *column = i;
    }
  }
  return columns;
}

bool IsHeaderLine(std::string_view line) {
  return line.starts_with("\"ID\",") || line.starts_with("ID,");
}

// "" for a column that the table or the record lacks.
std::string_view CellAt(const Cells& cells, size_t column) {
  return column < cells.size() ? cells[column] : std::string_view();
}

class Reader {
 public:
  Reader(std::string_view csv, const std::vector<std::string_view>& wanted, const NcuLimits& limits)
      : records_(csv), wanted_(wanted.begin(), wanted.end()), limits_(limits) {}

  NcuReport Read() {
    while (!records_.AtEnd()) {
      const std::string_view line = records_.Line();
      if (IsHeaderLine(line)) {
        ReadHeader();
      } else if (columns_.count > 0 && IsRecord(line)) {
        ReadRecord();
      } else {
        if (!line.empty()) ++report_.other_lines;
        records_.SkipLine();
      }
    }
    CheckWhole();
    return std::move(report_);
  }

 private:
  // What is no record is the talk of ncu or of the program.
  static bool IsRecord(std::string_view line) {
    return !line.empty() &&
           (line[0] == '"' || line[0] == ',' || (line[0] >= '0' && line[0] <= '9'));
  }

  [[nodiscard]] bool IsWanted(std::string_view metric) const {
    return wanted_.empty() || wanted_.contains(metric);
  }

  void ReadHeader() {
    const int line = records_.line();
    header_ = records_.Next(limits_.max_columns);
    columns_ = FindColumns(header_);
    if (columns_.name == kNone) {
      FailAtLine(line, "no column \"Kernel Name\"; make the file with ncu --csv --page raw");
    }
    if (!columns_.IsDetails() && columns_.metric != kNone) {
      FailAtLine(
          line,
          "\"Metric Name\" without \"Metric Value\"; make the file with ncu --csv --page raw");
    }
    if (tables_++ == 0) report_.page = columns_.IsDetails() ? NcuPage::kDetails : NcuPage::kRaw;
    kept_.clear();
    for (size_t i = 0; i < header_.size(); ++i) {
      // Others are "ID", "Kernel Name" and the like.
      if (header_[i].find('_') != kNone && IsWanted(header_[i])) kept_.push_back(i);
    }
    units_.clear();
    by_id_.clear();
    first_record_ = true;
  }

  void ReadRecord() {
    const int line = records_.line();
    const Cells cells = records_.Next(limits_.max_columns);
    const bool first = std::exchange(first_record_, false);
    CheckCount(line, cells);
    if (CellAt(cells, columns_.id).empty()) {
      if (!first || columns_.IsDetails()) FailAtLine(line, "a kernel without an ID");
      units_ = cells;
    } else if (columns_.IsDetails()) {
      ReadDetail(KernelOf(line, cells), cells);
    } else {
      ReadRaw(AddKernel(line, cells), cells);
    }
  }

  // ncu leaves out the rule cells of a details row that is none.
  void CheckCount(int line, const Cells& cells) const {
    const bool enough =
        columns_.IsDetails() ? cells.size() > columns_.value : cells.size() == columns_.count;
    if (enough && cells.size() <= columns_.count) return;
    FailAtLine(line, std::to_string(cells.size()) + " cells where the header has " +
                         std::to_string(columns_.count) + "; is the file cut off or edited?");
  }

  NcuKernel& AddKernel(int line, const Cells& cells) {
    if (report_.kernels.size() == limits_.max_kernels) {
      FailAtLine(line, "more than " + std::to_string(limits_.max_kernels) +
                           " kernels; filter them with ncu --import FILE -k NAME");
    }
    NcuKernel& kernel = report_.kernels.emplace_back();
    kernel.line = line;
    kernel.id = Unquoted(CellAt(cells, columns_.id));
    kernel.process = Unquoted(CellAt(cells, columns_.process));
    kernel.name = Unquoted(CellAt(cells, columns_.name));
    kernel.block = Unquoted(CellAt(cells, columns_.block));
    kernel.grid = Unquoted(CellAt(cells, columns_.grid));
    kernel.compute_capability = Unquoted(CellAt(cells, columns_.cc));
    return kernel;
  }

  NcuKernel& KernelOf(int line, const Cells& cells) {
    std::string key(CellAt(cells, columns_.id));
    key.append(1, '\n').append(CellAt(cells, columns_.process));
    const auto [at, is_new] = by_id_.try_emplace(std::move(key), report_.kernels.size());
    return is_new ? AddKernel(line, cells) : report_.kernels[at->second];
  }

  void ReadRaw(NcuKernel& kernel, const Cells& cells) {
    for (const size_t i : kept_) Keep(kernel, header_[i], cells[i], CellAt(units_, i));
  }

  void ReadDetail(NcuKernel& kernel, const Cells& cells) {
    const std::string_view metric = CellAt(cells, columns_.metric);
    const std::string_view raw = metric.find("__") != kNone
                                     ? metric
                                     : RawMetricName(CellAt(cells, columns_.section), metric);
    if (!raw.empty() && IsWanted(raw)) {
      Keep(kernel, raw, CellAt(cells, columns_.value), CellAt(cells, columns_.unit));
    }
  }

  void Keep(NcuKernel& kernel, std::string_view metric, std::string_view cell,
            std::string_view unit) {
    const auto value = ParseNumber(cell);
    if (!value || kernel.metrics.contains(metric)) return;
    if (++metrics_ > limits_.max_metrics) {
      FailAtLine(kernel.line,
                 "more than " + std::to_string(limits_.max_metrics) + " metrics in all");
    }
    kernel.metrics.emplace(Unquoted(metric), NcuMetric{*value, Unquoted(unit)});
  }

  void CheckWhole() const {
    if (columns_.count == 0) {
      throw Error(
          "Nsight Compute CSV: no line begins with \"ID\", the header of such a file; make one "
          "with ncu --import REPORT.ncu-rep --csv --page raw");
    }
    if (report_.kernels.empty()) {
      throw Error(
          "Nsight Compute CSV: a header but no kernel; did ncu say that none was profiled?");
    }
  }

  NcuRecords records_;
  std::set<std::string_view> wanted_;
  NcuLimits limits_;
  NcuReport report_;
  Cells header_, units_;
  Columns columns_;
  std::vector<size_t> kept_;                       // columns of metrics that are wanted
  std::unordered_map<std::string, size_t> by_id_;  // of this table
  bool first_record_ = true;
  int tables_ = 0;
  size_t metrics_ = 0;
};

}  // namespace

std::optional<double> NcuKernel::Number(std::string_view metric) const {
  const auto at = metrics.find(metric);
  return at == metrics.end() ? std::nullopt : std::optional(at->second.value);
}

std::optional<double> NcuKernel::Seconds(std::string_view metric) const {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"s", 1},     {"second", 1},     {"ms", 1e-3}, {"msecond", 1e-3},
      {"us", 1e-6}, {"usecond", 1e-6}, {"ns", 1e-9}, {"nsecond", 1e-9},
  };
  const auto at = metrics.find(metric);
  if (at == metrics.end()) return std::nullopt;
  for (const auto& [unit, seconds] : kUnits) {
    if (at->second.unit == unit) return at->second.value * seconds;
  }
  return std::nullopt;
}

NcuReport ReadNcuCsv(std::string_view csv, const std::vector<std::string_view>& wanted,
                     const NcuLimits& limits) {
  if (csv.size() > limits.max_bytes) {
    throw Error("Nsight Compute CSV: " + std::to_string(csv.size()) + " bytes are more than " +
                std::to_string(limits.max_bytes) + "; filter it with ncu --import FILE -k NAME");
  }
  if (csv.starts_with("\xff\xfe") || csv.starts_with("\xfe\xff")) {
    throw Error("Nsight Compute CSV: the text is UTF-16; save it as UTF-8");
  }
  if (csv.starts_with("\xef\xbb\xbf")) csv.remove_prefix(3);
  return Reader(csv, wanted, limits).Read();
}

}  // namespace kb
