#include "cli/ncu_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kb/error.h"
#include "kb/file.h"

namespace kb {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kDram[] = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";

std::string Report(const std::string& name) {
  std::string why;
  auto text = ReadFile(std::string(KB_SOURCE_DIR) + "/tests/data/ncu/" + name, &why);
  EXPECT_TRUE(text.has_value()) << name << ": " << why;
  return text.value_or("");
}

const NcuKernel* Find(const NcuReport& report, const std::string& name) {
  for (const NcuKernel& kernel : report.kernels) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

std::string ErrorOf(const std::string& csv, const NcuLimits& limits = {}) {
  try {
    static_cast<void>(ReadNcuCsv(csv, {}, limits));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

const std::string kHeader = "\"ID\",\"Kernel Name\",\"CC\",\"a__b.sum\",\"c__d.pct\"\n";
const std::string kUnits = "\"\",\"\",\"\",\"byte\",\"%\"\n";
const std::string kRow = "\"0\",\"f(int, float)\",\"9.0\",\"1,234,567\",\"12.5\"\n";

TEST(ReadNcuCsv, ReadsARealRawPageOfManyKernels) {
  const NcuReport report = ReadNcuCsv(Report("raw.csv"));
  EXPECT_EQ(report.page, NcuPage::kRaw);
  ASSERT_EQ(report.kernels.size(), 29u);
  const NcuKernel& first = report.kernels[0];
  EXPECT_EQ(first.line, 3);
  EXPECT_EQ(first.name, "copy_strided");
  EXPECT_EQ(first.block, "(256, 1, 1)");
  EXPECT_EQ(first.grid, "(32768, 1, 1)");
  EXPECT_EQ(first.compute_capability, "9.0");
  EXPECT_EQ(first.Number("launch__grid_size"), 32768);  // printed as 32,768
  EXPECT_NEAR(first.Number(kDram).value_or(0), 91.4, 0.1);
  EXPECT_NEAR(first.Seconds("gpu__time_duration.sum").value_or(0), 0.18e-3, 0.01e-3);
  EXPECT_GT(first.metrics.size(), 300u);
}

TEST(ReadNcuCsv, ReadsAnUntrimmedRawPage) {
  const NcuReport report = ReadNcuCsv(Report("raw_whole.csv"));
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].name, "atomics_one_address");
  EXPECT_GT(report.kernels[0].metrics.size(), 1500u);
}

TEST(ReadNcuCsv, ReadsRealDetailsPages) {
  EXPECT_EQ(ReadNcuCsv(Report("details.csv")).kernels.size(), 13u);
  const NcuReport whole = ReadNcuCsv(Report("details_whole.csv"));
  EXPECT_EQ(whole.page, NcuPage::kDetails);
  ASSERT_EQ(whole.kernels.size(), 1u);
  EXPECT_EQ(whole.kernels[0].name, "transpose_conflict");
}

// The words of the details page stand for the raw names that we say: same run, same numbers.
TEST(RawMetricName, NamesTheMetricsOfTheSameRun) {
  const NcuReport raw = ReadNcuCsv(Report("raw.csv"));
  const NcuReport details = ReadNcuCsv(Report("details.csv"));
  int compared = 0;
  for (const NcuKernel& kernel : details.kernels) {
    const NcuKernel* same = Find(raw, kernel.name);
    ASSERT_NE(same, nullptr) << kernel.name;
    EXPECT_GE(kernel.metrics.size(), 24u) << kernel.name;
    for (const auto& [name, metric] : kernel.metrics) {
      const auto value = same->Number(name);
      ASSERT_TRUE(value.has_value()) << name;
      // The pages scale times each in its own way; the details have two decimals.
      if (const auto seconds = kernel.Seconds(name)) {
        EXPECT_NEAR(*seconds, same->Seconds(name).value_or(0), *seconds * 1e-3) << name;
      } else {
        EXPECT_EQ(metric.unit, same->metrics.find(name)->second.unit) << name;
        EXPECT_NEAR(metric.value, *value, 0.0051) << kernel.name << " " << name;
      }
      ++compared;
    }
  }
  EXPECT_GE(compared, 300);
  EXPECT_EQ(RawMetricName("Occupancy", "Duration"), "");
}

TEST(ReadNcuCsv, TakesThousandsUnitsQuotedCommasAndCrlf) {
  std::string csv = "\xef\xbb\xbf" + kHeader + kUnits + kRow;
  for (size_t at = 0; (at = csv.find('\n', at)) != std::string::npos; at += 2) {
    csv.replace(at, 1, "\r\n");
  }
  const NcuReport report = ReadNcuCsv(csv);
  ASSERT_EQ(report.kernels.size(), 1u);
  const NcuKernel& kernel = report.kernels[0];
  EXPECT_EQ(kernel.name, "f(int, float)");
  EXPECT_EQ(kernel.Number("a__b.sum"), 1234567);
  EXPECT_EQ(kernel.metrics.find("a__b.sum")->second.unit, "byte");
  EXPECT_EQ(kernel.metrics.find("c__d.pct")->second.unit, "%");
}

TEST(ReadNcuCsv, HasNoMetricWhereThereIsNoFiniteNumber) {
  for (const char* cell : {"", "nan", "inf", "-inf", "n/a", "no data", "(!) 5", "1.5x", "0x10",
                           "1e999", "PolicySpread", "5 (a: 2; b: 3)"}) {
    const NcuReport report =
        ReadNcuCsv(kHeader + kUnits + "\"0\",\"f\",\"9.0\",\"" + cell + "\",\"1\"\n");
    EXPECT_EQ(report.kernels[0].Number("a__b.sum"), std::nullopt) << cell;
    EXPECT_EQ(report.kernels[0].Number("c__d.pct"), 1) << cell;
    EXPECT_EQ(report.kernels[0].Number("not__there"), std::nullopt);
  }
}

TEST(ReadNcuCsv, PassesOverTheTalkOfNcuAndTheProgram) {
  const NcuReport report =
      ReadNcuCsv("1000 rounds, \"quoted\n==PROF== Connected to process 1\n\n" + kHeader + kUnits +
                 kRow + "==PROF== Disconnected\nbye, \"bye\n");
  EXPECT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.other_lines, 4);
}

TEST(ReadNcuCsv, ReadsUnquotedCellsMissingUnitsAndNoLastLineEnd) {
  const NcuReport report = ReadNcuCsv("ID,Kernel Name,a__b.sum\n0,f,5");
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].Number("a__b.sum"), 5);
  EXPECT_EQ(report.kernels[0].Seconds("a__b.sum"), std::nullopt);
}

