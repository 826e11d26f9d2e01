// A small corpus on disk for tests of the index: skills with references, an entry, a trace.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "indexer/ingest.h"
#include "indexer/retriever.h"

namespace kb::test {

class Corpus {
 public:
  explicit Corpus(const std::string& name) : folder_(testing::TempDir() + "/kb_corpus_" + name) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~Corpus() { std::filesystem::remove_all(folder_); }
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;

  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path whole = folder_ + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
  }
  void Remove(const std::string& path) const { std::filesystem::remove_all(folder_ + "/" + path); }

  void WriteSkill(const std::string& name, const std::string& description, const std::string& body,
                  const std::string& metadata = "") const {
    Write("skills/" + name + "/SKILL.md", "---\nname: " + name + "\ndescription: \"" + description +
                                              "\"\nlicense: CC-BY-4.0\n" + metadata + "---\n# " +
                                              name + "\n\n" + body + "\n");
  }

  // Three skills, one reference, one entry and one trace.
  void WriteExample() const {
    WriteSkill("shared-memory-banks",
               "Avoid shared memory bank conflicts by padding or swizzles. Use when ncu shows "
               "l1tex__data_bank_conflicts_pipe_lsu.",
               "Pad each row by one word.\n\n```cuda\n__global__ void k() {}\n```\n\n"
               "## How to check\n\nRun ncu.\n",
               "metadata:\n  kb-arch: \">=sm_80\"\n  kb-bound: memory\n  kb-topics: smem\n");
    WriteSkill("async-copy",
               "Overlap copies with cp.async.bulk and mbarrier on Hopper. Not for bank conflicts.",
               "Use TMA with `mbarrier.try_wait` and cudaFuncSetAttribute.",
               "metadata:\n  kb-arch: sm_90a\n  kb-cuda: \">=12.0\"\n");
    WriteSkill("launch-graphs", "Cut launch overhead of tiny kernels with CUDA graphs.",
               "Capture the stream once and replay it.");
    Write("skills/async-copy/references/phases.md",
          "# Phases\n\nThe parity of the phase flips each time the barrier completes.\n");
    Write("nnk/pad-33/NNK.md",
          "---\nkb: nnk/1\nid: pad-33\ntitle: Padding to 33 words\nclaim: \"padding wins\"\n"
          "state: proved\nlicense: Apache-2.0\n---\n# Padding to 33 words\n\nPadding the tile.\n");
    Write("traces/2026/t1.md",
          "---\nkb: trace/1\nid: t1\ntitle: Transpose from naive to tiled\nlicense: "
          "Apache-2.0\n---\n# Goal\n\nA transpose that saturates the memory.\n");
  }

  [[nodiscard]] std::string kb_dir() const { return folder_ + "/.kb"; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  // Indexes the folders that there are.
  IngestReport Index(const std::string& embedder = "lsa", int threads = 2) const {
    IngestOptions options;
    for (const char* root : {"skills", "nnk", "traces"}) {
      const std::string path = folder_ + "/" + root;
      if (std::filesystem::exists(path)) options.roots.push_back(path);
    }
    options.embedder = embedder;
    options.threads = threads;
    return Ingest(kb_dir(), options);
  }

 private:
  std::string folder_;
};

// The bundle ids of the hits, best first.
inline std::vector<std::string> IdsOf(const Answer& answer) {
  std::vector<std::string> ids;
  for (const Hit& hit : answer.hits) ids.push_back(hit.bundle_id);
  return ids;
}

}  // namespace kb::test
