// Loops as this processor runs them: skipped, left at the top, left at the bottom.
#include "compiler/lower/loop.h"
#include "tests/unit/lower/integer_function.h"

using namespace tilery;
using namespace tilery::test;
using lower::Loop;
using lower::Values;

namespace {
Loop newLoop(llvm::IRBuilder<> &b) {
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *head = llvm::BasicBlock::Create(b.getContext(), "", function);
  return Loop(b, head, llvm::BasicBlock::Create(b.getContext(), "", function));
}
} // namespace

TEST(Loop, GivesWhatItCarriedAlsoIfItIsSkipped) {
  for (int64_t n : {0, 1, 5}) {
    auto values = run(n, [](llvm::IRBuilder<> &b, llvm::Value *n) {
      Loop loop = newLoop(b);
      loop.enter(b.CreateICmpSLT(b.getInt64(0), n));
      llvm::PHINode *i = loop.carry(b.getInt64(0)), *sum = loop.carry(b.getInt64(100));
      llvm::Value *next = b.CreateAdd(i, b.getInt64(1));
      loop.repeat({next, b.CreateAdd(sum, i)}, b.CreateICmpSLT(next, n));
      loop.leave();
      llvm::Value *rounds = loop.after(0);
      return Values{rounds, loop.after(1)};
    });
    EXPECT_EQ(values, (std::vector<int64_t>{n, 100 + n * (n - 1) / 2}));
  }
}

TEST(Loop, MayBeLeftAtTheTop) {
  for (int64_t n : {1, 2, 40}) {
    auto values = run(n, [](llvm::IRBuilder<> &b, llvm::Value *n) {
      Loop loop = newLoop(b);
      loop.enter();
      llvm::PHINode *left = loop.carry(n), *rounds = loop.carry(b.getInt64(0));
      auto *body = llvm::BasicBlock::Create(b.getContext(), "", b.GetInsertBlock()->getParent());
      b.CreateCondBr(b.CreateICmpSGT(left, b.getInt64(1)), body, loop.exit);
      b.SetInsertPoint(body);
      loop.repeat({b.CreateLShr(left, 1), b.CreateAdd(rounds, b.getInt64(1))});
      loop.leave();
      return Values{rounds};
    });
    EXPECT_EQ(values[0], n == 40 ? 5 : n - 1);
  }
}

TEST(Loop, MayRepeatUnlessItIsDone) {
  auto values = run(10, [](llvm::IRBuilder<> &b, llvm::Value *n) {
    Loop loop = newLoop(b);
    loop.enter();
    llvm::PHINode *left = loop.carry(n);
    llvm::Value *less = b.CreateSub(left, b.getInt64(3));
    loop.repeatUnless(b.CreateICmpSLT(less, b.getInt64(0)), less);
    loop.leave();
    return Values{less};
  });
  EXPECT_EQ(values[0], -2);
}
