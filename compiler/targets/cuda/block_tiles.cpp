// Tiles in registers: elementwise work is computed where something takes its result, vector of registers by vector.
#include "compiler/block/find_fetch.h"
#include "compiler/layout/fragments.h"
#include "compiler/layout/memory.h"
#include "compiler/lower/alike.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/pull.h"
#include "compiler/targets/cuda/block_emitter.h"
#include "compiler/targets/cuda/emit_layout.h"
#include <map>

using namespace mlir;

namespace tilery::cuda {
namespace {
const layout::Layout &layoutOf(Value tile) { return block::layoutOf(tile.getType()).getLayout(); }

/// Coordinates of a register of a thread.
SmallVector<int64_t, 4> coordinatesOf(const layout::Layout &layout, unsigned number, int64_t lane, int64_t warp) {
  auto at = layout.at({{layout::Register, number},
                       {layout::Lane, lane % layout.extent(layout::Lane)},
                       {layout::Warp, warp % layout.extent(layout::Warp)}});
  return SmallVector<int64_t, 4>(at.begin(), at.end());
}
/// Lane and warp of threads that tell layouts apart: coordinates are sums over the lane's bits and the warp's digits. The first
/// is lane 0 of warp 0.
SmallVector<std::pair<int64_t, int64_t>> someThreads(const layout::Layout &layout) {
  SmallVector<std::pair<int64_t, int64_t>> result{{0, 0}, {1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}};
  for (int64_t warp = 1; warp < layout.extent(layout::Warp); ++warp)
    result.push_back({0, warp});
  return result;
}
} // namespace

/// The same registers in another order: those that hold neighbours along the dimension first.
static layout::Layout neighboursFirst(const layout::Layout &layout, unsigned along) {
  layout::Layout canonical = layout.canonical();
  auto isNeighbours = [&](const layout::Layout::Digit &digit) {
    for (auto [d, step] : llvm::enumerate(digit.step))
      if (step != (d == along))
        return false;
    return !digit.hasFlips();
  };
  auto digits = canonical.digits(layout::Register);
  const auto *first = llvm::find_if(digits, isNeighbours);
  if (first == digits.end() || first == digits.begin())
    return layout;
  layout::Layout result(canonical.outputs());
  result.add(layout::Register, *first);
  for (const layout::Layout::Input &input : canonical.inputs())
    for (const layout::Layout::Digit &digit : input.digits)
      if (&digit != first)
        result.add(input.axis, digit);
  return result;
}

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
  SmallVector<int64_t, 4> first = coordinatesOf(layout, number, 0, 0);
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
    for (auto [index, at] : llvm::zip(fixed, coordinatesOf(layout, number, lane, warp)))
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
      holding.places.push_back(coordinatesOf(layout, number, lane, warp));
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
  if (!isa<RankedTensorType>(tile.getType()))
    return;
  if (auto found = values.find(tile); found != values.end()) {
    if (llvm::Value *part = heldAt(block::layoutOf(tile.getType()), found->second, fixed))
      return evaluator.provide(tile, point, part);
    if (!canBeComputedAgain(tile))
      return fail(tile.getDefiningOp(), "is used at elements that other threads hold");
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
      operands.push_back(evaluator.operandPoint(op, each));
    return provide(op->getOperand(0), evaluator.operandPoint(op, point), operands);
  }
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      provide(operand, point, fixed);
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
  if (!isEarly(load) && !load.getIsVolatile())
    return; // where it is used
  if (auto loop = load->getParentOfType<scf::ForOp>(); loop && !loop.getBody()->getOps<block::AcquireOp>().empty())
    shareNumbers(load);
  unsigned bytes = tile::elementBytes(getElementTypeOrSelf(load.getType()));
  remember(load, materialize(load, isEarly(load) ? std::max(2u, 16 / bytes) : 2));
}

// The tensor cores would cut what tf32 lacks.
llvm::Value *BlockEmitter::roundedTF32(llvm::Value *elements) {
  auto round = [&](llvm::Value *element) {
    return b.CreateBitCast(machine.roundTF32(e, b.CreateBitCast(element, b.getInt32Ty())), b.getFloatTy());
  };
  auto type = dyn_cast<llvm::FixedVectorType>(elements->getType());
  for (unsigned i = 0; type && i < type->getNumElements(); ++i)
    elements = b.CreateInsertElement(elements, round(b.CreateExtractElement(elements, uint64_t(i))), uint64_t(i));
  return type ? elements : round(elements);
}

