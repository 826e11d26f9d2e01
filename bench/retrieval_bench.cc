// Quality, speed and memory of `kb index` and `kb search` beside SQLite FTS5, as tables on
// standard output. bench/retrieval builds and calls it:
//   retrieval_bench KB WORK_FOLDER GROWTH [SKILLS QUESTIONS]
// GROWTH: numbers of passages, "1000,3000", or "none". WORK_FOLDER is filled and not removed.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "bench/growth.h"
#include "bench/judge.h"
#include "bench/machine.h"
#include "cli/table.h"
#include "kb/file.h"

namespace kb::bench {
namespace {

constexpr int kColds = 3;
constexpr int kRepeats = 7;
constexpr int kPasses = 3;

std::string Fixed(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, number);
  return text;
}

void Print(const Table& table) { std::printf("%s\n", table.Draw().c_str()); }

// "met", or by how much not. NaN is not met.
std::string Verdict(double value, double most) {
  if (value <= most) return "met";
  return "MISSED by " + Fixed(100 * (value / most - 1), 0) + " %";
}

class Timings {
 public:
  void Add(const std::string& what, const std::vector<Run>& runs, double target_s) {
    const std::vector<double> wall = PartOf(runs, &Run::wall_s);
    const double median = Quantile(wall, 0.5);
    table_.AddRow({what, Fixed(median, 3) + " s",
                   Fixed(Quantile(wall, 0), 3) + " .. " + Fixed(Quantile(wall, 1), 3),
                   Fixed(Quantile(PartOf(runs, &Run::cpu_s), 0.5), 3), std::to_string(runs.size()),
                   Fixed(target_s, 1) + " s", Verdict(median, target_s)});
  }
  void Add(const std::string& what, double wall_ms, double cpu_ms, size_t count, double target_ms) {
    table_.AddRow({what, Fixed(wall_ms, 1) + " ms", "", Fixed(cpu_ms, 1), std::to_string(count),
                   Fixed(target_ms, 0) + " ms", Verdict(wall_ms, target_ms)});
  }
  void AddPeak(const std::string& what, const std::vector<Run>& runs) {
    const double most = Quantile(PartOf(runs, &Run::peak_mib), 1);
    table_.AddRow({what, Fixed(most, 0) + " MiB", "", "", std::to_string(runs.size()), "200 MiB",
                   Verdict(most, 200)});
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  Table table_ = Table({{"whole processes"},
                        {"wall", true},
                        {"range", true},
                        {"cpu", true},
                        {"runs", true},
                        {"target", true},
                        {"verdict"}});
};

void PrintQuality(const Quality& ours, const Fts5& fts5) {
  const Quality& theirs = fts5.quality;
  std::printf("quality: %d questions that do not name their skill, %d out of scope; unit: skill\n",
              ours.answerable, ours.unanswerable);
  Table table({{"measure"}, {"kb", true}, {"FTS5 BM25", true}, {"difference", true}});
  const auto add = [&](const char* what, double Quality::*part, int digits) {
    table.AddRow({what, Fixed(ours.*part, digits), Fixed(theirs.*part, digits),
                  Fixed(ours.*part - theirs.*part, digits)});
  };
  add("recall@1", &Quality::recall_at_1, 3);
  add("recall@5", &Quality::recall_at_5, 3);
  add("MRR@10", &Quality::mrr, 3);
  add("refusal AUROC", &Quality::auroc, 3);
  add("p50 in process, ms", &Quality::p50_ms, 2);
  add("p99 in process, ms", &Quality::p99_ms, 2);
  Print(table);
  std::printf(
      "FTS5: indexed in %.2f s, %.1f MiB; porter stems, the question's words joined by OR\n\n",
      fts5.index_s, fts5.size_mib);
}

// The middle one of each question's runs, so that a neighbour's burst does not count as ours;
// the line "all runs" leaves it in.
void AddSearch(const std::vector<std::vector<Run>>& by_question, Timings* timings) {
  std::vector<double> wall, cpu, all;
  std::vector<Run> runs;
  for (const std::vector<Run>& question : by_question) {
    wall.push_back(1000 * Quantile(PartOf(question, &Run::wall_s), 0.5));
    cpu.push_back(1000 * Quantile(PartOf(question, &Run::cpu_s), 0.5));
    runs.insert(runs.end(), question.begin(), question.end());
  }
  for (const Run& run : runs) all.push_back(1000 * run.wall_s);
  timings->Add("search, p50", Quantile(wall, 0.5), Quantile(cpu, 0.5), wall.size(), 25);
  timings->Add("search, p99", Quantile(wall, 0.99), Quantile(cpu, 0.99), wall.size(), 60);
  timings->Add("search, p50 of all runs", Quantile(all, 0.5), Quantile(cpu, 0.5), all.size(), 25);
  timings->Add("search, p99 of all runs", Quantile(all, 0.99), Quantile(cpu, 0.99), all.size(), 60);
  timings->AddPeak("search, peak memory", runs);
}

void MeasureCorpus(const std::string& kb, const std::string& work, const std::string& skills,
                   const std::string& questions_file) {
  Diagnostics ignored;
  const std::vector<Question> questions =
      ReadQuestions(ReadFile(questions_file).value_or(""), questions_file, &ignored);
  const Target target = {kb, work + "/.kb", skills};
  std::vector<std::string> paths, texts;
  for (const FoundFile& file : FindDocuments(skills, &ignored)) paths.push_back(file.path);
  for (const Question& question : questions) texts.push_back(question.query);

  MeasureOrThrow({kb, "index", "--kb-dir", target.kb_dir, skills});  // the untouched corpus
  const std::vector<Question> unnamed = Unnamed(questions);
  const Quality ours = InChild([&] { return JudgeKb(target.kb_dir, unnamed); });
  const Fts5 fts5 = InChild([&] { return JudgeFts5(skills, work + "/fts5.db", unnamed); });
  PrintQuality(ours, fts5);

  Timings timings;
  AddSearch(MeasureSearch(target, texts, kPasses), &timings);
  const IndexRuns index = MeasureIndex(target, paths, kColds, kRepeats);
  timings.Add("index, from nothing", index.cold, 6);
  timings.Add("index, nothing changed", index.unchanged, 0.1);
  timings.Add("index, one file changed", index.one_file, 0.3);
  timings.AddPeak("index, peak memory", index.cold);
  const Extent extent = ExtentOf(target.kb_dir);
  std::printf("corpus: %zu files, %zu passages, index of %.1f MiB; %s\n", paths.size(),
              extent.passages, extent.size_mib, LoadLine().c_str());
  Print(timings.table());
}

void PrintGrowth(const std::string& kb, const std::string& work, const std::string& sizes) {
  std::printf("growth: synthetic skills, Zipf words, 200 questions; wall times, cpu in brackets\n");
  Table table({{"passages", true},
               {"index s", true},
               {"one file s", true},
               {"size MiB", true},
               {"search p50 ms", true},
               {"p99 ms", true},
               {"peak index MiB", true},
               {"peak search MiB", true},
               {"p50 <= 60 ms"},
               {"peak <= 200 MiB"}});
  std::istringstream list(sizes);
  for (std::string size; std::getline(list, size, ',');) {
    const GrowthRow row = MeasureGrowth(kb, work, std::stoi(size));
    const double peak = std::max(row.index_peak_mib, row.search_peak_mib);
    table.AddRow({std::to_string(row.extent.passages),
                  Fixed(row.index_s, 2) + " (" + Fixed(row.index_cpu_s, 2) + ")",
                  Fixed(row.one_file_s, 2) + " (" + Fixed(row.one_file_cpu_s, 2) + ")",
                  Fixed(row.extent.size_mib, 0),
                  Fixed(row.p50_ms, 1) + " (" + Fixed(row.cpu_p50_ms, 1) + ")",
                  Fixed(row.p99_ms, 1), Fixed(row.index_peak_mib, 0), Fixed(row.search_peak_mib, 0),
                  Verdict(row.p50_ms, 60), Verdict(peak, 200)});
    std::fprintf(stderr, "%zu passages done; %s\n", row.extent.passages, LoadLine().c_str());
  }
  Print(table);
}

int Main(const std::vector<std::string>& words) {
  if (words.size() != 3 && words.size() != 5) {
    std::fprintf(stderr, "usage: retrieval_bench KB WORK_FOLDER GROWTH [SKILLS QUESTIONS]\n");
    return 2;
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);  // so that children inherit nothing unwritten
  std::printf("%s; %s\n\n", MachineLine().c_str(), LoadLine().c_str());
  if (words.size() == 5) MeasureCorpus(words[0], words[1], words[3], words[4]);
  if (words[2] != "none") PrintGrowth(words[0], words[1], words[2]);
  return 0;
}

}  // namespace
}  // namespace kb::bench

int main(int argc, char** argv) {
  try {
    return kb::bench::Main(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "retrieval_bench: %s\n", error.what());
    return 2;
  }
}
