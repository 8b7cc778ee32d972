#pragma once
// Runs GPU code on the CPU: the threads of a block are fibers, its barriers, copies and matrix products are computed as the manual has them.
#include "compiler/ir/Tile.h"
#include "compiler/lower/emitter.h"
#include "compiler/targets/cuda/ptx/block_machine.h"
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "run.h"
#include "runtime/elf_code.h"

namespace tilery::emulator {

/// Which code of a kernel.
enum class Path {
  General, // that of any program
  Block,   // that of block IR, which the kernel is, or which the passes make of it
  Warps,   // the same for GPUs before Hopper
};

class Kernel {
public:
  /// Translates the module's first kernel as for a GPU, but into code of this processor. Null: it cannot be translated, or block
  /// IR does not take it; an error was reported for the first. mayAsk: code of the general path may hang on conditions (`allows`).
  static std::unique_ptr<Kernel> translate(mlir::ModuleOp module, Path path, bool disjoint, uint64_t tileBytes,
                                           int64_t rowElements = 0, bool mayAsk = false);
  /// A kernel written by hand: `kernel` gives name and arguments, `emit` the code, and how it is launched.
  using Emit = std::function<mlir::FailureOr<GpuInfo>(lower::Emitter &, cuda::BlockMachine &)>;
  static std::unique_ptr<Kernel> emit(tile::KernelOp kernel, const Emit &emit, bool disjoint = false);

  /// Whether it copies boxes or starts asynchronous products, so that timing matters.
  bool isAsynchronous() const { return asynchronous; }
  /// Whether this launch is one that the code was made for.
  bool allows(const uint32_t grid[3], const uint64_t *slots) const;
  /// Runs all programs of the grid, in clusters one after the other. `slots`: the kernel's arguments (abi.h). Gives what went wrong, ""
  /// if nothing: threads that wait for ever, memory used before or after its time, a write past the shared memory. Prints, and throws Error
  /// for a failed assertion, as a launch does.
  std::string run(const uint32_t grid[3], const uint64_t *slots, Timing timing = Timing::CopiesAtOnce) const;

private:
  KernelInfo info;
  std::unique_ptr<ElfCode> code;
  void (*entry)(Thread *) = nullptr;
  bool asynchronous = false;
  CodeFacts facts{};
};

/// Translates by the general path and runs. `unsupported` receives the message of what cannot be translated. `rowElements`: of a row that a
/// block has for itself (planSimt).
std::string runBlocks(mlir::ModuleOp module, bool disjoint, const uint32_t grid[3], const uint64_t *slots,
                      std::string &unsupported, int64_t rowElements = cuda::longestOwnRow);

} // namespace tilery::emulator
