#pragma once
// From an LLVM module to PTX text.
#include "compiler/targets/cuda/ptx/target.h"
#include "llvm/IR/Module.h"

namespace tilery::cuda {

/// Sets triple and data layout.
void prepareModule(llvm::Module &module, const CudaTarget &target);
/// Optimises and translates; `llvmText`, if not null, receives the optimised module. `ofBlocks`: all of it was made of block IR, and passes that
/// find nothing there are left out. `plain`: without optimisations.
std::string emitPtx(llvm::Module &module, const CudaTarget &target, bool fpContract, std::string *llvmText = nullptr,
                    bool ofBlocks = false, bool plain = false);

/// Address space numbers of NVPTX.
enum AddressSpace : unsigned { Generic = 0, Global = 1, Shared = 3, Param = 101 };

} // namespace tilery::cuda
