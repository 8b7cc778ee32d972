// Tiles in registers: elementwise work is computed where something takes its result, vector of registers by vector.
#include "compiler/block/recognise/find_product.h"
#include "compiler/layout/registers.h"
#include "compiler/lower/alike.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/pull.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"
#include <map>

using namespace mlir;

namespace tilery::cuda {
namespace {
const layout::Layout &layoutOf(Value tile) { return block::layoutOf(tile.getType()).getLayout(); }

/// Lane and warp of threads that tell layouts apart: coordinates are sums over the lane's bits and the warp's digits. The first
/// is lane 0 of warp 0.
SmallVector<std::pair<int64_t, int64_t>> someThreads(const layout::Layout &layout) {
  SmallVector<std::pair<int64_t, int64_t>> result{{0, 0}, {1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}};
  for (int64_t warp = 1; warp < layout.extent(layout::Warp); ++warp)
    result.push_back({0, warp});
  return result;
}
} // namespace

/// Any thread can, from loads, numbers and what such ops give.
static bool canBeComputedAgain(Value tile) {
  Operation *op = tile.getDefiningOp();
  return op && !op->getNumRegions() && !isa<block::MmaWaitOp, block::ReadOp, block::JoinOp>(op);
}

/// Its load is under way before something takes it.
static bool isEarly(Value tile) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  return load && load->hasAttr("block.early");
}

void BlockEmitter::locate(llvm::Value *now) {
  llvm::Value *own = b.CreateSub(now, i32(32 * role->firstWarp));
  if (role->op.instanceCount() > 1)
    own = b.CreateURem(own, i32(32 * role->warps));
  llvm::Value *block = cluster > 1 ? machine.clusterRank(e) : i32(0);
  where = Where{b.CreateLShr(own, 7), b.CreateAnd(now, i32(31)), b.CreateLShr(own, 5), b.CreateAnd(own, i32(127)), block};
}

std::array<std::pair<layout::Axis, llvm::Value *>, 4> BlockEmitter::placeOf(unsigned number) {
  const Where &at = here();
  return {{{layout::Register, i32(number)}, {layout::Lane, at.lane}, {layout::Warp, at.warp}, {layout::Block, at.block}}};
}

const BlockEmitter::Where &BlockEmitter::here() {
  if (!where)
    locate(machine.threadNow(e));
  return *where;
}

BlockEmitter::Vectors BlockEmitter::vectorsOf(const layout::Layout &layout, unsigned most) {
  Vectors result{layout, 1, -1};
  layout::Layout canonical = layout.canonical();
  auto digits = canonical.digits(layout::Register);
  if (digits.empty() || digits[0].hasFlips())
    return result;
  for (auto [d, step] : llvm::enumerate(digits[0].step))
    if (step)
      result.along = step == 1 && result.along < 0 ? int(d) : -2;
  for (unsigned width = most; result.along >= 0 && width > 1 && result.width == 1; width /= 2)
    if (digits[0].extent % width == 0)
      result.width = width;
  if (result.width == 1)
    result.along = -1;
  return result;
}

// The sum over bits and digits is a register's constant and what is the thread's, but where bits are flipped.
llvm::Value *BlockEmitter::coordinateOf(const layout::Layout &layout, unsigned dim, unsigned number, int64_t added,
                                        Coordinates &known) {
  auto flips = [&](const layout::Layout::Input &input) {
    return llvm::any_of(input.digits, [&](const layout::Layout::Digit &digit) { return digit.flips[dim] != 0; });
  };
  if (llvm::any_of(layout.inputs(), flips))
    return emitCoordinate(b, layout, dim, placeOf(number));
  llvm::Value *&ofThread = known.ofThread[dim];
  if (!ofThread)
    ofThread = emitCoordinate(b, layout, dim, placeOf(0));
  return added ? b.CreateAdd(ofThread, llvm::ConstantInt::get(ofThread->getType(), uint64_t(added))) : ofThread;
}

