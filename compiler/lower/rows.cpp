// Rows side by side. A sum of products whose one factor all rows of a nest share (a window's weights) reads two vectors for each
// product. Some rows at once read what they share once, of windows that overlap too.
#include "compiler/explain/findings.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/interleave.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/pull.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {
namespace {
/// What rows share, from which on they are worth the longer code.
constexpr unsigned leastShared = 4;

/// Counts the factors that rows along a dimension share, and asks whether what they do not share overlaps.
class SharedReads {
public:
  SharedReads(const Plan &plan, int dim) : plan(plan), dim(dim) {}
  unsigned count = 0;
  bool overlap = true; // of what it moves the next row's place is known

  void below(Value value, ArrayRef<int> loops) {
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
      return;
    bool isRead = !op || !plan.isVirtual(value) || isa<tile::LoadOp, tile::SplatOp>(op);
    if (auto load = dyn_cast_if_present<tile::LoadOp>(op); load && plan.isVirtual(value)) {
      auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
      for (auto [d, loop] : llvm::enumerate(loops))
        overlap &= loop != dim || (access && access.isStrided(d));
    }
    if (isRead) {
      bool isFixed = op && op->hasTrait<OpTrait::ConstantLike>(), moves = llvm::is_contained(loops, dim);
      count += isa<FloatType>(elementOf(value)) && !isFixed && (isa_and_present<tile::SplatOp>(op) || !moves);
      return;
    }
    std::optional<SmallVector<int>> inner = loopsOfOperand(op, loops);
    if (inner || isElementwise(op))
      for (Value operand : op->getOperands())
        below(operand, inner ? ArrayRef<int>(*inner) : loops);
  }

private:
  const Plan &plan;
  int dim;
  llvm::DenseSet<Value> seen;
};
} // namespace

// The dimension whose rows share what they read. Not where threads share a program, nor where the order of elements may matter.
std::optional<unsigned> NestEmitter::rowsTogether() const {
  if (evaluator.threads || !reductions.empty() || down || wholeVectors || !ofTile.empty() || lanes == 1 ||
      nest->shape[innerDim] < int64_t(lanes) || !innerDim)
    return std::nullopt;
  unsigned dim = innerDim - 1;
  while (dim && nest->shape[dim] == 1)
    --dim;
  bool isLast = llvm::all_of(llvm::drop_begin(nest->shape, innerDim + 1), [](int64_t size) { return size == 1; });
  if (nest->shape[dim] == 1 || !isLast || !steadyInRow().empty())
    return std::nullopt;
  SharedReads shared(evaluator.plan, int(dim));
  auto loops = llvm::to_vector(llvm::map_range(llvm::seq<int>(0, int(nest->shape.size())), [](int d) { return d; }));
  unsigned stores = 0;
  for (const Sink &sink : nest->sinks) {
    if (sink.kind == Sink::Store) {
      auto store = cast<tile::StoreOp>(sink.op);
      auto access = store.getPlace().getDefiningOp<tile::AccessOp>();
      if (stores++ || !access || !access.isStrided(dim) || !access.isStrided(innerDim))
        return std::nullopt;
      shared.below(store.getValue(), loops);
    } else if (sink.kind == Sink::Define && isElementwise(sink.op)) {
      for (Value operand : sink.op->getOperands())
        shared.below(operand, loops);
    } else if (sink.kind == Sink::Copy && sink.value) {
      shared.below(sink.value, loops);
    } else {
      return std::nullopt;
    }
  }
  return shared.overlap && shared.count >= leastShared ? std::optional(dim) : std::nullopt;
}

