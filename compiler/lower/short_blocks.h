#pragma once
// What unrolled programs are for LLVM's code generation.
namespace llvm {
class FunctionPass;
}

namespace tilery::lower {

/// Cuts basic blocks into pieces: selecting instructions takes time that grows with the square of a block's length.
llvm::FunctionPass *createShortBlocks();

} // namespace tilery::lower
