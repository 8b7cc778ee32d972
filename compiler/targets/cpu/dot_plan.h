#pragma once
// What is decided about one `tile.dot` or `tile.contract` before code is emitted.
#include "compiler/targets/cpu/dot_kernel.h"
#include "compiler/analysis/lane_strands.h"
#include "compiler/lower/plan.h"

namespace tilery::cpu {
using namespace lower;

/// Programs for few rows are launched for a single one, too: a product of eight would take longer than B's way from memory.
constexpr int64_t fewRows = 16;

struct DotOperand {
  mlir::Value tile; // (B x) M x K or (B x) K x N
  bool isA = true, isUnsigned = false;
  bool kMajor = false;                 // contiguous along K: packing transposes
  bool shared = false;                 // packed once per launch, in the panel table
  llvm::SmallVector<mlir::Value> key;  // shared: the scalars that tell one panel from another
  llvm::SmallVector<unsigned> sharers; // shared: the axes of the grid along which programs may want the same panels
  lower::Temporary panel;              // where the program packs it: not shared, or the grid is 1 along all sharers
  bool decided = false;                // shared: which programs do depends on the grid's size along sharers, too
  bool isPlain = false;                // elements at steps in memory: cheap to pack
  /// A load's lanes along K whose places and conditions go on so: rows are copied strand by strand before they are packed.
  std::optional<analysis::LaneStrands> strands;
  mlir::Value everyLane; // only where these conditions of lanes along K hold for all of them; null: any
  bool mayBeOwn() const { return !shared || sharers.size() < 3 || decided; }
};

struct DotPlan : lower::ProductPlan {
  int64_t batch = 1, m = 0, n = 0, k = 0; // k: of one step
  int64_t stepsPerBlock = 1;              // K block, in steps: what one panel holds
  int64_t privateSteps = 1;               // and where a panel is the program's own
  mlir::Type compute;                     // f32, f64 or an integer
  int64_t pack = 1;                       // values of K in one element of a panel: 2 for pairs of bf16
  bool farFetch = false;                  // what will be packed is asked for in the second-level cache
  bool startsAtZero = false;              // acc is zero: not read, the result buffer need not be initialised
  DotBlocking blocking;
  DotOperand a, b;
  lower::Temporary sums;               // the result as it is computed, where it has fewer bits
  llvm::SmallVector<mlir::Value> live; // rows and columns that are used, i64; empty: all
  tile::StoreOp directStore; // null, or the only store that uses the result: whole tiles may be written to its place at once

  const DotOperand &operand(bool isA) const { return isA ? a : b; }
  /// Elements of K that a panel holds for one step; the last one of an odd number of bf16 values is half zero.
  int64_t packedK() const { return (k + pack - 1) / pack; }
  /// Elements of a private panel of one K block.
  int64_t panelElements(bool isA) const;

  void print(llvm::raw_ostream &stream) const override;
  llvm::SmallVector<lower::Temporary *> temporaries() override;
};

/// `disjoint`: as in lower::Options. `stored`: the plan's choice for tiles outside the op.
std::unique_ptr<DotPlan> planDot(mlir::Operation *op, const CpuTarget &target, bool disjoint,
                                 llvm::function_ref<bool(mlir::Value)> stored);

/// Moves the scalars that place a result's store before its dot, so that the dot can write there.
void hoistStorePlaces(tile::KernelOp kernel);

} // namespace tilery::cpu
