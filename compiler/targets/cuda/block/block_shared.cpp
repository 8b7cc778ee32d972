// Tiles between registers and shared memory.
#include "compiler/block/recognise/find_fetch.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include "compiler/layout/registers.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"

using namespace mlir;

namespace tilery::cuda {

static const layout::Layout &layoutOf(Value tile) { return block::layoutOf(tile.getType()).getLayout(); }

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

void BlockEmitter::emitAlloc(block::AllocOp alloc) {
  llvm::Value *at = b.CreateAdd(base, i32(plan.allocations.lookup(alloc)));
  if (alloc->getParentOfType<block::RoleOp>())
    at = b.CreateAdd(at, b.CreateMul(instance, i32(llvm::alignTo(alloc.getType().getBytes(), SharedPlan::alignment))));
  remember(alloc, {at});
}

void BlockEmitter::emitTurned(block::WriteOp write, const Vectors &vectors, unsigned across,
                              llvm::function_ref<llvm::Value *(unsigned number)> addressOf) {
  unsigned threads = 32 * roles.back().end();
  unsigned words = block::registersOfAll / threads > 128 ? 64 : 32; // that are loaded before the first is written
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
  auto move = bytes == 2 && !byWarps ? layout::matrixMove(pieceOf(), memory) : std::nullopt;
  if (unsigned inner = shared.getRank() - 1; !move && layout::contiguous(memory, layout::dim(inner)) > 1)
    whole = layout::neighboursFirst(whole, inner);
  layout::Layout piece = pieceOf();
  SmallVector<unsigned> numbers; // registers of the piece
  for (unsigned number = 0; number < whole.extent(layout::Register); ++number) {
    SmallVector<int64_t, 4> at = layout::coordinatesOf(whole, number);
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

} // namespace tilery::cuda
