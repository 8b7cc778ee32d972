// lower-views: a window of a root -> separable access with lane intervals.
#include "compiler/passes/passes.h"
#include "compiler/passes/separable.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// One view on its way: where its lanes lie, and which of them exist.
class ViewLowering {
public:
  ViewLowering(ViewOp op, RootOp root)
      : op(op), root(root), b(op), loc(op.getLoc()), math(b, loc), shape(op.getType().getShape()), rank(shape.size()),
        steps(rank), lo(rank), hi(rank), lanes(rank), walkers(root.getExtents().size()) {}

  AccessOp lower() {
    if (Value mask = op.getResidual())
      (isa<RankedTensorType>(mask.getType()) ? residual : uniform) = mask;
    base = root.getBase();
    if (auto form = math.analyse(base); form && form->base) {
      base = form->base;
      offset = form->offset;
    }
    place();
    for (unsigned k = 0; k < walkers.size(); ++k)
      keepInside(k);
    for (unsigned d = 0; d < op.getLimits().size(); ++d) {
      Value limit = math.materialise(read(op.getLimits()[d]));
      if (auto c = constantOf(limit); !c || *c < shape[d])
        tighten(d, math.constant(0), limit);
    }
    if (uniform && rank) { // no lane of one dimension exists unless it holds: of one that is a loop
      unsigned d = std::min<unsigned>(llvm::find_if(shape, [](int64_t size) { return size > 1; }) - shape.begin(), rank - 1);
      Value high = hi[d] ? hi[d] : math.constant(shape[d]);
      tighten(d, math.constant(0), arith::SelectOp::create(b, loc, uniform, high, math.constant(0)));
    } else if (uniform) {
      residual = uniform;
    }
    return access();
  }

private:
  /// What a loop moves by the same amount each time is a function of its counter.
  Value read(Value value) {
    auto form = math.analyse(value);
    return form ? form->offset : math.scalar(value);
  }
  Value dilation(unsigned d) { return op.getDilations().empty() ? math.constant(1) : read(op.getDilations()[d]); }
  Value compare(arith::CmpIPredicate p, Value x, Value y) { return arith::CmpIOp::create(b, loc, p, x, y); }
  Value both(Value x, Value y) { return x ? arith::AndIOp::create(b, loc, x, y).getResult() : y; }
  Value everyLane(Value tile, Value scalar) { return SplatOp::create(b, loc, tile.getType(), scalar); }
  void tighten(unsigned d, Value low, Value high) {
    if (auto least = constantOf(low), most = constantOf(high); least && most && *least <= 0 && *most >= shape[d])
      return; // every lane lies inside
    lo[d] = lo[d] ? math.max(lo[d], low) : low;
    hi[d] = hi[d] ? math.min(hi[d], high) : high;
  }

  /// Offset, steps, and which dimensions of the tile walk each one of the root.
  void place() {
    for (unsigned k = 0; k < walkers.size(); ++k) {
      starts.push_back(read(op.getStarts()[k]));
      offset = math.add(offset, math.mul(starts[k], read(root.getStrides()[k])));
    }
    ArrayRef<int64_t> dims = op.getDims();
    for (unsigned d = 0; d < rank; ++d)
      if (dims[d] >= 0) {
        steps[d] = math.mul(dilation(d), read(root.getStrides()[dims[d]]));
        if (shape[d] > 1)
          walkers[dims[d]].push_back(d);
      }
  }

  /// Lanes outside dimension `k` of the root do not exist.
  void keepInside(unsigned k) {
    Value extent = root.getExtents()[k], start = starts[k];
    if (walkers[k].empty()) {
      uniform = both(uniform, compare(arith::CmpIPredicate::sge, math.materialise(start), math.constant(0)));
      uniform = both(uniform, compare(arith::CmpIPredicate::slt, math.materialise(start), extent));
      return;
    }
    unsigned first = walkers[k][0];
    bool alone = walkers[k].size() == 1;
    auto c = constantOf(dilation(first));
    if (alone && c && *c > 0) { // 0 <= start + c * i < extent
      tighten(first, math.ceilDiv(math.sub({}, start), *c), math.ceilDiv(math.sub(extent, start), *c));
      return;
    }
    // Several tile dimensions walk one root dimension, or a run-time dilation: compare positions.
    Value tile = positions(k);
    Value inside = compare(arith::CmpIPredicate::sge, tile, everyLane(tile, math.constant(0)));
    inside = both(inside, compare(arith::CmpIPredicate::slt, tile, everyLane(tile, extent)));
    Value &mask = alone ? lanes[first] : residual;
    mask = both(mask, inside);
  }

