// The operands of a product into panels: by the program, or once a launch by whoever comes first.
#include "compiler/explain/findings.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/prefetch.h"
#include "compiler/lower/runs.h"
#include "compiler/targets/cpu/dot_emitter.h"
#include "compiler/targets/cpu/dot_sharing.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::cpu {
using mlir::Value;

/// What a word of several elements is made of.
static llvm::Type *partType(llvm::IRBuilder<> &b, Multiply multiply) {
  switch (multiply) {
  case Multiply::int16Pairs:
    return b.getInt16Ty();
  case Multiply::int8Quads:
  case Multiply::int8Tiles:
    return b.getInt8Ty();
  default:
    return b.getBFloatTy();
  }
}

llvm::Value *DotEmitter::toCompute(llvm::Value *value, const DotOperand &operand, unsigned n) {
  mlir::Type from = elementOf(operand.tile);
  if (isa<FloatType>(from)) {
    if (isSmallFloat(from))
      value = e.widenFloat(value, from);
    llvm::Type *type = e.vectorOf(compute, e.lanesOf(value));
    value = b.CreateFPCast(value, type);
  } else {
    llvm::Type *type = e.vectorOf(compute, e.lanesOf(value));
    value = operand.isUnsigned || from.isInteger(1) ? b.CreateZExtOrTrunc(value, type) : b.CreateSExtOrTrunc(value, type);
  }
  return e.splat(value, n);
}

Point DotEmitter::pointOf(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k, unsigned n,
                          bool lanesAlongK) {
  Point point;
  unsigned rank = tile::shapeOf(operand.tile.getType()).size();
  if (rank == 3)
    point.push_back({batch, 0, nullptr, 0, 1, 0});
  // Positions along the sliver are fixed while k runs, or the other way round.
  unsigned level = ev.levels.current();
  Index other{position, !lanesAlongK && n > 1, nullptr, rowMoves ? level : 0, 1, int(operand.isA ? rank - 2 : rank - 1)};
  int64_t multiple = lanesAlongK && kIsWhole ? n : 1;
  Index contracted{k, lanesAlongK && n > 1, nullptr, level - kIsOutside, multiple, int(operand.isA ? rank - 1 : rank - 2)};
  if (operand.isA)
    point.append({other, contracted});
  else
    point.append({contracted, other});
  return point;
}

llvm::Value *DotEmitter::fetch(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *k, unsigned n,
                               bool lanesAlongK) {
  if (copied.memory)
    return fetchCopied(operand, position, k, n);
  Evaluator::Vector vector(ev, n);
  return ev.value(operand.tile, pointOf(operand, batch, position, k, n, lanesAlongK));
}

/// Bytes from what is packed to what is packed two steps later in the same row of memory: many rows that are read by turns are more than
/// the prefetcher follows. It does follow rows that are read to their end (0).
int64_t DotEmitter::aheadAlongK(const DotOperand &operand) {
  constexpr int64_t least = 512; // where lines come to the second-level cache, which they do not fill
  int64_t bytes = 2 * plan.k * int64_t(elementBytes(elementOf(operand.tile)));
  return !operand.kMajor || !contract ? 0 : plan.farFetch ? std::max(bytes, least) : bytes;
}

/// The same, and where rows lie along slivers, how far it is to the row that is so many rows ahead: a step of K reads a part of each row,
/// often of a page, which no prefetcher follows.
LaneMemory::Ahead DotEmitter::ahead(const DotOperand &operand) {
  constexpr int64_t rows = 32;
  if (int64_t bytes = aheadAlongK(operand))
    return {i64(bytes), !plan.farFetch};
  if (!contract || operand.kMajor || !plan.farFetch)
    return {};
  tile::LoadOp only = sourceLoad(operand.tile, [&](Value tile) { return !ev.plan.isVirtual(tile); });
  auto access = only ? only.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  unsigned depthDim = tile::shapeOf(operand.tile.getType()).size() - (operand.isA ? 1 : 2);
  bool alone = access && access.isStrided(depthDim);
  forVirtual(operand, [&](Operation *def) { alone &= !isa<tile::LoadOp>(def) || def == only; });
  if (!alone)
    return {};
  int64_t bytes = rows * int64_t(elementBytes(elementOf(only.getResult())));
  return {b.CreateMul(ev.wide(access.getSteps()[depthDim]), i64(bytes)), false};
}

