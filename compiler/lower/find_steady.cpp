// What of a nest's index arithmetic changes at few places of a row.
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/magnitude.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/pull.h"
#include "compiler/lower/segments.h"
#include "compiler/lower/steady.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {
using Kind = analysis::IntegerOp::Kind;
namespace {
/// Each ends a segment of every quotient.
constexpr unsigned mostComparisons = 4;

/// From lane to lane; `foreseen`: where everything is its chosen operand.
struct Pace {
  int64_t by = 0;
  bool foreseen = false;
};
using MaybePace = std::optional<Pace>;

class SteadyFinder {
public:
  SteadyFinder(const Plan &plan, const Nest &nest, int dim, unsigned maskedBits, Operation *around)
      : plan(plan), dim(dim), maskedBits(maskedBits), around(around) {
    auto isStored = [&](Value value) { return !plan.isVirtual(value); };
    for (const Sink &sink : nest.sinks)
      if (sink.kind != Sink::Copy || sink.value)
        for (auto &[tile, reach] : pullOf(sink, isStored).tiles)
          if (isStored(tile))
            read.insert(tile);
    for (const Sink &sink : nest.sinks)
      if (sink.kind == Sink::Define) {
        read.erase(sink.value); // not stored yet where a segment begins
        defined.insert(sink.value);
      }
  }
  SmallVector<Steady> found;
  bool addresses = false; // one of them moves the place of an access from lane to lane

  void place(Value place, ArrayRef<int> loops) {
    unsigned bits = elementBytes(cast<tile::AccessType>(place.getType()).getElementType()) * 8;
    llvm::SaveAndRestore cheap(masksAreCheap, maskedBits && bits >= maskedBits);
    if (auto access = place.getDefiningOp<tile::AccessOp>()) {
      for (auto [d, loop] : llvm::enumerate(loops)) {
        if (!access.isStrided(d))
          offset(access.getSteps()[d], {loop});
        if (access.getBound(d).size() == 1)
          expression(access.getBound(d)[0], {loop});
      }
      if (access.getResidual())
        expression(access.getResidual(), loops);
    } else if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>()) {
      offset(pointers.getPtrs(), loops);
      if (pointers.getMask())
        expression(pointers.getMask(), loops);
    }
  }

  /// What masks of stores compare ends segments, too, so that whole vectors are stored: for machines whose masked stores are slow.
  void masksOfStores(tile::StoreOp store, ArrayRef<int> loops) {
    comparisons = 0;
    masksAreCheap = false;
    if (auto access = store.getPlace().getDefiningOp<tile::AccessOp>()) {
      for (auto [d, loop] : llvm::enumerate(loops))
        if (access.getBound(d).size() == 1)
          mask(access.getBound(d)[0], {loop});
      if (access.getResidual())
        mask(access.getResidual(), loops);
    } else if (auto pointers = store.getPlace().getDefiningOp<tile::PointerAccessOp>(); pointers && pointers.getMask()) {
      mask(pointers.getMask(), loops);
    }
  }

  /// The steps along the row that count up by one wherever nothing that was found changes.
  llvm::DenseSet<Value> countingInRows() {
    llvm::DenseSet<Value> all;
    paces.clear();
    for (auto &[value, loops] : offsets)
      if (MaybePace pace = paceOf(value, loops); pace && pace->by == 1 && !pace->foreseen)
        all.insert(value);
    return all;
  }

  /// The scalars that places along the row are multiplied by which are neighbours where all of these are 1.
  llvm::SetVector<Value> factorsOfRows() {
    llvm::SetVector<Value> all;
    for (auto &[value, loops] : offsets) {
      llvm::SetVector<Value> own;
      llvm::SaveAndRestore assumed(ones, &own);
      paces.clear();
      if (MaybePace pace = paceOf(value, loops); pace && pace->by == 1)
        all.insert_range(own);
    }
    return all;
  }