// The loop over the rows is that of innerRows.
void NestEmitter::rowsFrom(unsigned dim, Range range) {
  explain::way("rows side by side");
  auto &b = e.b;
  rowsAtMost = e.options.target.machine.vectorRegisters > 16 ? 4 : 2;
  rowsApart = nullptr;
  rowsEnd = range.to;
  for (const Sink &sink : nest->sinks)
    if (sink.kind == Sink::Store) {
      auto access = sink.op->getOperand(0).getDefiningOp<tile::AccessOp>();
      KnownBound bound;
      bool restricted = restriction(innerDim, bound);
      llvm::Value *size = restricted ? clamp(bound, nest->shape[innerDim]).to : e.i64(nest->shape[innerDim]);
      llvm::Value *row = b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, evaluator.wide(access.getSteps()[dim]), b.getFalse());
      llvm::Value *step = evaluator.wide(access.getSteps()[innerDim]);
      rowsApart = b.CreateAnd(b.CreateICmpUGE(row, size), b.CreateICmpEQ(step, e.i64(1)));
    }
  point[dim] = Index{range.from, 0, nullptr, evaluator.levels.current(), 1, int(dim)};
  outer(dim + 1);
  point[dim] = evaluator.indices.constant(0);
}

// So many at once where all of them exist and a store's do not overlap, else one.
void NestEmitter::innerRows(ArrayRef<KnownBound> bounds, ArrayRef<KnownBound> allBounds, const KnownBound *restriction) {
  auto &b = e.b;
  unsigned dim = *together;
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&] { return llvm::BasicBlock::Create(e.context(), "", function); };
  llvm::Value *from = point[dim].base;
  llvm::Instruction *outside = cut();
  Loop loop(b, block(), block());
  loop.enter(b.CreateICmpSLT(from, rowsEnd));
  llvm::Value *first = loop.carry(from);
  evaluator.levels.enter(outside);
  point[dim] = Index{first, 0, nullptr, evaluator.levels.current(), 1, int(dim)};
  auto behind = [&](int64_t rows) { return rows ? b.CreateAdd(first, e.i64(rows), "", true, true) : first; };
  llvm::Value *atOnce = e.band(rowsApart, b.CreateICmpSLE(behind(rowsAtMost), rowsEnd));
  SmallVector<Index> rows;
  for (unsigned row = 0; row < rowsAtMost; ++row) {
    Index &index = rows.emplace_back(point[dim]);
    index.base = behind(row);
    index.behind = row;
    llvm::SaveAndRestore own(point[dim], index);
    if (llvm::Value *exists = surelyThere(allBounds, around))
      atOnce = e.band(atOnce, exists);
  }
  llvm::Value *next = b.CreateSelect(atOnce, behind(rowsAtMost), behind(1));
  twice(atOnce, [&](bool atOnce) {
    llvm::SaveAndRestore<std::optional<unsigned>> single(together, atOnce ? together : std::nullopt);
    atOnce ? rowsAtOnce(rows, bounds, restriction) : inner();
  });
  evaluator.levels.leave();
  loop.repeat(next, b.CreateICmpSLT(next, rowsEnd));
  loop.leave();
}

// A vector of each row at a time.
void NestEmitter::rowsAtOnce(ArrayRef<Index> rows, ArrayRef<KnownBound> bounds, const KnownBound *restriction) {
  auto &b = e.b;
  Range written{e.i64(0), e.i64(nest->shape[innerDim])};
  if (restriction)
    written = clamp(*restriction, nest->shape[innerDim]);
  Range sure = surely(bounds, written);
  Evaluator::Assumption kept(evaluator, restriction ? ArrayRef<KnownBound>(*restriction) : ArrayRef<KnownBound>()),
      rowsHold(evaluator, around);
  loop(written.from, written.to, lanes, false, {}, [&](llvm::Value *j, ArrayRef<Lanes>) {
    llvm::Value *end = b.CreateAdd(j, e.i64(lanes), "", true, true);
    llvm::Value *within = b.CreateAnd(b.CreateICmpSGE(j, sure.from), b.CreateICmpSLE(end, sure.to));
    twice(within, [&](bool all) {
      Evaluator::Assumption hold(evaluator, all ? bounds : ArrayRef<KnownBound>());
      Lanes limit = nullptr;
      if (!all && (restriction || nest->shape[innerDim] % lanes)) {
        llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(written.to, j), e.i64(lanes));
        limit = b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(b.CreateTrunc(left, b.getInt32Ty()), lanes));
      }
      emitInterleaved(b, rows.size(), [&](unsigned row) {
        llvm::SaveAndRestore own(point[*together], rows[row]);
        body(j, 1, lanes, limit);
      });
    });
    return SmallVector<Lanes>();
  });
}

} // namespace tilery::lower