/// Rows of elements from `first` on, `bytes` apart; `ahead`: bytes to what is asked for while they are read, or 0.
std::optional<PackRows> DotEmitter::rowsOf(const DotOperand &operand, mlir::Type element, llvm::Value *first, llvm::Value *bytes,
                                           int64_t ahead) {
  std::string name;
  llvm::raw_string_ostream(name) << element << (operand.isUnsigned ? ".u" : "") << (flips(operand) ? ".flipped" : "");
  if (ahead)
    name += "." + std::to_string(ahead);
  auto read = [this, &operand, element, ahead](llvm::Value *row, unsigned n) {
    if (ahead)
      emitPrefetch(b, b.CreateConstGEP1_64(b.getInt8Ty(), row, ahead), false, !plan.farFetch);
    if (plan.pack != 1) {
      llvm::Value *words = b.CreateAlignedLoad(e.vectorOf(b.getInt32Ty(), n), row, llvm::Align(elementBytes(element)));
      return b.CreateBitCast(turnWords(words, operand), e.vectorOf(compute, n));
    }
    llvm::Type *type = e.vectorOf(e.memoryType(element), n);
    return toCompute(e.fromMemory(b.CreateAlignedLoad(type, row, llvm::Align(elementBytes(element))), element), operand, n);
  };
  return PackRows{first, bytes, name, read};
}

std::optional<PackRows> DotEmitter::rowsInMemory(const DotOperand &operand, llvm::Value *batch, llvm::Value *position,
                                                 llvm::Value *k, unsigned n) {
  // Words are what lies in memory, where nothing is converted.
  mlir::Type part = elementOf(operand.tile);
  Multiply multiply = plan.blocking.multiply;
  bool asTheyLie = (part.isBF16() && (multiply == Multiply::bf16Tiles || multiply == Multiply::bf16Pairs)) ||
                   (part.isInteger(8) && (multiply == Multiply::int8Tiles || multiply == Multiply::int8Quads)) ||
                   (part.isInteger(16) && multiply == Multiply::int16Pairs);
  if (plan.pack != 1 && !asTheyLie)
    return std::nullopt;
  k = b.CreateMul(k, i64(plan.pack));
  n *= plan.pack;
  if (copied.memory) {
    mlir::Type element = elementOf(operand.tile);
    return rowsOf(operand, element, copiedAt(operand, position, k), i64(plan.k * int64_t(elementBytes(element))), 0);
  }
  Evaluator::Vector vector(ev, n);
  Point point = pointOf(operand, batch, position, k, n, true);
  Value tile = operand.tile;
  for (; ev.plan.isVirtual(tile) && isa_and_present<tile::PermuteOp>(tile.getDefiningOp());
       tile = tile.getDefiningOp()->getOperand(0))
    point = ev.indices.operandPoint(tile.getDefiningOp(), point);
  auto *dim = llvm::find_if(point, [&](const Index &index) { return index.base == position && !index.step; });
  if (dim == point.end())
    return std::nullopt;
  unsigned d = dim - point.begin();
  ArrayRef<int64_t> shape = tile::shapeOf(tile.getType());
  Address where;
  llvm::Value *elements;
  auto load = tile.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  if (auto stored = ev.plan.storage.find(tile); stored != ev.plan.storage.end()) {
    where = ev.addresses.ofStored(stored->second, shape, point);
    elements = i64(mlir::ShapedType::getNumElements(shape.drop_front(d + 1)));
  } else if (access && access.isStrided(d)) {
    where = ev.addresses.ofAccess(load, point);
    elements = ev.wide(access.getSteps()[d]);
  } else {
    return std::nullopt;
  }
  if (where.exists || where.offsets || where.step != 1 || where.isVolatile)
    return std::nullopt;
  return rowsOf(operand, where.element, where.pointer, b.CreateMul(elements, i64(elementBytes(where.element))),
                where.global ? aheadAlongK(operand) : 0);
}

