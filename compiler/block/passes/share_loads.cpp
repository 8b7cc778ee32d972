// share-loads: a load whose neighbouring lanes read the same element, as words of packed numbers and scales of groups are read
// (`b + k // 8 * stride`), becomes a load of each element once, whose lanes the tile then repeats; where a product's first factor can be
// computed of it in registers.
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/zero.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {
using analysis::IntegerOp;

/// Lanes 0, w, 2 w, .. along a dimension of a tile, computed from its operands' such lanes; null: it is otherwise made.
class Thinned {
public:
  Thinned(OpBuilder &builder, int64_t width) : builder(builder), width(width) {}

  Value of(Value value, unsigned dim) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return value;
    Operation *op = value.getDefiningOp();
    if (!op || type.getDimSize(dim) % width)
      return {};
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= width;
    auto thin = RankedTensorType::get(shape, type.getElementType());
    IntegerOp integer = analysis::integerOpOf(value, analysis::Wrapping::any);
    Location location = value.getLoc();
    if (integer.kind == IntegerOp::Kind::range) {
      Value numbers = tile::RangeOp::create(builder, location, thin, 0, shape[dim]);
      auto all = [&](int64_t number) {
        Value scalar = arith::ConstantOp::create(builder, location, IntegerAttr::get(type.getElementType(), number));
        return tile::SplatOp::create(builder, location, thin, scalar);
      };
      numbers = arith::MulIOp::create(builder, location, numbers, all(width), arith::IntegerOverflowFlags::nsw);
      return arith::AddIOp::create(builder, location, numbers, all(integer.number), arith::IntegerOverflowFlags::nsw);
    }
    if (auto splat = dyn_cast<tile::SplatOp>(op))
      return tile::SplatOp::create(builder, location, thin, splat.getValue());
    if (std::optional<int64_t> number = analysis::constantOf(value)) {
      Value scalar = arith::ConstantOp::create(builder, location, IntegerAttr::get(type.getElementType(), *number));
      return tile::SplatOp::create(builder, location, thin, scalar);
    }
    if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp>(op))
      return ofShape(op, thin, dim);
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 || op->getNumRegions())
      return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(of(operand, dim));
      if (!operands.back())
        return {};
    }
    Operation *made = Operation::create(op->getLoc(), op->getName(), thin, operands, op->getAttrDictionary(),
                                        op->getPropertiesStorage(), {}, 0);
    return builder.insert(made)->getResult(0);
  }

private:
  Value ofShape(Operation *op, RankedTensorType thin, unsigned dim) {
    Value operand = op->getOperand(0);
    ArrayRef<int64_t> from = tile::shapeOf(operand.getType()), to = tile::shapeOf(op->getResult(0).getType());
    Location location = op->getLoc();
    if (isa<tile::BroadcastOp>(op)) {
      Value below = from[dim] == 1 ? operand : of(operand, dim);
      return below ? Value(tile::BroadcastOp::create(builder, location, thin, below)) : Value();
    }
    SmallVector<int> numbers = sameButOnes(to, from); // of the operand's dimensions, from the result's
    if (numbers.empty() || numbers[dim] < 0)
      return {};
    Value below = of(operand, numbers[dim]);
    return below ? Value(tile::ReshapeOp::create(builder, location, thin, below)) : Value();
  }

  OpBuilder &builder;
  int64_t width;
};

/// An index tile of one dimension whose lanes 0, w, 2 w, .. are `first`, `first + step`, ..; i64.
struct Line {
  Value first, step;
};

class Lines {
public:
  Lines(OpBuilder &builder, Location location, int64_t width) : builder(builder), location(location), width(width) {}

  std::optional<Line> of(Value value) {
    IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
    using Kind = IntegerOp::Kind;
    auto both = [&](auto combine) -> std::optional<Line> {
      std::optional<Line> x = of(op.lhs), y = x ? of(op.rhs) : std::nullopt;
      return y ? combine(*x, *y) : std::nullopt;
    };
    switch (op.kind) {
    case Kind::constant:
      return Line{number(op.number), number(0)};
    case Kind::range:
      return Line{number(op.number), number(width)};
    case Kind::splat:
      return Line{wide(op.lhs), number(0)};
    case Kind::extend:
    case Kind::reindex:
      return of(op.lhs);
    case Kind::add:
      return both([&](Line x, Line y) { return std::optional(Line{add(x.first, y.first), add(x.step, y.step)}); });
    case Kind::multiply:
      return both([&](Line x, Line y) -> std::optional<Line> {
        if (isZero(x.step))
          std::swap(x, y);
        return isZero(y.step) ? std::optional(Line{times(x.first, y.first), times(x.step, y.first)}) : std::nullopt;
      });
    case Kind::subtract:
    case Kind::opaque:
      break;
    }
    return quotient(value);
  }

private:
  std::optional<Line> quotient(Value value) {
    auto division = value.getDefiningOp<tile::DivOp>();
    std::optional<int64_t> by = division ? analysis::constantOf(division.getRhs()) : std::nullopt;
    std::optional<Line> of = by && *by > 0 ? this->of(division.getLhs()) : std::nullopt;
    std::optional<int64_t> step = of ? analysis::constantOf(of->step) : std::nullopt;
    if (!step || *step < 0 || *step % *by)
      return std::nullopt;
    if (std::optional<int64_t> first = analysis::constantOf(of->first); first && *first >= 0)
      return Line{number(*first / *by), number(*step / *by)};
    if (analysis::divisorOf(of->first) % *by) // else nothing is rounded
      return std::nullopt;
    return Line{tile::DivOp::create(builder, location, of->first, number(*by), tile::IntDivMode::floor), number(*step / *by)};
  }