TEST(ReadNcuCsv, ReadsReportsThatFollowOneAnother) {
  const std::string details =
      "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
      "\"0\",\"g\",\"Occupancy\",\"Achieved Occupancy\",\"%\",\"50\"\n"
      "\"0\",\"g\",\"Any\",\"a__b.sum\",\"\",\"7\"\n"
      "\"0\",\"g\",\"Occupancy\",\"Unheard Of\",\"%\",\"1\"\n";
  const NcuReport report = ReadNcuCsv(kHeader + kUnits + kRow + details);
  EXPECT_EQ(report.page, NcuPage::kRaw);
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[1].name, "g");
  EXPECT_EQ(report.kernels[1].metrics.size(), 2u);  // by its words, and by its raw name
  EXPECT_EQ(report.kernels[1].Number("a__b.sum"), 7);
}

TEST(ReadNcuCsv, KeepsOnlyWhatIsWanted) {
  const NcuReport report = ReadNcuCsv(kHeader + kUnits + kRow, {"c__d.pct"});
  EXPECT_EQ(report.kernels[0].metrics.size(), 1u);
  EXPECT_EQ(report.kernels[0].Number("c__d.pct"), 12.5);
}

TEST(ReadNcuCsv, UnquotesNamesAndCountsTheLinesOfLongCells) {
  const NcuReport report =
      ReadNcuCsv(kHeader + kUnits + "\"0\",\"f<\"\"x\"\",\n2>\",\"\",\"\",\"\"\n" +
                 "\"1\",\"g\",\"\",\"\",\"\"\n");
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].name, "f<\"x\",\n2>");
  EXPECT_EQ(report.kernels[1].line, 5);
}

TEST(ReadNcuCsv, KnowsTheUnitsOfTime) {
  const std::pair<const char*, double> units[] = {
      {"s", 5},     {"second", 5},     {"ms", 5e-3}, {"msecond", 5e-3},
      {"us", 5e-6}, {"usecond", 5e-6}, {"ns", 5e-9}, {"nsecond", 5e-9},
  };
  for (const auto& [unit, seconds] : units) {
    const NcuReport report =
        ReadNcuCsv("ID,Kernel Name,t__t.sum\n,," + std::string(unit) + "\n0,f,5\n");
    EXPECT_DOUBLE_EQ(report.kernels[0].Seconds("t__t.sum").value_or(0), seconds) << unit;
  }
}

struct Damage {
  const char* what;
  std::string csv;
  const char* says;
};

