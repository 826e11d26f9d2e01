// All cases in one program; run.sh profiles one launch of each.
#include "atomics.cu"
#include "cache.cu"
#include "compute.cu"
#include "copy.cu"
#include "divergence.cu"
#include "everyday.cu"
#include "latency.cu"
#include "launch.cu"
#include "occupancy.cu"
#include "spill.cu"
#include "tensor.cu"
#include "transpose.cu"

int main() {
  RunCopy();
  RunTranspose();
  RunSpill();
  RunOccupancy();
  RunLatency();
  RunCompute();
  RunTensor();
  RunAtomics();
  RunLaunch();
  RunCache();
  RunDivergence();
  RunEveryday();
  CHECK(cudaDeviceSynchronize());
  return 0;
}