BlockEmitter::Places BlockEmitter::pointsOf(const Vectors &vectors, unsigned number, Coordinates &coordinates) {
  const layout::Layout &layout = vectors.layout;
  SmallVector<int64_t, 4> first = layout::coordinatesOf(layout, number);
  Places result;
  for (unsigned d = 0; d < first.size(); ++d) {
    lower::Index index;
    llvm::Value *&known = coordinates.whole[{d, first[d]}];
    if (!known)
      known = b.CreateZExt(coordinateOf(layout, d, number, first[d], coordinates), b.getInt64Ty());
    index.base = known;
    index.step = int(d) == vectors.along ? 1 : 0;
    index.multiple = index.step ? vectors.width : 1;
    result.point.push_back(index);
  }
  for (auto [lane, warp] : someThreads(layout)) {
    lower::Point fixed = result.point;
    for (auto [index, at] : llvm::zip(fixed, layout::coordinatesOf(layout, number, lane, warp)))
      index.base = b.getInt64(at);
    result.fixed.push_back(std::move(fixed));
  }
  return result;
}

const BlockEmitter::Holding &BlockEmitter::holdingOf(block::LayoutAttr attribute) {
  auto [found, isNew] = holdings.try_emplace(attribute);
  Holding &holding = found->second;
  if (!isNew)
    return holding;
  const layout::Layout &layout = attribute.getLayout();
  for (auto [lane, warp] : someThreads(layout))
    for (unsigned number = 0; number < layout.extent(layout::Register); ++number)
      holding.places.push_back(layout::coordinatesOf(layout, number, lane, warp));
  for (unsigned number = 0; number < layout.extent(layout::Register); ++number)
    holding.registers.try_emplace(holding.places[number], number);
  return holding;
}

/// Where all of these threads (`someThreads`) hold what is wanted in the same registers: an element, or a vector where a dimension
/// steps; else null.
llvm::Value *BlockEmitter::heldAt(block::LayoutAttr layout, ArrayRef<llvm::Value *> parts, ArrayRef<lower::Point> fixed) {
  unsigned width = evaluator.width();
  const Holding &holding = holdingOf(layout);
  auto wanted = [&](const lower::Point &point, unsigned element) {
    SmallVector<int64_t, 4> result;
    for (const lower::Index &index : point)
      result.push_back(cast<llvm::ConstantInt>(index.base)->getSExtValue() + index.step * element);
    return result;
  };
  for (const lower::Point &point : fixed)
    if (llvm::any_of(point, [](const lower::Index &index) { return index.lanes || !isa<llvm::ConstantInt>(index.base); }))
      return nullptr;
  bool uniform = llvm::all_of(fixed[0], [](const lower::Index &index) { return index.uniform(); });
  SmallVector<llvm::Value *, 8> elements;
  for (unsigned element = 0; element < (uniform ? 1 : width); ++element) {
    auto found = holding.registers.find(wanted(fixed[0], element));
    if (found == holding.registers.end())
      return nullptr;
    size_t threads = std::min(fixed.size(), holding.places.size() / parts.size());
    for (size_t thread = 1; thread < threads; ++thread)
      if (holding.places[thread * parts.size() + found->second] != wanted(fixed[thread], element))
        return nullptr;
    elements.push_back(parts[found->second]);
  }
  if (uniform)
    return elements.front();
  llvm::Value *vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(elements.front()->getType(), width));
  for (auto [element, value] : llvm::enumerate(elements))
    vector = b.CreateInsertElement(vector, value, uint64_t(element));
  return vector;
}

void BlockEmitter::provide(Value tile, ArrayRef<lower::Index> point, ArrayRef<lower::Point> fixed) {
  if (!isa<RankedTensorType>(tile.getType()) || !provided.insert(lower::keyOf(tile, point)).second)
    return;
  ++providing;
  provideFound(tile, point, fixed);
  if (--providing == 0)
    provided.clear();
}

