// raise-accesses: pointer tiles with masks -> separable accesses with one bound a dimension; residual masks of accesses likewise.
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/interval.h"
#include "compiler/analysis/magnitude.h"
#include "compiler/passes/dead_carried.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/separable.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// The lanes of one dimension that exist: an interval, a lane mask, or both.
struct Bound {
  Value lo, hi; ///< i64; null: open
  Value lanes;  ///< tensor<N x i1>
};

/// A mask as a conjunction: bounds of single dimensions, a condition on all lanes, and what is neither.
struct Conjunction {
  SmallVector<Bound, 3> bounds;
  Value uniform;  ///< i1
  Value residual; ///< tile of i1
};

class MaskAnalysis {
public:
  MaskAnalysis(OpBuilder &b, Location loc, SeparableAnalysis &math) : b(b), loc(loc), math(math) {}

  Conjunction analyse(Value mask) {
    ArrayRef<int64_t> shape = shapeOf(mask.getType());
    Conjunction result;
    result.bounds.resize(shape.size());
    if (auto c = constantOf(mask); c && *c)
      return result;
    Operation *op = mask.getDefiningOp();
    if (shape.empty()) {
      result.uniform = mask;
      return result;
    }
    if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
      return merge(analyse(both.getLhs()), analyse(both.getRhs()));
    if (auto splat = dyn_cast_or_null<SplatOp>(op)) {
      result.uniform = splat.getValue();
      return result;
    }
    if (auto expand = dyn_cast_or_null<ExpandDimsOp>(op)) {
      result = analyse(expand.getValue());
      result.bounds.insert(result.bounds.begin() + expand.getAxis(), Bound());
      if (result.residual)
        result.residual = ExpandDimsOp::create(b, loc, mask.getType(), result.residual, expand.getAxis());
      return result;
    }
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
      return this->broadcast(broadcast, analyse(broadcast.getValue()));
    if (auto permute = dyn_cast_or_null<PermuteOp>(op)) {
      Conjunction inner = analyse(permute.getValue());
      for (auto [d, from] : llvm::enumerate(permute.getOrder()))
        result.bounds[d] = inner.bounds[from];
      result.uniform = inner.uniform;
      if (inner.residual)
        result.residual = PermuteOp::create(b, loc, mask.getType(), inner.residual, permute.getOrder());
      return result;
    }
    if (auto compare = dyn_cast_or_null<arith::CmpIOp>(op))
      if (auto simple = comparison(compare.getPredicate(), compare))
        return *simple;
    // not (x < y) is x >= y.
    if (auto invert = dyn_cast_or_null<arith::XOrIOp>(op))
      if (auto c = constantOf(invert.getRhs()); c && *c)
        if (auto compare = invert.getLhs().getDefiningOp<arith::CmpIOp>())
          if (auto simple = comparison(arith::invertPredicate(compare.getPredicate()), compare))
            return *simple;
    return other(mask);
  }

  Conjunction merge(Conjunction x, Conjunction y) {
    for (auto [left, right] : llvm::zip_equal(x.bounds, y.bounds)) {
      left.lo = left.lo && right.lo ? math.max(left.lo, right.lo) : left.lo ? left.lo : right.lo;
      left.hi = left.hi && right.hi ? math.min(left.hi, right.hi) : left.hi ? left.hi : right.hi;
      left.lanes = both(left.lanes, right.lanes);
    }
    x.uniform = both(x.uniform, y.uniform);
    x.residual = both(x.residual, y.residual);
    return x;
  }

private:
  Value both(Value x, Value y) { return !x ? y : !y ? x : arith::AndIOp::create(b, loc, x, y).getResult(); }

  Value compare(arith::CmpIPredicate predicate, Value x, Value y) { return arith::CmpIOp::create(b, loc, predicate, x, y); }

  Conjunction broadcast(BroadcastOp op, Conjunction inner) {
    auto from = shapeOf(op.getValue().getType()), to = shapeOf(op.getType());
    for (unsigned d = 0; d < to.size(); ++d) {
      if (from[d] == to[d])
        continue;
      Bound &bound = inner.bounds[d]; // of a dimension of size 1: a condition on all lanes
      if (bound.lo)
        inner.uniform = both(inner.uniform, compare(arith::CmpIPredicate::sle, bound.lo, math.constant(0)));
      if (bound.hi)
        inner.uniform = both(inner.uniform, compare(arith::CmpIPredicate::sgt, bound.hi, math.constant(0)));
      if (bound.lanes)
        inner.uniform = both(inner.uniform, ExtractOp::create(b, loc, b.getI1Type(), bound.lanes, ValueRange{math.constant(0)}));
      bound = {};
    }
    if (inner.residual)
      inner.residual = BroadcastOp::create(b, loc, op.getType(), inner.residual);
    return inner;
  }

