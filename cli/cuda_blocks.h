// The code blocks tagged `cuda`: each must compile. Tags: "cuda", "cuda sm_90a" (for that
// architecture), "cuda fragment" (not meant to compile alone: left out).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kb/diagnostic.h"
#include "kb/document.h"
#include "tdd/toolchain.h"

namespace kb {

struct CudaBlock {
  std::string path;
  int fence_line = 0;  // of the file, 1-based; the code begins on the next line
  std::string arch;    // the tag's, else the lowest that the document applies to, else sm_80
  std::string code;
};

[[nodiscard]] std::vector<CudaBlock> CudaBlocksOf(const Document& document);

struct CompileOptions {
  int threads = 2;
  // Where blocks that compiled are remembered by digest of code, architecture and toolchain;
  // a folder that need not exist. "": nowhere.
  std::string cache_dir;
  std::function<void(int64_t)> progress;  // how many are done, from any thread; may be null
};

// A finding `cuda-block-compiles` for each block that does not compile, in the order of
// `blocks`.
[[nodiscard]] Diagnostics CompileCudaBlocks(const Toolchain& toolchain,
                                            const std::vector<CudaBlock>& blocks,
                                            const CompileOptions& options);

}  // namespace kb
