// Branches as this processor runs them, and which values come out of them.
#include "compiler/lower/branch.h"
#include "tests/unit/lower/integer_function.h"

using namespace tilery;
using namespace tilery::test;
using namespace tilery::lower;

using Builder = llvm::IRBuilder<>;

namespace {
constexpr int64_t numbers[] = {-3, 0, 1, 7};

llvm::Value *isNegative(Builder &b, llvm::Value *n) { return b.CreateICmpSLT(n, b.getInt64(0)); }
} // namespace

TEST(Branch, RunsOneOfTwoSides) {
  for (int64_t n : numbers) {
    auto values = run(n, [](Builder &b, llvm::Value *n) {
      llvm::Value *memory = b.CreateAlloca(b.getInt64Ty());
      b.CreateStore(b.getInt64(5), memory);
      emitIf(b, isNegative(b, n), [&] { b.CreateStore(n, memory); });
      emitIf(
          b, b.CreateICmpEQ(n, b.getInt64(7)), [&] { b.CreateStore(b.getInt64(70), memory); },
          [&] { b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), memory), b.getInt64(1)), memory); });
      return Values{b.CreateLoad(b.getInt64Ty(), memory)};
    });
    EXPECT_EQ(values[0], n == 7 ? 70 : n < 0 ? n + 1 : 6);
  }
}

// Sides that end in another block than they began in.
TEST(Branch, GivesTheValuesOfTheSideThatRan) {
  for (int64_t n : numbers) {
    auto values = run(n, [](Builder &b, llvm::Value *n) {
      return emitEither(
          b, isNegative(b, n), [&] { return Values{b.CreateNeg(n), b.getInt64(1)}; },
          [&] {
            auto isOdd = b.CreateTrunc(n, b.getInt1Ty());
            Values inner = emitEither(b, isOdd, [&] { return Values{b.CreateMul(n, n)}; }, [&] { return Values{n}; });
            return Values{inner[0], b.getInt64(2)};
          });
    });
    EXPECT_EQ(values, n < 0 ? (std::vector<int64_t>{-n, 1}) : (std::vector<int64_t>{n % 2 ? n * n : n, 2}));
  }
}

TEST(Branch, GivesTheUsualValuesWhereNothingRareRan) {
  for (int64_t n : numbers) {
    auto values = run(n, [](Builder &b, llvm::Value *n) {
      llvm::Value *usual[] = {n, b.getInt64(40)}, *isRare = isNegative(b, n);
      auto rare = [&] { return Values{b.CreateNeg(n), b.getInt64(50)}; };
      Values results = emitUnless(b, b.CreateNot(isRare), usual, rare);
      results.append(emitWhere(b, isRare, usual, rare));
      return results;
    });
    int64_t first = n < 0 ? -n : n, second = n < 0 ? 50 : 40;
    EXPECT_EQ(values, (std::vector<int64_t>{first, second, first, second}));
  }
}
