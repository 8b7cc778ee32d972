// parallel-to-tiles: scalar code over a box of static extents becomes whole-tile ops.
//
// The body's iterations are unordered and race-free, so that each statement may run for all of them before the next one does. What has
// no tile form keeps the whole tile.parallel as it is: targets run it as scalar loops.
#include "compiler/passes/lockstep.h"
#include "compiler/passes/passes.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

class Conversion : public Lockstep {
public:
  Conversion(ParallelOp op, ArrayRef<int64_t> box, bool gathers, bool scattersResults)
      : Lockstep(op, box), body(op.getBody().front()), gathers(gathers), scattersResults(scattersResults) {}

  bool run() {
    Block scratch;
    builder.setInsertionPointToEnd(&scratch);
    varying.insert(body.args_begin(), body.args_end());
    findVarying();
    for (auto [d, var] : llvm::enumerate(body.getArguments())) {
      affine.know(var, affine.position(d));
      map.map(var, positions(d, var.getType(), var.getLoc()));
    }
    return replace(body, scratch);
  }

private:
  bool takesQuotients() const override { return true; }
  bool scatters(bool load) const override { return load ? gathers : scattersResults; }

  Block &body;
  bool gathers, scattersResults; // loads, and stores and updates, whose places are computed, too
};

/// True if a product follows, whose factor it may be: windows of images, gathered rows.
bool leadsToProduct(ParallelOp op) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (isa<DotOp>(next))
      return true;
  return false;
}

/// True if a product stands before it, whose result it may take: a tile stays where the tensor cores leave it, elements would be
/// looked up.
bool comesBehindProduct(ParallelOp op) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode())
    if (isa<DotOp>(before))
      return true;
  return false;
}

struct ParallelToTiles : PassWrapper<ParallelToTiles, OperationPass<KernelOp>> {
  explicit ParallelToTiles(Gathers gathers = Gathers::none) : gathers(gathers) {}
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ParallelToTiles)
  StringRef getArgument() const final { return "parallel-to-tiles"; }
  StringRef getDescription() const final { return "turn scalar code over static boxes into tile ops"; }

  void runOnOperation() final {
    SmallVector<ParallelOp> ops;
    getOperation().walk([&](ParallelOp op) { ops.push_back(op); });
    for (ParallelOp op : ops) {
      SmallVector<int64_t> box;
      for (Value extent : op.getExtents())
        if (APInt n; matchPattern(extent, m_ConstantInt(&n)) && n.isStrictlyPositive())
          box.push_back(n.getSExtValue());
      bool inThread = op->getParentOfType<ThreadsOp>() && !op->getParentOfType<TogetherOp>();
      bool all = gathers == Gathers::all, some = gathers == Gathers::beside_products;
      if (box.size() == op.getExtents().size() && !inThread)
        Conversion(op, box, all || (some && leadsToProduct(op)), all || (some && comesBehindProduct(op))).run();
    }
  }

  Gathers gathers;
};

} // namespace

std::unique_ptr<Pass> tilery::createParallelToTiles(Gathers gathers) { return std::make_unique<ParallelToTiles>(gathers); }
