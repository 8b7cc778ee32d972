#include "compiler/lower/verify_code.h"
#include "llvm/IR/Verifier.h"
#include <cstdlib>

namespace tilery::lower {

bool verifies() {
  const char *wanted = std::getenv("TILERY_VERIFY");
  return wanted && llvm::StringRef(wanted) == "1";
}

mlir::LogicalResult verifyCode(llvm::Module &code, mlir::ModuleOp source) {
  if (llvm::verifyModule(code, &llvm::errs()))
    return source.emitError("the generated code does not verify: a defect of the code generator");
  return mlir::success();
}

} // namespace tilery::lower
