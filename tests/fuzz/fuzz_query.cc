// Any bytes as a question: at most k hits in order, scores that are finite and the sum of their
// features, a passage for each; the same question has the same answer.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "indexer/ingest.h"
#include "indexer/retriever.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

struct Page {
  const char* path;
  const char* text;
};

constexpr Page kPages[] = {
    {"banks/SKILL.md",
     "---\nname: banks\ndescription: Avoid shared memory bank conflicts by padding. Use when ncu "
     "shows l1tex__data_bank_conflicts.\nlicense: MIT\nmetadata:\n  kb-arch: \">=sm_80\"\n---\n"
     "# Banks\n\nPad each row.\n\n```cuda\n__global__ void k() {}\n```\n"},
    {"copies/SKILL.md",
     "---\nname: copies\ndescription: Overlap copies with cp.async.bulk. Not for bank "
     "conflicts.\nlicense: MIT\n---\n# Copies\n\nUse mbarrier.try_wait and "
     "cudaFuncSetAttribute.\n"},
    {"copies/references/phases.md", "# Phases\n\nThe parity flips each time.\n"},
    {"page.md",
     "# Seite\n\nGr\xc3\xb6\xc3\x9f"
     "e \xe6\xa0\xb8 \xff 3.14 a_b::c-d.e\n"},
    {"empty.md", ""},
};

// Made once, removed at the end.
class Index {
 public:
  Index() : folder_("/tmp/kb_fuzz_query_" + std::to_string(getpid())) {
    for (const Page& page : kPages) {
      const std::filesystem::path path = folder_ + "/skills/" + page.path;
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path) << page.text;
    }
    kb::IngestOptions options;
    options.roots = {folder_ + "/skills"};
    options.threads = 1;
    Check(kb::Ingest(folder_ + "/.kb", options).documents == std::size(kPages));
    retriever_ = std::make_unique<kb::Retriever>(folder_ + "/.kb");
  }
  ~Index() { std::filesystem::remove_all(folder_); }

  kb::Retriever& retriever() { return *retriever_; }

 private:
  std::string folder_;
  std::unique_ptr<kb::Retriever> retriever_;
};

kb::Query QueryOf(const uint8_t* data, size_t size) {
  kb::Query query;
  const uint8_t options = size > 0 ? data[0] : 0;
  query.k = options & 7;
  query.variant = static_cast<kb::Variant>((options >> 3) % 3);
  query.always_answer = (options & 64) != 0;
  if ((options & 128) != 0) query.filters.arch = "sm_75";
  if (size > 1) query.text.assign(reinterpret_cast<const char*>(data + 1), size - 1);
  return query;
}

void CheckHit(kb::Retriever& retriever, const kb::Hit& hit) {
  double sum = 0;
  for (const kb::Feature& feature : hit.features) {
    Check(std::isfinite(feature.value) && std::isfinite(feature.weight));
    sum += feature.value * feature.weight;
  }
  Check(std::isfinite(hit.score) && std::fabs(sum - hit.score) < 1e-6);
  Check(!hit.document.path.empty() && !hit.bundle_id.empty());
  Check(static_cast<int64_t>(retriever.PassageText(hit).size()) == hit.chunk.end - hit.chunk.begin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Index index;
  kb::Retriever& retriever = index.retriever();
  const kb::Query query = QueryOf(data, size);
  const kb::Answer answer = retriever.Search(query);
  Check(static_cast<int>(answer.hits.size()) <= query.k);
  Check(std::isfinite(answer.confidence) && std::isfinite(answer.threshold));
  Check(answer.why.find('\n') == std::string::npos);
  Check(answer.nothing_applies || !answer.nearest_miss);
  Check(!answer.nothing_applies || query.always_answer || answer.hits.empty());
  for (size_t i = 0; i < answer.hits.size(); ++i) {
    CheckHit(retriever, answer.hits[i]);
    Check(i == 0 || answer.hits[i].score <= answer.hits[i - 1].score);
  }
  if (answer.nearest_miss) CheckHit(retriever, *answer.nearest_miss);
  const kb::Answer again = retriever.Search(query);
  Check(again.hits.size() == answer.hits.size() && again.confidence == answer.confidence);
  return 0;
}
