// pipeline: contractions whose operands are boxes become loops over a ring that copies fill and products read.
//
// All is still one thread of control: each step acquires a slot, starts its copies and publishes it, takes it again and starts the product.
// A slot is released one product late, so that one product runs while the next one starts; so a ring has two slots at least. split-roles
// then lets copies run ahead.
#include "compiler/block/map_boxes.h"
#include "compiler/block/passes.h"
#include "compiler/ir/zero.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilery::block {
namespace {

constexpr int64_t mostSlots = 4, leastSlots = 2;
constexpr int64_t outputShare = 64 * 1024; // of shared memory, for what is stored

struct Operand {
  MappedTile tile;
  bool transposed; // of how it lies in shared memory
};

/// An operand of a step: a box; `live`: of its dimension that is not k.
std::optional<Operand> operandOf(Value value, Value live, unsigned liveDim) {
  bool exchanged = false;
  while (auto permute = value.getDefiningOp<tile::PermuteOp>()) {
    value = permute.getValue();
    exchanged = !exchanged;
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  if (!access || access.getType().getRank() != 2 || load.getIsVolatile() ||
      (load.getOther() && !tile::isPlusZero(load.getOther())))
    return std::nullopt;
  SmallVector<Value> lives(2);
  lives[exchanged ? 1 - liveDim : liveDim] = live;
  std::string why;
  std::optional<MappedTile> tile = mapTile(access, why, lives);
  if (!tile)
    return std::nullopt;
  return Operand{*tile, (tile->order[0] == 1) != exchanged};
}

/// True if wgmma has a form for the contraction's steps.
bool hasForm(tile::ContractOp contract, const Operand &a, const Operand &b) {
  auto sum = cast<RankedTensorType>(contract.getType());
  Type x = a.tile.element, y = b.tile.element;
  auto isFp8 = [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); };
  bool half = x == y && (x.isF16() || x.isBF16()), int8 = x.isInteger(8) && y.isInteger(8);
  bool tf32 = x.isF32() && y.isF32() && contract.getPrecision() == tile::Precision::tf32;
  bool kMajor = !a.transposed && b.transposed;
  bool fits = int8 ? sum.getElementType().isInteger(32) : sum.getElementType().isF32();
  int64_t k = a.tile.shape[a.transposed ? 0 : 1];
  return fits && (half || (kMajor && (int8 || tf32 || (isFp8(x) && isFp8(y))))) && sum.getDimSize(0) % 64 == 0 &&
         sum.getDimSize(1) % 8 == 0 && k * tile::elementBytes(x) % 32 == 0 && a.tile.swizzle != 16 && b.tile.swizzle != 16;
}

class Loop {
public:
  Loop(tile::ContractOp contract, const Operand &a, const Operand &b)
      : contract(contract), operands{a, b}, builder(contract), location(contract.getLoc()) {}

  void write() {
    MLIRContext *context = contract.getContext();
    for (const Operand &operand : operands)
      maps.push_back(placeMap(builder, location, operand.tile, [](Value atom) { return atom; }));
    SmallVector<SharedType> tiles{operands[0].tile.sharedType(), operands[1].tile.sharedType()};
    ring = RingOp::create(builder, location, RingType::get(context, slots(tiles), tiles), 1);
    auto sum = PendingType::get(context, cast<RankedTensorType>(contract.getType()));
    Value zero = constant(builder.getI64IntegerAttr(0)), one = constant(builder.getI64IntegerAttr(1));
    Value product = NoneOp::create(builder, location, sum);
    Value slot = NoneOp::create(builder, location, SlotType::get(context, tiles));
    auto loop = scf::ForOp::create(builder, location, zero, contract.getSteps(), one,
                                   ValueRange{product, constant(builder.getI32IntegerAttr(0)), slot});
    builder.setInsertionPointToStart(loop.getBody());
    writeStep(loop, zero);
    builder.setInsertionPointAfter(loop);
    Value result = MmaWaitOp::create(builder, location, sum.getTile(), loop.getResult(0));
    ReleaseOp::create(builder, location, loop.getResult(2));
    contract.getResult().replaceAllUsesWith(result);
    contract.erase();
  }

private:
  Value constant(TypedAttr attribute) { return arith::ConstantOp::create(builder, location, attribute); }

