// Which meetings of a block's threads are one too many.
#include "compiler/targets/cuda/ptx/drop_barriers.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// The lines of a function's body that are left; B, A and L stand for a barrier, a store and a load.
std::string left(const std::string &body) {
  std::string text;
  for (char c : body)
    if (c == 'B')
      text += "call void asm sideeffect \"bar.sync 0;\", \"~{memory}\"()";
    else if (c == 'A')
      text += "store i32 %x, ptr addrspace(3) %p";
    else if (c == 'L')
      text += "call void @read(ptr addrspace(3) %p)";
    else
      text += c;
  text = "define void @f(ptr addrspace(3) %p, i32 %x, i1 %c, i1 %d) {\n" + text + "\n}\ndeclare void @read(ptr addrspace(3))\n" +
         "declare i32 @exchange(i32) memory(inaccessiblemem: readwrite) nounwind willreturn\n";
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(module) << wrong.getMessage().str() << text;
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder().registerFunctionAnalyses(analyses);
  cuda::DropBarriersPass().run(*module->getFunction("f"), analyses);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string order;
  for (llvm::BasicBlock &block : *module->getFunction("f")) {
    for (llvm::Instruction &instruction : block)
      if (llvm::isa<llvm::StoreInst>(instruction))
        order += 'A';
      else if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->isInlineAsm())
        order += 'B';
      else if (call && call->getCalledFunction()->getName() == "read")
        order += 'L';
    order += ' ';
  }
  return order;
}
} // namespace

TEST(DropBarriers, OneBehindTheOther) {
  EXPECT_EQ(left("A\nB\n%y = add i32 %x, 1\nB\nL\nret void"), "ABL ");
  EXPECT_EQ(left("A\nB\n%y = call i32 @exchange(i32 %x)\nB\nL\nret void"), "ABL ") << "registers only";
  EXPECT_EQ(left("A\nB\nL\nB\nA\nret void"), "ABLBA ");
  EXPECT_EQ(left("B\nL\nB\nret void"), "BLB ") << "who meets at the end is not known";
}

TEST(DropBarriers, AfterBranches) {
  std::string branch = "A\nB\nbr i1 %c, label %yes, label %no\nyes:\n",
              join = "br label %end\nno:\nbr label %end\nend:\nB\nL\nret void";
  EXPECT_EQ(left(branch + join), "AB   L ");
  EXPECT_EQ(left(branch + "A\n" + join), "AB A  BL ") << "one way stores";
  EXPECT_EQ(left("A\nbr i1 %c, label %yes, label %no\nyes:\nB\n" + join), "A   BL ") << "one way has not met";
}

TEST(DropBarriers, BeforeBranches) {
  EXPECT_EQ(left("A\nB\nbr i1 %c, label %yes, label %no\nyes:\nB\nL\nret void\nno:\nB\nA\nret void"), "AB L A ");
  EXPECT_EQ(left("A\nbr label %next\nnext:\nB\nbr i1 %c, label %yes, label %no\nyes:\nA\nret void\nno:\nB\nL\nret void"),
            "A B A L ");
}

TEST(DropBarriers, InLoops) {
  // a barrier at a loop's end and one at its begin: the one at the end, behind which all ways meet
  std::string loop =
      "A\nbr label %loop\nloop:\nB\nL\nbr i1 %c, label %some, label %latch\nsome:\nA\nbr label %latch\nlatch:\nB\nbr i1 "
      "%d, label %loop, label %done\ndone:\n";
  EXPECT_EQ(left(loop + "B\nL\nret void"), "A BL A  BL ");
  EXPECT_EQ(left(loop + "L\nret void"), "A BL A B L ") << "behind the loop nobody meets";
  EXPECT_EQ(left("A\nB\nbr label %loop\nloop:\nB\nL\nA\nB\nbr i1 %d, label %loop, label %done\ndone:\nL\nret void"), "AB LAB L ");
  EXPECT_EQ(left("A\nB\nbr label %loop\nloop:\nB\nbr i1 %d, label %loop, label %done\ndone:\nL\nret void"), "AB  L ");
}