// Registers are vectors of the slot's rows, so many of them side by side in memory.
unsigned BlockEmitter::acrossOf(block::WriteOp write, const Vectors &vectors) {
  if (!write.getShared().getDefiningOp<block::PartOp>() || write.getAt() || vectors.width % 4 || vectors.along != 1)
    return 1;
  unsigned across = block::shapeOf(write.getValue(), 1).across;
  layout::Layout canonical = vectors.layout.canonical();
  auto digits = canonical.digits(layout::Register);
  bool dealt = across > 1 && digits.size() > 1 && digits[0].extent == vectors.width && digits[1].step[0] == 1 &&
               digits[1].step[1] == 0 && digits[1].extent % across == 0 && !digits[1].hasFlips();
  return dealt ? across : 1;
}

void BlockEmitter::emitTurned(block::WriteOp write, const Vectors &vectors, unsigned across,
                              llvm::function_ref<llvm::Value *(unsigned number)> addressOf) {
  unsigned threads = 32 * (roles.back().firstWarp + roles.back().warps);
  unsigned words = 65536 / threads > 128 ? 64 : 32; // that are loaded before the first is written
  Type element = write.getShared().getType().getElementType();
  unsigned bytes = tile::elementBytes(element), width = vectors.width, each = width * across;
  unsigned atOnce = std::max(1u, 4 * words / (each * bytes)) * each, count = vectors.layout.extent(layout::Register);
  Vectors side = vectors;
  side.width = across, side.along = 0;
  lower::Evaluator::Vector lanes(evaluator, across);
  Coordinates coordinates;
  for (unsigned first = 0; first < count; first += atOnce) {
    unsigned end = std::min(first + atOnce, count);
    SmallVector<llvm::Value *> loaded;
    for (unsigned group = first; group < end; group += each)
      for (unsigned i = 0; i < width; ++i) {
        llvm::Value *elements = e.toMemory(valueAt(write.getValue(), side, group + i, coordinates), element);
        loaded.push_back(element.isF32() ? roundedTF32(elements) : elements);
      }
    for (unsigned group = first; group < end; group += each)
      for (unsigned row = 0; row < across; ++row)
        machine.storeShared(e, addressOf(group + width * row),
                            rowOf(ArrayRef(loaded).slice((group - first) / across, width), row),
                            /*peer=*/false);
  }
}

// Four vectors of four bytes are turned by two permutations a word; longer ones are several of these.
llvm::Value *BlockEmitter::rowOf(ArrayRef<llvm::Value *> columns, unsigned row) {
  unsigned count = llvm::cast<llvm::FixedVectorType>(columns[0]->getType())->getNumElements();
  if (count > 4 && count % 4 == 0 && columns[0]->getType()->getScalarSizeInBits() == 8) {
    int first = int(row / 4 * 4);
    SmallVector<llvm::Value *> parts;
    for (llvm::Value *column : columns)
      parts.push_back(b.CreateShuffleVector(column, {first, first + 1, first + 2, first + 3}));
    return rowOf(parts, row % 4);
  }
  auto type = llvm::cast<llvm::FixedVectorType>(columns[0]->getType());
  llvm::Value *result = llvm::PoisonValue::get(llvm::FixedVectorType::get(type->getElementType(), columns.size()));
  if (type->getNumElements() != 4 || type->getScalarSizeInBits() != 8) {
    for (auto [i, column] : llvm::enumerate(columns))
      result = b.CreateInsertElement(result, b.CreateExtractElement(column, uint64_t(row)), uint64_t(i));
    return result;
  }
  int low = row / 2 * 2, own = row % 2 * 2;
  llvm::Value *words = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt32Ty(), columns.size() / 4));
  for (unsigned i = 0; i < columns.size(); i += 4) {
    llvm::Value *pairs[2];
    for (unsigned j : {0, 1})
      pairs[j] = b.CreateShuffleVector(columns[i + 2 * j], columns[i + 2 * j + 1], {low, low + 4, low + 1, low + 5});
    llvm::Value *word = b.CreateShuffleVector(pairs[0], pairs[1], {own, own + 1, own + 4, own + 5});
    words = b.CreateInsertElement(words, b.CreateBitCast(word, b.getInt32Ty()), uint64_t(i / 4));
  }
  return b.CreateBitCast(words, result->getType());
}