/// n elements as the type of which a word holds several.
llvm::Value *DotEmitter::toPart(llvm::Value *value, const DotOperand &operand, unsigned n) {
  mlir::Type from = elementOf(operand.tile);
  llvm::Type *part = partType(b, plan.blocking.multiply);
  if (isa<FloatType>(from) && !from.isBF16()) { // of 8 bits
    value = e.widenFloat(value, from);
    value = b.CreateFPTrunc(value, e.vectorOf(part, e.lanesOf(value)));
  } else if (from.isInteger(8) && part->isIntegerTy(16)) {
    llvm::Type *type = e.vectorOf(part, e.lanesOf(value));
    value = operand.isUnsigned ? b.CreateZExt(value, type) : b.CreateSExt(value, type);
  }
  return e.splat(value, n);
}

/// Words of neighbours in memory as they are packed: vdpbf16ps adds the product of the high halves first, which hold the earlier of two
/// values, so that products are added in increasing K.
llvm::Value *DotEmitter::turnWords(llvm::Value *words, const DotOperand &operand) {
  llvm::Type *type = words->getType();
  if (flips(operand))
    return b.CreateXor(words, llvm::ConstantInt::get(type, 0x80808080));
  if (plan.blocking.multiply != Multiply::bf16Pairs)
    return words;
  return b.CreateIntrinsic(llvm::Intrinsic::fshl, {type}, {words, words, llvm::ConstantInt::get(type, 16)});
}

llvm::Value *DotEmitter::packedWords(llvm::Value *values, const DotOperand &operand, unsigned n) {
  if (plan.pack == 1)
    return toCompute(values, operand, n);
  llvm::Value *parts = toPart(values, operand, plan.pack * n);
  return b.CreateBitCast(turnWords(b.CreateBitCast(parts, e.vectorOf(b.getInt32Ty(), n)), operand), e.vectorOf(compute, n));
}

llvm::Value *DotEmitter::fetchWords(const DotOperand &operand, llvm::Value *batch, llvm::Value *position, llvm::Value *word,
                                    unsigned n, bool lanesAlongK, unsigned count) {
  unsigned pack = plan.pack, bits = 32 / pack;
  bool turned = plan.blocking.multiply == Multiply::bf16Pairs;
  llvm::Type *words = e.vectorOf(b.getInt32Ty(), n);
  llvm::Value *k = b.CreateMul(word, i64(pack)), *value = nullptr;
  if (lanesAlongK && count == pack)
    return packedWords(fetch(operand, batch, position, k, pack * n, true), operand, n);
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value *one = toPart(fetch(operand, batch, position, b.CreateAdd(k, i64(i)), n, lanesAlongK), operand, n);
    one = b.CreateZExt(b.CreateBitCast(one, e.vectorOf(b.getIntNTy(bits), n)), words);
    one = b.CreateShl(one, (turned ? pack - 1 - i : i) * bits);
    value = value ? b.CreateOr(value, one) : one;
  }
  if (flips(operand))
    value = turnWords(value, operand);
  return b.CreateBitCast(value, e.vectorOf(compute, n));
}

