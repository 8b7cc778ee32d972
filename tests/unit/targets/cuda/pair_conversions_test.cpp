#include "compiler/targets/cuda/pair_conversions.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
std::string paired(const char *type, const char *from, const char *to) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::string text = std::string("define ") + to + " @f(" + from + " %x) {\n  %r = " + type + " " + from + " %x to " + to +
                     "\n  ret " + to + " %r\n}\n";
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(module) << wrong.getMessage().str();
  cuda::pairConversions(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  llvm::raw_string_ostream(result) << *module->getFunction("f");
  return result;
}

size_t countOf(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1))
    ++count;
  return count;
}
} // namespace

TEST(PairConversions, TakeTwoNumbersAnInstruction) {
  std::string pair = paired("fptrunc", "<2 x float>", "<2 x half>");
  EXPECT_EQ(countOf(pair, "fptrunc"), 0u);
  size_t high = pair.find("extractelement <2 x float> %x, i64 1"), low = pair.find("extractelement <2 x float> %x, i64 0");
  EXPECT_LT(high, low) << "the first operand is the upper half\n" << pair;
  EXPECT_EQ(countOf(pair, "call <2 x half> @llvm.nvvm.ff2f16x2.rn("), 1u) << pair;
  EXPECT_EQ(countOf(paired("fptrunc", "<4 x float>", "<4 x bfloat>"), "call <2 x bfloat> @llvm.nvvm.ff2bf16x2.rn("), 2u);
}

TEST(PairConversions, LeaveTheOthers) {
  EXPECT_EQ(countOf(paired("fptrunc", "float", "half"), "fptrunc"), 1u);
  EXPECT_EQ(countOf(paired("fptrunc", "<3 x float>", "<3 x half>"), "fptrunc"), 1u);
  EXPECT_EQ(countOf(paired("fptrunc", "<2 x double>", "<2 x half>"), "fptrunc"), 1u);
  EXPECT_EQ(countOf(paired("fptrunc", "<2 x double>", "<2 x float>"), "fptrunc"), 1u);
  EXPECT_EQ(countOf(paired("fpext", "<2 x half>", "<2 x float>"), "fpext"), 1u);
}
