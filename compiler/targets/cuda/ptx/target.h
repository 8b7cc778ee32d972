#pragma once
// An NVIDIA GPU as a value: what schedules and code generation need to know of it.
#include "compiler/block/ir/Block.h"
#include <optional>
#include <string>
#include <string_view>

namespace tilery::cuda {

struct CudaTarget {
  unsigned sm = 90;     // compute capability, major * 10 + minor
  bool specific = true; // sm_90a rather than sm_90: wgmma, setmaxnreg
  unsigned ptx = 83;    // PTX version * 10 that the driver understands
  int driver = 0;       // the CUDA version of the driver, whose assembler is used: 12080 is 12.8; 0 is any
  unsigned multiprocessors = 132;
  unsigned sharedBytes = block::sharedLimit; // a block may use, opted in

  /// LLVM's and PTX's name: "sm_90a".
  std::string arch() const { return "sm_" + std::to_string(sm) + (specific ? "a" : ""); }
  bool hopper() const { return sm == 90 && specific; }
  /// The assembler takes the strides of tensor maps that kernels write in bytes, as from CUDA 12.5 on; before, it took a sixteenth of them.
  bool writesMaps() const { return !driver || driver >= 12050; }
  /// What a cache of compiled code must be keyed by.
  std::string key() const;
};

/// "sm_80", ...: those that are known. LLVM ends the process where a GPU asks for a newer PTX than a target has: no name is guessed. Newer GPUs
/// run code of older ones.
llvm::ArrayRef<llvm::StringLiteral> targetNames();
/// One of these, with the properties of the usual card of that kind; ":cuda13000" after it is the driver's version.
/// Nothing for other names.
std::optional<CudaTarget> targetNamed(std::string_view name);
/// The oldest PTX version that has the target.
unsigned leastPtx(const CudaTarget &target);
/// The PTX version that a driver of this CUDA version (cuDriverGetVersion: 12080 is 12.8) and our LLVM both know.
unsigned ptxVersion(int driverVersion);

} // namespace tilery::cuda
