// lower-views: a window of a root -> separable access with lane intervals.
#include "compiler/passes/passes.h"
#include "compiler/passes/separable.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {
struct LowerViews : PassWrapper<LowerViews, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerViews)
  StringRef getArgument() const final { return "lower-views"; }
  StringRef getDescription() const final { return "views of roots become separable accesses"; }

  void runOnOperation() final {
    SmallVector<ViewOp> views;
    getOperation().walk([&](ViewOp op) { views.push_back(op); });
    for (ViewOp op : views)
      lower(op);
    getOperation().walk([](RootOp op) {
      if (op.use_empty())
        op.erase();
    });
  }

  void lower(ViewOp op) {
    auto root = op.getRoot().getDefiningOp<RootOp>();
    if (!root)
      return;
    OpBuilder b(op);
    Location loc = op.getLoc();
    SeparableAnalysis math(b, loc);
    ArrayRef<int64_t> shape = op.getType().getShape(), dims = op.getDims();
    unsigned rank = shape.size(), rootRank = root.getExtents().size();
    auto read = [&](Value value) { return math.scalar(value); };

    Value offset, uniform, residual;
    if (Value mask = op.getResidual())
      (isa<RankedTensorType>(mask.getType()) ? residual : uniform) = mask;
    SmallVector<Value> starts, steps(rank), lo(rank), hi(rank);
    SmallVector<SmallVector<unsigned>> walkers(rootRank);
    for (unsigned k = 0; k < rootRank; ++k) {
      starts.push_back(read(op.getStarts()[k]));
      offset = math.add(offset, math.mul(starts[k], read(root.getStrides()[k])));
    }
    auto dilation = [&](unsigned d) { return op.getDilations().empty() ? math.constant(1) : read(op.getDilations()[d]); };
    for (unsigned d = 0; d < rank; ++d)
      if (dims[d] >= 0) {
        steps[d] = math.mul(dilation(d), read(root.getStrides()[dims[d]]));
        if (shape[d] > 1)
          walkers[dims[d]].push_back(d);
      }
    auto tighten = [&](unsigned d, Value low, Value high) {
      lo[d] = lo[d] ? math.max(lo[d], low) : low;
      hi[d] = hi[d] ? math.min(hi[d], high) : high;
    };
    SmallVector<Value> lanes(rank);
    auto compare = [&](arith::CmpIPredicate p, Value x, Value y) -> Value { return arith::CmpIOp::create(b, loc, p, x, y); };
    auto both = [&](Value x, Value y) -> Value { return x ? arith::AndIOp::create(b, loc, x, y).getResult() : y; };
    for (unsigned k = 0; k < rootRank; ++k) {
      Value extent = root.getExtents()[k], start = starts[k];
      if (walkers[k].empty()) {
        uniform = both(uniform, compare(arith::CmpIPredicate::sge, math.materialise(start), math.constant(0)));
        uniform = both(uniform, compare(arith::CmpIPredicate::slt, math.materialise(start), extent));
        continue;
      }
      auto c = constantOf(dilation(walkers[k][0]));
      if (walkers[k].size() == 1 && c && *c > 0) { // 0 <= start + c * i < extent
        tighten(walkers[k][0], math.ceilDiv(math.sub({}, start), *c), math.ceilDiv(math.sub(extent, start), *c));
        continue;
      }
      // Several tile dimensions walk one root dimension, or a run-time dilation: compare positions.
      Separable position;
      position.offset = start;
      position.shape.assign(shape.begin(), shape.end());
      position.steps.resize(rank);
      position.vectors.resize(rank);
      for (unsigned d : walkers[k])
        position.steps[d] = dilation(d);
      Value tile;
      SmallVector<int64_t> full(shape);
      if (walkers[k].size() == 1) {
        tile = math.lanes(position, walkers[k][0]);
        full = {shape[walkers[k][0]]};
      } else {
        for (auto [n, d] : llvm::enumerate(walkers[k])) {
          Value term = math.lanes(position, d);
          position.offset = {};
          SmallVector<int64_t> thin(rank, 1);
          thin[d] = shape[d];
          term = ReshapeOp::create(b, loc, RankedTensorType::get(thin, b.getI64Type()), term);
          term = BroadcastOp::create(b, loc, RankedTensorType::get(full, b.getI64Type()), term);
          tile = n ? arith::AddIOp::create(b, loc, tile, term).getResult() : term;
        }
      }
      Value inside = compare(arith::CmpIPredicate::sge, tile, SplatOp::create(b, loc, tile.getType(), math.constant(0)));
      inside = both(inside, compare(arith::CmpIPredicate::slt, tile, SplatOp::create(b, loc, tile.getType(), extent)));
      if (walkers[k].size() == 1)
        lanes[walkers[k][0]] = both(lanes[walkers[k][0]], inside);
      else
        residual = both(residual, inside);
    }
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

    SmallVector<Value> bounds;
    SmallVector<int32_t> kinds;
    for (unsigned d = 0; d < rank; ++d) {
      steps[d] = math.materialise(steps[d]);
      if (lanes[d] && lo[d]) { // an interval beside a lane mask becomes part of the mask
        auto type = RankedTensorType::get({shape[d]}, b.getI64Type());
        Separable index;
        index.shape = {shape[d]};
        index.steps = {math.constant(1)};
        index.vectors = {Value()};
        Value i = math.lanes(index, 0);
        lanes[d] = both(lanes[d], compare(arith::CmpIPredicate::sge, i, SplatOp::create(b, loc, type, lo[d])));
        lanes[d] = both(lanes[d], compare(arith::CmpIPredicate::slt, i, SplatOp::create(b, loc, type, hi[d])));
      }
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
    auto access = AccessOp::create(b, loc, type, root.getBase(), math.materialise(offset), steps, bounds, residual, kinds);
    op.replaceAllUsesWith(access.getResult());
    op.erase();
  }
};
} // namespace

std::unique_ptr<Pass> tilery::createLowerViews() { return std::make_unique<LowerViews>(); }
