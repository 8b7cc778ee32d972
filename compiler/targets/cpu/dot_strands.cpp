// Rows of a sliver whose elements lie in strands: copied into the order of K, from where they are packed as what lies along K.
#include "compiler/lower/branch.h"
#include "compiler/targets/cpu/dot_emitter.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::cpu {

llvm::Value *DotEmitter::copiedAt(const DotOperand &operand, llvm::Value *position, llvm::Value *k) {
  llvm::Value *row = b.CreateMul(b.CreateSub(position, copied.first), i64(plan.k));
  return b.CreateInBoundsGEP(e.memoryType(elementOf(operand.tile)), copied.memory, b.CreateAdd(row, k));
}

Lanes DotEmitter::fetchCopied(const DotOperand &operand, llvm::Value *position, llvm::Value *k, unsigned n) {
  mlir::Type element = elementOf(operand.tile);
  llvm::Type *type = n == 1 ? e.memoryType(element) : e.vectorOf(e.memoryType(element), n);
  llvm::Value *bits = b.CreateAlignedLoad(type, copiedAt(operand, position, k), llvm::Align(elementBytes(element)));
  return e.fromMemory(bits, element);
}

namespace {
/// The strands of one group of a row, and where they go.
struct StrandCopier {
  Emitter &e;
  Type element;
  int64_t group, period;
  llvm::Value *other; // of what does not exist
  llvm::IRBuilder<> &b = e.b;
  llvm::Type *type = e.memoryType(element);
  llvm::Align align{uint64_t(elementBytes(element))};

  int64_t lengthOf(int64_t strand) const { return (group - strand + period - 1) / period; }
  int64_t longest() const { return lengthOf(0); }
  unsigned lanes() const { return vectorBytes / elementBytes(element); }

  /// Whether rows are put together of whole vectors, in a few shuffles: where strands are short and loads take masks.
  bool shuffles(unsigned maskedBits) const {
    return period > 1 && period <= mostVectors && longest() > 2 && longest() <= lanes() && group % lanes() == 0 && maskedBits &&
           elementBytes(element) * 8 >= maskedBits;
  }

  /// Element by element, or where they are neighbours in vectors. `from` null: nothing exists.
  void copyStrand(const Address *from, llvm::Value *row, int64_t strand) {
    forChunks(lengthOf(strand), period == 1 ? lanes() : 1, [&](unsigned offset, unsigned n) {
      llvm::Value *value = e.splat(other, n);
      if (from) {
        llvm::Value *at = b.CreateConstInBoundsGEP1_64(type, from->pointer, offset);
        auto *load = b.CreateAlignedLoad(n == 1 ? type : e.vectorOf(type, n), at, align);
        from->annotate(load);
        value = load;
      }
      b.CreateAlignedStore(value, b.CreateConstInBoundsGEP1_64(type, row, strand + offset * period), align);
    });
  }
  void copy(const Address &from, llvm::Value *row, int64_t strand) {
    auto all = [&] { copyStrand(&from, row, strand); };
    from.exists ? emitIf(b, from.exists, all, [&] { copyStrand(nullptr, row, strand); }) : all();
  }

  /// A strand in a vector of `n` lanes; what is behind its end is not read.
  llvm::Value *strandVector(const Address &from, int64_t strand, unsigned n) {
    llvm::SmallVector<llvm::Constant *> within;
    for (unsigned lane = 0; lane < n; ++lane)
      within.push_back(b.getInt1(lane < lengthOf(strand)));
    llvm::Value *mask = llvm::ConstantVector::get(within);
    if (from.exists)
      mask = b.CreateSelect(from.exists, mask, llvm::Constant::getNullValue(mask->getType()));
    auto *load = b.CreateMaskedLoad(e.vectorOf(type, n), from.pointer, align, mask, e.splat(other, n));
    from.annotate(load);
    return load;
  }

  /// `put` gets the vectors in the order of K, each with its first element's number in the group.
  void shuffle(ArrayRef<Address> from, llvm::function_ref<void(llvm::Value *vector, int64_t first)> put) {
    unsigned n = llvm::PowerOf2Ceil(longest()), inVector = lanes() / n;
    SmallVector<llvm::Value *> vectors; // of inVector strands
    for (unsigned first = 0; first < from.size(); first += inVector) {
      SmallVector<llvm::Value *> parts;
      for (unsigned i = first; i < first + inVector; ++i)
        parts.push_back(i < from.size() ? strandVector(from[i], i, n) : llvm::PoisonValue::get(e.vectorOf(type, n)));
      vectors.push_back(llvm::concatenateVectors(b, parts));
    }
    for (int64_t first = 0; first < group; first += lanes()) {
      llvm::Value *gathered = vectors[0];
      for (auto [number, vector] : llvm::enumerate(vectors)) {
        SmallVector<int> places;
        for (unsigned lane = 0; lane < lanes(); ++lane) {
          int64_t strand = (first + lane) % period, at = (first + lane) / period;
          int place = int(strand % inVector * n + at);
          bool here = strand / inVector == int64_t(number), before = strand / inVector < int64_t(number);
          places.push_back(here ? (number ? int(lanes()) : 0) + place : before ? int(lane) : -1);
        }
        gathered = number ? b.CreateShuffleVector(gathered, vector, places) : b.CreateShuffleVector(gathered, places);
      }
      put(gathered, first);
    }
  }

  static constexpr unsigned vectorBytes = 64, mostVectors = 16;
};
} // namespace

