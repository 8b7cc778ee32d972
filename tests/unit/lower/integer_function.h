#pragma once
// Functions of an integer, written by hand in LLVM IR, run by this processor.
#include "compiler/lower/branch.h"
#include "compiler/targets/cpu/emit_object.h"
#include "tilery/runtime.h"
#include "llvm/IR/Verifier.h"
#include <gtest/gtest.h>

namespace tilery::test {

/// What `code` makes of n: i64s, written behind each other.
inline std::vector<int64_t> run(int64_t n, llvm::function_ref<lower::Values(llvm::IRBuilder<> &, llvm::Value *n)> code) {
  llvm::LLVMContext context;
  llvm::Module module("integers", context);
  cpu::prepareModule(module, cpu::hostTarget());
  llvm::IRBuilder<> b(context);
  llvm::Type *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
  auto *function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {ptr, i64, i64, ptr}, false),
                                          llvm::Function::ExternalLinkage, "f", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(context, "", function));
  llvm::Value *out = b.CreateLoad(ptr, b.CreateLoad(ptr, function->getArg(0)));
  lower::Values results = code(b, function->getArg(2));
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

} // namespace tilery::test
