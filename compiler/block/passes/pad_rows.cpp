// pad-rows: products that have fewer rows than the tensor cores take at once get 64, and what they sum over is a multiple of 32 bytes. What is
// added is loaded as nothing and stored nowhere, or is what the programs that follow have (join_programs).
//
// A query of a few heads reads all the keys of its group: such products wait for memory, not for the tensor cores. So do products of few
// gathered rows: backward passes of sparse attention. Beside products with more rows, columns are added where fewer of these are missing:
// transpose-products makes them rows.
#include "compiler/block/passes/join_programs.h"
#include "compiler/block/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace tilery::block {
namespace {
constexpr int64_t leastRows = 64, depthBytes = 32; // of a product of the tensor cores

int64_t rowsOf(tile::DotOp dot) { return tile::shapeOf(dot.getType())[0]; }
int64_t columnsOf(tile::DotOp dot) { return tile::shapeOf(dot.getType())[1]; }

/// The products of a kernel that has several, or loops with one; none where one is of another kind.
SmallVector<tile::DotOp> productsOf(tile::KernelOp kernel) {
  SmallVector<tile::DotOp> dots;
  bool loops = false, others = false;
  kernel.walk([&](Operation *op) {
    others |= isa<tile::ContractOp>(op);
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      dots.push_back(dot);
      others |= cast<RankedTensorType>(dot.getType()).getRank() != 2;
      loops |= bool(dot->getParentOfType<scf::ForOp>());
    }
  });
  return !others && (loops || dots.size() > 1) ? dots : SmallVector<tile::DotOp>();
}

bool haveSameRows(ArrayRef<tile::DotOp> dots) {
  return llvm::all_of(dots, [&](tile::DotOp dot) { return rowsOf(dot) == rowsOf(dots[0]); });
}

/// Those that get more rows: all, where they have equally many; else those that cannot be turned to have as many, or columns with which they
/// can be.
SmallVector<tile::DotOp> withFewRows(ArrayRef<tile::DotOp> dots) {
  bool same = haveSameRows(dots);
  SmallVector<tile::DotOp> few;
  llvm::copy_if(dots, std::back_inserter(few), [&](tile::DotOp dot) {
    return rowsOf(dot) > 1 && rowsOf(dot) < leastRows && (same || columnsOf(dot) % leastRows);
  });
  return few;
}

/// How many times as large the products become, at most, if a dimension is padded.
double growth(ArrayRef<tile::DotOp> dots, unsigned dim) {
  double most = 1;
  for (tile::DotOp dot : dots) {
    double length = double(tile::shapeOf(dot.getType())[dim]);
    most = std::max(most, double(llvm::alignTo(uint64_t(length), leastRows)) / length);
  }
  return most;
}

/// Rows, or columns (1): those of turned products. False, and nothing is padded, where something cannot have more of them.
bool padAll(tile::KernelOp kernel, ArrayRef<tile::DotOp> dots, unsigned dim) {
  for (tile::DotOp dot : dots)
    if (!DimensionPadding(kernel).find(dot.getResult(), dim))
      return false;
  for (tile::DotOp dot : dots) {
    DimensionPadding padding(kernel);
    int64_t length = tile::shapeOf(dot.getType())[dim];
    int64_t more = llvm::alignTo(length, leastRows);
    if (length % leastRows && padding.find(dot.getResult(), dim) && !joinPrograms(kernel, padding, more))
      padding.pad(more);
  }
  return true;
}
} // namespace

/// Leaves kernels alone in which something cannot have more lanes.
void runPadRows(tile::KernelOp kernel) {
  SmallVector<tile::DotOp> dots = productsOf(kernel), few = withFewRows(dots);
  unsigned cheap = !haveSameRows(dots) && growth(few, 1) < growth(few, 0);
  if (!padAll(kernel, few, cheap) && (!cheap || !padAll(kernel, few, 0)))
    return;
  for (tile::DotOp dot : dots) {
    DimensionPadding depth(kernel);
    int64_t k = tile::shapeOf(dot.getA().getType())[1], unit = depthBytes / tile::elementBytes(getElementTypeOrSelf(dot.getA()));
    if (k % unit && depth.find(dot.getA(), 1))
      depth.pad(llvm::alignTo(k, unit));
  }
}

} // namespace tilery::block