  /// Whether anything in it moves.
  bool expression(Value value, ArrayRef<int> loops) {
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()) || !op || !(plan.isVirtual(value) || isStoredIndex(value) || isRecomputed(value)))
      return false;
    auto [known, fresh] = seen.try_emplace({op, SmallVector<int>(loops)}, false);
    if (!fresh)
      return known->second;
    bool below = operands(op, loops);
    size_t before = found.size();
    if (llvm::is_contained(loops, dim) && !(around && around->isAncestor(op)) && (plan.isVirtual(value) || isStoredIndex(value)))
      changes(value, loops);
    return known->second = below || llvm::any_of(llvm::drop_begin(found, before), [](const Steady &own) { return own.moves; });
  }

  bool operands(Operation *op, ArrayRef<int> loops) {
    bool moves = false;
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      place(load.getPlace(), loops);
      if (load.getOther())
        moves |= expression(load.getOther(), loops);
    } else if (std::optional<SmallVector<int>> inner = loopsOfOperand(op, loops)) {
      moves |= expression(op->getOperand(0), *inner);
    } else if (isElementwise(op)) {
      for (Value operand : op->getOperands())
        moves |= expression(operand, loops);
    }
    return moves;
  }

private:
  void changes(Value value, ArrayRef<int> loops) {
    Operation *op = value.getDefiningOp();
    size_t before = found.size();
    if (isa<tile::DivOp, tile::RemOp>(op))
      division(op, loops);
    else if (isa<arith::MinSIOp, arith::MaxSIOp, math::AbsIOp>(op) || (isa<arith::CmpIOp>(op) && !masksAreCheap))
      comparison(op, loops);
    else if (auto select = dyn_cast<arith::SelectOp>(op))
      selection(select, loops);
    else if (countingSum(value))
      sum(op, loops);
    if (found.size() > before || plan.isVirtual(value))
      return;
    if (MaybePace pace = paceOf(value, loops))
      add(op, loops, 0, pace->by, pace->foreseen);
  }

  void mask(Value condition, ArrayRef<int> loops) {
    Operation *op = condition.getDefiningOp();
    if (!op || !plan.isVirtual(condition) || !isa<RankedTensorType>(condition.getType()))
      return;
    if (isa<arith::AndIOp>(op))
      llvm::for_each(op->getOperands(), [&](Value side) { mask(side, loops); });
    else if (std::optional<SmallVector<int>> inner = loopsOfOperand(op, loops))
      mask(op->getOperand(0), *inner);
    else if (isa<arith::CmpIOp>(op) && llvm::none_of(found, [&](const Steady &own) { return own.result == condition; }))
      comparison(op, loops);
  }

  /// Stored, but known in a segment without looking at each lane. What it was computed of may be in memory no more.
  bool isStoredIndex(Value value) const { return isIndex(value) && read.contains(value); }

  /// Stored for others: what a stored index was computed of says how it moves. Its quotients can be computed again, of what is there.
  bool isRecomputed(Value value) {
    return !plan.isVirtual(value) && isIndex(value) && !read.contains(value) && !defined.contains(value) &&
           llvm::all_of(value.getDefiningOp()->getOperands(), [&](Value operand) { return isThere(operand); });
  }

  static bool isIndex(Value value) {
    Operation *op = value.getDefiningOp();
    return elementOf(value).isSignlessInteger() &&
           (isElementwise(op) || isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op));
  }

  /// Numbers that can be computed of no stored tile but those that the nest reads.
  bool isThere(Value value) {
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()))
      return true;
    if (!op || !plan.isVirtual(value))
      return read.contains(value);
    auto [known, fresh] = there.try_emplace(value, false);
    if (!fresh)
      return known->second;
    bool all = isa<tile::SplatOp, tile::RangeOp>(op) || op->hasTrait<OpTrait::ConstantLike>() ||
               (isIndex(value) && llvm::all_of(op->getOperands(), [&](Value operand) { return isThere(operand); }));
    return there[value] = all;
  }

  void offset(Value value, ArrayRef<int> loops) {
    addresses |= expression(value, loops);
    offsets.push_back({value, SmallVector<int>(loops)});
  }

  MaybePace paceOf(Value value, ArrayRef<int> loops) {
    if (!isa<RankedTensorType>(value.getType()) || !llvm::is_contained(loops, dim))
      return Pace();
    auto [known, fresh] = paces.try_emplace({value.getAsOpaquePointer(), SmallVector<int>(loops)});
    return fresh ? known->second = computePace(value, loops) : known->second;
  }

  MaybePace computePace(Value value, ArrayRef<int> loops) {
    for (const Steady &steady : found)
      if (steady.result == value && steady.loops == loops)
        return Pace{steady.step, steady.foreseen};
    analysis::IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
    if (!op.exact && !analysis::isExact(value))
      op.kind = Kind::opaque;
    if (!op.op || !(op.kind == Kind::constant || plan.isVirtual(value) || isStoredIndex(value) || isRecomputed(value)))
      return std::nullopt;
    MaybePace x, y;
    auto both = [&] {
      x = paceOf(op.lhs, loops), y = paceOf(op.rhs, loops);
      return x && y;
    };
    switch (op.kind) {
    case Kind::constant:
    case Kind::splat:
      return Pace();
    case Kind::range:
      return Pace{1};
    case Kind::extend:
      return paceOf(op.lhs, loops);
    case Kind::add:
      return both() ? MaybePace(Pace{x->by + y->by, x->foreseen || y->foreseen}) : std::nullopt;
    case Kind::subtract:
      return both() ? MaybePace(Pace{x->by - y->by, x->foreseen || y->foreseen}) : std::nullopt;
    case Kind::reindex: {
      auto inner = loopsOfOperand(op.op, loops);
      return inner ? paceOf(op.lhs, *inner) : std::nullopt;
    }
    case Kind::multiply:
      if (Value factor = ones && both() && !x->by != !y->by ? givenNumber(x->by ? op.rhs : op.lhs) : Value()) {
        ones->insert(factor);
        return Pace{x->by + y->by, x->foreseen || y->foreseen};
      }
      break;
    case Kind::opaque: // integers that hang on a condition
      if (size_t before = found.size(); !ones && isa<arith::CmpIOp>(op.op)) {
        comparison(op.op, loops);
        if (found.size() > before)
          return Pace{0, found.back().foreseen};
      }
      break;
    }
    return same(op.op, loops);
  }

  /// What is computed of numbers that are the same in all lanes.
  MaybePace same(Operation *op, ArrayRef<int> loops) {
    Pace all;
    if (!isElementwise(op))
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      MaybePace own = paceOf(operand, loops);
      if (!own || own->by)
        return std::nullopt;
      all.foreseen |= own->foreseen;
    }
    return all;
  }

  void division(Operation *op, ArrayRef<int> loops) {
    auto mode = isa<tile::DivOp>(op) ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
    MaybePace step = paceOf(op->getOperand(0), loops), ofDivisor = paceOf(op->getOperand(1), loops);
    if (mode == tile::IntDivMode::unsigned_ || !step || !ofDivisor || ofDivisor->by || step->by < 0 || step->by > 1)
      return;
    std::optional<int64_t> divisor = analysis::constantOf(op->getOperand(1));
    if (step->by && divisor && *divisor < int64_t(leastSegment)) // lanes for themselves: no reason not to walk segments of others
      return;
    add(op, loops, step->by, isa<tile::RemOp>(op) ? step->by : 0, step->foreseen || ofDivisor->foreseen);
  }

  // Where it does not leave its type: it is asked whether it does.
  void sum(Operation *op, ArrayRef<int> loops) {
    MaybePace left = paceOf(op->getOperand(0), loops), right = paceOf(op->getOperand(1), loops);
    if (left && right && left->by + right->by == 1)
      add(op, loops, 0, 1, false);
  }

  // The difference of two numbers that changes its sign.
  void comparison(Operation *op, ArrayRef<int> loops) {
    using Predicate = arith::CmpIPredicate;
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (compare && llvm::is_contained({Predicate::eq, Predicate::ne}, compare.getPredicate()))
      return;
    bool isUnsigned = compare && compare.getPredicate() > Predicate::sge;
    MaybePace left = paceOf(op->getOperand(0), loops),
              right = isa<math::AbsIOp>(op) ? MaybePace(Pace()) : paceOf(op->getOperand(1), loops);
    if (!left || !right || std::abs(left->by - right->by) != 1 || (isUnsigned && right->by) || comparisons++ >= mostComparisons)
      return;
    bool foreseen = left->foreseen || right->foreseen;
    int64_t moves = left->by - right->by;
    if (compare)
      return add(op, loops, moves, 0, foreseen);
    if (isa<math::AbsIOp>(op))
      return add(op, loops, moves, left->by, true, op->getOperand(0), /*chosenIf=*/false);
    bool first = isBetter(*left, *right);
    add(op, loops, moves, (first ? left : right)->by, true, op->getOperand(first ? 0 : 1),
        first == isa<arith::MinSIOp>(op)); // a minimum is its first operand where that is less
  }

  void selection(arith::SelectOp op, ArrayRef<int> loops) {
    MaybePace condition = isa<RankedTensorType>(op.getCondition().getType()) ? paceOf(op.getCondition(), loops) : Pace(),
              left = paceOf(op.getTrueValue(), loops), right = paceOf(op.getFalseValue(), loops);
    if (!condition || condition->by || !left || !right || (!left->by && !right->by) || comparisons++ >= mostComparisons)
      return;
    bool first = isBetter(*left, *right);
    add(op, loops, 0, (first ? left : right)->by, true, first ? op.getTrueValue() : op.getFalseValue(), first);
  }

  /// Neighbours in memory, then what stays.
  static bool isBetter(const Pace &x, const Pace &y) { return x.by == 1 || (y.by != 1 && !x.by); }

  void add(Operation *op, ArrayRef<int> loops, int64_t moves, int64_t step, bool foreseen, Value chosen = {},
           bool chosenIf = false) {
    found.push_back({op->getResult(0), SmallVector<int>(loops), moves, step, chosen, chosenIf, foreseen});
  }

  bool masksAreCheap = true; // of what is looked at: vectors compare positions with a segment's (segment_masks.cpp)
  unsigned comparisons = 0;
  llvm::SetVector<Value> *ones = nullptr;                  // where paces are those of factors that are 1: these
  SmallVector<std::pair<Value, SmallVector<int>>> offsets; // places along a row, as they are computed
  const Plan &plan;
  int dim;
  unsigned maskedBits;
  Operation *around;
  llvm::DenseSet<Value> read; // stored tiles that the nest reads: their memory is theirs until it ends
  llvm::DenseSet<Value> defined;
  llvm::DenseMap<Value, bool> there;
  std::map<std::pair<Operation *, SmallVector<int>>, bool> seen;
  std::map<std::pair<void *, SmallVector<int>>, MaybePace> paces; // asked for once what the value is computed of is found
};
} // namespace

