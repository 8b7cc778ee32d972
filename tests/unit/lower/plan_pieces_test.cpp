// Long nests are cut where the fewest tiles live on.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// x = sin(x) + exp(x), `steps` times: one tile lives between two steps, two within each.
std::string unrolled(int steps) {
  std::string body = load("x0", "ax");
  for (int i = 0; i < steps; ++i) {
    std::string x = "x" + std::to_string(i), s = "s" + std::to_string(i), e = "e" + std::to_string(i);
    body += apply(s, "math.sin", "%" + x) + apply(e, "math.exp", "%" + x) +
            apply("x" + std::to_string(i + 1), "arith.addf", "%" + s + ", %" + e);
  }
  return overRows(body + store("ao", "x" + std::to_string(steps)));
}
size_t countOf(llvm::StringRef text, llvm::StringRef part) { return text.count(part); }
} // namespace

TEST(PlanPieces, ShortNestsStayWhole) { EXPECT_EQ(countOf(stepsOf(unrolled(20), planOptions("avx512", true)), "nest 64"), 1u); }

TEST(PlanPieces, LongOnesAreCutBetweenSteps) {
  for (int steps : {100, 200}) {
    std::string plan = stepsOf(unrolled(steps), planOptions("avx512", true));
    size_t nests = countOf(plan, "nest 64");
    EXPECT_GE(nests, size_t(steps) / 40) << plan;
    EXPECT_LE(nests, size_t(steps) / 10) << plan;
    EXPECT_EQ(countOf(plan, "define"), nests - 1) << "one tile between two pieces\n" << plan;
  }
}
