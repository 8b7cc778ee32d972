#pragma once
// How much the programs of a launch read, write and compute, counted from the IR and the launch's numbers without running it.
#include "compiler/ir/Tile.h"
#include "tilery/finding.h"
#include <array>

namespace tilery::count {

/// Bytes of a pointer argument that all programs ask for; what several ask for counts as often.
struct Traffic {
  std::string name;
  double loaded = 0, stored = 0, updated = 0;
  uint64_t address = 0;
};

/// A function, and the fused products of float32 that take as long as all its elements, on a CPU.
struct CostlyFunction {
  Finding finding;
  double products = 0;
};

struct Work {
  std::string kernel;
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::vector<Traffic> arguments;
  /// Of data: sums, products, quotients, extrema and functions of all lanes count 1, fused products 2; places and masks count nothing.
  double operations = 0;
  double products = 0, paddedProducts = 0; ///< of tile products: those of existing rows, columns and K, and of whole tiles
  std::vector<Finding> findings;           ///< tiles that lie outside of their tensors for a good part
  std::vector<CostlyFunction> functions;   ///< on a CPU
  std::vector<Diagnostic> unsure;          ///< why the counts are no exact ones, with the place
};

/// kernel: after the passes of a CPU. args: as of a launch (tilery/abi.h); no memory is read. onCpu: what runs there, where code leaves out
/// a good part of what does not exist.
Work workOf(tile::KernelOp kernel, std::array<uint32_t, 3> grid, llvm::ArrayRef<uint64_t> args, bool onCpu);

} // namespace tilery::count
