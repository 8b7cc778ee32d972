#include "compiler/analysis/sign.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::hostKnows;
using tilery::analysis::IndexPolynomial;
using tilery::analysis::polynomialOf;
using tilery::analysis::SignAnalysis;

namespace {
constexpr const char *text = R"(
  tile.kernel @k(%n: i32, %flag: i1) {
    %id = tile.program_id 0
    %count = tile.num_programs 1
    %c = arith.constant 4 : i32
    %minus = arith.constant -4 : i32
    %quotient = tile.div floor %id, %n : i32
    %rest = tile.rem trunc %id, %minus : i32
    %below = tile.rem floor %id, %minus : i32
    %left = arith.subi %c, %id overflow<nsw> : i32
    %clamped = arith.maxsi %left, %c : i32
    %least = arith.minsi %left, %c : i32
    %wrapped = arith.addi %id, %c : i32
    %chosen = arith.select %flag, %id, %minus : i32
    %ofLeft = tile.div trunc %left, %c : i32
    %unsigned = tile.div unsigned %left, %c : i32
    tile.return
  })";
}

TEST(Sign, FollowsArithmetic) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  auto names = {"id",   "count",   "c",     "minus",   "quotient", "rest",   "below",
                "left", "clamped", "least", "wrapped", "chosen",   "ofLeft", "unsigned"};
  std::vector<std::string> notNegative;
  for (auto [number, name] : llvm::enumerate(names))
    if (SignAnalysis().notNegative(kernel.result(number)))
      notNegative.push_back(name);
  EXPECT_EQ(notNegative, (std::vector<std::string>{"id", "count", "c", "quotient", "rest", "clamped"}));
}

TEST(Sign, AssumesOfArgumentsWhatItNeeds) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  IndexPolynomial n = IndexPolynomial::of(kernel.argument(0)), id = polynomialOf(kernel.result(0));
  SignAnalysis signs;
  EXPECT_TRUE(signs.notNegative(id * n + n - IndexPolynomial(3))); // n >= 0 and n - 3 >= 0
  EXPECT_TRUE(signs.notNegative(id * n));                          // nothing new
  EXPECT_EQ(signs.assumptions(), (llvm::SmallVector<IndexPolynomial>{n, n - IndexPolynomial(3)}));
  EXPECT_FALSE(signs.notNegative(n * n - id)); // leaves no assumption
  EXPECT_FALSE(signs.notNegative(n * id - IndexPolynomial(1)));
  EXPECT_EQ(signs.assumptions().size(), 2u);
}

TEST(Sign, KnowsWhatTheHostKnows) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  IndexPolynomial n = IndexPolynomial::of(kernel.argument(0)), id = polynomialOf(kernel.result(0)),
                  count = polynomialOf(kernel.result(1));
  EXPECT_TRUE(hostKnows(n * count + IndexPolynomial(5)));
  EXPECT_FALSE(hostKnows(n * id));
  EXPECT_FALSE(hostKnows(IndexPolynomial::of(kernel.argument(1)))); // a condition is no number
}

TEST(Sign, CountersAreNotBelowTheirFirstValue) {
  Kernel kernel(R"(
  tile.kernel @k(%n: i32) {
    %c0 = arith.constant 0 : i32
    %minus = arith.constant -4 : i32
    scf.for %up = %c0 to %n step %n : i32 {
    }
    scf.for %below = %minus to %n step %n : i32 {
    }
    scf.for %first = %n to %n step %n : i32 {
    }
    tile.return
  })");
  ASSERT_TRUE(kernel.module);
  llvm::SmallVector<Value> counters;
  kernel.module->walk([&](scf::ForOp loop) { counters.push_back(loop.getInductionVar()); });
  EXPECT_TRUE(SignAnalysis().notNegative(counters[0]));
  EXPECT_FALSE(SignAnalysis().notNegative(counters[1]));
  SignAnalysis signs;
  EXPECT_TRUE(signs.notNegative(counters[2]));
  EXPECT_EQ(signs.assumptions(), llvm::SmallVector<IndexPolynomial>{IndexPolynomial::of(kernel.argument(0))});
}

TEST(Sign, CountersAreBelowTheirEnd) {
  Kernel kernel(R"(
  tile.kernel @k(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c63 = arith.constant 63 : i32
    %c64 = arith.constant 64 : i32
    %whole = arith.addi %n, %c63 overflow<nsw> : i32
    %count = tile.div trunc %whole, %c64 : i32
    %turns = tile.div trunc %count, %c1 : i32
    scf.for %turn = %c0 to %turns step %c3 : i32 {
    }
    tile.return
  })");
  ASSERT_TRUE(kernel.module);
  Value turn, count;
  kernel.module->walk([&](scf::ForOp loop) { turn = loop.getInductionVar(); });
  kernel.module->walk([&](tilery::tile::DivOp op) { count = count ? count : op.getResult(); });
  IndexPolynomial left = polynomialOf(count) - IndexPolynomial(1) - polynomialOf(turn);
  SignAnalysis signs;
  EXPECT_TRUE(signs.notNegative(left));
  EXPECT_TRUE(signs.notNegative(left * IndexPolynomial(64)));
  EXPECT_TRUE(signs.assumptions().empty());
  EXPECT_FALSE(signs.notNegative(left - IndexPolynomial(1)));
}

TEST(Sign, FollowsWhatLoopsCarry) {
  Kernel kernel(R"(
  tile.kernel @k(%n: i32, %steps: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %id = tile.program_id 0
    %end = arith.addi %id, %n : i32
    %at = scf.while (%before = %id) : (i32) -> i32 {
      %more = arith.cmpi slt, %before, %end : i32
      scf.condition(%more) %before : i32
    } do {
    ^bb0(%now: i32):
      %first = tile.rem trunc %now, %steps : i32
      %sum = arith.addi %first, %end : i32
      %left = arith.subi %sum, %now : i32
      %last = arith.minsi %steps, %left : i32
      %done = arith.subi %last, %first : i32
      %next = arith.addi %now, %done : i32
      scf.yield %next : i32
    }
    %counted:3 = scf.for %i = %c0 to %n step %c1 iter_args(%up = %c0, %down = %c0, %ofDown = %c0) -> (i32, i32, i32) : i32 {
      %more = arith.addi %up, %i : i32
      %less = arith.subi %down, %i : i32
      %other = arith.addi %ofDown, %down : i32
      scf.yield %more, %less, %other : i32, i32, i32
    }
    tile.return
  })");
  ASSERT_TRUE(kernel.module);
  IndexPolynomial n = IndexPolynomial::of(kernel.argument(0)), steps = IndexPolynomial::of(kernel.argument(1));
  kernel.module->walk([&](scf::WhileOp loop) {
    SignAnalysis signs;
    EXPECT_TRUE(signs.notNegative(Value(loop.getAfterArguments()[0])));
    EXPECT_TRUE(llvm::all_of(signs.assumptions(), [&](auto &each) { return each == n || each == steps; }));
  });
  kernel.module->walk([&](scf::ForOp loop) {
    EXPECT_TRUE(SignAnalysis().notNegative(loop.getRegionIterArgs()[0]));
    EXPECT_FALSE(SignAnalysis().notNegative(loop.getRegionIterArgs()[1]));
    EXPECT_FALSE(SignAnalysis().notNegative(loop.getRegionIterArgs()[2]));
  });
}