  /// Each lane's position in dimension `k` of the root: a tile of rank 1 if one dimension walks it, else of the view's shape.
  Value positions(unsigned k) {
    Separable position;
    position.offset = starts[k];
    position.shape.assign(shape.begin(), shape.end());
    position.steps.resize(rank);
    position.vectors.resize(rank);
    for (unsigned d : walkers[k])
      position.steps[d] = dilation(d);
    if (walkers[k].size() == 1)
      return math.lanes(position, walkers[k][0]);
    Value tile;
    for (unsigned d : walkers[k]) {
      Value term = math.lanes(position, d);
      position.offset = {};
      SmallVector<int64_t> thin(rank, 1);
      thin[d] = shape[d];
      term = ReshapeOp::create(b, loc, RankedTensorType::get(thin, b.getI64Type()), term);
      term = BroadcastOp::create(b, loc, RankedTensorType::get(shape, b.getI64Type()), term);
      tile = tile ? arith::AddIOp::create(b, loc, tile, term).getResult() : term;
    }
    return tile;
  }

  /// An interval beside a lane mask becomes part of the mask.
  void maskInterval(unsigned d) {
    Separable index;
    index.shape = {shape[d]};
    index.steps = {math.constant(1)};
    index.vectors = {Value()};
    Value i = math.lanes(index, 0);
    lanes[d] = both(lanes[d], compare(arith::CmpIPredicate::sge, i, everyLane(i, lo[d])));
    lanes[d] = both(lanes[d], compare(arith::CmpIPredicate::slt, i, everyLane(i, hi[d])));
  }

  AccessOp access() {
    SmallVector<Value> bounds;
    SmallVector<int32_t> kinds;
    for (unsigned d = 0; d < rank; ++d) {
      steps[d] = math.materialise(steps[d]);
      if (lanes[d] && lo[d])
        maskInterval(d);
      if (lanes[d]) {
        kinds.push_back(2);
        bounds.push_back(lanes[d]);
      } else if (lo[d]) {
        kinds.push_back(1);
        bounds.append({lo[d], hi[d]});
      } else {
        kinds.push_back(0);
      }
    }
    auto type = AccessType::get(op.getContext(), shape, op.getType().getElementType());
    return AccessOp::create(b, loc, type, base, math.materialise(offset), steps, bounds, residual, kinds);
  }

  ViewOp op;
  RootOp root;
  OpBuilder b;
  Location loc;
  SeparableAnalysis math;
  ArrayRef<int64_t> shape;
  unsigned rank;
  Value base, offset;                         // a pointer, and elements from it
  Value uniform, residual;                    // conditions of the whole tile, and of each lane; null: none
  SmallVector<Value> starts;                  // one a dimension of the root
  SmallVector<Value> steps;                   // one a dimension of the tile, as the following
  SmallVector<Value> lo, hi;                  // lanes [lo, hi) exist; null: all
  SmallVector<Value> lanes;                   // tensor<N x i1>: which ones exist; null: all
  SmallVector<SmallVector<unsigned>> walkers; // the dimensions of more than one lane that walk each one of the root
};

struct LowerViews : PassWrapper<LowerViews, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerViews)
  StringRef getArgument() const final { return "lower-views"; }
  StringRef getDescription() const final { return "views of roots become separable accesses"; }

  void runOnOperation() final {
    SmallVector<ViewOp> views;
    getOperation().walk([&](ViewOp op) { views.push_back(op); });
    for (ViewOp op : views)
      if (auto root = op.getRoot().getDefiningOp<RootOp>()) {
        op.replaceAllUsesWith(ViewLowering(op, root).lower().getResult());
        op.erase();
      }
    getOperation().walk([](RootOp op) {
      if (op.use_empty())
        op.erase();
    });
  }
};
} // namespace

std::unique_ptr<Pass> tilery::createLowerViews() { return std::make_unique<LowerViews>(); }
