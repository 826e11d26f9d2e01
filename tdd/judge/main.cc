// The judge: runs the tests of one case, or stays and checks timed runs, as kb asks.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include "tdd/judge/tally.h"
#include "tdd/judge/task.h"
#include "tdd/judge/wire.h"

int main(int argc, char** argv) {
  using namespace kb::test::internal;  // NOLINT(google-build-using-namespace)
  if (fcntl(3, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("the judge of a case: started by kb, which talks to it on descriptor 3\n", stderr);
    return 2;
  }
  try {
    testing::InitGoogleTest(&argc, argv);
    ReadTask();
    const int result = TheTask().session ? ServeSession() : RunTests();
    std::fflush(nullptr);
    _exit(result);  // threads of ParallelFor are asleep: no destructors under them
  } catch (const std::exception& error) {
    Fault("INFRA_ERROR", error.what());
  }
}