void BlockEmitter::provideFound(Value tile, ArrayRef<lower::Index> point, ArrayRef<lower::Point> fixed) {
  if (auto found = values.find(tile); found != values.end()) {
    if (llvm::Value *part = heldAt(block::layoutOf(tile.getType()), found->second, fixed))
      return evaluator.provide(tile, point, part);
    if (!canBeComputedAgain(tile))
      return fail(tile.getDefiningOp(), "is used at elements that other threads hold");
    if (noPlan.storage.contains(tile)) { // lanes share its numbers, but not these: they are computed as if it were not shared
      Parts shared = std::move(found->second);
      values.erase(found);
      noPlan.storage.erase(tile);
      provideFound(tile, point, fixed);
      llvm::Value *own = evaluator.value(tile, point);
      noPlan.storage[tile] = 0;
      values[tile] = std::move(shared);
      return evaluator.provide(tile, point, own);
    }
  }
  Operation *op = tile.getDefiningOp();
  if (auto convert = dyn_cast<block::ConvertOp>(op)) { // of what this thread computes itself, wherever it is
    provide(convert.getValue(), point, fixed);
    return evaluator.provide(tile, point, evaluator.value(convert.getValue(), point));
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    provideAddresses(load.getPlace(), point, fixed);
  if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(op)) {
    SmallVector<lower::Point> operands;
    for (const lower::Point &each : fixed)
      operands.push_back(evaluator.indices.operandPoint(op, each));
    lower::Point at = evaluator.indices.operandPoint(op, point);
    provide(op->getOperand(0), at, operands);
    auto reshape = dyn_cast<tile::ReshapeOp>(op);
    if (reshape && block::sameButOnes(tile::shapeOf(reshape.getValue().getType()), tile::shapeOf(reshape.getType())).empty())
      evaluator.provide(tile, point, evaluator.value(op->getOperand(0), at)); // quotients are other values each time
    return;
  }
  SmallVector<lower::Point> outer(fixed);
  if (isa<tile::JoinOp>(op)) { // the last dimension says of which operand an element is
    point = point.drop_back();
    for (lower::Point &each : outer)
      each.pop_back();
  }
  lower::Point inner(point);
  if (auto split = dyn_cast<tile::SplitOp>(op)) {
    lower::Index half = evaluator.indices.constant(tile == split.getRhs());
    inner.push_back(half);
    for (lower::Point &each : outer)
      each.push_back(half);
    point = inner;
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      provide(operand, point, outer);
}

void BlockEmitter::provideAddresses(Value place, ArrayRef<lower::Index> point, ArrayRef<lower::Point> fixed) {
  if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>())
    for (Value operand : pointers->getOperands())
      provide(operand, point, fixed);
  auto access = place.getDefiningOp<tile::AccessOp>();
  if (!access)
    return;
  for (unsigned d = 0; d < point.size(); ++d) {
    SmallVector<lower::Point> along, first;
    for (const lower::Point &each : fixed)
      along.push_back({each[d]});
    provide(access.getSteps()[d], point[d], along);
    if (lower::Index one = point[d]; !access.isStrided(d) && lower::areAlike(access.getSteps()[d], one, evaluator.width())) {
      one.step = 0;
      first = along;
      for (lower::Point &each : first)
        each[0].step = 0;
      provide(access.getSteps()[d], one, first);
    }
    for (Value bound : access.getBound(d))
      provide(bound, point[d], along);
  }
  if (access.getResidual())
    provide(access.getResidual(), point, fixed);
}

void BlockEmitter::prepareTile(Value tile, Value place) {
  lower::Pull pull;
  auto isKnown = [&](Value value) { return values.contains(value) && !canBeComputedAgain(value); };
  if (tile)
    pull.add(tile, isKnown);
  if (place)
    pull.addPlace(place, isKnown, true);
  for (Value scalar : pull.scalars)
    ensure(scalar);
}

llvm::Value *BlockEmitter::valueAt(Value tile, const Vectors &vectors, unsigned number, Coordinates &coordinates) {
  auto [point, fixed] = pointsOf(vectors, number, coordinates);
  provide(tile, point, fixed);
  return e.splat(evaluator.value(tile, point), vectors.width);
}

BlockEmitter::Parts BlockEmitter::materialize(Value tile, unsigned most) {
  if (!block::layoutOf(tile.getType())) {
    if (Operation *op = tile.getDefiningOp())
      fail(op, "gives a tile without a layout");
    failed = true;
    return {};
  }
  prepareTile(tile);
  Vectors vectors = vectorsOf(layoutOf(tile), most);
  Parts parts;
  for (llvm::Value *value : isEarly(tile) ? loadEarly(tile, vectors) : vectorsAt(tile, vectors, {}))
    for (unsigned i = 0; i < vectors.width; ++i)
      parts.push_back(vectors.width > 1 ? b.CreateExtractElement(value, uint64_t(i)) : value);
  return parts;
}

BlockEmitter::Parts BlockEmitter::vectorsAt(Value tile, const Vectors &vectors, ArrayRef<lower::KnownBound> kept) {
  lower::Evaluator::Region region(evaluator);
  lower::Evaluator::Vector lanes(evaluator, vectors.width);
  lower::Evaluator::Assumption hold(evaluator, kept);
  Coordinates coordinates;
  Parts result;
  for (unsigned number = 0; number < vectors.layout.extent(layout::Register); number += vectors.width) {
    auto [point, fixed] = pointsOf(vectors, number, coordinates);
    for (auto [d, index] : llvm::enumerate(point))
      index.loop = kept.empty() ? -1 : int(d);
    provide(tile, point, fixed);
    result.push_back(e.splat(evaluator.value(tile, point), vectors.width));
  }
  return result;
}