/// True (at run time) if all of the tile exists as far as intervals say, and its strands are such; null: nothing to ask.
llvm::Value *DotEmitter::inStrands(const DotOperand &operand, SmallVectorImpl<KnownBound> &known) {
  llvm::Value *all = covered(operand.tile.getDefiningOp<tile::LoadOp>(), known);
  for (const analysis::Undivided &each : operand.strands->undivided) {
    auto lane = [&](Value tile) -> llvm::Value * {
      unsigned rank = isa<RankedTensorType>(tile.getType()) ? tile::shapeOf(tile.getType()).size() : 0;
      return b.CreateSExtOrTrunc(rank ? ev.value(tile, Point(rank, ev.indices.constant(0))) : ev.scalar(tile), b.getInt64Ty());
    };
    llvm::Value *first = lane(each.numbers), *divisor = lane(each.divisor);
    llvm::Value *positive = b.CreateAnd(b.CreateICmpSGE(first, i64(0)), b.CreateICmpSGT(divisor, i64(0)));
    llvm::Value *rest = b.CreateURem(first, b.CreateSelect(positive, divisor, i64(1)));
    all = e.band(all, b.CreateAnd(positive, b.CreateICmpSLT(b.CreateAdd(rest, i64(plan.k - 1)), divisor)));
  }
  if (operand.everyLane)
    forChunks(plan.k, plan.blocking.lanes, [&](unsigned offset, unsigned n) {
      Evaluator::Vector vector(ev, n);
      llvm::Value *exist = ev.value(operand.everyLane, Index{i64(offset), n > 1, nullptr, 0});
      all = e.band(all, e.lanesOf(exist) > 1 ? b.CreateAndReduce(exist) : exist);
    });
  return all;
}

CopiedRows DotEmitter::copyRows(const DotOperand &operand, const Sliver &sliver, llvm::Value *batch) {
  auto load = operand.tile.getDefiningOp<tile::LoadOp>();
  Type element = elementOf(operand.tile);
  llvm::Type *type = e.memoryType(element);
  const int64_t group = operand.strands->group, period = operand.strands->period;
  llvm::AllocaInst *&memory = copies[operand.isA];
  StrandCopier copier{e, element, group, period, nullptr};
  bool shuffles = copier.shuffles(plan.blocking.lanes * bytes == 64 ? ev.e.options.target.machine.maskedBits : 0);
  bool atOnce = shuffles && sliver.rowDepth;
  if (!memory && !atOnce) {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = b.GetInsertBlock()->getParent()->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    memory = b.CreateAlloca(llvm::ArrayType::get(type, cut(operand).width * plan.k));
    memory->setAlignment(llvm::Align(64));
  }
  Evaluator::Region region(ev);
  Evaluator::Vector single(ev, 1);
  auto loop = [&](int64_t to, LoopBody body) {
    emitLoop(b, i64(0), i64(to), 1, body, [&](llvm::Instruction *end) { ev.levels.enter(end); });
    ev.levels.leave();
  };
  loop(plan.k / group, [&](llvm::Value *number) {
    llvm::Value *start = b.CreateMul(number, i64(group));
    SmallVector<llvm::Value *> begins; // of strands: before the loop, where all that depends on them alone is computed
    for (int64_t strand = 0; strand < period; ++strand)
      begins.push_back(b.CreateAdd(start, i64(strand)));
    loop(sliver.width, [&](llvm::Value *i) {
      llvm::Value *position = b.CreateAdd(sliver.first, i);
      auto at = [&](llvm::Value *k) {
        llvm::SaveAndRestore moves(rowMoves, true), outside(kIsOutside, true);
        return pointOf(operand, batch, position, k, 1, true);
      };
      copier.other =
          load.getOther() ? e.toMemory(ev.value(load.getOther(), at(start)), element) : llvm::Constant::getNullValue(type);
      SmallVector<Address> where;
      for (llvm::Value *begin : begins)
        where.push_back(ev.addresses.ofAccess(load, at(begin)));
      if (atOnce)
        return copier.shuffle(where, [&](llvm::Value *vector, int64_t first) {
          unsigned words = copier.lanes() / plan.pack, deep = sliver.rowDepth;
          llvm::Value *packed = packedWords(e.fromMemory(vector, element), operand, words);
          llvm::Value *word = b.CreateUDiv(b.CreateAdd(start, i64(first)), i64(plan.pack));
          llvm::Value *to = b.CreateAdd(b.CreateMul(word, i64(sliver.width)), b.CreateMul(i, i64(deep)));
          for (unsigned part = 0; part < words; part += deep, to = b.CreateAdd(to, i64(deep * sliver.width)))
            b.CreateAlignedStore(b.CreateExtractVector(e.vectorOf(compute, deep), packed, part), this->element(sliver.dst, to),
                                 llvm::Align(bytes));
        });
      llvm::Value *row = b.CreateInBoundsGEP(type, memory, b.CreateAdd(b.CreateMul(i, i64(plan.k)), start));
      if (shuffles)
        return copier.shuffle(where, [&](llvm::Value *vector, int64_t first) {
          b.CreateAlignedStore(vector, b.CreateConstInBoundsGEP1_64(type, row, first), copier.align);
        });
      for (auto [strand, from] : llvm::enumerate(where))
        copier.copy(from, row, strand);
    });
  });
  return {atOnce ? nullptr : memory, sliver.first};
}

} // namespace tilery::cpu
