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

// A finding `cuda-block-compiles` for each block that does not compile, in the order of
// `blocks`. `progress` (may be null) gets how many are done; it is called from `threads`.
[[nodiscard]] Diagnostics CompileCudaBlocks(const Toolchain& toolchain,
                                            const std::vector<CudaBlock>& blocks, int threads,
                                            const std::function<void(int64_t)>& progress);

}  // namespace kb
