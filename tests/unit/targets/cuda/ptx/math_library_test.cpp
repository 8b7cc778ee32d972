// The libm functions of GPUs: bodies for those that exist, the name of one that does not.
#include "compiler/targets/cuda/ptx/math_library.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
struct MathLibrary : testing::Test {
  llvm::LLVMContext context;
  llvm::Module module{"m", context};
  void declare(const char *name, bool single, unsigned count = 1) {
    llvm::Type *type = single ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
    llvm::SmallVector<llvm::Type *> types(count, type);
    module.getOrInsertFunction(name, llvm::FunctionType::get(type, types, false));
  }
  unsigned undefined() {
    unsigned count = 0;
    for (llvm::Function &function : module)
      count += function.isDeclaration() && !function.isIntrinsic();
    return count;
  }
};
} // namespace

TEST_F(MathLibrary, GivesBodiesToWhatIsDeclared) {
  declare("exp", false);
  declare("tanhf", true);
  declare("pow", false, 2);
  EXPECT_EQ(cuda::linkMath(module), "");
  EXPECT_EQ(undefined(), 0u);
  EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
  for (const char *name : {"exp", "tanhf", "pow"}) {
    ASSERT_TRUE(module.getFunction(name)) << name;
    EXPECT_TRUE(module.getFunction(name)->hasInternalLinkage());
  }
}

TEST_F(MathLibrary, SaysWhatIsMissing) {
  declare("exp", false);
  declare("bessel", false);
  EXPECT_NE(cuda::linkMath(module).find("bessel"), std::string::npos);
}

TEST_F(MathLibrary, LeavesAModuleWithoutFunctionsAlone) {
  EXPECT_EQ(cuda::linkMath(module), "");
  EXPECT_TRUE(module.empty());
}