  // x < y with x - y = offset + step * i along one dimension.
  std::optional<Conjunction> comparison(arith::CmpIPredicate predicate, arith::CmpIOp op) {
    using P = arith::CmpIPredicate;
    if (predicate != P::slt && predicate != P::sle && predicate != P::sgt && predicate != P::sge && predicate != P::eq &&
        predicate != P::ne)
      return unsignedComparison(predicate, op);
    auto x = math.analyse(op.getLhs()), y = x ? math.analyse(op.getRhs()) : std::nullopt;
    if (!y || x->base || y->base)
      return std::nullopt;
    bool far = !isSmall(op.getLhs(), *x) || !isSmall(op.getRhs(), *y);
    auto difference = math.subtract(*x, *y);
    if (!difference)
      return std::nullopt;
    if (far)
      difference->offset = saturatedDifference(x->offset, y->offset);
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < difference->shape.size(); ++d)
      if (difference->vectors[d] || (difference->steps[d] && difference->shape[d] > 1))
        dims.push_back(d);
    int dim = dims.empty() ? -1 : dims[0];
    if (dims.size() > 1)
      dim = leading(*difference, dims, predicate);
    if (dims.size() > 1 && dim < 0)
      return std::nullopt;
    Conjunction result;
    result.bounds.resize(difference->shape.size());
    if (dim < 0) {
      result.uniform = compare(predicate, math.materialise(difference->offset), math.constant(0));
      return result;
    }
    Bound &bound = result.bounds[dim];
    auto step = constantOf(difference->steps[dim]);
    bool affine = !difference->vectors[dim] && step && *step != 0 && (predicate != P::eq || std::abs(*step) == 1);
    if (int64_t most = farthest / 2 / difference->shape[dim];
        far && affine) // what stands for what is farther lies beyond all lanes
      affine = *step < most && *step > -most;
    if (!affine && far) {
      if (!isAlong(*x, dim) || !isAlong(*y, dim))
        return std::nullopt;
      bound.lanes = compare(predicate, math.lanes(*x, dim), math.lanes(*y, dim));
      return result;
    }
    if (!affine || predicate == P::ne) {
      Value lanes = math.lanes(*difference, dim);
      bound.lanes = compare(predicate, lanes, SplatOp::create(b, loc, lanes.getType(), math.constant(0)));
      return result;
    }
    Value offset = difference->offset;
    if (*step < 0) { // mirrored: offset + step * i < 0 is -offset - step * i > 0
      offset = math.sub({}, offset);
      predicate = predicate == P::slt   ? P::sgt
                  : predicate == P::sle ? P::sge
                  : predicate == P::sgt ? P::slt
                  : predicate == P::sge ? P::sle
                                        : predicate;
    }
    int64_t size = std::abs(*step);
    // With s = size: offset + s*i < 0 for i < ceil(-offset / s); offset + s*i <= 0 for i < ceil((1 - offset) / s).
    Value below = math.ceilDiv(math.sub({}, offset), size);
    Value notAbove = math.ceilDiv(math.sub(math.constant(1), offset), size);
    switch (predicate) {
    case P::slt:
      bound.hi = below;
      break;
    case P::sle:
      bound.hi = notAbove;
      break;
    case P::sgt:
      bound.lo = notAbove;
      break;
    case P::sge:
      bound.lo = below;
      break;
    default:
      bound.lo = below;
      bound.hi = notAbove;
      break;
    }
    return result;
  }

  /// No difference of such numbers leaves 64 bits.
  static bool isSmall(Value value) {
    if (!value || analysis::magnitudeOf(value) < farAway)
      return true;
    auto interval = analysis::intervalOf(value);
    return interval && interval->least >= -farthest / 2 && interval->greatest <= farthest / 2;
  }
  /// What is computed in fewer bits does not wrap, as addresses do not.
  static bool isSmall(Value operand, const Separable &form) {
    return isSmall(operand) || (isSmall(form.offset) && llvm::all_of(form.vectors, [](Value v) { return isSmall(v); }));
  }

  static bool isAlong(const Separable &form, unsigned dim) {
    for (unsigned d = 0; d < form.shape.size(); ++d)
      if (d != dim && form.dependsOn(d))
        return false;
    return true;
  }

  /// x - y, or what is as far from 0 as no index is where that leaves 64 bits.
  Value saturatedDifference(Value x, Value y) {
    auto clamped = [&](Value value) { return math.min(math.max(value, math.constant(-farthest)), math.constant(farthest)); };
    if (isSmall(x) || isSmall(y))
      return math.sub(isSmall(x) ? x : clamped(x), isSmall(y) ? y : clamped(y));
    auto minus = arith::SubIOp::create(b, loc, x, y);
    Value below = compare(arith::CmpIPredicate::slt, x, y),
          negative = compare(arith::CmpIPredicate::slt, minus, math.constant(0));
    Value wraps = arith::XOrIOp::create(b, loc, below, negative);
    Value limit = arith::SelectOp::create(b, loc, below, math.constant(-farthest), math.constant(farthest));
    return arith::SelectOp::create(b, loc, wraps, limit, clamped(minus));
  }

  /// The dimension of steps s beside which all others add less than s, as digits do. Where s divides the offset, as well, they do not decide
  /// what is below 0: offset + s*i + rest < 0 if offset + s*i < 0. -1: there is none.
  int leading(const Separable &difference, ArrayRef<unsigned> dims, arith::CmpIPredicate predicate) {
    int64_t most = 0, all = 0, sign = 0;
    int found = -1;
    for (unsigned d : dims) {
      auto step = constantOf(difference.steps[d]);
      if (difference.vectors[d] || !step || !*step || *step * sign < 0)
        return -1;
      sign = *step < 0 ? -1 : 1;
      all += std::abs(*step) * (difference.shape[d] - 1);
      if (std::abs(*step) > most) {
        most = std::abs(*step);
        found = d;
      }
    }
    using P = arith::CmpIPredicate;
    bool belowZero = sign > 0 ? predicate == P::slt || predicate == P::sge : predicate == P::sgt || predicate == P::sle;
    bool digits = all - most * (difference.shape[found] - 1) < most;
    return belowZero && digits && analysis::divisorOf(math.materialise(difference.offset)) % most == 0 ? found : -1;
  }

  /// Of numbers that depend on one dimension at most.
  std::optional<Conjunction> unsignedComparison(arith::CmpIPredicate predicate, arith::CmpIOp op) {
    auto x = math.analyse(op.getLhs()), y = x ? math.analyse(op.getRhs()) : std::nullopt;
    if (!y || x->base || y->base)
      return std::nullopt;
    SmallVector<unsigned> dims;
    for (unsigned d = 0; d < x->shape.size(); ++d)
      if (x->dependsOn(d) || y->dependsOn(d))
        dims.push_back(d);
    Conjunction result;
    result.bounds.resize(x->shape.size());
    if (dims.empty())
      result.uniform = compare(predicate, math.materialise(x->offset), math.materialise(y->offset));
    else if (dims.size() == 1)
      result.bounds[dims[0]].lanes = compare(predicate, math.lanes(*x, dims[0]), math.lanes(*y, dims[0]));
    return dims.size() < 2 ? std::optional(result) : std::nullopt;
  }

  Conjunction other(Value mask) {
    Conjunction result;
    ArrayRef<int64_t> shape = shapeOf(mask.getType());
    result.bounds.resize(shape.size());
    if (llvm::count_if(shape, [](int64_t size) { return size != 1; }) > 1) {
      result.residual = mask;
      return result;
    }
    unsigned dim = llvm::find_if(shape, [](int64_t size) { return size != 1; }) - shape.begin();
    result.bounds[dim == shape.size() ? 0 : dim].lanes = math.flatten(mask);
    return result;
  }

  static constexpr unsigned farAway = 62;
  static constexpr int64_t farthest = int64_t(1) << farAway;

  OpBuilder &b;
  Location loc;
  SeparableAnalysis &math;
};

