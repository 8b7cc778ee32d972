// flatten-loops: two loops, one in the other, that count one number become one loop.
//
// Pipelines written by hand go through the slots of a ring in an inner loop (`for i: for stage: step = i * 2 + stage`). Where all that the
// counters are for is the number of the step, one loop over steps is the loop of other programs: schedules see all of its steps.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/recognise/place_polynomials.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {
using analysis::IndexPolynomial;

/// The number of turns of a loop that counts from 0 in steps of one; 0: nobody knows, or another loop.
int64_t turnsOf(scf::ForOp loop) {
  auto begin = analysis::constantOf(loop.getLowerBound()), end = analysis::constantOf(loop.getUpperBound()),
       step = analysis::constantOf(loop.getStep());
  return begin == 0 && step == 1 && end ? std::max<int64_t>(*end, 0) : 0;
}

/// The loop that is all of another's body but for what is computed, and carries what that one does. Null: there is none.
scf::ForOp innerOf(scf::ForOp outer) {
  auto inner = scf::ForOp();
  for (Operation &op : outer.getBody()->without_terminator())
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && !inner)
      inner = loop;
    else if (inner || op.getNumRegions() || !isPure(&op))
      return {};
  bool carriesAlike = inner && llvm::equal(inner.getInitArgs(), outer.getRegionIterArgs()) &&
                      llvm::equal(outer.getYieldedValues(), inner.getResults()) &&
                      inner.getInductionVar().getType() == outer.getInductionVar().getType();
  return carriesAlike ? inner : scf::ForOp();
}

/// Sums in which two counters are only one number, times a factor, become sums of that.
void countByOne(Operation *op, Value outer, Value inner, int64_t turns, Value number) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) || isa<RankedTensorType>(op->getResult(0).getType()))
    return;
  IndexPolynomial others, rest;
  std::optional<int64_t> slow = analysis::polynomialOf(op->getResult(0)).coefficient(outer, others).constant();
  std::optional<int64_t> fast = others.coefficient(inner, rest).constant();
  if (!slow || !fast || !*fast || *slow != *fast * turns || rest.uses(outer) || rest.uses(inner))
    return;
  OpBuilder b(op);
  IndexPolynomial sum = rest + IndexPolynomial(*fast) * IndexPolynomial::of(number);
  unsigned bits = op->getResult(0).getType().getIntOrFloatBitWidth();
  op->getResult(0).replaceAllUsesWith(placePolynomial(b, op->getLoc(), sum, [](Value atom) { return atom; }, bits));
}

void flatten(scf::ForOp outer) {
  scf::ForOp inner = innerOf(outer);
  int64_t turns = inner ? turnsOf(inner) : 0, all = turns * turnsOf(outer);
  if (!all || all > std::numeric_limits<int32_t>::max())
    return;
  OpBuilder b(outer);
  Location loc = outer.getLoc();
  Type type = outer.getInductionVar().getType();
  auto number = [&](int64_t n) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n)).getResult(); };
  auto one = scf::ForOp::create(b, loc, outer.getLowerBound(), number(all), outer.getStep(), outer.getInitArgs());
  one->setDiscardableAttrs(inner->getDiscardableAttrDictionary());
  Block &body = *one.getBody();
  if (!body.empty())
    body.back().erase();
  b.setInsertionPointToStart(&body);
  // What nothing is left of, where the counters are one number.
  Value slow = tile::DivOp::create(b, loc, type, one.getInductionVar(), number(turns), tile::IntDivMode::floor);
  Value fast = tile::RemOp::create(b, loc, type, one.getInductionVar(), number(turns), tile::IntDivMode::floor);
  IRMapping map;
  map.map(outer.getInductionVar(), slow);
  map.map(inner.getInductionVar(), fast);
  map.map(outer.getRegionIterArgs(), one.getRegionIterArgs());
  map.map(inner.getRegionIterArgs(), one.getRegionIterArgs());
  for (Operation &op : outer.getBody()->without_terminator())
    if (&op != inner)
      b.clone(op, map);
  for (Operation &op : *inner.getBody())
    b.clone(op, map);
  if (body.empty() || !body.back().hasTrait<OpTrait::IsTerminator>())
    scf::YieldOp::create(b, loc);
  one.walk([&](Operation *op) { countByOne(op, slow, fast, turns, one.getInductionVar()); });
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (&op != slow.getDefiningOp() && &op != fast.getDefiningOp() && isOpTriviallyDead(&op))
      op.erase();
  if (!slow.use_empty() || !fast.use_empty()) {
    one.erase();
    return;
  }
  slow.getDefiningOp()->erase();
  fast.getDefiningOp()->erase();
  outer.replaceAllUsesWith(one.getResults());
  outer.erase();
}
} // namespace

void runFlattenLoops(tile::KernelOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); }); // inner ones first
  llvm::for_each(loops, flatten);
}

} // namespace tilery::block
