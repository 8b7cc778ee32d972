// unroll-slots: a short loop that fills slots of a buffer by their numbers, where all other code names the slots, names them, too: then each
// slot is a buffer of its own (split-buffers).
#include "compiler/analysis/index_polynomial.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/windows.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

constexpr int64_t mostTurns = 8, mostOps = 400; // of code when it is unrolled

/// Everything outside of the loop that uses the buffer names its window.
bool isNamedElsewhere(Value buffer, scf::ForOp loop) {
  bool any = false;
  for (Operation *user : buffer.getUsers()) {
    auto window = dyn_cast<SubviewOp>(user);
    if (loop->isAncestor(user))
      continue;
    if (!window || !constantWindow(window))
      return false;
    any = true;
  }
  return any;
}

bool choosesSlots(scf::ForOp loop) {
  return loop
      .walk([&](SubviewOp window) {
        bool counts = llvm::any_of(llvm::enumerate(window.getOffsets()), [&](auto offset) {
          analysis::IndexPolynomial rest;
          auto factor = analysis::polynomialOf(offset.value()).coefficient(loop.getInductionVar(), rest).constant();
          return factor == 1 && rest.constant() && !llvm::is_contained(window.getDims(), int64_t(offset.index()));
        });
        bool isSlot = counts && window.getBuffer().getDefiningOp<AllocOp>() &&
                      !loop->isAncestor(window.getBuffer().getDefiningOp()) && isNamedElsewhere(window.getBuffer(), loop);
        return isSlot ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void unroll(scf::ForOp loop, int64_t turns) {
  OpBuilder b(loop);
  for (int64_t turn = 0; turn < turns; ++turn) {
    IRMapping values;
    Value counter = loop.getInductionVar();
    values.map(counter, Value(arith::ConstantOp::create(b, loop.getLoc(), b.getIntegerAttr(counter.getType(), turn))));
    for (Operation &op : loop.getBody()->without_terminator()) {
      Operation *copy = b.clone(op, values);
      SmallVector<Value> folded;
      if (copy->getNumResults() == 1 && succeeded(b.tryFold(copy, folded)) && folded.size() == 1) { // offsets are numbers
        values.map(op.getResult(0), folded[0]);
        copy->erase();
      }
    }
  }
  loop.erase();
}

struct UnrollSlots : PassWrapper<UnrollSlots, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollSlots)
  StringRef getArgument() const final { return "unroll-slots"; }
  StringRef getDescription() const final { return "short loops over slots that other code names are unrolled"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops) {
      auto begin = analysis::constantOf(loop.getLowerBound()), end = analysis::constantOf(loop.getUpperBound()),
           step = analysis::constantOf(loop.getStep());
      if (begin != 0 || step != 1 || !end || *end < 2 || *end > mostTurns || !loop.getInitArgs().empty())
        continue;
      int64_t ops = 0;
      loop.walk([&](Operation *) { ++ops; });
      if (ops * *end <= mostOps && choosesSlots(loop))
        unroll(loop, *end);
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createUnrollSlots() { return std::make_unique<UnrollSlots>(); }