Value givenNumber(Value tile) {
  for (analysis::IntegerOp op = analysis::integerOpOf(tile);; op = analysis::integerOpOf(op.lhs)) {
    if (op.kind == Kind::splat)
      return analysis::constantOf(op.lhs) ? Value() : op.lhs;
    if (op.kind != Kind::extend && op.kind != Kind::reindex)
      return {};
  }
}

SmallVector<Steady> findSteady(const Plan &plan, const Nest &nest, int dim, unsigned maskedBits, Operation *around,
                               RowPlaces *places) {
  SteadyFinder finder(plan, nest, dim, maskedBits, around);
  bool reduces = false;
  SmallVector<int> loops;
  for (unsigned d = 0; d < nest.shape.size(); ++d)
    loops.push_back(int(d));
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Store) {
      auto store = cast<tile::StoreOp>(sink.op);
      finder.place(store.getPlace(), loops);
      finder.expression(store.getValue(), loops);
    } else if (sink.kind == Sink::Update) {
      auto update = cast<tile::AtomicRmwOp>(sink.op);
      finder.place(update.getPlace(), loops);
      finder.expression(update.getValue(), loops);
    } else if (sink.kind == Sink::Copy && sink.value) {
      finder.expression(sink.value, loops);
    } else if (sink.kind == Sink::Define) {
      finder.operands(sink.op, loops);
    } else if (sink.kind == Sink::Reduce) {
      reduces = true;
      for (Value operand : sink.op->getOperands())
        finder.expression(operand, loops);
    } else {
      return {};
    }
  }
  if (finder.addresses) {
    if (bool registers = maskedBits && maskedBits < 32; !registers) // of their own for masks
      for (const Sink &sink : nest.sinks)
        if (sink.kind == Sink::Store)
          finder.masksOfStores(cast<tile::StoreOp>(sink.op), loops);
    if (places)
      *places = {finder.countingInRows(), finder.factorsOfRows().takeVector()};
    return finder.found;
  }
  // Values and masks alone: each lane would divide for itself.
  auto divides = [](const Steady &steady) {
    return steady.moves && isa<tile::DivOp, tile::RemOp>(steady.result.getDefiningOp());
  };
  if (around || reduces || llvm::none_of(finder.found, divides))
    return {};
  for (Steady &steady : finder.found)
    steady.movesPlaces = false;
  return finder.found;
}

} // namespace tilery::lower
