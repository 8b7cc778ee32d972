#include "compiler/block/passes/narrow_numbers.h"
#include "compiler/analysis/search.h"
#include "compiler/analysis/interval.h"
#include "compiler/block/ir/Block.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// What a number's size is at most, as arithmetic on the kernel's arguments, which must not be negative.
class Bound {
public:
  Bound(OpBuilder &builder, Location location) : builder(builder), location(location) {}

  /// Null: nobody knows.
  Value of(Value value) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    if (auto interval = analysis::intervalOf(value); interval && interval->least >= -most && interval->greatest <= most)
      return number(std::max(std::abs(interval->least), std::abs(interval->greatest)));
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (!isa<tile::KernelOp>(argument.getOwner()->getParentOp()) || !value.getType().isInteger(64))
        return {};
      arguments.insert(value);
      return value;
    }
    Operation *op = value.getDefiningOp();
    if (isa<arith::ExtSIOp, tile::ReshapeOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::SplatOp>(op))
      return of(op->getOperand(0));
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      return {};
    Value x = of(op->getOperand(0)), y = x ? of(op->getOperand(1)) : Value();
    if (!y)
      return {};
    return isa<arith::MulIOp>(op) ? Value(arith::MulIOp::create(builder, location, x, y))
                                  : Value(arith::AddIOp::create(builder, location, x, y));
  }

  Value number(int64_t value) { return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value)); }

  llvm::SetVector<Value> arguments;

private:
  OpBuilder &builder;
  Location location;
};

/// It is computed, and another number in each step.
bool moves(Value tile, Operation *product) {
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(tile.getDefiningOp()))
    return false;
  for (analysis::Search<Value> values(tile); Value value = values.next();)
    if (Operation *op = value.getDefiningOp())
      values.addAll(op->getOperands());
    else if (cast<BlockArgument>(value).getOwner()->getParentOp() == product)
      return true;
  return false;
}

void narrow(OpBuilder &before, tile::AccessOp access, Operation *product) {
  Location location = access.getLoc();
  for (OpOperand &step : access.getStepsMutable()) {
    auto type = dyn_cast<RankedTensorType>(step.get().getType());
    if (!type || !type.getElementType().isInteger(64) || !moves(step.get(), product))
      continue;
    Bound bound(before, location);
    Value most = bound.of(step.get());
    if (!most)
      continue;
    Value limit = bound.number(std::numeric_limits<int32_t>::max());
    RequireOp::create(before, location, arith::SubIOp::create(before, location, limit, most), IntegerAttr());
    for (Value argument : bound.arguments)
      RequireOp::create(before, location, argument, IntegerAttr());
    OpBuilder builder(access);
    auto narrowType = RankedTensorType::get(type.getShape(), builder.getI32Type());
    Value cut = arith::TruncIOp::create(builder, location, narrowType, step.get());
    step.set(arith::ExtSIOp::create(builder, location, type, cut));
  }
}
} // namespace

void narrowNumbers(const BoxProduct &product) {
  auto kernel = product.op->getParentOfType<tile::KernelOp>();
  if (kernel->hasAttr("block.no_boxes")) // of a launch that has broken conditions, none are asked
    return;
  OpBuilder before = OpBuilder::atBlockBegin(&kernel.getBody().front());
  for (const std::optional<FetchedFactor> *factor : {&product.fetchedA, &product.fetchedB}) {
    if (!*factor || copiedLine((*factor)->tile))
      continue;
    for (analysis::Search<Value> values((*factor)->tile); Value value = values.next();)
      if (Operation *op = value.getDefiningOp()) {
        if (auto access = dyn_cast<tile::AccessOp>(op))
          narrow(before, access, product.op);
        values.addAll(op->getOperands());
      }
  }
}

} // namespace tilery::block
