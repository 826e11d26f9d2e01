// The child's first steps in namespaces of its own. Runs between fork and exec: system calls alone.
#pragma once

#include "tdd/sandbox.h"

namespace kb {

// The user and the group that a user namespace has: we ourselves, by the same number.
struct IdMaps {
  IdMaps();  // before the fork
  char user[48], group[48];
};

// Maps the user, makes all but the plan's folders read-only, gives it a /proc of its own. nullptr,
// or what could not be had, with errno.
const char* EnterSandbox(const ChildPlan& plan, const IdMaps& maps);

}  // namespace kb
