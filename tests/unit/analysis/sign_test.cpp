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
