// Numbers that all lanes of a warp need (where columns of windows begin: divisions): each lane computes some of them and shows them to the
// others.
#include "compiler/analysis/search.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr unsigned warpLanes = 32, few = 4, many = 32; // registers

/// All lanes of a warp hold the same.
bool lanesAgree(const layout::Layout &layout) {
  return llvm::all_of(layout.digits(layout::Lane), [](const layout::Layout::Digit &digit) { return digit.isZero(); });
}

/// So many neighbouring registers hold the same number.
unsigned alikeOf(Value tile, const layout::Layout &layout) {
  layout::Layout canonical = layout.canonical();
  auto digits = canonical.digits(layout::Register);
  unsigned alike = 1;
  bool side =
      cast<RankedTensorType>(tile.getType()).getRank() == 1 && !digits.empty() && !digits[0].hasFlips() && digits[0].step[0] == 1;
  while (side && digits[0].extent % (2 * alike) == 0 && analysis::laneGroups(tile, 0, 2 * alike).equal)
    alike *= 2;
  return alike;
}

/// It takes more than handing it on, and any thread can compute it.
bool isDear(Value tile) {
  constexpr unsigned cheap = 4; // ops
  unsigned work = 0;
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()))
      continue;
    if (op->getNumRegions() || isa<tile::LoadOp>(op) || op->getDialect()->getNamespace() == "block")
      return false;
    bool divides = isa<tile::DivOp, tile::RemOp>(op),
         isWork = OpTrait::hasElementwiseMappableTraits(op) && !isa<arith::ExtSIOp>(op);
    work += divides ? cheap : isWork && !op->hasTrait<OpTrait::ConstantLike>();
    values.addAll(op->getOperands());
  }
  return work >= cheap;
}
} // namespace

llvm::Value *BlockEmitter::fromLaneOf(llvm::Value *value, unsigned lane) {
  llvm::Type *type = value->getType();
  auto shuffle = [&](llvm::Value *word) { return machine.shuffleFrom(e, word, i32(lane), i32(-1)); };
  if (type->getIntegerBitWidth() <= 32)
    return b.CreateTrunc(shuffle(b.CreateZExt(value, b.getInt32Ty())), type);
  llvm::Value *low = shuffle(b.CreateTrunc(value, b.getInt32Ty())),
              *high = shuffle(b.CreateTrunc(b.CreateLShr(value, 32), b.getInt32Ty()));
  return b.CreateOr(b.CreateZExt(low, type), b.CreateShl(b.CreateZExt(high, type), 32));
}

void BlockEmitter::shareNumbers(Value tile) {
  if (role->op.walk([](block::ConvertOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return; // what a tile in another layout is computed from must not be in registers
  for (analysis::Search<Value> reached(tile); Value value = reached.next();) {
    Operation *op = value.getDefiningOp();
    block::LayoutAttr layout = isa<RankedTensorType>(value.getType()) ? block::layoutOf(value.getType()) : block::LayoutAttr();
    if (!op || values.contains(value))
      continue;
    unsigned registers = layout ? layout.getLayout().extent(layout::Register) : 0;
    if (registers >= few && !isa<arith::ExtSIOp>(op) && registers <= many && getElementTypeOrSelf(value.getType()).isInteger() &&
        lanesAgree(layout.getLayout()) && isDear(value))
      shareTile(value, layout.getLayout());
    else
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType, tile::AccessType>(operand.getType()))
          reached.add(operand);
  }
}

void BlockEmitter::shareTile(Value tile, const layout::Layout &layout) {
  prepareTile(tile);
  unsigned registers = layout.extent(layout::Register), alike = alikeOf(tile, layout);
  Parts parts;
  llvm::DenseMap<Value, int> shared; // of these, each lane computes at other places
  std::swap(shared, noPlan.storage);
  {
    lower::Evaluator::Region region(evaluator);
    lower::Evaluator::Vector lanes(evaluator, 1);
    llvm::Value *own = nullptr;
    for (unsigned number = 0; number < registers; ++number) {
      if (number % warpLanes == 0) {
        llvm::Value *mine = b.CreateAdd(here().lane, i32(number));
        if (registers - number < warpLanes)
          mine = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, mine, i32(registers - 1));
        lower::Point point;
        for (llvm::Value *at : emitLayout(b, layout, {{layout::Register, mine}, {layout::Warp, here().warp}})) {
          lower::Index &index = point.emplace_back();
          index.base = b.CreateZExt(at, b.getInt64Ty());
          index.step = 0;
          index.multiple = 1;
        }
        own = evaluator.value(tile, point);
      }
      parts.push_back(number % alike ? parts.back() : fromLaneOf(own, number % warpLanes));
    }
  }
  remember(tile, std::move(parts));
  noPlan.storage = std::move(shared);
  noPlan.storage[tile] = 0; // it is provided wherever it is used: not to be taken apart there
}

} // namespace tilery::cuda