/// True (at run time) if the index tiles below `indices` that lie in scratch count up by one over the sliver; the evaluator is told so.
llvm::Value *DotEmitter::consecutive(Value indices, const Sliver &sliver) {
  Operation *def = indices.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(indices.getType());
  if (!def || !type)
    return nullptr;
  if (ev.plan.isVirtual(indices)) {
    llvm::Value *all = nullptr;
    if (isElementwise(def))
      for (Value operand : def->getOperands())
        all = e.band(all, consecutive(operand, sliver));
    return all;
  }
  if (type.getRank() != 1 || sliver.width == 1)
    return nullptr;
  Evaluator::Vector vector(ev, sliver.width);
  llvm::Value *values = ev.value(indices, Index{sliver.first, 1, nullptr, 0});
  llvm::Value *first = b.CreateExtractElement(values, uint64_t(0));
  llvm::Value *expected = b.CreateAdd(e.splat(first, sliver.width), e.iota(first->getType(), sliver.width));
  ev.assumeConsecutive(indices, b.CreateSub(b.CreateSExtOrTrunc(first, b.getInt64Ty()), sliver.first));
  return b.CreateAndReduce(b.CreateICmpEQ(values, expected));
}

/// Whether integers are computed of more than one tile that lies in scratch.
bool DotEmitter::hasSeveralStored(Value indices) {
  llvm::DenseSet<Value> seen, stored;
  SmallVector<Value> work{indices};
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    Operation *def = tile.getDefiningOp();
    if (!def || !isa<RankedTensorType>(tile.getType()) || !seen.insert(tile).second)
      continue;
    if (!ev.plan.isVirtual(tile))
      stored.insert(tile);
    else if (isElementwise(def))
      llvm::append_range(work, def->getOperands());
  }
  return stored.size() > 1;
}

/// True (at run time) if `count` elements from `first` on, with these steps, lie in few runs, vector by vector; the evaluator is told so.
llvm::Value *DotEmitter::inRuns(tile::LoadOp load, Value steps, llvm::Value *first, unsigned count, unsigned lanes) {
  constexpr unsigned mostVectors = 8;
  if (count > mostVectors * lanes || !mayRun(ev.e, steps, elementOf(load.getResult()), std::min(count, lanes)))
    return nullptr;
  llvm::Value *all = nullptr;
  forChunks(count, lanes, [&](unsigned offset, unsigned n) {
    Evaluator::Vector vector(ev, n);
    if (n > 1)
      all = e.band(all, areInRuns(ev, steps, Index{b.CreateAdd(first, i64(offset)), 1, nullptr, 0}));
  });
  if (all)
    ev.assumeRuns(steps);
  return all;
}

/// What the operand's own elements are made of, as far as it is computed where it is used.
void DotEmitter::forVirtual(const DotOperand &operand, llvm::function_ref<void(Operation *)> each) {
  SmallVector<Value> work{operand.tile};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value tile = work.pop_back_val();
    Operation *def = tile.getDefiningOp();
    if (!def || !isa<RankedTensorType>(tile.getType()) || !ev.plan.isVirtual(tile) || !seen.insert(tile).second)
      continue;
    if (isElementwise(def))
      llvm::append_range(work, def->getOperands());
    each(def);
  }
}

/// Whether nothing has to be asked about single slivers: their elements lie at steps that are numbers.
bool DotEmitter::sameAlong(const DotOperand &operand) {
  unsigned rank = tile::shapeOf(operand.tile.getType()).size(), sliverDim = rank - (operand.isA ? 2 : 1);
  bool same = true;
  forVirtual(operand, [&](Operation *def) {
    auto load = dyn_cast<tile::LoadOp>(def);
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    same &= !access || access.isStrided(sliverDim);
  });
  return same;
}

/// True (at run time) if every interval of a load's place covers the whole tile; `known` lists them. Null: there are none.
llvm::Value *DotEmitter::covered(tile::LoadOp load, SmallVectorImpl<KnownBound> &known) {
  llvm::Value *all = nullptr;
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  for (auto [d, size] : llvm::enumerate(tile::shapeOf(load.getType()))) {
    OperandRange bound = access.getBound(d);
    if (bound.size() != 2)
      continue;
    known.push_back({bound[0], bound[1], int(d)});
    all = e.band(all, b.CreateAnd(b.CreateICmpSLE(ev.wide(bound[0]), i64(0)), b.CreateICmpSGE(ev.wide(bound[1]), i64(size))));
  }
  return all;
}

