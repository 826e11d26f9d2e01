#include "kb/case_test.h"

// c = a b; its magnitude is the sum of |a| |b|.
void Reference(const kb::test::Inputs& in, kb::test::Outputs& out) {
  kb::test::MatMul({.m = in.axis("m"), .n = in.axis("n"), .k = in.axis("k")}, in["a"], in["b"],
                   &out["c"], &out.magnitude("c"));
}
