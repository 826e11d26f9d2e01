// What a candidate of kind `host` implements: one function with C linkage in a shared object. It
// may use the CUDA runtime or driver API; the current device's primary context is current.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t and CUstream point to it */

typedef struct kb_args {
  int32_t version;       /* 1 */
  int32_t buffers;       /* how many: inputs, then outputs in the case's order, then workspaces */
  void* const* pointers; /* device memory, one a buffer, aligned to 256 bytes */
  const int64_t* bytes;  /* the size of each */
  int32_t axes;          /* how many axes, in the case's order */
  int32_t scalars;       /* how many scalar inputs, in the case's order */
  const int64_t* axis_values;
  const double* scalar_values;
} kb_args;

/* Puts all its work on `stream` and may return before it is done. Inputs are read only. Returns 0,
   or another number if it cannot do it. */
int kb_run(const kb_args* args, struct CUstream_st* stream);

#ifdef __cplusplus
}
#endif