// Bounds of many vectors are many comparisons, while nothing is multiplied: where a whole tile keeps them, which most do, nothing is asked.
BlockEmitter::Parts BlockEmitter::loadEarly(Value tile, const Vectors &vectors) {
  constexpr unsigned many = 8;
  auto access = tile.getDefiningOp<tile::LoadOp>().getPlace().getDefiningOp<tile::AccessOp>();
  SmallVector<lower::KnownBound> bounds;
  llvm::Value *whole = b.getTrue();
  ArrayRef<int64_t> shape = tile::shapeOf(tile.getType());
  for (unsigned d = 0; access && d < shape.size(); ++d)
    if (OperandRange bound = access.getBound(d); bound.size() == 2) {
      ensure(bound[0]), ensure(bound[1]);
      bounds.push_back({bound[0], bound[1], int(d)});
      whole = b.CreateAnd(whole, b.CreateICmpSLE(evaluator.wide(bound[0]), e.i64(0)));
      whole = b.CreateAnd(whole, b.CreateICmpSGE(evaluator.wide(bound[1]), e.i64(shape[d])));
    }
  if (bounds.empty() || vectors.layout.extent(layout::Register) < many * vectors.width)
    return vectorsAt(tile, vectors, {});
  here();
  return lower::emitEither(
      b, whole, [&] { return vectorsAt(tile, vectors, bounds); }, [&] { return vectorsAt(tile, vectors, {}); });
}

void BlockEmitter::emitLoadOfTile(tile::LoadOp load) {
  if (startScales(load))
    return;
  if (!isEarly(load) && !load.getIsVolatile())
    return; // where it is used
  if (auto loop = load->getParentOfType<scf::ForOp>(); loop && !loop.getBody()->getOps<block::AcquireOp>().empty())
    shareNumbers(load);
  unsigned bytes = tile::elementBytes(getElementTypeOrSelf(load.getType()));
  remember(load, materialize(load, isEarly(load) ? std::max(2u, 16 / bytes) : 2));
}

void BlockEmitter::emitJoin(block::JoinOp join) {
  const layout::Layout &whole = layoutOf(join), &piece = layoutOf(join.getTiles()[0]);
  int64_t each = tile::shapeOf(join.getTiles()[0].getType()).back();
  std::map<SmallVector<int64_t, 4>, unsigned> numbers; // of a piece's registers
  for (unsigned number = 0; number < piece.extent(layout::Register); ++number)
    numbers.try_emplace(layout::coordinatesOf(piece, number), number);
  Parts parts;
  for (unsigned number = 0; number < whole.extent(layout::Register); ++number) {
    SmallVector<int64_t, 4> at = layout::coordinatesOf(whole, number);
    Value tile = join.getTiles()[at.back() / each];
    at.back() %= each;
    parts.push_back(partsOf(tile)[numbers.at(at)]);
  }
  remember(join, std::move(parts));
}

void BlockEmitter::emitStore(tile::StoreOp store) {
  auto tile = dyn_cast<RankedTensorType>(store.getValue().getType());
  if (tile && !block::layoutOf(tile))
    return fail(store, "stores a tile without a layout");
  prepareTile(store.getValue(), store.getPlace());
  lower::Evaluator::Region region(evaluator);
  if (!tile && synchronizes) // behind what all have stored
    meetRole();
  if (!tile)
    return when(speaker(), [&] { evaluator.memory.store(evaluator.addresses.ofAccess(store, {}), scalar(store.getValue())); });
  unsigned bytes = tile::elementBytes(tile.getElementType());
  Vectors vectors = vectorsOf(layout::neighboursFirst(layoutOf(store.getValue()), tile.getRank() - 1), std::max(1u, 16 / bytes));
  lower::Evaluator::Vector lanes(evaluator, vectors.width);
  Coordinates coordinates;
  for (unsigned number = 0; number < vectors.layout.extent(layout::Register); number += vectors.width) {
    llvm::Value *value = valueAt(store.getValue(), vectors, number, coordinates);
    auto [point, fixed] = pointsOf(vectors, number, coordinates);
    provideAddresses(store.getPlace(), point, fixed);
    evaluator.memory.store(evaluator.addresses.ofAccess(store, point), value);
  }
}

} // namespace tilery::cuda