// 16-bit elements go matrix by matrix; others in vectors.
void BlockEmitter::emitWrite(block::WriteOp write) {
  block::SharedType shared = write.getShared().getType();
  Value value = write.getValue();
  if (!shared.getLayout() || !block::layoutOf(value.getType()))
    return fail(write, "needs layouts");
  layout::Layout memory = *layout::invert(shared.getLayout().getLayout()), whole = layoutOf(value);
  auto pieceOf = [&] { return write.getAt() ? *layout::piece(whole, shared.getShape()) : whole; };
  unsigned bytes = tile::elementBytes(shared.getElementType());
  auto move = bytes == 2 ? layout::matrixMove(pieceOf(), memory) : std::nullopt;
  if (unsigned inner = shared.getRank() - 1; !move && layout::contiguous(memory, layout::dim(inner)) > 1)
    whole = neighboursFirst(whole, inner);
  layout::Layout piece = pieceOf();
  SmallVector<unsigned> numbers; // registers of the piece
  for (unsigned number = 0; number < whole.extent(layout::Register); ++number) {
    SmallVector<int64_t, 4> at = coordinatesOf(whole, number, 0, 0);
    bool inside = true;
    for (unsigned d = 0; d < at.size() && write.getAt(); ++d)
      inside &= at[d] >= (*write.getAt())[d] && at[d] < (*write.getAt())[d] + shared.getShape()[d];
    if (inside)
      numbers.push_back(number);
  }
  llvm::Value *address = partsOf(write.getShared())[0];
  if (auto loop = write->getParentOfType<scf::ForOp>(); loop && !loop.getBody()->getOps<block::MmaStartOp>().empty())
    where.reset(); // its places would take registers from the sums of the loop's products
  auto emitAddress = [&](const layout::Layout &places, unsigned number) {
    llvm::Value *element = emitLayout(b, places, placeOf(number))[0];
    return b.CreateAdd(address, b.CreateMul(element, i32(bytes)));
  };
  prepareTile(value);
  if (write.getShared().getDefiningOp<block::PartOp>())
    shareNumbers(value);
  lower::Evaluator::Region region(evaluator);
  Coordinates coordinates;
  auto places = layout::compose(memory, move ? move->addresses : piece);
  if (!places)
    return fail(write, "has no way between its layouts");
  unsigned most = move ? 2 : layout::widestVector(*places, bytes);
  Vectors vectors = vectorsOf(whole, most);
  lower::Evaluator::Vector lanes(evaluator, vectors.width);
  if (move && vectors.width == 2) {
    unsigned each = 2 * move->matrices;
    for (unsigned first = 0; first < numbers.size(); first += each) {
      SmallVector<llvm::Value *> matrices;
      for (unsigned i = 0; i < each; i += 2)
        matrices.push_back(b.CreateBitCast(valueAt(value, vectors, numbers[first + i], coordinates), b.getInt32Ty()));
      machine.storeMatrices(e, emitAddress(*places, first / each), matrices, move->transposed);
    }
    return;
  }
  if (move)
    places = layout::compose(memory, piece);
  if (unsigned across = acrossOf(write, vectors); across > 1)
    return emitTurned(write, vectors, across, [&](unsigned number) { return emitAddress(*places, number); });
  // Loads run together: what they bring is written behind all of them.
  unsigned mostWords = role->op.getRegisters().value_or(128) < 128 ? 16 : 32;
  unsigned atOnce = std::max(1u, 4 * mostWords / (vectors.width * bytes)) * vectors.width;
  bool isFactor = shared.getElementType().isF32() && write.getShared().getDefiningOp<block::PartOp>();
  for (unsigned first = 0; first < numbers.size(); first += atOnce) {
    SmallVector<llvm::Value *> values;
    unsigned end = std::min<size_t>(first + atOnce, numbers.size());
    for (unsigned i = first; i < end; i += vectors.width) {
      llvm::Value *elements = e.toMemory(valueAt(value, vectors, numbers[i], coordinates), shared.getElementType());
      values.push_back(isFactor ? roundedTF32(elements) : elements);
    }
    for (unsigned i = first; i < end; i += vectors.width)
      machine.storeShared(e, emitAddress(*places, i), values[(i - first) / vectors.width], /*peer=*/false);
  }
}

void BlockEmitter::emitRead(block::ReadOp read) {
  block::SharedType shared = read.getShared().getType();
  if (!shared.getLayout() || !block::layoutOf(read.getType()))
    return fail(read, "needs layouts");
  const layout::Layout &registers = layoutOf(read);
  unsigned bytes = tile::elementBytes(shared.getElementType());
  layout::Layout memory = *layout::invert(shared.getLayout().getLayout());
  if (auto rows = bytes == 1 ? layout::turnedBytes(registers, memory) : std::nullopt)
    return emitTurnedRead(read, *rows);
  auto places = layout::compose(memory, registers);
  if (!places)
    return fail(read, "has no way between its layouts");
  Vectors vectors = vectorsOf(registers, layout::widestVector(*places, bytes));
  llvm::Type *type = e.vectorOf(e.memoryType(shared.getElementType()), vectors.width);
  llvm::Value *address = partsOf(read.getShared())[0];
  bool ofPeer = bool(read.getShared().getDefiningOp<block::PeerOp>());
  Parts parts;
  for (unsigned number = 0; number < registers.extent(layout::Register); number += vectors.width) {
    llvm::Value *element = emitLayout(b, *places, placeOf(number))[0];
    llvm::Value *bits = machine.loadShared(e, type, b.CreateAdd(address, b.CreateMul(element, i32(bytes))), ofPeer);
    bits = e.fromMemory(bits, shared.getElementType());
    for (unsigned i = 0; i < vectors.width; ++i)
      parts.push_back(vectors.width > 1 ? b.CreateExtractElement(bits, uint64_t(i)) : bits);
  }
  remember(read, std::move(parts));
}

