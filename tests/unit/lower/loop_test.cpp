// Loops as this processor runs them: skipped, left at the top, left at the bottom.
#include "compiler/lower/loop.h"
#include "compiler/targets/cpu/emit_object.h"
#include "tilery/runtime.h"
#include "llvm/IR/Verifier.h"
#include <gtest/gtest.h>

using namespace tilery;
using lower::Loop;

namespace {
using Values = llvm::SmallVector<llvm::Value *>;

/// What `code` makes of n: i64s, written behind each other.
std::vector<int64_t> run(int64_t n, llvm::function_ref<Values(llvm::IRBuilder<> &, llvm::Value *n)> code) {
  llvm::LLVMContext context;
  llvm::Module module("loop", context);
  cpu::prepareModule(module, cpu::hostTarget());
  llvm::IRBuilder<> b(context);
  llvm::Type *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
  auto *function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {ptr, i64, i64, ptr}, false),
                                          llvm::Function::ExternalLinkage, "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  llvm::Value *out = b.CreateLoad(ptr, b.CreateLoad(ptr, function->getArg(0)));
  Values results = code(b, function->getArg(2));
  for (auto [i, value] : llvm::enumerate(results))
    b.CreateStore(value, b.CreateConstGEP1_64(i64, out, i));
  b.CreateRetVoid();
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
  CodeImage image;
  image.object = cpu::emitObject(module, cpu::hostTarget(), {});
  image.kernels.push_back({"f", 0, {{"out", DType::I64, true, true}}});
  std::vector<int64_t> values(results.size(), -1);
  uint64_t slots[] = {reinterpret_cast<uint64_t>(values.data())};
  TileryLaunch launch{};
  launch.args = slots;
  load(image).front()->entry()(&launch, 0, n, nullptr);
  return values;
}

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