  Value number(int64_t value) { return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value)); }
  bool isZero(Value value) { return analysis::constantOf(value) == 0; }
  Value wide(Value scalar) {
    auto truncate = scalar.getDefiningOp<arith::TruncIOp>();
    bool isSame = truncate && bitEnumContainsAny(truncate.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
    if (isSame && truncate.getIn().getType().isInteger(64))
      return truncate.getIn();
    if (auto type = dyn_cast<RankedTensorType>(scalar.getType()); type || scalar.getType().isInteger(64))
      return scalar;
    return arith::ExtSIOp::create(builder, location, builder.getI64Type(), scalar);
  }
  Value add(Value x, Value y) {
    if (isZero(x) || isZero(y))
      return isZero(x) ? y : x;
    if (auto a = analysis::constantOf(x), b = analysis::constantOf(y); a && b)
      return number(*a + *b);
    return arith::AddIOp::create(builder, location, x, y, arith::IntegerOverflowFlags::nsw);
  }
  Value times(Value x, Value y) {
    if (auto a = analysis::constantOf(x), b = analysis::constantOf(y); a && b)
      return number(*a * *b);
    if (isZero(x) || analysis::constantOf(y) == 1)
      return x;
    if (isZero(y) || analysis::constantOf(x) == 1)
      return y;
    return arith::MulIOp::create(builder, location, x, y, arith::IntegerOverflowFlags::nsw);
  }

  OpBuilder &builder;
  Location location;
  int64_t width;
};

/// Of how many neighbours along the dimension all read the same element; 1: each reads its own.
int64_t sharedBy(tile::AccessOp access, unsigned dim) {
  Value step = access.getSteps()[dim];
  int64_t size = access.getType().getShape()[dim];
  if (access.isStrided(dim))
    return 1;
  constexpr int64_t most = 256;
  for (int64_t width = most; width > 1; width /= 2) {
    if (size % width || size == width || !analysis::laneGroups(step, 0, width).equal)
      continue;
    OperandRange bound = access.getBound(dim);
    bool whole = bound.empty() || (bound.size() == 1 && analysis::laneGroups(bound[0], 0, width).equal) ||
                 (bound.size() == 2 && analysis::divisorOf(bound[0]) % width == 0 && analysis::divisorOf(bound[1]) % width == 0);
    bool asked = access.getResidual() && !analysis::laneGroups(access.getResidual(), int(dim), width).equal;
    if (whole && !asked)
      return width;
  }
  return 1;
}

/// The load with each of the elements that lanes share along the dimension once, repeated; null: there is no such load.
Value sharedLoad(tile::LoadOp load, unsigned dim, int64_t width) {
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  OpBuilder builder(load);
  Location location = load.getLoc();
  std::optional<Line> line = Lines(builder, location, width).of(access.getSteps()[dim]);
  OperandRange bound = access.getBound(dim);
  Thinned thinned(builder, width);
  Value residual = access.getResidual() ? thinned.of(access.getResidual(), dim) : Value();
  SmallVector<Value> bounds, steps(access.getSteps());
  for (unsigned d = 0; d < steps.size(); ++d)
    for (Value each : access.getBound(d)) {
      if (d == dim && bound.size() == 1)
        each = thinned.of(each, 0);
      else if (d == dim)
        each = tile::DivOp::create(builder, location, each,
                                   arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(width)),
                                   tile::IntDivMode::floor);
      bounds.push_back(each);
    }
  if (!line || (access.getResidual() && !residual) || llvm::is_contained(bounds, Value()))
    return {};
  steps[dim] = line->step;
  SmallVector<int64_t> whole(access.getType().getShape()), few(whole), apart(whole), repeated;
  few[dim] /= width;
  apart[dim] = few[dim];
  apart.insert(apart.begin() + dim + 1, 1);
  repeated = apart;
  repeated[dim + 1] = width;
  Value offset = arith::AddIOp::create(builder, location, access.getOffset(), line->first, arith::IntegerOverflowFlags::nsw);
  Type element = access.getType().getElementType();
  auto place = tile::AccessOp::create(builder, location, tile::AccessType::get(builder.getContext(), few, element),
                                      access.getBase(), offset, steps, bounds, residual, access.getBoundKinds());
  auto tileOf = [&](ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, getElementTypeOrSelf(load.getType())); };
  auto once =
      tile::LoadOp::create(builder, location, tileOf(few), place, Value(), false, load.getCacheAttr(), load.getEvictionAttr());
  once->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  Value tile = tile::ReshapeOp::create(builder, location, tileOf(apart), once);
  tile = tile::BroadcastOp::create(builder, location, tileOf(repeated), tile);
  return tile::ReshapeOp::create(builder, location, tileOf(whole), tile);
}
} // namespace

void runShareLoads(tile::KernelOp kernel) {
  SmallVector<std::pair<Value, Value>> shared; // what was loaded, and what stands for it
  kernel.walk([&](tile::LoadOp load) {
    auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
    if (!isa<tile::ContractOp>(load->getParentOp()) || !access || load.getIsVolatile() ||
        (load.getOther() && !tile::isPlusZero(load.getOther())))
      return;
    for (unsigned dim = 0; dim < access.getSteps().size(); ++dim)
      if (int64_t width = sharedBy(access, dim); width > 1)
        if (Value tile = sharedLoad(load, dim, width)) {
          shared.emplace_back(load.getResult(), tile);
          load.getResult().replaceAllUsesWith(tile);
          return;
        }
  });
  if (shared.empty())
    return;
  std::string why;
  std::optional<ProductKernel> found = findKernel(kernel, why);
  if (!found || !found->product.unpacked)
    for (auto [before, now] : llvm::reverse(shared))
      now.replaceAllUsesWith(before);
  kernel.walk([](tile::ContractOp product) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(product.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  });
}

} // namespace tilery::block
