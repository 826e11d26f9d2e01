// What is rewritten in a kernel's preprocessed text before g++ reads it. Text in, text out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kb {

// The names of the __global__ functions with a body or a declaration, each once, in order.
[[nodiscard]] std::vector<std::string> FindKernels(std::string_view text);

// "extern __shared__ float s[];" becomes a reference to the block's dynamic shared memory, and
// "__shared__ alignas(16)" an attribute.
[[nodiscard]] std::string RewriteShared(std::string_view text);

// The line, 1-based, of the first inline assembly, by the text's own line markers; 0: none.
[[nodiscard]] int FindInlineAssembly(std::string_view text);

}  // namespace kb
