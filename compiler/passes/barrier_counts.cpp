#include "compiler/passes/barrier_counts.h"
#include "compiler/analysis/barrier_names.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

static Value constant(OpBuilder &b, Location loc, int64_t number) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(number)));
}
static Value load(OpBuilder &b, Location loc, Value buffer, Value index) {
  return ElementLoadOp::create(b, loc, b.getI32Type(), buffer, index);
}
static Value asI32(OpBuilder &b, Location loc, Value value) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (width == 32)
    return value;
  return width < 32 ? arith::ExtUIOp::create(b, loc, b.getI32Type(), value).getResult()
                    : arith::TruncIOp::create(b, loc, b.getI32Type(), value).getResult();
}

void BarrierCounts::allocate(BarrierAllocOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = BufferType::get({op.getType().getCount()}, b.getI32Type(), Space::local);
  Ring ring{AllocOp::create(b, loc, type).getResult(), AllocOp::create(b, loc, type).getResult(),
            SmallVector<int64_t>(op.getArrivals())};
  for (auto [i, arrivals] : llvm::enumerate(ring.arrivals)) {
    Value index = constant(b, loc, i);
    ElementStoreOp::create(b, loc, ring.phases, index, constant(b, loc, 0));
    ElementStoreOp::create(b, loc, ring.pending, index, constant(b, loc, arrivals));
  }
  rings[op.getResult()] = std::move(ring);
}

void BarrierCounts::arrive(OpBuilder &b, BarrierArriveOp op, IRMapping &values) {
  Location loc = op.getLoc();
  const Ring &ring = rings.at(op.getBarrier());
  Value index = asI32(b, loc, values.lookupOrDefault(op.getIndex())), none = constant(b, loc, 0);
  Value arrivals = constant(b, loc, ring.arrivals.front());
  for (auto [i, count] : llvm::enumerate(ring.arrivals))
    if (count != ring.arrivals.front()) {
      Value here = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, index, constant(b, loc, i));
      arrivals = arith::SelectOp::create(b, loc, here, constant(b, loc, count), arrivals);
    }
  Value left = arith::SubIOp::create(b, loc, load(b, loc, ring.pending, index), constant(b, loc, op.getCount()));
  Value enough = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, left, none);
  AssertOp::create(b, loc, enough, Value(), analysis::barrierName(op.getBarrier()) + " gets more arrivals than its phase lacks");
  Value complete = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, none);
  ElementStoreOp::create(b, loc, ring.pending, index, arith::SelectOp::create(b, loc, complete, arrivals, left));
  Value step = arith::ExtUIOp::create(b, loc, b.getI32Type(), complete);
  Value phase = arith::AddIOp::create(b, loc, load(b, loc, ring.phases, index), step);
  ElementStoreOp::create(b, loc, ring.phases, index, phase);
}

Value BarrierCounts::isOver(OpBuilder &b, BarrierWaitOp op, IRMapping &values) {
  Location loc = op.getLoc();
  Value index = asI32(b, loc, values.lookupOrDefault(op.getIndex()));
  Value parity = asI32(b, loc, values.lookupOrDefault(op.getParity()));
  Value differs = arith::XOrIOp::create(b, loc, load(b, loc, rings.at(op.getBarrier()).phases, index), parity);
  Value bit = arith::AndIOp::create(b, loc, differs, constant(b, loc, 1));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, constant(b, loc, 0));
}
