#pragma once
// One program run in several ways.
#include "program.h"
#include <string>

namespace tilery::fuzz {

struct Outcome {
  enum Kind { Agrees, Skipped, Differs } kind = Agrees;
  std::string message; ///< what differs and where; why it was skipped
};

enum class Against { Passes, BlockPasses, Machine, Blocks, Gpu, Assembler };

/// Runs the program by the oracle, and again after the target-independent passes: by the oracle (there, or after the
/// passes to block IR, with copies that take no time and as late as waits allow), as machine code, as GPU code
/// with fibers for threads (the general path's and, of what they take, block IR's), or on the first GPU; the assembler only
/// looks at it.
/// Elementwise and integer results must have the same bits, rounded ones (dot, reductions, math functions) lie in the oracle's
/// interval. Skipped: the back end has no lowering for an op, or the oracle's result is not determined.
Outcome check(const Program &program, mlir::ModuleOp module, Against against);
/// The CPU target that `Against::Machine` compiles for, one that this processor runs, or the other one (remote.h).
inline std::string machineTarget = "host";

/// Names the first pass after which the oracle's result differs; empty if none.
std::string guiltyPass(const Program &program, mlir::ModuleOp module, Against against);

/// Makes the failing program smaller while `fails` holds.
void reduce(mlir::ModuleOp module, llvm::function_ref<bool(mlir::ModuleOp)> fails);

} // namespace tilery::fuzz
