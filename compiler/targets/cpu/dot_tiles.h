#pragma once
// The micro-kernel of `dot` in AMX: tiles of 16 x 16 sums, eight tile registers.
#include "compiler/targets/cpu/dot_kernel.h"

namespace tilery::cpu {

/// Completes `blocking` (its lanes are given): 2 x 2 tiles of sums, or 1 x 4 where there are no more than 16 rows.
void blockTiles(DotBlocking &blocking, unsigned m, unsigned n, unsigned words);

/// Sets up the tile registers as the kernel of these rows and columns wants them; `releaseTiles` gives them back.
void configureTiles(llvm::IRBuilder<> &b, const DotBlocking &blocking, unsigned rows, unsigned columns);
void releaseTiles(llvm::IRBuilder<> &b);

/// Of dot_kernel.cpp: slivers as equal as can be, and a kernel's empty function.
Cut cut(unsigned size, unsigned unit, unsigned maxWidth);
llvm::Function *kernelFunction(llvm::IRBuilder<> &b, llvm::Module &module, llvm::StringRef name);

/// dotKernel in tiles. Sums of even and odd places of K (of the four places of a word) are added up apart within one tile of K, bf16 without denormals.
llvm::Function *tileKernel(llvm::Module &module, const DotBlocking &blocking, llvm::Type *compute, unsigned rows,
                           unsigned columns, llvm::StringRef name);

} // namespace tilery::cpu
