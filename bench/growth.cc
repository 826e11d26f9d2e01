#include "bench/growth.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bench/synthetic.h"
#include "indexer/snapshot.h"
#include "kb/catalog.h"
#include "kb/file.h"

namespace kb::bench {
namespace {

constexpr int kQuestions = 200;
constexpr int kFewPassages = 10000;  // up to here everything is measured three times

double Most(const std::vector<double>& values) { return Quantile(values, 1); }
double Median(const std::vector<double>& values) { return Quantile(values, 0.5); }

}  // namespace

IndexRuns MeasureIndex(const Target& target, const std::vector<std::string>& paths, int colds,
                       int repeats) {
  const std::vector<std::string> index = {target.kb,  "index",       "--threads", "2",
                                          "--kb-dir", target.kb_dir, target.root};
  IndexRuns runs;
  for (int i = 0; i < colds; ++i) {
    std::filesystem::remove_all(target.kb_dir);
    runs.cold.push_back(MeasureOrThrow(index));
  }
  usleep(100000);  // so that no file is too young for its stamp to be trusted
  MeasureOrThrow(index);
  for (int i = 0; i < repeats; ++i) runs.unchanged.push_back(MeasureOrThrow(index));
  for (int i = 0; i < repeats; ++i) {
    const size_t which = paths.size() * static_cast<size_t>(i) / static_cast<size_t>(repeats);
    std::ofstream(paths[which], std::ios::app) << "\nOne line more.\n";
    usleep(100000);
    runs.one_file.push_back(MeasureOrThrow(index));
  }
  return runs;
}

std::vector<std::vector<Run>> MeasureSearch(const Target& target,
                                            const std::vector<std::string>& questions, int passes) {
  std::vector<std::vector<Run>> runs(questions.size());
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < questions.size(); ++i) {
      const Run run = Measure({target.kb, "search", "--kb-dir", target.kb_dir, "--", questions[i]});
      if (run.exit_code != 0 && run.exit_code != 1) {
        throw std::runtime_error("kb search failed: " + questions[i]);
      }
      runs[i].push_back(run);
    }
  }
  return runs;
}

Extent ExtentOf(const std::string& kb_dir) {
  return InChild([&] {
    Extent extent;
    const int64_t generation = Catalog(kb_dir, Catalog::Mode::kRead).Generation();
    extent.passages = Snapshot(kb_dir + "/index-" + std::to_string(generation)).chunk_doc().size();
    for (const auto& entry : std::filesystem::directory_iterator(kb_dir)) {
      extent.size_mib += static_cast<double>(entry.file_size()) / (1 << 20);
    }
    return extent;
  });
}

GrowthRow MeasureGrowth(const std::string& kb, const std::string& work, int passages) {
  const std::string folder = work + "/growth";
  const Target target = {kb, folder + "/.kb", folder + "/skills"};
  (void)InChild([&] { return WriteSynthetic(target.root, passages).size(); });
  const int times = passages <= kFewPassages ? 3 : 1;
  const std::vector<std::string> some = {target.root + "/skill-0/SKILL.md",
                                         target.root + "/skill-1/SKILL.md",
                                         target.root + "/skill-2/references/part-1.md"};
  const IndexRuns index = MeasureIndex(target, some, times, 3);
  const auto search = MeasureSearch(target, SyntheticQuestions(passages, kQuestions), 1);
  std::vector<Run> searches;
  for (const std::vector<Run>& runs : search) searches.push_back(runs[0]);

  GrowthRow row;
  row.extent = ExtentOf(target.kb_dir);
  row.index_s = Median(PartOf(index.cold, &Run::wall_s));
  row.index_cpu_s = Median(PartOf(index.cold, &Run::cpu_s));
  row.one_file_s = Median(PartOf(index.one_file, &Run::wall_s));
  row.one_file_cpu_s = Median(PartOf(index.one_file, &Run::cpu_s));
  row.p50_ms = 1000 * Quantile(PartOf(searches, &Run::wall_s), 0.5);
  row.p99_ms = 1000 * Quantile(PartOf(searches, &Run::wall_s), 0.99);
  row.cpu_p50_ms = 1000 * Quantile(PartOf(searches, &Run::cpu_s), 0.5);
  row.index_peak_mib = std::max(Most(PartOf(index.cold, &Run::peak_mib)),
                                Most(PartOf(index.one_file, &Run::peak_mib)));
  row.search_peak_mib = Most(PartOf(searches, &Run::peak_mib));
  std::filesystem::remove_all(folder);
  return row;
}

}  // namespace kb::bench