/// True (at run time) if every interval of the operand's own accesses covers the whole tile and the sliver's elements lie side by side;
/// `known` lists the intervals. Null: nothing to ask.
llvm::Value *DotEmitter::inside(const DotOperand &operand, const Sliver &sliver, SmallVectorImpl<KnownBound> &known) {
  llvm::Value *all = nullptr;
  unsigned rank = tile::shapeOf(operand.tile.getType()).size(), sliverDim = rank - (operand.isA ? 2 : 1),
           depthDim = rank - (operand.isA ? 1 : 2);
  forVirtual(operand, [&](Operation *def) {
    auto load = dyn_cast<tile::LoadOp>(def);
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access)
      return;
    if (!operand.kMajor && !access.isStrided(sliverDim)) {
      Value steps = access.getSteps()[sliverDim];
      // Of several index tiles (image, row and column of a window) hardly all count up.
      auto runs = [&] { return inRuns(load, steps, sliver.first, sliver.width, plan.blocking.lanes); };
      llvm::Value *follow = hasSeveralStored(steps) ? runs() : nullptr;
      if (!follow)
        follow = consecutive(steps, sliver);
      all = e.band(all, follow ? follow : runs());
    }
    if (operand.kMajor && !access.isStrided(depthDim))
      all = e.band(all, inRuns(load, access.getSteps()[depthDim], i64(0), plan.k, plan.blocking.lanes * plan.pack));
    all = e.band(all, covered(load, known));
  });
  return all;
}

void DotEmitter::knowingNothing(llvm::function_ref<void()> code) {
  Evaluator::Body nothingKnown(ev);
  code();
}

/// Code of a step's sliver, for elements that all exist side by side and for any.
void DotEmitter::whereInside(const DotOperand &operand, const Sliver &sliver, llvm::function_ref<void()> code) {
  Evaluator::Body body(ev);
  SmallVector<KnownBound> bounds;
  llvm::Value *whole = inside(operand, sliver, bounds);
  if (!whole)
    return knowingNothing(code);
  Evaluator::Assumption hold(ev, bounds);
  emitIf(b, whole, code, [&] {
    explain::Aside rare;
    knowingNothing(code);
  });
}

