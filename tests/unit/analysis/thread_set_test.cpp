// Which threads come to an op.
#include "compiler/analysis/thread_set.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::canMeet;
using tilery::analysis::threadsAt;

namespace {
/// The threads at the only wait of a body, as "first-last" of each run; "?" if that hangs on data.
std::string threadsAtWait(const std::string &body) {
  Kernel kernel("tile.kernel @k(%n: i32) {\n  tile.threads 96 {\n  ^bb0(%t: i32):\n    %zero = arith.constant 0 : i32\n"
                "    %two = arith.constant 2 : i32\n    %c40 = arith.constant 40 : i32\n    %c64 = arith.constant 64 : i32\n" +
                body + "    tile.yield\n  }\n  tile.return\n}\n");
  std::string text;
  kernel.module->walk([&](tilery::tile::SyncOp op) {
    auto set = threadsAt(op);
    if (!set)
      return void(text = "?");
    for (int first = set->find_first(); first >= 0;) {
      int end = set->find_next_unset(first);
      end = end < 0 ? int(set->size()) : end;
      text += std::to_string(first) + "-" + std::to_string(end - 1) + (canMeet(*set) ? " " : "! ");
      first = end < int(set->size()) ? set->find_next(end) : -1;
    }
  });
  return text;
}
} // namespace

TEST(ThreadSet, OfBranches) {
  EXPECT_EQ(threadsAtWait("tile.sync\n"), "0-95 ");
  EXPECT_EQ(threadsAtWait("%c = arith.cmpi slt, %t, %c64 : i32\nscf.if %c {\n  tile.sync\n}\n"), "0-63 ");
  EXPECT_EQ(threadsAtWait("%c = arith.cmpi slt, %t, %c64 : i32\nscf.if %c {\n} else {\n  tile.sync\n}\n"), "64-95 ");
  EXPECT_EQ(threadsAtWait("%c = arith.cmpi slt, %t, %c40 : i32\nscf.if %c {\n  tile.sync\n}\n"), "0-39! ");
  EXPECT_EQ(
      threadsAtWait("%r = tile.rem floor %t, %c40 : i32\n%c = arith.cmpi slt, %r, %two : i32\nscf.if %c {\n  tile.sync\n}\n"),
      "0-1! 40-41! 80-81! ");
  EXPECT_EQ(
      threadsAtWait("%c = arith.cmpi slt, %t, %c40 : i32\n%d = arith.cmpi sge, %t, %two : i32\n%e = arith.xori %c, %d : i1\n"
                    "scf.if %e {\n  scf.if %c {\n    tile.sync\n  }\n}\n"),
      "0-1 ");
}

TEST(ThreadSet, QuotientsOfNegativeNumbers) {
  auto threads = [](const std::string &op) {
    return threadsAtWait("%m = arith.subi %t, %c40 : i32\n%q = tile." + op +
                         " %m, %c64 : i32\n%c = arith.cmpi slt, %q, %zero : i32\nscf.if %c {\n  tile.sync\n}\n");
  };
  EXPECT_EQ(threads("div floor"), "0-39! ");
  EXPECT_EQ(threads("div trunc"), "");
  EXPECT_EQ(threads("div unsigned"), "");
  EXPECT_EQ(threads("rem floor"), "");
  EXPECT_EQ(threads("rem trunc"), "0-39! ");
  EXPECT_EQ(threads("rem unsigned"), "");
  EXPECT_EQ(threadsAtWait("%q = tile.div floor %t, %zero : i32\n%r = tile.rem floor %t, %zero : i32\n"
                          "%s = arith.addi %q, %r : i32\n%c = arith.cmpi slt, %s, %c64 : i32\nscf.if %c {\n  tile.sync\n}\n"),
            "0-63 ");
}

TEST(ThreadSet, OfData) {
  // The same for all: everybody comes, or nobody.
  EXPECT_EQ(threadsAtWait("%c = arith.cmpi slt, %n, %c64 : i32\nscf.if %c {\n  tile.sync\n}\n"), "0-95 ");
  EXPECT_EQ(threadsAtWait("%c = arith.cmpi slt, %t, %n : i32\nscf.if %c {\n  tile.sync\n}\n"), "?");
  EXPECT_EQ(threadsAtWait("scf.for %i = %zero to %t step %two : i32 {\n  tile.sync\n}\n"), "?");
}
