#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

namespace tilery::lower {
/// TILERY_VERIFY=1: what the compiler makes is verified after each step. For tests: it takes as long as some of the steps.
bool verifies();
/// Failure, after an error was reported, if generated code is not valid LLVM IR: always asked, for LLVM makes wrong numbers of it without a
/// word (0.7 ms of a matmul's 120).
mlir::LogicalResult verifyCode(llvm::Module &code, mlir::ModuleOp source);
} // namespace tilery::lower
