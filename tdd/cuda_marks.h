// The second pass of the lexer: brackets, bodies, loops. Of LexCuda alone.
#pragma once

#include "tdd/cuda_lexer.h"

namespace kb {

// Fills in all but kind, text and place in the source of the tokens, and finds the loops.
void MarkCuda(CudaSource* source);

}  // namespace kb
