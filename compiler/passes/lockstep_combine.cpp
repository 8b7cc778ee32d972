// How the values of points that share an element are combined.
#include "compiler/passes/lockstep.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

Value Lockstep::combine(RmwKind kind, Location loc, Value x, Value y) {
  switch (kind) {
  case RmwKind::add:
    return arith::AddIOp::create(builder, loc, x, y);
  case RmwKind::fadd:
    return arith::AddFOp::create(builder, loc, x, y);
  case RmwKind::max:
    return arith::MaxSIOp::create(builder, loc, x, y);
  case RmwKind::min:
    return arith::MinSIOp::create(builder, loc, x, y);
  case RmwKind::umax:
    return arith::MaxUIOp::create(builder, loc, x, y);
  case RmwKind::umin:
    return arith::MinUIOp::create(builder, loc, x, y);
  case RmwKind::fmax:
    return arith::MaxNumFOp::create(builder, loc, x, y);
  case RmwKind::fmin:
    return arith::MinNumFOp::create(builder, loc, x, y);
  case RmwKind::and_:
    return arith::AndIOp::create(builder, loc, x, y);
  case RmwKind::or_:
    return arith::OrIOp::create(builder, loc, x, y);
  case RmwKind::xor_:
    return arith::XOrIOp::create(builder, loc, x, y);
  case RmwKind::exchange:
    break;
  }
  llvm_unreachable("no combination");
}

TypedAttr Lockstep::neutral(RmwKind kind, Type type) {
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = real.getFloatSemantics();
    return builder.getFloatAttr(real, kind == RmwKind::fadd ? APFloat::getZero(semantics, /*Negative=*/true)
                                                            : APFloat::getNaN(semantics)); // which loses
  }
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = APInt::getZero(width);
  if (kind == RmwKind::max)
    value = APInt::getSignedMinValue(width);
  else if (kind == RmwKind::min)
    value = APInt::getSignedMaxValue(width);
  else if (kind == RmwKind::umin || kind == RmwKind::and_)
    value = APInt::getAllOnes(width);
  return builder.getIntegerAttr(type, value);
}

Value Lockstep::reduced(RmwKind kind, Location loc, Value tile, int64_t axis) {
  SmallVector<int64_t> shape(shapeOf(tile.getType()));
  Type element = getElementTypeOrSelf(tile);
  shape.erase(shape.begin() + axis);
  auto reduce = ReduceOp::create(builder, loc, TypeRange(tileOf(shape, element)), ValueRange(tile), axis);
  OpBuilder::InsertionGuard guard(builder);
  Block &body = reduce.getCombine().emplaceBlock();
  body.addArguments({element, element}, {loc, loc});
  builder.setInsertionPointToStart(&body);
  YieldOp::create(builder, loc, ValueRange(combine(kind, loc, body.getArgument(0), body.getArgument(1))));
  return reduce.getResult(0);
}
