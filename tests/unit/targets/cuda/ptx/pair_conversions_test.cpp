#include "compiler/targets/cuda/ptx/pair_conversions.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
std::string pairedText(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic wrong;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, wrong, context);
  EXPECT_TRUE(module) << wrong.getMessage().str();
  cuda::pairConversions(*module);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  std::string result;
  llvm::raw_string_ostream(result) << *module->getFunction("f");
  return result;
}

std::string paired(const char *type, const char *from, const char *to) {
  return pairedText(std::string("define ") + to + " @f(" + from + " %x) {\n  %r = " + type + " " + from + " %x to " + to +
                    "\n  ret " + to + " %r\n}\n");
}

/// What a product of extended halfs with `other`, an <2 x float>, is converted by.
std::string product(const std::string &other) {
  return pairedText("define <2 x half> @f(<2 x half> %x, <2 x half> %y, <2 x float> %z) {\n"
                    "  %a = fpext <2 x half> %x to <2 x float>\n  %b = fpext <2 x half> %y to <2 x float>\n"
                    "  %p = fmul <2 x float> %a, " +
                    other + "\n  %r = fptrunc <2 x float> %p to <2 x half>\n  ret <2 x half> %r\n}\n");
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

TEST(PairConversions, LeaveWhatIsComputedIn16Bits) {
  EXPECT_EQ(countOf(product("%b"), "fptrunc"), 1u);
  EXPECT_EQ(countOf(product("splat (float 5.000000e-01)"), "fptrunc"), 1u);
  EXPECT_EQ(countOf(product("%z"), "fptrunc"), 0u) << "a factor of 32 bits";
}
