// Which iterations of a parallel loop meet at an element.
#include "compiler/oracle/iterations.h"
#include <gtest/gtest.h>

using namespace tilery::oracle;

namespace {
constexpr AccessKind plain = AccessKind::Plain, atomic = AccessKind::Atomic;

TEST(OracleIterations, EachHasItsOwnElement) {
  Iterations loop(Shape{3});
  for (uint64_t at : {8, 16, 24}) {
    loop.next();
    EXPECT_EQ(loop.read(at, plain) + loop.write(at, plain, true) + loop.read(at, plain), "");
    EXPECT_EQ(loop.read(4, plain), "") << "what nobody writes";
    EXPECT_EQ(loop.write(32, atomic, true), "");
    EXPECT_EQ(loop.write(40, plain, at == 8), "") << "all write what the first one has";
  }
}

TEST(OracleIterations, OneMayNotReadWhatAnotherWrites) {
  Iterations loop(Shape{2, 2});
  loop.next();
  loop.write(8, plain, true);
  loop.read(16, plain);
  loop.next();
  loop.next();
  EXPECT_EQ(loop.numberText(), "(1, 0)");
  EXPECT_EQ(loop.read(8, plain), "which iteration (0, 0) writes: the result depends on which runs first");
  EXPECT_EQ(loop.write(16, plain, true), "which iteration (0, 0) reads: the result depends on which runs first");
  loop.next();
  EXPECT_EQ(loop.write(8, plain, true), "which iteration (0, 0) also writes: the result depends on which runs last");
}
} // namespace