void DotEmitter::packStep(const DotOperand &operand, const Sliver &sliver, llvm::Value *batch) {
  auto part = [&](const Sliver &sliver, int64_t first, int64_t count, unsigned inWord) {
    PackSource source;
    auto at = [&](llvm::Value *position, llvm::Value *k, unsigned n, bool alongK) {
      if (first)
        k = b.CreateAdd(k, i64(first));
      llvm::SaveAndRestore begins(kIsWhole, alongK && !first && (plan.pack == 1 || inWord == plan.pack));
      return plan.pack > 1 ? fetchWords(operand, batch, position, k, n, alongK, inWord)
                           : toCompute(fetch(operand, batch, position, k, n, alongK), operand, n);
    };
    // Where the lanes begin is computed from k in the innermost loop where the pieces do not begin at k itself.
    auto moving = [&](llvm::Value *position, llvm::Value *k, unsigned n, bool moves, bool alongK) {
      llvm::SaveAndRestore row(rowMoves, moves), outside(kIsOutside, moves && !first && plan.pack == 1);
      return at(position, k, n, alongK);
    };
    source.alongSliver = [&](llvm::Value *position, llvm::Value *k, unsigned n, bool moves) {
      return moving(position, k, n, moves, false);
    };
    source.alongK = [&](llvm::Value *position, llvm::Value *k, unsigned n, bool moves) {
      return moving(position, k, n, moves, true);
    };
    source.square = [&] {
      if (!square) {
        llvm::IRBuilder<>::InsertPointGuard guard(b);
        llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
        b.SetInsertPoint(&entry, entry.begin());
        unsigned lanes = plan.blocking.lanes;
        square = b.CreateAlloca(llvm::ArrayType::get(llvm::FixedVectorType::get(compute, lanes), lanes));
      }
      return square;
    };
    source.rows = [&](llvm::Value *position, llvm::Value *k, unsigned n) {
      return rowsInMemory(operand, batch, position, first ? b.CreateAdd(k, i64(first)) : k, n);
    };
    source.enterLoop = [&](llvm::Instruction *end) { ev.levels.enter(end); };
    source.leaveLoop = [&] { ev.levels.leave(); };
    Evaluator::Region region(ev);
    llvm::SaveAndRestore fetchAhead(ev.memory.fetchAhead, ahead(operand));
    if (count)
      packSliver(b, compute, plan.blocking.lanes, sliver, count, operand.kMajor, source);
  };
  auto pack = [&] {
    part(sliver, 0, plan.k / plan.pack, plan.pack);
    if (int64_t whole = plan.k / plan.pack; whole != plan.packedK()) {
      Sliver last = sliver;
      int64_t deep = sliver.rowDepth; // rows of a tile stand behind each other, else words
      last.dst = element(sliver.dst, i64(deep ? whole / deep * deep * sliver.width + whole % deep : whole * sliver.padded));
      part(last, whole, 1, plan.k % plan.pack);
    }
  };
  auto usual = [&] { whereInside(operand, sliver, pack); };
  if (!operand.strands)
    return usual();
  Evaluator::Body body(ev);
  SmallVector<KnownBound> bounds;
  llvm::Value *whole = inStrands(operand, bounds);
  auto copy = [&] {
    Evaluator::Assumption hold(ev, bounds);
    llvm::SaveAndRestore rows(copied, copyRows(operand, sliver, batch));
    if (copied.memory)
      pack();
  };
  if (!whole)
    return copy();
  emitIf(b, whole, copy, [&] {
    explain::Aside rare;
    operand.strands->undivided.empty() ? knowingNothing(pack) : usual();
  });
}

void DotEmitter::enterStep(llvm::Value *step) {
  if (!contract)
    return;
  ev.scalars[contract.getBody().front().getArgument(0)] = step;
  Evaluator::Region region(ev);
  around.emitBlock(contract.getBody().front());
}

// A piece of an operand that is contiguous along K is a sliver: few streams, each read to its end. Else it is some steps of K: every row
// is read across all slivers before the next page.
llvm::Value *DotEmitter::piecesOf(const DotOperand &operand, llvm::Value *from, llvm::Value *to) {
  if (operand.kMajor)
    return live[operand.isA] ? live[operand.isA] : i64(cut(operand).slivers);
  return b.CreateUDiv(b.CreateAdd(b.CreateSub(to, from), i64(stepsPerPiece() - 1)), i64(stepsPerPiece()));
}