void BlockEmitter::emitJoin(block::JoinOp join) {
  const layout::Layout &whole = layoutOf(join), &piece = layoutOf(join.getTiles()[0]);
  int64_t each = tile::shapeOf(join.getTiles()[0].getType()).back();
  std::map<SmallVector<int64_t, 4>, unsigned> numbers; // of a piece's registers
  for (unsigned number = 0; number < piece.extent(layout::Register); ++number)
    numbers.try_emplace(coordinatesOf(piece, number, 0, 0), number);
  Parts parts;
  for (unsigned number = 0; number < whole.extent(layout::Register); ++number) {
    SmallVector<int64_t, 4> at = coordinatesOf(whole, number, 0, 0);
    Value tile = join.getTiles()[at.back() / each];
    at.back() %= each;
    parts.push_back(partsOf(tile)[numbers.at(at)]);
  }
  remember(join, std::move(parts));
}

// Matrices of pairs of rows, of two numbers of k, in the order in which the product takes them.
void BlockEmitter::emitTurnedRead(block::ReadOp read, const layout::Layout &rows) {
  auto places = layout::compose(*layout::invert(read.getShared().getType().getLayout().getLayout()), rows);
  if (!places)
    return fail(read, "has no way between its layouts");
  llvm::Value *address = partsOf(read.getShared())[0];
  std::vector<std::pair<int64_t, unsigned>> order; // by k
  for (unsigned number = 0; number < rows.extent(layout::Register); ++number)
    order.push_back({rows.at({{layout::Register, number}})[1], number});
  llvm::sort(order);
  SmallVector<llvm::SmallVector<llvm::Value *, 4>> matrices(order.size());
  for (auto [k, number] : order) {
    llvm::Value *row = b.CreateAdd(address, emitLayout(b, *places, placeOf(number))[0]);
    matrices[number] = machine.loadMatrices(e, row, 4, /*transposed=*/true);
  }
  Parts &words = unturned[read];
  words.clear();
  for (const auto &each : matrices)
    words.append(each.begin(), each.end());
}

// Two words of pairs of rows become four numbers of k of one row, and of the other.
void BlockEmitter::turnWords(MutableArrayRef<llvm::Value *> words) {
  llvm::Value *exchanged = b.CreateICmpNE(b.CreateAnd(here().lane, i32(2)), i32(0));
  llvm::Value *one = b.CreateSelect(exchanged, i32(0x2064), i32(0x6420)),
              *other = b.CreateSelect(exchanged, i32(0x3175), i32(0x7531));
  for (size_t i = 0; i < words.size(); i += 2) {
    llvm::Value *low = words[i], *high = words[i + 1];
    words[i] = machine.permuteBytes(e, low, high, one);
    words[i + 1] = machine.permuteBytes(e, low, high, other);
  }
}

void BlockEmitter::emitStore(tile::StoreOp store) {
  auto tile = dyn_cast<RankedTensorType>(store.getValue().getType());
  if (tile && !block::layoutOf(tile))
    return fail(store, "stores a tile without a layout");
  prepareTile(store.getValue(), store.getPlace());
  lower::Evaluator::Region region(evaluator);
  if (!tile && meets) // behind what all have stored
    meetRole();
  if (!tile)
    return when(speaker(), [&] { evaluator.store(evaluator.addressOf(store, {}), scalar(store.getValue())); });
  unsigned bytes = tile::elementBytes(tile.getElementType());
  Vectors vectors = vectorsOf(neighboursFirst(layoutOf(store.getValue()), tile.getRank() - 1), std::max(1u, 16 / bytes));
  lower::Evaluator::Vector lanes(evaluator, vectors.width);
  Coordinates coordinates;
  for (unsigned number = 0; number < vectors.layout.extent(layout::Register); number += vectors.width) {
    llvm::Value *value = valueAt(store.getValue(), vectors, number, coordinates);
    auto [point, fixed] = pointsOf(vectors, number, coordinates);
    provideAddresses(store.getPlace(), point, fixed);
    evaluator.store(evaluator.addressOf(store, point), value);
  }
}

} // namespace tilery::cuda
