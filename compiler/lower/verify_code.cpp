#include "compiler/lower/verify_code.h"
#include "tilery/environment.h"
#include "llvm/IR/Verifier.h"

namespace tilery::lower {

bool verifies() { return environmentSwitch("TILERY_VERIFY"); }

mlir::LogicalResult verifyCode(llvm::Module &code, mlir::ModuleOp source) {
  if (llvm::verifyModule(code, &llvm::errs()))
    return source.emitError("the generated code does not verify: a defect of the code generator");
  return mlir::success();
}

} // namespace tilery::lower