void DotEmitter::packPiece(const DotOperand &operand, llvm::Value *memory, llvm::Value *piece, llvm::Value *batch,
                           llvm::Value *from, llvm::Value *to) {
  llvm::Value *depth = b.CreateMul(b.CreateSub(to, from), i64(plan.packedK()));
  unsigned unit = cut(operand).unit;
  auto packAt = [&](llvm::Value *step, llvm::Value *first, unsigned width, llvm::Value *count = nullptr) {
    unsigned padded = (width + unit - 1) / unit * unit;
    llvm::Value *offset = b.CreateMul(b.CreateSub(step, from), i64(plan.packedK() * padded));
    Sliver sliver{element(memory, b.CreateAdd(b.CreateMul(first, depth), offset)), first, width, padded};
    sliver.rowDepth = operand.isA ? plan.blocking.rowDepth : 0;
    if (count)
      sliver.count = count, sliver.pitch = b.CreateMul(depth, i64(padded));
    packStep(operand, sliver, batch);
  };
  if (!operand.kMajor) {
    bool rowByRow =
        cut(operand).slivers > 1 && cut(operand).onlyWidth() && sameAlong(operand) && !(operand.isA && plan.blocking.rowDepth);
    llvm::Value *begin = b.CreateAdd(from, b.CreateMul(piece, i64(stepsPerPiece())));
    llvm::Value *end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateAdd(begin, i64(stepsPerPiece())), to);
    emitLoop(b, begin, end, 1, [&](llvm::Value *step) {
      enterStep(step);
      if (rowByRow)
        return packAt(step, i64(0), cut(operand).width, live[operand.isA] ? live[operand.isA] : i64(cut(operand).slivers));
      forSlivers(operand.isA, [&](llvm::Value *, llvm::Value *first, unsigned width) { packAt(step, first, width); });
    });
    return;
  }
  llvm::Value *first = startOf(cut(operand), piece);
  forWidth(cut(operand), piece, [&](unsigned width) {
    emitLoop(b, from, to, 1, [&](llvm::Value *step) {
      enterStep(step);
      packAt(step, first, width);
    });
  });
}

/// Elements that are packed in the time in which a panel is found, its memory fetched and given back: 1 us at 0.25 ns an element.
constexpr int64_t packedInSearch = 4096;

/// How many programs want the same panel of an operand (at run time).
llvm::Value *DotEmitter::programsPerPanel(const DotOperand &operand) {
  llvm::Value *count = i64(1);
  for (unsigned axis : operand.sharers) {
    llvm::Value *programs = b.CreateZExt(around.grid[axis], b.getInt64Ty()), *panels = i64(1);
    for (Value number : operand.key)
      if (auto divisions = divisionsOf(number, axis)) {
        llvm::Value *each = programs;
        for (auto [divisor, isQuotient] : llvm::reverse(*divisions)) {
          llvm::Value *by = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, ev.wide(divisor), i64(1));
          each = isQuotient ? b.CreateUDiv(b.CreateAdd(each, b.CreateSub(by, i64(1))), by)
                            : b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, each, by);
        }
        panels = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, panels, each);
      }
    count = b.CreateMul(count, b.CreateUDiv(b.CreateAdd(programs, b.CreateSub(panels, i64(1))), panels));
  }
  return count;
}

/// True (at run time) if the program packs for itself: nobody else wants it, or to find what another packed takes longer. Null: never.
llvm::Value *DotEmitter::packsAlone(const DotOperand &operand, llvm::Value *steps) {
  if (!operand.shared || !operand.mayBeOwn())
    return nullptr;
  llvm::Value *sharers = programsPerPanel(operand), *others = b.CreateSub(sharers, i64(1));
  if (!operand.isPlain)
    return b.CreateICmpEQ(others, i64(0));
  llvm::Value *elements = b.CreateMul(steps, i64(plan.packedK() * cut(operand).size));
  return b.CreateICmpSLE(b.CreateMul(elements, others), b.CreateMul(sharers, i64(packedInSearch)));
}