  int64_t slots(ArrayRef<SharedType> tiles) {
    int64_t slot = 0, free = sharedLimit - outputShare - sharedBytes(contract->getParentOfType<tile::KernelOp>());
    for (SharedType tile : tiles)
      slot += llvm::alignTo(tile.getBytes(), 1024);
    return std::clamp(free / slot, leastSlots, mostSlots);
  }

  /// What an atom of a box is in the new loop: code of the contraction's body is copied there.
  Value valueOf(Value atom) {
    if (Value known = copied.lookupOrNull(atom))
      return known;
    Operation *op = atom.getDefiningOp();
    if (!op || !contract->isProperAncestor(op))
      return atom;
    for (Value operand : op->getOperands())
      copied.map(operand, valueOf(operand));
    builder.clone(*op, copied);
    return copied.lookup(atom);
  }

  void writeStep(scf::ForOp loop, Value zero) {
    copied.map(contract.getBody().getArgument(0), loop.getInductionVar());
    Value sum = loop.getRegionIterArg(0), position = loop.getRegionIterArg(1), before = loop.getRegionIterArg(2);
    Value filled = AcquireOp::create(builder, location, ring, position);
    for (auto [i, operand] : llvm::enumerate(operands)) {
      auto coords = placeCoords(builder, location, operand.tile, [this](Value atom) { return valueOf(atom); });
      CopyOp::create(builder, location, maps[i], coords, PartOp::create(builder, location, filled, i));
    }
    PublishOp::create(builder, location, filled);
    Value taken = TakeOp::create(builder, location, ring, position);
    SmallVector<Value, 2> tiles;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      Value part = PartOp::create(builder, location, taken, i);
      tiles.push_back(operand.transposed ? Value(TransposeOp::create(builder, location, part)) : part);
    }
    Value first = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, loop.getInductionVar(), zero);
    Value product = MmaStartOp::create(builder, location, sum.getType(), sum, tiles[0], tiles[1], first, contract.getPrecision(),
                                       contract.getAUnsigned(), contract.getBUnsigned());
    MmaSettleOp::create(builder, location, sum);
    ReleaseOp::create(builder, location, before);
    Value next = arith::AddIOp::create(builder, location, position, constant(builder.getI32IntegerAttr(1)));
    scf::YieldOp::create(builder, location, ValueRange{product, next, taken});
  }

  tile::ContractOp contract;
  std::array<Operand, 2> operands;
  OpBuilder builder;
  Location location;
  IRMapping copied;
  SmallVector<Value, 2> maps;
  RingOp ring;
};

struct Pipeline : PassWrapper<Pipeline, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Pipeline)
  StringRef getArgument() const final { return "pipeline"; }
  StringRef getDescription() const final { return "contractions of boxes become loops over a ring"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<BlockDialect, arith::ArithDialect, scf::SCFDialect>();
  }

  void runOnOperation() final {
    for (auto contract : llvm::make_early_inc_range(getOperation().getBody().getOps<tile::ContractOp>())) {
      if (!tile::isPlusZero(contract.getAcc()))
        continue; // products are added to what is there, one by one
      Operation *yield = contract.getBody().front().getTerminator();
      OperandRange live = contract.getLive();
      auto a = operandOf(yield->getOperand(0), live.empty() ? Value() : live[0], 0);
      auto b = operandOf(yield->getOperand(1), live.empty() ? Value() : live[1], 1);
      if (a && b && hasForm(contract, *a, *b))
        Loop(contract, *a, *b).write();
    }
  }
};
} // namespace

std::unique_ptr<Pass> createPipeline() { return std::make_unique<Pipeline>(); }

} // namespace tilery::block
