#pragma once
// LLVM module -> optimised ELF object bytes, in process.
#include "compiler/targets/cpu/target.h"
#include "compiler/pch.h"

namespace tilery::cpu {

struct EmitOptions {
  bool fpContract = true;          // let a*b+c become one fused multiply-add where the IR's `contract` flags allow it
  bool plain = false;              // without optimisations
  std::string *llvmText = nullptr; // receives the optimised module's text
  std::string *asmText = nullptr;  // receives the assembly text
};

/// Whether this program has LLVM's back end for the target.
bool canEmit(const CpuTarget &target);

/// Sets triple and data layout of `module` for `target`; call before building functions in it.
void prepareModule(llvm::Module &module, const CpuTarget &target);

/// Optimises `module` and returns a relocatable ELF object (PIC, small code model). External functions are called through the GOT
/// (R_X86_64_GOTPCRELX, R_AARCH64_ADR_GOT_PAGE); constants are reached relative to the code (R_X86_64_PC32). Unwind information is in .eh_frame, line tables in .debug_line.
/// Throws nothing; aborts only if the module is malformed (a defect of the caller; tests verify modules).
std::string emitObject(llvm::Module &module, const CpuTarget &target, const EmitOptions &options);

} // namespace tilery::cpu
