// open-extracts: a lane of a loaded tile (a row of a mask, a list of blocks) is a number that any thread loads by itself, so that branches and
// places that hang on it hang on no tile.
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// A load of plain places, of what the kernel does not store.
bool isPlain(tile::LoadOp load, ArrayRef<Value> stored) {
  auto place = load.getPlace().getDefiningOp<tile::AccessOp>();
  if (!place || load.getIsVolatile() || place.getResidual() || !isApart(load, stored))
    return false;
  for (unsigned d = 0; d < place.getBoundKinds().size(); ++d)
    if (!place.isStrided(d) || place.getBoundKinds()[d] > 1)
      return false;
  return true;
}

/// One lane of it can be computed from numbers; `loads`: some of them are loaded.
bool canOpen(Value tile, ArrayRef<Value> stored, bool &loads, unsigned depth = 0) {
  constexpr unsigned most = 12;
  Operation *op = tile.getDefiningOp();
  if (!op || depth > most)
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    loads = true;
    return isPlain(load, stored) && (!load.getOther() || canOpen(load.getOther(), stored, loads, depth + 1));
  }
  if (isa<tile::SplatOp>(op) || (isa<arith::ConstantOp>(op) && matchPattern(tile, m_Constant<SplatElementsAttr>(nullptr))))
    return true;
  bool isElementwise = isa<arith::ArithDialect>(op->getDialect()) && OpTrait::hasElementwiseMappableTraits(op) &&
                       op->getNumResults() == 1 && isMemoryEffectFree(op);
  return (isElementwise || isa<tile::ExpandDimsOp>(op)) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isTile(operand) || canOpen(operand, stored, loads, depth + 1);
         });
}

class Lane {
public:
  Lane(tile::ExtractOp op) : b(op), location(op.getLoc()) {}

  Value of(tile::ExtractOp op) {
    SmallVector<Value> at;
    for (Value index : op.getIndices())
      at.push_back(index.getType().isInteger(64) ? index
                                                 : arith::ExtSIOp::create(b, location, b.getI64Type(), index).getResult());
    Value inside;
    for (auto [index, extent] : llvm::zip_equal(at, tile::shapeOf(op.getValue().getType())))
      inside = both(inside, within(index, number(0), number(extent)));
    return where(inside, op.getType(), [&] { return element(op.getValue(), at); }, [&] { return zero(op.getType()); });
  }

private:
  Value number(int64_t value) { return arith::ConstantOp::create(b, location, b.getI64IntegerAttr(value)); }
  Value zero(Type type) { return arith::ConstantOp::create(b, location, b.getZeroAttr(type)); }
  Value both(Value x, Value y) { return x ? arith::AndIOp::create(b, location, x, y).getResult() : y; }
  Value within(Value index, Value low, Value high) {
    return both(arith::CmpIOp::create(b, location, arith::CmpIPredicate::sge, index, low),
                arith::CmpIOp::create(b, location, arith::CmpIPredicate::slt, index, high));
  }

  Value where(Value condition, Type type, llvm::function_ref<Value()> yes, llvm::function_ref<Value()> no) {
    if (!condition)
      return yes();
    auto branch = scf::IfOp::create(b, location, TypeRange(type), condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    for (auto [block, value] : {std::pair(branch.thenBlock(), yes), std::pair(branch.elseBlock(), no)}) {
      b.setInsertionPointToStart(block);
      Value result = value();
      scf::YieldOp::create(b, location, result);
    }
    return branch.getResult(0);
  }

  Value element(Value tile, ArrayRef<Value> at) {
    Operation *op = tile.getDefiningOp();
    Type type = getElementTypeOrSelf(tile);
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return loaded(load, at);
    if (auto splat = dyn_cast<tile::SplatOp>(op))
      return splat.getValue();
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
      SmallVector<Value> below(at);
      below.erase(below.begin() + expand.getAxis());
      return element(expand.getValue(), below);
    }
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto same = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<TypedAttr>();
      return arith::ConstantOp::create(b, location, same);
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTile(operand) ? element(operand, at) : operand);
    OperationState state(location, op->getName(), operands, TypeRange(type), op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }

  Value loaded(tile::LoadOp load, ArrayRef<Value> at) {
    auto place = load.getPlace().getDefiningOp<tile::AccessOp>();
    Type type = getElementTypeOrSelf(load.getType());
    Value exists, offset = place.getOffset();
    for (auto [d, index] : llvm::enumerate(at)) {
      if (auto bound = place.getBound(d); bound.size() == 2)
        exists = both(exists, within(index, bound[0], bound[1]));
      Value moved = arith::MulIOp::create(b, location, index, place.getSteps()[d]);
      offset = arith::AddIOp::create(b, location, offset, moved);
    }
    auto read = [&]() -> Value {
      auto access = cast<tile::AccessType>(place.getType());
      auto scalar = tile::AccessType::get(type.getContext(), ArrayRef<int64_t>{}, access.getElementType());
      Value one = tile::AccessOp::create(b, location, scalar, place.getBase(), offset, ValueRange(), ValueRange(), Value(),
                                         ArrayRef<int32_t>{});
      return tile::LoadOp::create(b, location, type, one, Value(), false, load.getCacheAttr(), load.getEvictionAttr());
    };
    auto other = [&] { return load.getOther() ? element(load.getOther(), at) : zero(type); };
    return where(exists, type, read, other);
  }

  OpBuilder b;
  Location location;
};

/// A number that became a tile of one lane, element by element or not, is that number again.
Value numberIn(Value tile, OpBuilder &b, unsigned depth = 0) {
  constexpr unsigned most = 12;
  Operation *op = tile.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type)
    return tile;
  if (!op || type.getNumElements() != 1 || depth > most)
    return {};
  if (isa<tile::ReshapeOp, tile::SplatOp, tile::ExpandDimsOp>(op))
    return numberIn(op->getOperand(0), b, depth + 1);
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto same = cast<DenseElementsAttr>(constant.getValue()).getValues<TypedAttr>()[0];
    return arith::ConstantOp::create(b, op->getLoc(), same);
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 || !isMemoryEffectFree(op))
    return {};
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (operands.push_back(numberIn(operand, b, depth + 1)); !operands.back())
      return {};
  OperationState state(op->getLoc(), op->getName(), operands, TypeRange(type.getElementType()), op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return b.create(state)->getResult(0);
}

/// The op, and what it alone used.
void eraseUnused(Operation *op) {
  llvm::SetVector<Operation *> left; // each once: an op may use another one twice
  for (left.insert(op); !left.empty();) {
    Operation *next = left.pop_back_val();
    if (!isOpTriviallyDead(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *below = operand.getDefiningOp())
        left.insert(below);
    next->erase();
  }
}

/// Lanes, at 0, and tiles without dimensions that are such numbers.
void openNumbers(tile::KernelOp kernel) {
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    auto extract = dyn_cast<tile::ExtractOp>(op);
    bool isFirst = extract && llvm::all_of(extract.getIndices(), [](Value index) { return matchPattern(index, m_Zero()); });
    if (isFirst || (isa<tile::ReshapeOp>(op) && !isTile(op->getResult(0))))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder b(op);
    if (Value number = numberIn(op->getOperand(0), b))
      op->getResult(0).replaceAllUsesWith(number);
    eraseUnused(op);
  }
}
} // namespace

void runOpenExtracts(tile::KernelOp kernel) {
  openNumbers(kernel);
  SmallVector<Value> stored = storedPlaces(kernel);
  SmallVector<tile::ExtractOp> extracts;
  kernel.walk([&](tile::ExtractOp op) { extracts.push_back(op); });
  for (tile::ExtractOp op : extracts)
    if (bool loads = false; canOpen(op.getValue(), stored, loads) && loads) {
      op.replaceAllUsesWith(Lane(op).of(op));
      op.erase();
    }
}

} // namespace tilery::block
