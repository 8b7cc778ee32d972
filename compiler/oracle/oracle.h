#pragma once
// The oracle: a plain interpreter of tile IR, the ground truth for passes, code generators and debug launches.
#include "compiler/ir/Tile.h"
#include "tilery/diagnostic.h"
#include "tilery/dtype.h"
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

namespace tilery::oracle {

/// Memory a launch may touch.
struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::string name; ///< what messages call it, as a rule the argument's name
  bool initialised =
      true; ///< false: using a byte that no program wrote before is an error, as is one that holds unwrittenPattern()
  unsigned elementBytes = 1;
};

/// All values that a correct implementation may compute; lo == hi (or both NaN): exactly this one; lo > hi: exactly the oracle's. From -0 to
/// +0: either zero.
struct Interval {
  double lo = 0, hi = 0;
  bool isExact() const { return lo > hi || (lo == hi && std::signbit(lo) == std::signbit(hi)) || (lo != lo && hi != hi); }
  bool isUnknown() const;
  bool contains(double value) const;
};

/// What the shadow of a run found. Memory that is not named here must hold the oracle's bits.
struct Shadow {
  std::unordered_map<uint64_t, Interval> memory; ///< by address: elements that were stored from rounded values
  bool undetermined =
      false; ///< a branch, an address or a mask hung on a rounded value: the run says nothing about other implementations
};

/// A tensor as a host function receives or makes it; strides in elements.
struct HostTensor {
  uint64_t data = 0;
  std::vector<int64_t> extents, strides;
  std::shared_ptr<std::vector<uint64_t>> owned; ///< memory of tensors that the oracle makes itself
  int64_t number = -1;                          ///< what Options::allocate calls it
};

struct Options {
  /// Checks each access against `allocations`, uses of values nobody wrote, and accesses of two programs to one address that nothing
  /// orders, one of them a write.
  bool debug = false;
  std::vector<Allocation> allocations;
  /// Tensors that a product walks along in step must have the same size there.
  bool matchSizes = false;
  /// Where to keep the bounds of rounded values (dot, reductions, math functions and what follows from them); null: not computed.
  Shadow *shadow = nullptr;
  /// The bounds are those of Hopper's tensor cores: tf32 factors are cut, sums of products of 8-bit floats keep 13 bits.
  bool tensorCores = false;
  /// The bounds allow for products that are fused with the sums that take them: one rounding in place of two.
  bool contract = false;
  /// Block IR: copies land, products read and stores write as late as their waits allow; else all do so at once.
  bool late = false;
  /// Ops to execute before the run is given up as endless; 0: no limit.
  uint64_t maxSteps = 0;
  /// Asked every 50 ms or so, on the stack of who runs the oracle; true ends the run, which throws Interrupted. Null: not asked.
  bool (*interrupted)() = nullptr;
  /// Receives each line of tile.print, without a newline; null: stdout.
  std::function<void(const std::string &)> print;
  /// Takes the launches of a host function in place of running them; null: they run.
  std::function<void(tile::KernelOp, std::array<uint32_t, 3> grid, llvm::ArrayRef<uint64_t> args)> launch;
  /// Makes the row-major tensors of tile.host_empty; null: the oracle keeps them, as long as results refer to them.
  std::function<HostTensor(llvm::ArrayRef<int64_t> extents, DType dtype)> allocate;
};

struct Interrupted {};

/// Runs every program of `grid` (extents x, y, z), one after the other in linear order. `args` has one slot an argument as in
/// TileryLaunch (tilery/abi.h). Throws tilery::Error for what debug mode finds, failed assertions, deadlocks and endless runs; Interrupted.
void runKernel(tile::KernelOp kernel, std::array<uint32_t, 3> grid, llvm::ArrayRef<uint64_t> args, const Options &options = {});

struct HostArgument {
  HostTensor tensor;
  uint64_t scalar = 0; ///< a slot as in TileryLaunch
};

/// Runs a host function; returns its results. Throws tilery::Error, also where a check refuses the call.
std::vector<HostArgument> runHost(tile::HostOp host, llvm::ArrayRef<HostArgument> args, const Options &options = {});

} // namespace tilery::oracle