TEST(ReadNcuCsv, SaysInOneLineWhatIsBroken) {
  const std::string details =
      "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
  const Damage table[] = {
      {"empty", "", "no line begins with \"ID\""},
      {"another file", "a,b\n1,2\n", "no line begins with \"ID\""},
      {"an ncu-rep", std::string("NVR\0\1\2", 6), "no line begins with \"ID\""},
      {"UTF-16", "\xff\xfeI\0D\0", "UTF-16"},
      {"no kernel name", "\"ID\",\"x\"\n\"0\",\"1\"\n", "line 1: no column \"Kernel Name\""},
      {"a header alone", kHeader + kUnits, "no kernel"},
      {"cut in a cell", kHeader + kUnits + "\"0\",\"f\",\"9", "line 3: a quoted cell has no end"},
      {"cut after a cell", kHeader + kUnits + kRow + "\"1\",\"f\"",
       "line 4: 2 cells where the header has 5"},
      {"a cell too many", kHeader + kUnits + "\"0\",\"f\",\"\",\"\",\"\",\"\"\n",
       "line 3: 6 cells"},
      {"text after a quote", kHeader + kUnits + "\"0\",\"f\"x,\"\",\"\",\"\"\n",
       "line 3: text after a closing quote"},
      {"no ID", kHeader + kUnits + kRow + "\"\",\"f\",\"\",\"\",\"\"\n",
       "line 4: a kernel without"},
      {"a cut details row", details + "\"0\",\"f\",\"Occupancy\"\n", "line 2: 3 cells"},
      {"a long details row", details + "\"0\",\"f\",\"\",\"\",\"\",\"\",\"\"\n", "line 2: 7 cells"},
      {"no values", "\"ID\",\"Kernel Name\",\"Metric Name\"\n", "without \"Metric Value\""},
  };
  for (const Damage& damage : table) {
    const std::string error = ErrorOf(damage.csv);
    EXPECT_THAT(error, StartsWith("Nsight Compute CSV")) << damage.what;
    EXPECT_THAT(error, HasSubstr(damage.says)) << damage.what;
    EXPECT_EQ(error.find('\n'), std::string::npos) << damage.what;
  }
}

// Wherever a real report is cut off, it is read up to there or refused with one line.
TEST(ReadNcuCsv, SurvivesACutAnywhere) {
  const std::string csv = Report("details_whole.csv").substr(0, 6000);
  const std::string raw = Report("raw.csv");
  for (size_t size = 0; size < csv.size(); size += 31)
    static_cast<void>(ErrorOf(csv.substr(0, size)));
  for (size_t size = 0; size < raw.size(); size += 4999) {
    const std::string error = ErrorOf(raw.substr(0, size));
    EXPECT_EQ(error.find('\n'), std::string::npos);
    if (size < 30000) {
      EXPECT_NE(error, "") << size;
    }
  }
}

TEST(ReadNcuCsv, HasLimits) {
  NcuLimits limits;
  limits.max_kernels = 1;
  EXPECT_EQ(ErrorOf(kHeader + kUnits + kRow, limits), "");
  EXPECT_THAT(ErrorOf(kHeader + kUnits + kRow + kRow, limits),
              HasSubstr("line 4: more than 1 kernels"));
  limits = {};
  limits.max_columns = 5;
  EXPECT_EQ(ErrorOf(kHeader + kUnits + kRow, limits), "");
  limits.max_columns = 4;
  EXPECT_THAT(ErrorOf(kHeader + kUnits + kRow, limits), HasSubstr("line 1: more than 4 columns"));
  limits = {};
  limits.max_bytes = kHeader.size();
  EXPECT_THAT(ErrorOf(kHeader + kRow, limits), HasSubstr("are more than"));
  limits = {};
  limits.max_metrics = 1;
  EXPECT_THAT(ErrorOf(kHeader + kUnits + kRow, limits), HasSubstr("more than 1 metrics"));
}

// Four million cells that nobody wants: no table of them is kept.
TEST(ReadNcuCsv, IsLinearInAHostileFile) {
  std::string csv = "ID,Kernel Name";
  for (int i = 0; i < 9998; ++i) csv += ",a__" + std::to_string(i);
  csv += '\n';
  const std::string row = "1,f" + std::string(9998, ',') + "\n";
  for (int i = 0; i < 400; ++i) csv += row;
  EXPECT_EQ(ReadNcuCsv(csv, {"b__b"}).kernels.size(), 400u);
  EXPECT_THAT(ErrorOf("ID,Kernel Name\n0,\"" + std::string(4 << 20, '\n')), HasSubstr("no end"));
}

}  // namespace
}  // namespace kb
