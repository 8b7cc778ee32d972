#include "compiler/targets/cpu/prepare_products.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/lane_runs.h"
#include "compiler/lower/emitter.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::cpu {
namespace {
constexpr int64_t shortRun = 8;

bool isContiguous(tile::AccessOp access, unsigned dim) {
  return access.isStrided(dim) && analysis::constantOf(access.getSteps()[dim]) == 1;
}
bool runs(tile::AccessOp access, unsigned dim) {
  return isContiguous(access, dim) || (!access.isStrided(dim) && analysis::laneRun(access.getSteps()[dim]) >= shortRun);
}

RankedTensorType turned(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return RankedTensorType::get({tile.getDimSize(1), tile.getDimSize(0)}, tile.getElementType());
}

Value turnedTile(OpBuilder &b, Value tile) {
  return tile::PermuteOp::create(b, tile.getLoc(), turned(tile.getType()), tile, ArrayRef<int64_t>{1, 0});
}

Value turnedAccess(OpBuilder &b, tile::AccessOp access) {
  SmallVector<Value> steps{access.getSteps()[1], access.getSteps()[0]}, bounds(access.getBound(1));
  llvm::append_range(bounds, access.getBound(0));
  Value residual = access.getResidual();
  if (residual && isa<RankedTensorType>(residual.getType()))
    residual = turnedTile(b, residual);
  auto type = cast<tile::AccessType>(access.getType());
  auto turnedType = tile::AccessType::get(access.getContext(), {type.getShape()[1], type.getShape()[0]}, type.getElementType());
  return tile::AccessOp::create(b, access.getLoc(), turnedType, access.getBase(), access.getOffset(), steps, bounds, residual,
                                ArrayRef<int32_t>{access.getBoundKinds()[1], access.getBoundKinds()[0]});
}

tile::AccessOp accessOf(Value place) {
  auto access = place.getDefiningOp<tile::AccessOp>();
  return access && access.getSteps().size() == 2 ? access : tile::AccessOp();
}

/// A factor that is loaded: turned where it is loaded, so that packing sees how it lies.
Value turnedFactor(OpBuilder &b, Value factor) {
  auto load = factor.getDefiningOp<tile::LoadOp>();
  b.setInsertionPoint(load);
  Value other = load.getOther();
  if (other && isa<RankedTensorType>(other.getType()))
    other = turnedTile(b, other);
  return tile::LoadOp::create(b, load.getLoc(), turned(load.getType()), turnedAccess(b, accessOf(load.getPlace())), other, false,
                              load.getCacheAttr(), load.getEvictionAttr());
}

/// What a result is combined with.
Value turnedOperand(OpBuilder &b, Value tile) {
  DenseElementsAttr values;
  if (matchPattern(tile, m_Constant(&values)) && values.isSplat())
    return arith::ConstantOp::create(b, tile.getLoc(), values.resizeSplat(turned(tile.getType())));
  return turnedTile(b, tile);
}

bool isLoaded(Value factor) {
  auto load = factor.getDefiningOp<tile::LoadOp>();
  return load && !load.getIsVolatile() && accessOf(load.getPlace());
}

struct Turning {
  Operation *product;
  SmallVector<Operation *> between; // from the result to what is stored, element by element
  tile::StoreOp store;
};

std::optional<Turning> turningOf(Operation *product) {
  Turning found{product, {}, {}};
  Value value = product->getResult(0);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  auto [a, b] = lower::factorsOf(product);
  if (!type || type.getRank() != 2 || !lower::startsAtZero(product) || !isLoaded(a) || !isLoaded(b))
    return std::nullopt;
  while (value.hasOneUse() && lower::isElementwise(*value.user_begin()) && (*value.user_begin())->getNumResults() == 1) {
    found.between.push_back(*value.user_begin());
    value = found.between.back()->getResult(0);
  }
  found.store = value.hasOneUse() ? dyn_cast<tile::StoreOp>(*value.user_begin()) : tile::StoreOp();
  auto access = found.store && found.store.getValue() == value ? accessOf(found.store.getPlace()) : tile::AccessOp();
  if (!access || found.store.getIsVolatile() || runs(access, 1) || !runs(access, 0))
    return std::nullopt;
  return found;
}

void turn(Turning &turning) {
  Operation *op = turning.product;
  OpBuilder b(op);
  auto [x, y] = lower::factorsOf(op);
  Value left = turnedFactor(b, y), right = turnedFactor(b, x);
  b.setInsertionPoint(op);
  Type type = turned(op->getResult(0).getType());
  Value zero = arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(type));
  SmallVector<Value> live = lower::liveExtents(op);
  std::reverse(live.begin(), live.end());
  Value result;
  if (auto dot = dyn_cast<tile::DotOp>(op)) {
    auto next = cast<tile::DotOp>(b.clone(*op));
    next.getAMutable().assign(left), next.getBMutable().assign(right), next.getAccMutable().assign(zero);
    next.getLiveMutable().assign(live);
    next.setAUnsigned(dot.getBUnsigned()), next.setBUnsigned(dot.getAUnsigned());
    result = next.getResult();
  } else {
    auto contract = cast<tile::ContractOp>(op);
    bool leftUnsigned = contract.getBUnsigned(), rightUnsigned = contract.getAUnsigned();
    contract.getBody().front().getTerminator()->setOperands({left, right});
    contract.getAccMutable().assign(zero);
    contract.getLiveMutable().assign(live);
    contract.setAUnsigned(leftUnsigned), contract.setBUnsigned(rightUnsigned);
    result = contract.getResult();
  }
  result.setType(type);
  Value value = result, before = op->getResult(0);
  for (Operation *each : turning.between) {
    b.setInsertionPoint(each);
    for (OpOperand &operand : each->getOpOperands())
      if (operand.get() == before)
        operand.set(value);
      else if (isa<RankedTensorType>(operand.get().getType()))
        operand.set(turnedOperand(b, operand.get()));
    before = each->getResult(0);
    each->getResult(0).setType(turned(each->getResult(0).getType()));
    value = each->getResult(0);
  }
  b.setInsertionPoint(turning.store);
  turning.store.getPlaceMutable().assign(turnedAccess(b, accessOf(turning.store.getPlace())));
  turning.store.getValueMutable().assign(value);
  if (op != result.getDefiningOp())
    op->erase();
}
} // namespace

void prepareProducts(tile::KernelOp kernel) {
  SmallVector<Operation *> products;
  kernel.walk([&](Operation *op) {
    if (lower::isProduct(op))
      products.push_back(op);
  });
  SmallVector<Turning> turnings;
  for (Operation *op : products)
    if (std::optional<Turning> turning = turningOf(op))
      turnings.push_back(*turning);
  llvm::for_each(turnings, turn);
}

} // namespace tilery::cpu