/// The launch's panel, complete or not: a TileryPanel.
llvm::Value *DotEmitter::findPanel(const DotOperand &operand, llvm::Value *batch, llvm::Value *from, llvm::Value *to,
                                   llvm::Value *pieces) {
  auto *ptr = b.getPtrTy();
  auto *i64Type = b.getInt64Ty();
  // The key: which operand of the kernel, which part of K, where in the batch, and the scalars its elements depend on.
  SmallVector<llvm::Value *> words{i64(number() * 2 + operand.isA), from, to, batch};
  if (live[operand.isA])
    words.push_back(live[operand.isA]); // a panel holds no more than the live slivers
  for (Value scalar : operand.key) {
    llvm::Value *value = ev.scalar(scalar);
    if (value->getType()->isPointerTy())
      value = b.CreatePtrToInt(value, i64Type);
    else if (value->getType()->isFloatingPointTy())
      value = b.CreateBitCast(value, b.getIntNTy(value->getType()->getPrimitiveSizeInBits()));
    words.push_back(b.CreateZExtOrTrunc(value, i64Type));
  }
  llvm::Value *key;
  {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    key = b.CreateAlloca(llvm::ArrayType::get(i64Type, words.size()));
  }
  for (auto [i, word] : llvm::enumerate(words))
    b.CreateStore(word, b.CreateConstInBoundsGEP1_64(i64Type, key, i));
  llvm::Value *depth = b.CreateMul(b.CreateSub(to, from), i64(plan.packedK()));
  llvm::Value *size = b.CreateMul(depth, i64(int64_t(cut(operand).start(cut(operand).slivers)) * bytes));
  auto function =
      e.module.getOrInsertFunction("tilery_rt_panel", llvm::FunctionType::get(ptr, {ptr, ptr, i64Type, i64Type, i64Type}, false));
  return b.CreateCall(function, {around.launch, key, i64(words.size()), size, pieces});
}

llvm::Value *DotEmitter::panel(const DotOperand &operand, llvm::Value *batch, llvm::Value *from, llvm::Value *to,
                               llvm::Value *&handle) {
  llvm::Value *pieces = piecesOf(operand, from, to);
  auto *ptr = b.getPtrTy();
  auto *i64Type = b.getInt64Ty();
  handle = nullptr;
  if (!operand.shared) {
    llvm::Value *memory = ev.addresses.scratchPointer(operand.panel.buffer);
    emitLoop(b, i64(0), pieces, 1, [&](llvm::Value *piece) { packPiece(operand, memory, piece, batch, from, to); });
    return memory;
  }
  llvm::FunctionCallee next =
      e.module.getOrInsertFunction("tilery_rt_panel_piece", llvm::FunctionType::get(i64Type, {ptr, i64Type}, false));
  auto either = [&](llvm::function_ref<lower::Values()> own, llvm::function_ref<lower::Values()> shared) {
    return alone[operand.isA] ? lower::emitEither(b, alone[operand.isA], own, shared) : shared();
  };
  lower::Values begin = either(
      [&] {
        llvm::Value *own = ev.addresses.scratchPointer(operand.panel.buffer);
        return lower::Values{llvm::ConstantPointerNull::get(ptr), own, i64(0)};
      },
      [&] {
        llvm::Value *found = findPanel(operand, batch, from, to, pieces);
        return lower::Values{found, b.CreateLoad(ptr, found), b.CreateCall(next, {found, i64(-1)})};
      });
  handle = begin[0];
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *pack = llvm::BasicBlock::Create(b.getContext(), "pack", function),
       *packed = llvm::BasicBlock::Create(b.getContext(), "packed", function);
  Loop loop(b, pack, packed);
  loop.enter(b.CreateICmpSGE(begin[2], i64(0)));
  llvm::PHINode *piece = loop.carry(begin[2]);
  packPiece(operand, begin[1], piece, batch, from, to);
  lower::Values following = either(
      [&] {
        llvm::Value *one = b.CreateAdd(piece, i64(1));
        return lower::Values{b.CreateSelect(b.CreateICmpSLT(one, pieces), one, i64(-1))};
      },
      [&] { return lower::Values{b.CreateCall(next, {handle, piece})}; });
  loop.repeat(following, b.CreateICmpSGE(following[0], i64(0)));
  loop.leave();
  return begin[1];
}

/// Which dot of its kernel this is.
int64_t DotEmitter::number() {
  int64_t count = 0, own = 0;
  op->getParentOfType<tile::KernelOp>().walk([&](Operation *each) {
    if (each == op)
      own = count;
    count += isa<tile::DotOp, tile::ContractOp>(each);
  });
  return own;
}

} // namespace tilery::cpu