struct RaiseAccesses : PassWrapper<RaiseAccesses, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseAccesses)
  StringRef getArgument() const final { return "raise-accesses"; }
  StringRef getDescription() const final { return "pointer tiles with masks become separable accesses"; }

  void runOnOperation() final {
    SmallVector<PointerAccessOp> accesses;
    getOperation().walk([&](PointerAccessOp op) { accesses.push_back(op); });
    for (PointerAccessOp op : accesses)
      raise(op);
    SmallVector<AccessOp> masked;
    getOperation().walk([&](AccessOp op) {
      if (op.getResidual() && isa<RankedTensorType>(op.getResidual().getType()))
        masked.push_back(op);
    });
    for (AccessOp op : masked)
      fold(op);
    removeDeadCarried(getOperation());
  }

  void raise(PointerAccessOp op) {
    OpBuilder b(op);
    SeparableAnalysis math(b, op.getLoc());
    auto form = math.analyse(op.getPtrs());
    if (!form || !form->base)
      return; // one address a lane remains
    Conjunction mask;
    mask.bounds.resize(form->shape.size());
    if (op.getMask())
      mask = MaskAnalysis(b, op.getLoc(), math).analyse(op.getMask());

    SmallVector<Value> steps;
    for (unsigned d = 0; d < form->shape.size(); ++d) {
      Separable one = *form;
      one.offset = {};
      steps.push_back(form->vectors[d] ? math.lanes(one, d) : math.materialise(form->steps[d]));
    }
    replace(op, math, form->base, math.materialise(form->offset), steps, mask);
  }

  /// Moves what a residual mask says of single dimensions into their bounds.
  void fold(AccessOp op) {
    OpBuilder b(op);
    SeparableAnalysis math(b, op.getLoc());
    MaskAnalysis masks(b, op.getLoc(), math);
    Conjunction old;
    for (auto [d, kind] : llvm::enumerate(op.getBoundKinds())) {
      Bound &bound = old.bounds.emplace_back();
      if (kind == 1)
        bound.lo = op.getBound(d)[0], bound.hi = op.getBound(d)[1];
      else if (kind == 2)
        bound.lanes = op.getBound(d)[0];
    }
    Conjunction mask = masks.analyse(op.getResidual());
    if (mask.residual != op.getResidual())
      replace(op, math, op.getBase(), op.getOffset(), llvm::to_vector(op.getSteps()), masks.merge(old, mask));
  }

  static void replace(Operation *op, SeparableAnalysis &math, Value base, Value offset, ArrayRef<Value> steps, Conjunction mask) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto type = cast<AccessType>(op->getResult(0).getType());
    SmallVector<Value> bounds;
    SmallVector<int32_t> kinds;
    auto isLoop = [](int64_t size) { return size > 1; };
    size_t home = std::min<size_t>(llvm::find_if(type.getShape(), isLoop) - type.getShape().begin(),
                                   std::max<int64_t>(type.getRank() - 1, 0));
    for (auto [d, size] : llvm::enumerate(type.getShape())) {
      Bound &bound = mask.bounds[d];
      if (d == home && mask.uniform) { // no lane of one dimension exists unless it holds: of one that is a loop
        Value hi = bound.hi ? bound.hi : math.constant(size);
        bound.hi = arith::SelectOp::create(b, loc, mask.uniform, hi, math.constant(0));
      }
      bool interval = bound.lo || bound.hi;
      Value lo = bound.lo ? bound.lo : math.constant(0), hi = bound.hi ? bound.hi : math.constant(size);
      if (bound.lanes) {
        if (interval)
          bound.lanes = arith::AndIOp::create(b, loc, bound.lanes, within(b, loc, size, lo, hi));
        kinds.push_back(2);
        bounds.push_back(bound.lanes);
      } else if (interval) {
        kinds.push_back(1);
        bounds.append({lo, hi});
      } else {
        kinds.push_back(0);
      }
    }
    Value residual = type.getShape().empty() ? mask.uniform : mask.residual;
    auto access = AccessOp::create(b, loc, type, base, offset, steps, bounds, residual, kinds);
    op->replaceAllUsesWith(access);
    op->erase();
  }

  static Value within(OpBuilder &b, Location loc, int64_t size, Value lo, Value hi) {
    auto type = RankedTensorType::get({size}, b.getI64Type());
    Value index = RangeOp::create(b, loc, RankedTensorType::get({size}, b.getI32Type()), 0, size);
    index = arith::ExtSIOp::create(b, loc, type, index);
    Value above = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, index, SplatOp::create(b, loc, type, lo));
    Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, SplatOp::create(b, loc, type, hi));
    return arith::AndIOp::create(b, loc, above, below);
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createRaiseAccesses() { return std::make_unique<RaiseAccesses>(); }
