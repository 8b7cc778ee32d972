// Scans. Each is a chain: an element waits for the one before. So several run side by side: columns in vectors where the chain runs along an
// outer dimension, else some rows. The order within a chain is the program's, unless none makes a difference: then the elements of a vector are
// combined with those 1, 2, 4, ... before, and only vectors wait for each other.
#include "compiler/ir/associates.h"
#include "compiler/lower/branch.h"
#include "compiler/targets/cpu/kernel.h"
#include "mlir/IR/Matchers.h"
#include "llvm/IR/PatternMatch.h"

using namespace mlir;

namespace tilery::cpu {
using namespace lower;

namespace {
constexpr unsigned half = 32;

/// Programs pack a pair of 32-bit values into an integer. What such a chain carries are the halves, so that packing and unpacking between two
/// elements cancel out.
bool takesHalves(tile::ScanOp op) {
  return op.getCombine()
      .walk([&](tile::ShiftOp shift) {
        APInt by;
        bool isHalf = matchPattern(shift.getRhs(), m_ConstantInt(&by)) && by == half;
        return isHalf ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What halves are computed with: a chain through registers of the other kind would wait for the way there and back.
bool computesFloats(tile::ScanOp op) {
  return op.getCombine()
      .walk([&](arith::BitcastOp cast) { return cast.getType().isF32() ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

class Chains {
public:
  Chains(CpuKernel &kernel, tile::ScanOp op)
      : kernel(kernel), evaluator(kernel.evaluator), e(kernel.e), op(op), shape(tile::shapeOf(op.getOperands()[0].getType())),
        axis(op.getAxis()), straight(cast_or_null<tile::StoreOp>(kernel.plan.straight.lookup(op))), halves(takesHalves(op)),
        inFloats(computesFloats(op)), bracketing(tile::bracketingOf(op.getCombine())) {}

  void emit() {
    unsigned last = shape.size() - 1;
    along = last;
    while (along && (along == axis || shape[along] == 1))
      --along;
    bool columns = axis != last && along == last;
    if (axis == last && shape[axis] >= lanesOfRow() && !halves && bracketing != tile::Bracketing::any)
      return rows();
    unsigned lanes = columns ? lanesOfRow() : 1, count = std::max<unsigned>(1, (columns ? 4 : 8) / op.getNumOperands());
    if (along == axis || shape[along] == 1)
      along = axis; // the only chain
    SmallVector<int64_t> others(shape);
    others[axis] = others[along] = 1;
    kernel.forEach(others, [&](ArrayRef<Index> outer) {
      point.assign(outer.begin(), outer.end());
      if (along == axis)
        return run({evaluator.indices.constant(0)}, 1);
      int64_t size = shape[along], done = 0;
      for (unsigned together = count; together; together /= 2) {
        int64_t step = int64_t(lanes) * together, whole = (size - done) / step * step;
        if (whole == step)
          run(sideBySide(e.i64(done), lanes, together), lanes);
        else if (whole)
          kernel.nests.loop(e.i64(done), e.i64(done + whole), step, false, {}, [&](llvm::Value *at, ArrayRef<Lanes>) {
            run(sideBySide(at, lanes, together), lanes);
            return SmallVector<Lanes>();
          });
        done += whole;
      }
      if (done < size)
        run(sideBySide(e.i64(done), size - done, 1), size - done);
    });
  }

private:
  // -- rows in vectors
  void rows() {
    unsigned width = lanesOfRow();
    along = axis;
    SmallVector<int64_t> others(shape);
    others[axis] = 1;
    kernel.forEach(others, [&](ArrayRef<Index> outer) {
      point.assign(outer.begin(), outer.end());
      Evaluator::Vector scope(evaluator, width);
      SmallVector<Lanes> carried = vectorStep(e.i64(0), width, {});
      llvm::Value *i = e.i64(width);
      auto walk = [&](llvm::Value *to) {
        carried = kernel.nests.loop(
            i, to, width, true, carried, [&](llvm::Value *at, ArrayRef<Lanes> before) { return vectorStep(at, width, before); },
            &i);
      };
      if (SmallVector<KnownBound> bounds = boundsAlong(); !bounds.empty()) {
        auto [from, to] = sureElements(bounds);
        llvm::Value *first = e.b.CreateAnd(e.b.CreateAdd(from, e.i64(width - 1)), e.i64(-int64_t(width)));
        walk(e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, first, e.i64(shape[axis])));
        Evaluator::Assumption hold(evaluator, bounds);
        walk(to);
      }
      walk(e.i64(shape[axis]));
      if (shape[axis] % width)
        rest(i, carried);
    });
  }

  /// Elements i and those behind it, a vector of them; gives the last one's values in all lanes.
  SmallVector<Lanes> vectorStep(llvm::Value *i, unsigned width, ArrayRef<Lanes> before) {
    auto &b = e.b;
    Point at = pointAt({}, i);
    if (op.getReverse())
      at[axis].base = b.CreateSub(at[axis].base, e.i64(width - 1));
    at[axis].step = 1;
    SmallVector<Lanes> values = operands(at, width), next;
    auto alongLanes = [&] {
      values = withinVector(values, width);
      if (!before.empty())
        values = combine(before, values);
      next.clear();
      for (Lanes value : values)
        next.push_back(b.CreateShuffleVector(value, SmallVector<int>(width, op.getReverse() ? 0 : width - 1)));
      Values both(values.begin(), values.end());
      both.append(next.begin(), next.end());
      return both;
    };
    if (before.empty() || bracketing != tile::Bracketing::choice) {
      alongLanes();
    } else {
      // What none of the elements changes by itself, they do not change one after the other either.
      llvm::Value *stays = nullptr;
      for (auto [old, fresh] : llvm::zip_equal(before, combine(before, values))) {
        llvm::Type *bits = old->getType()->getWithNewType(b.getIntNTy(old->getType()->getScalarSizeInBits()));
        llvm::Value *same = b.CreateICmpEQ(b.CreateBitCast(old, bits), b.CreateBitCast(fresh, bits));
        stays = stays ? b.CreateAnd(stays, same) : same;
      }
      Values usual(before.begin(), before.end());
      usual.append(before.begin(), before.end());
      Values both = emitUnless(b, b.CreateAndReduce(stays), usual, alongLanes);
      values.assign(both.begin(), both.begin() + values.size());
      next.assign(both.begin() + values.size(), both.end());
    }
    write(at, values);
    return next;
  }

  /// What the elements of a vector are combined with those before them there.
  SmallVector<Lanes> withinVector(SmallVector<Lanes> values, unsigned width) {
    auto &b = e.b;
    SmallVector<int> lanes(width);
    SmallVector<llvm::Constant *> alone(width);
    for (unsigned apart = 1; apart < width; apart *= 2) {
      for (unsigned lane = 0; lane < width; ++lane) {
        unsigned number = op.getReverse() ? width - 1 - lane : lane; // in the chain's order
        int back = op.getReverse() ? int(apart) : -int(apart);
        lanes[lane] = number < apart ? int(lane) : int(lane) + back;
        alone[lane] = b.getInt1(number < apart);
      }
      SmallVector<Lanes> earlier;
      for (Lanes value : values)
        earlier.push_back(b.CreateShuffleVector(value, lanes));
      for (auto [value, both] : llvm::zip_equal(values, combine(earlier, values)))
        value =
            bracketing == tile::Bracketing::choice ? both : Lanes(b.CreateSelect(llvm::ConstantVector::get(alone), value, both));
    }
    return values;
  }

  /// The elements from i on, one by one.
  void rest(llvm::Value *i, ArrayRef<Lanes> before) {
    Evaluator::Vector single(evaluator, 1);
    SmallVector<Lanes> carried;
    for (Lanes value : before)
      carried.push_back(e.b.CreateExtractElement(value, uint64_t(0)));
    Index only = evaluator.indices.constant(0);
    kernel.nests.loop(i, e.i64(shape[axis]), 1, false, carried,
                      [&](llvm::Value *at, ArrayRef<Lanes> so) { return step(only, 1, at, so); });
  }

  SmallVector<Lanes> combine(ArrayRef<Lanes> left, ArrayRef<Lanes> right) {
    SmallVector<Lanes> result;
    if (!emitCombine(e, op.getCombine(), left, right, result, [&](Value v) { return evaluator.scalar(v); })) {
      evaluator.failed = true;
      return SmallVector<Lanes>(right);
    }
    for (Lanes &value : result)
      value = e.splat(value, e.lanesOf(right[0]));
    return result;
  }

  unsigned lanesOfRow() {
    unsigned bits = 32;
    for (Value operand : op.getOperands())
      bits = std::max(bits, elementBytes(elementOf(operand)) * 8);
    return e.options.target.machine.vectorBits / bits;
  }

  /// Where chains begin along `along`: `count` of them, each as wide as `width` lanes.
  SmallVector<Index> sideBySide(llvm::Value *from, unsigned width, unsigned count) {
    SmallVector<Index> starts;
    for (unsigned i = 0; i < count; ++i) {
      llvm::Value *at = i ? e.b.CreateAdd(from, e.i64(int64_t(i) * width), "", true, true) : from;
      starts.push_back(Index{at, width == 1 ? 0 : 1, nullptr, evaluator.levels.current(), 1});
    }
    return starts;
  }

  Point pointAt(const Index &start, llvm::Value *i) {
    Point at(point);
    if (along != axis)
      at[along] = start;
    llvm::Value *position = op.getReverse() ? e.b.CreateSub(e.i64(shape[axis] - 1), i) : i;
    at[axis] = Index{position, 0, nullptr, evaluator.levels.current(), 1, int(axis)};
    return at;
  }
  SmallVector<Lanes> operands(const Point &at, unsigned width) {
    SmallVector<Lanes> values;
    for (Value operand : op.getOperands())
      values.push_back(e.splat(evaluator.value(operand, at), width));
    return values;
  }

  /// The chains that begin there, side by side.
  void run(ArrayRef<Index> starts, unsigned width) {
    Evaluator::Vector scope(evaluator, width);
    SmallVector<Lanes> carried;
    for (const Index &start : starts) {
      Point first = pointAt(start, e.i64(0));
      SmallVector<Lanes> values = operands(first, width);
      write(first, values);
      append(carried, values);
    }
    auto walk = [&](llvm::Value *&from, llvm::Value *to) {
      carried = kernel.nests.loop(
          from, to, 1, false, carried, [&](llvm::Value *i, ArrayRef<Lanes> before) { return step(starts, width, i, before); },
          &from);
    };
    llvm::Value *i = e.i64(1);
    if (SmallVector<KnownBound> bounds = boundsAlong(); !bounds.empty()) {
      auto [from, to] = sureElements(bounds);
      walk(i, from);
      Evaluator::Assumption hold(evaluator, bounds);
      walk(i, to);
    }
    walk(i, e.i64(shape[axis]));
  }

  /// Element i of each chain; gives what they carry then.
  SmallVector<Lanes> step(ArrayRef<Index> starts, unsigned width, llvm::Value *i, ArrayRef<Lanes> before) {
    SmallVector<Lanes> next;
    unsigned each = before.size() / starts.size();
    for (auto [number, start] : llvm::enumerate(starts)) {
      Point at = pointAt(start, i);
      SmallVector<Lanes> after = combine(valuesOf(before.slice(number * each, each)), operands(at, width));
      write(at, after);
      append(next, after);
    }
    return next;
  }

  // -- the elements that surely exist: no masks are asked there
  SmallVector<KnownBound> boundsAlong() {
    SmallVector<KnownBound> bounds;
    llvm::SmallPtrSet<const void *, 16> seen;
    SmallVector<int> loops(shape.size(), -1);
    loops[axis] = int(axis);
    for (Value operand : op.getOperands())
      kernel.nests.collectBounds(operand, loops, bounds, seen);
    if (straight)
      kernel.nests.collectPlaceBounds(straight.getPlace(), loops, bounds);
    return bounds;
  }
  std::pair<llvm::Value *, llvm::Value *> sureElements(ArrayRef<KnownBound> bounds) {
    auto &b = e.b;
    llvm::Value *from = e.i64(0), *to = e.i64(shape[axis]);
    for (const KnownBound &bound : bounds) {
      from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, from, evaluator.wide(bound.lo));
      to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, evaluator.wide(bound.hi));
    }
    if (op.getReverse()) {
      llvm::Value *least = from;
      from = b.CreateSub(e.i64(shape[axis]), to);
      to = b.CreateSub(e.i64(shape[axis]), least);
    }
    // Elements are walked in order whatever the bounds are.
    from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, from, e.i64(shape[axis]));
    to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, to, e.i64(shape[axis]));
    return {from, to};
  }

  void write(const Point &at, ArrayRef<Lanes> values) {
    if (straight)
      return evaluator.memory.store(evaluator.addresses.ofPlace(straight.getPlace(), at), values[0]);
    for (auto [value, result] : llvm::zip(values, op.getResults()))
      evaluator.memory.store(evaluator.addresses.ofStored(kernel.plan.storage.lookup(result), shape, at), value);
  }

  // -- what a chain carries of its values, and these again
  bool isHalved(Type type) const { return halves && type.isInteger(2 * half); }
  void append(SmallVectorImpl<Lanes> &carried, ArrayRef<Lanes> values) {
    auto &b = e.b;
    for (auto [value, operand] : llvm::zip(values, op.getOperands())) {
      if (!isHalved(elementOf(operand))) {
        carried.push_back(value);
        continue;
      }
      llvm::Type *narrow = e.vectorOf(b.getIntNTy(half), e.lanesOf(value));
      llvm::Type *type = inFloats ? e.vectorOf(b.getFloatTy(), e.lanesOf(value)) : narrow;
      for (llvm::Value *part : halvesOf(value, narrow)) {
        auto *cast = llvm::dyn_cast<llvm::BitCastInst>(part);
        carried.push_back(cast && cast->getSrcTy() == type ? cast->getOperand(0) : b.CreateBitCast(part, type));
      }
    }
  }
  /// The low and the high half; what was packed just now is taken as it was before.
  std::array<llvm::Value *, 2> halvesOf(llvm::Value *value, llvm::Type *narrow) {
    using namespace llvm::PatternMatch;
    llvm::Value *low, *high;
    if (match(value, m_c_Or(m_Shl(m_ZExt(m_Value(high)), m_SpecificInt(half)), m_ZExt(m_Value(low)))) &&
        low->getType() == narrow && high->getType() == narrow)
      return {low, high};
    auto &b = e.b;
    return {b.CreateTrunc(value, narrow),
            b.CreateTrunc(b.CreateLShr(value, llvm::ConstantInt::get(value->getType(), half)), narrow)};
  }
  SmallVector<Lanes> valuesOf(ArrayRef<Lanes> carried) {
    auto &b = e.b;
    SmallVector<Lanes> values;
    for (Value operand : op.getOperands()) {
      if (isHalved(elementOf(operand))) {
        unsigned width = e.lanesOf(carried[0]);
        llvm::Type *narrow = e.vectorOf(b.getIntNTy(half), width), *wide = e.vectorOf(b.getIntNTy(2 * half), width);
        auto part = [&](unsigned i) { return b.CreateZExt(b.CreateBitCast(carried[i], narrow), wide); };
        values.push_back(b.CreateOr(b.CreateShl(part(1), llvm::ConstantInt::get(wide, half)), part(0)));
        carried = carried.drop_front();
      } else {
        values.push_back(carried[0]);
      }
      carried = carried.drop_front();
    }
    return values;
  }

  CpuKernel &kernel;
  Evaluator &evaluator;
  Emitter &e;
  tile::ScanOp op;
  ArrayRef<int64_t> shape;
  unsigned axis, along = 0; // chains run along `axis` and lie side by side along the other one; the same: there is one
  tile::StoreOp straight;
  bool halves, inFloats; // what chains carry of 64 bits, and in which registers
  tile::Bracketing bracketing;
  Point point;
};
} // namespace

void CpuKernel::scanOp(tile::ScanOp op) { Chains(*this, op).emit(); }

} // namespace tilery::cpu
