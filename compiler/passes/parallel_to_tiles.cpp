// parallel-to-tiles: scalar code over a box of static extents becomes whole-tile ops.
//
// The body's iterations are unordered and race-free, so that each statement may run for all of them before the next one does.
// A value that depends on some loop variables becomes a tile of the box's rank with size 1 where it does not depend; a value
// that depends on none stays a scalar. Branches become masks and selects. What has no tile form keeps the whole
// tile.parallel as it is: targets run it as scalar loops.
#include "compiler/passes/parallel_affine.h"
#include "compiler/passes/passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

class Conversion {
public:
  Conversion(ParallelOp op, ArrayRef<int64_t> box)
      : op(op), box(box), builder(op.getContext()), affine(builder, op.getBody().getArguments(), box, [this](Value value) {
          return varying.contains(value) ? Value() : map.lookupOrDefault(value);
        }) {}

  /// Builds the tile form before the op and erases the op; leaves everything as it was if there is none.
  bool run() {
    Block scratch;
    builder.setInsertionPointToEnd(&scratch);
    findVarying();
    for (auto [d, var] : llvm::enumerate(op.getBody().getArguments()))
      map.map(var, loopTile(d, var));
    if (!convert(op.getBody().front())) {
      scratch.dropAllReferences();
      return false;
    }
    op->getBlock()->getOperations().splice(op->getIterator(), scratch.getOperations());
    op.erase();
    return true;
  }

private:
  /// Marks what may differ between iterations. Loads of uniform places do not: no iteration writes what another one reads.
  /// A pointer that only some iterations may follow is an exception: the load is a tile with their mask.
  void findVarying() {
    varying.insert(op.getBody().args_begin(), op.getBody().args_end());
    auto any = [&](ValueRange values) { return llvm::any_of(values, [&](Value v) { return varying.contains(v); }); };
    for (size_t before = 0; before != varying.size();) {
      before = varying.size();
      op.getBody().walk([&](Operation *inner) {
        auto load = dyn_cast<LoadOp>(inner);
        bool guarded = load && load.getPlace().getDefiningOp<PointerAccessOp>() && inner->getParentOfType<scf::IfOp>();
        if (guarded || any(inner->getOperands()) || isa<AtomicRmwOp, AtomicCasOp, ElementUpdateOp>(inner))
          varying.insert(inner->result_begin(), inner->result_end());
        if (auto branch = dyn_cast<scf::IfOp>(inner); branch && branch.getNumResults())
          for (unsigned i = 0; i < branch.getNumResults(); ++i)
            if (any({branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)}))
              varying.insert(branch.getResult(i));
        if (auto loop = dyn_cast<scf::ForOp>(inner))
          for (unsigned i = 0; i < loop.getNumResults(); ++i)
            if (any({loop.getInitArgs()[i], loop.getYieldedValues()[i]}))
              varying.insert(loop.getResult(i)), varying.insert(loop.getRegionIterArg(i));
      });
    }
  }

  // Shapes: every tile has the box's rank.
  SmallVector<int64_t> thin() const { return SmallVector<int64_t>(box.size(), 1); }
  void cover(SmallVectorImpl<int64_t> &shape, Value value) const {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      for (auto [size, other] : llvm::zip(shape, type.getShape()))
        size = std::max(size, other);
  }
  /// A converted value in every lane of `shape`.
  Value spread(Value value, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value));
    if (value.getType() == type)
      return value;
    if (isa<RankedTensorType>(value.getType()))
      return BroadcastOp::create(builder, value.getLoc(), type, value);
    return SplatOp::create(builder, value.getLoc(), type, value);
  }
  /// A tile over the loop dimensions `dims` (increasing) as a tile of the box's rank.
  Value stretch(Value tile, ArrayRef<int64_t> dims) {
    SmallVector<int64_t> shape(shapeOf(tile.getType()));
    for (unsigned d = 0; d < box.size(); ++d)
      if (!llvm::is_contained(dims, d)) {
        shape.insert(shape.begin() + d, 1);
        tile = ExpandDimsOp::create(builder, tile.getLoc(), tileOf(shape, getElementTypeOrSelf(tile)), tile, d);
      }
    return tile;
  }
  Value loopTile(unsigned d, BlockArgument var) {
    Value tile = RangeOp::create(builder, var.getLoc(), RankedTensorType::get(box[d], builder.getI32Type()), 0, box[d]);
    if (!var.getType().isInteger(32))
      tile = arith::ExtSIOp::create(builder, var.getLoc(), RankedTensorType::get(box[d], var.getType()), tile);
    return stretch(tile, {int64_t(d)});
  }

  Value both(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    SmallVector<int64_t> shape = thin();
    cover(shape, a), cover(shape, b);
    bool tiles = isa<RankedTensorType>(a.getType()) || isa<RankedTensorType>(b.getType());
    return arith::AndIOp::create(builder, a.getLoc(), tiles ? spread(a, shape) : a, tiles ? spread(b, shape) : b);
  }

  bool convert(Block &block) {
    return llvm::all_of(block.without_terminator(), [&](Operation &inner) { return convert(inner); });
  }

  bool convert(Operation &inner) {
    if (auto branch = dyn_cast<scf::IfOp>(inner))
      return convertIf(branch);
    if (auto loop = dyn_cast<scf::ForOp>(inner))
      return convertFor(loop);
    if (isa<ViewOp, PointerAccessOp>(inner))
      return true; // converted where it is used
    if (auto load = dyn_cast<LoadOp>(inner))
      return varying.contains(load) ? convertLoad(load) : cloneLoad(load);
    if (auto store = dyn_cast<StoreOp>(inner))
      return convertStore(store);
    if (auto load = dyn_cast<ElementLoadOp>(inner); load && varying.contains(load))
      return convertElementLoad(load);
    if (auto store = dyn_cast<ElementStoreOp>(inner))
      return convertElementStore(store);
    if (auto update = dyn_cast<ElementUpdateOp>(inner))
      return update->use_empty() && convertUpdate(update);
    if (isa<AtomicRmwOp, AtomicCasOp>(inner))
      return convertAtomic(inner);
    if (inner.getNumRegions())
      return false;
    if (llvm::none_of(inner.getResults(), [&](Value v) { return varying.contains(v); })) {
      if (!isa<ElementLoadOp>(inner) && !isPure(&inner))
        return false;
      builder.clone(inner, map);
      return true;
    }
    return OpTrait::hasElementwiseMappableTraits(&inner) && convertElementwise(inner);
  }

  bool convertElementwise(Operation &inner) {
    SmallVector<int64_t> shape = thin();
    for (Value operand : inner.getOperands())
      cover(shape, map.lookupOrDefault(operand));
    OperationState state(inner.getLoc(), inner.getName());
    for (Value operand : inner.getOperands())
      state.addOperands(spread(map.lookupOrDefault(operand), shape));
    for (Type type : inner.getResultTypes())
      state.addTypes(RankedTensorType::get(shape, type));
    state.addAttributes(inner.getAttrs());
    map.map(inner.getResults(), builder.create(state)->getResults());
    return true;
  }

  bool convertIf(scf::IfOp branch) {
    Value condition = map.lookupOrDefault(branch.getCondition()), outer = mask;
    mask = both(outer, condition);
    if (!convert(*branch.thenBlock()))
      return false;
    if (branch.elseBlock()) {
      Value one = arith::ConstantOp::create(builder, branch.getLoc(), builder.getOneAttr(condition.getType()));
      mask = both(outer, arith::XOrIOp::create(builder, branch.getLoc(), condition, one));
      if (!convert(*branch.elseBlock()))
        return false;
    }
    mask = outer;
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      Value yes = map.lookupOrDefault(branch.thenYield().getOperand(i)),
            no = map.lookupOrDefault(branch.elseYield().getOperand(i));
      if (varying.contains(result)) {
        SmallVector<int64_t> shape = thin();
        cover(shape, yes), cover(shape, no), cover(shape, condition);
        yes = spread(yes, shape), no = spread(no, shape);
        if (isa<RankedTensorType>(condition.getType()))
          map.map(result, arith::SelectOp::create(builder, branch.getLoc(), spread(condition, shape), yes, no));
        else
          map.map(result, arith::SelectOp::create(builder, branch.getLoc(), condition, yes, no));
      } else {
        map.map(result, arith::SelectOp::create(builder, branch.getLoc(), condition, yes, no));
      }
    }
    return true;
  }

  bool convertFor(scf::ForOp loop) {
    SmallVector<Value> inits;
    for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (varying.contains(bound))
        return false;
    for (auto [init, arg] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
      Value value = map.lookupOrDefault(init);
      inits.push_back(varying.contains(arg) ? spread(value, box) : value);
    }
    auto bound = [&](Value v) { return map.lookupOrDefault(v); };
    auto next = scf::ForOp::create(builder, loop.getLoc(), bound(loop.getLowerBound()), bound(loop.getUpperBound()),
                                   bound(loop.getStep()), inits, nullptr, loop.getUnsignedCmp());
    next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    map.map(loop.getInductionVar(), next.getInductionVar());
    map.map(loop.getRegionIterArgs(), next.getRegionIterArgs());
    map.map(loop.getResults(), next.getResults());
    OpBuilder::InsertionGuard guard(builder);
    Block *body = next.getBody();
    if (body->mightHaveTerminator())
      body->getTerminator()->erase();
    builder.setInsertionPointToEnd(body);
    if (!convert(*loop.getBody()))
      return false;
    SmallVector<Value> yields;
    for (auto [yielded, arg] : llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs())) {
      Value value = map.lookupOrDefault(yielded);
      yields.push_back(varying.contains(arg) ? spread(value, box) : value);
    }
    scf::YieldOp::create(builder, loop.getLoc(), yields);
    return true;
  }

  // Global memory.

  /// `place` as a tile place over `dims` of the box: all of them, or for a load those it depends on. Null: none exists.
  Value tilePlace(Value place, SmallVectorImpl<int64_t> &dims, bool load) {
    if (auto view = place.getDefiningOp<ViewOp>(); view && view.getType().getRank() == 0)
      return tileView(view, dims, load);
    auto access = place.getDefiningOp<PointerAccessOp>();
    if (!access || access.getType().getRank() != 0)
      return {};
    Value ptrs = map.lookupOrDefault(access.getPtrs()), exists = mask;
    if (access.getMask())
      exists = both(mask, map.lookupOrDefault(access.getMask()));
    SmallVector<int64_t> shape = thin();
    cover(shape, ptrs);
    if (exists)
      cover(shape, exists);
    if (!load)
      shape.assign(box.begin(), box.end());
    dims.assign(llvm::seq<int64_t>(0, box.size()).begin(), llvm::seq<int64_t>(0, box.size()).end());
    auto type = AccessType::get(shape, access.getType().getElementType());
    return PointerAccessOp::create(builder, access.getLoc(), type, spread(ptrs, shape), exists ? spread(exists, shape) : Value());
  }

  Value tileView(ViewOp view, SmallVectorImpl<int64_t> &dims, bool load) {
    // Lanes outside a view do not exist, so that a load needs no mask of the branch it stands in.
    Value exists = view.getResidual() ? map.lookupOrDefault(view.getResidual()) : Value();
    if (!load)
      exists = both(mask, exists);
    SmallVector<int64_t> covered = thin();
    if (exists)
      cover(covered, exists);
    SmallVector<int64_t> rootDim(box.size(), -1), dilation(box.size(), 1);
    SmallVector<Value> starts;
    for (auto [k, start] : llvm::enumerate(view.getStarts())) {
      auto position = affine.read(start);
      if (!position)
        return {};
      starts.push_back(position->start(builder, view.getLoc()));
      for (unsigned d = 0; d < box.size(); ++d)
        if (int64_t c = position->coefficients[d]) {
          if (rootDim[d] >= 0)
            return {};
          rootDim[d] = k, dilation[d] = c;
        }
    }
    SmallVector<int64_t> shape, roots;
    SmallVector<Value> dilations;
    for (unsigned d = 0; d < box.size(); ++d)
      if (!load || rootDim[d] >= 0 || covered[d] > 1) {
        dims.push_back(d), shape.push_back(box[d]), roots.push_back(rootDim[d]);
        dilations.push_back(arith::ConstantOp::create(builder, view.getLoc(), builder.getI64IntegerAttr(dilation[d])));
      }
    if (exists && isa<RankedTensorType>(exists.getType())) {
      SmallVector<int64_t> kept = thin();
      for (int64_t d : dims)
        kept[d] = box[d];
      exists = spread(exists, kept);
      if (dims.size() != box.size())
        exists = ReshapeOp::create(builder, view.getLoc(), tileOf(shape, builder.getI1Type()), exists);
    }
    auto type = ViewType::get(shape, view.getType().getElementType());
    return ViewOp::create(builder, view.getLoc(), type, map.lookupOrDefault(view.getRoot()), starts, dilations, ValueRange(),
                          exists, roots);
  }

  bool convertLoad(LoadOp load) {
    SmallVector<int64_t> dims;
    Value place = tilePlace(load.getPlace(), dims, true);
    if (!place)
      return false;
    ArrayRef<int64_t> shape = isa<ViewType>(place.getType()) ? cast<ViewType>(place.getType()).getShape()
                                                             : cast<AccessType>(place.getType()).getShape();
    Value other = load.getOther() ? map.lookupOrDefault(load.getOther()) : Value();
    if (other && isa<RankedTensorType>(other.getType()) && shape.size() != box.size())
      return false;
    if (other && !shape.empty())
      other = spread(other, shape);
    auto next = LoadOp::create(builder, load.getLoc(), tileOf(shape, load.getType()), place, other, load.getIsVolatile(),
                               load.getCacheAttr(), load.getEvictionAttr());
    map.map(load.getResult(), shape.empty() ? spread(next, thin()) : shape.size() == box.size() ? next : stretch(next, dims));
    return true;
  }
  bool cloneLoad(LoadOp load) {
    if (Operation *place = load.getPlace().getDefiningOp(); place && op->isProperAncestor(place))
      builder.clone(*place, map);
    builder.clone(*load, map);
    return true;
  }

  bool convertStore(StoreOp store) {
    SmallVector<int64_t> dims;
    Value place = tilePlace(store.getPlace(), dims, false);
    if (!place || repeats(place))
      return false;
    StoreOp::create(builder, store.getLoc(), place, spread(map.lookupOrDefault(store.getValue()), box), store.getIsVolatile(),
                    store.getCacheAttr(), store.getEvictionAttr());
    return true;
  }
  /// Do two iterations share an element of `place`?
  bool repeats(Value place) const {
    auto view = place.getDefiningOp<ViewOp>();
    return view && llvm::any_of(llvm::zip(view.getDims(), box), [](auto pair) {
             auto [dim, size] = pair;
             return dim < 0 && size > 1;
           });
  }

  bool convertAtomic(Operation &inner) {
    SmallVector<int64_t> dims;
    Value place = tilePlace(inner.getOperand(0), dims, false);
    if (!place)
      return false;
    OperationState state(inner.getLoc(), inner.getName());
    state.addOperands(place);
    for (Value operand : llvm::drop_begin(inner.getOperands()))
      state.addOperands(spread(map.lookupOrDefault(operand), box));
    state.addTypes(RankedTensorType::get(box, inner.getResult(0).getType()));
    state.addAttributes(inner.getAttrs());
    map.map(inner.getResults(), builder.create(state)->getResults());
    return true;
  }

  // Buffers.

  /// The window of a buffer that the box walks; order[n] is the loop dimension of window dimension n. Null: none exists.
  Value window(TypedValue<BufferType> buffer, ValueRange indices, Location loc, SmallVectorImpl<int64_t> &order) {
    SmallVector<Value> offsets;
    SmallVector<int64_t> dims, shape;
    bool whole = true;
    for (auto [k, index] : llvm::enumerate(indices)) {
      auto position = affine.read(index);
      if (!position)
        return {};
      if (!position->isUniform()) {
        auto d = position->walks();
        if (!d || llvm::is_contained(order, *d) || box[*d] > buffer.getType().getShape()[k])
          return {};
        order.push_back(*d), dims.push_back(k), shape.push_back(box[*d]);
        whole &= !position->base && position->constant == 0 && box[*d] == buffer.getType().getShape()[k];
      } else {
        whole = false;
      }
      offsets.push_back(position->start(builder, loc));
    }
    Value outside = map.lookupOrDefault(Value(buffer));
    if (whole)
      return outside;
    auto type = BufferType::get(shape, buffer.getType().getElementType(), buffer.getType().getSpace());
    return SubviewOp::create(builder, loc, type, outside, offsets, dims);
  }

  bool convertElementLoad(ElementLoadOp load) {
    SmallVector<int64_t> order;
    Value from = window(load.getBuffer(), load.getIndices(), load.getLoc(), order);
    if (!from || order.empty())
      return false;
    Value tile = BufferLoadOp::create(builder, load.getLoc(), cast<BufferType>(from.getType()).getTileType(), from);
    SmallVector<int64_t> dims(order), permutation, shape;
    llvm::sort(dims);
    for (int64_t d : dims) {
      permutation.push_back(llvm::find(order, d) - order.begin());
      shape.push_back(box[d]);
    }
    if (!llvm::is_sorted(order))
      tile = PermuteOp::create(builder, load.getLoc(), tileOf(shape, load.getType()), tile, permutation);
    map.map(load.getResult(), stretch(tile, dims));
    return true;
  }

  bool convertElementStore(ElementStoreOp store) {
    SmallVector<int64_t> order;
    Value to = window(store.getBuffer(), store.getIndices(), store.getLoc(), order);
    if (!to || order.empty())
      return false;
    for (unsigned d = 0; d < box.size(); ++d)
      if (box[d] > 1 && !llvm::is_contained(order, d))
        return false; // two iterations write one element
    auto arrange = [&](Value value) {
      Value tile = spread(value, box);
      SmallVector<int64_t> permutation, shape;
      for (unsigned d = 0; d < box.size(); ++d)
        if (!llvm::is_contained(order, d))
          permutation.push_back(d);
      permutation.append(order);
      for (int64_t d : permutation)
        shape.push_back(box[d]);
      Type element = getElementTypeOrSelf(tile);
      if (!llvm::is_sorted(permutation))
        tile = PermuteOp::create(builder, store.getLoc(), tileOf(shape, element), tile, permutation);
      if (order.size() != box.size())
        tile = ReshapeOp::create(builder, store.getLoc(), tileOf(ArrayRef(shape).take_back(order.size()), element), tile);
      return tile;
    };
    Value exists = mask ? arrange(mask) : Value();
    BufferStoreOp::create(builder, store.getLoc(), to, arrange(map.lookupOrDefault(store.getValue())), exists);
    return true;
  }

  // Updates: the values of the iterations that share an element are combined first.

  Value combine(RmwKind kind, Location loc, Value x, Value y) {
    switch (kind) {
    case RmwKind::add:
      return arith::AddIOp::create(builder, loc, x, y);
    case RmwKind::fadd:
      return arith::AddFOp::create(builder, loc, x, y);
    case RmwKind::max:
      return arith::MaxSIOp::create(builder, loc, x, y);
    case RmwKind::min:
      return arith::MinSIOp::create(builder, loc, x, y);
    case RmwKind::umax:
      return arith::MaxUIOp::create(builder, loc, x, y);
    case RmwKind::umin:
      return arith::MinUIOp::create(builder, loc, x, y);
    case RmwKind::fmax:
      return arith::MaxNumFOp::create(builder, loc, x, y);
    case RmwKind::fmin:
      return arith::MinNumFOp::create(builder, loc, x, y);
    case RmwKind::and_:
      return arith::AndIOp::create(builder, loc, x, y);
    case RmwKind::or_:
      return arith::OrIOp::create(builder, loc, x, y);
    case RmwKind::xor_:
      return arith::XOrIOp::create(builder, loc, x, y);
    case RmwKind::exchange:
      break;
    }
    llvm_unreachable("no combination");
  }
  /// What an iteration that a branch leaves out contributes.
  TypedAttr neutral(RmwKind kind, Type type) {
    if (auto real = dyn_cast<FloatType>(type)) {
      const llvm::fltSemantics &semantics = real.getFloatSemantics();
      return builder.getFloatAttr(real, kind == RmwKind::fadd ? APFloat::getZero(semantics, /*Negative=*/true)
                                                              : APFloat::getNaN(semantics)); // which loses
    }
    unsigned width = type.getIntOrFloatBitWidth();
    APInt value = APInt::getZero(width);
    if (kind == RmwKind::max)
      value = APInt::getSignedMinValue(width);
    else if (kind == RmwKind::min)
      value = APInt::getSignedMaxValue(width);
    else if (kind == RmwKind::umin || kind == RmwKind::and_)
      value = APInt::getAllOnes(width);
    return builder.getIntegerAttr(type, value);
  }

  Value reduced(RmwKind kind, Location loc, Value tile, int64_t axis) {
    SmallVector<int64_t> shape(shapeOf(tile.getType()));
    Type element = getElementTypeOrSelf(tile);
    shape.erase(shape.begin() + axis);
    auto reduce = ReduceOp::create(builder, loc, TypeRange(tileOf(shape, element)), ValueRange(tile), axis);
    OpBuilder::InsertionGuard guard(builder);
    Block &body = reduce.getCombine().emplaceBlock();
    body.addArguments({element, element}, {loc, loc});
    builder.setInsertionPointToStart(&body);
    YieldOp::create(builder, loc, ValueRange(combine(kind, loc, body.getArgument(0), body.getArgument(1))));
    return reduce.getResult(0);
  }

  bool convertUpdate(ElementUpdateOp update) {
    Location loc = update.getLoc();
    RmwKind kind = update.getKind();
    SmallVector<int64_t> order;
    Value to = kind == RmwKind::exchange ? Value() : window(update.getBuffer(), update.getIndices(), loc, order);
    if (!to)
      return false;
    Value value = spread(map.lookupOrDefault(update.getValue()), box);
    if (mask) {
      Value rest = arith::ConstantOp::create(builder, loc, neutral(kind, update.getValue().getType()));
      value = arith::SelectOp::create(builder, loc, spread(mask, box), value, spread(rest, box));
    }
    SmallVector<int64_t> dims(order), permutation;
    llvm::sort(dims);
    for (int64_t d = int64_t(box.size()); d-- > 0;)
      if (!llvm::is_contained(dims, d))
        value = reduced(kind, loc, value, d);
    for (int64_t d : order)
      permutation.push_back(llvm::find(dims, d) - dims.begin());
    Type tile = cast<BufferType>(to.getType()).getTileType();
    if (!llvm::is_sorted(permutation))
      value = PermuteOp::create(builder, loc, tile, value, permutation);
    Value old = BufferLoadOp::create(builder, loc, tile, to);
    BufferStoreOp::create(builder, loc, to, combine(kind, loc, old, value), Value());
    return true;
  }

  ParallelOp op;
  ArrayRef<int64_t> box;
  OpBuilder builder;
  IRMapping map;           // body value -> its scalar or tile
  DenseSet<Value> varying; // body values that may differ between iterations
  AffineReader affine;
  Value mask; // iterations that reach the current point; null: all
};

struct ParallelToTiles : PassWrapper<ParallelToTiles, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ParallelToTiles)
  StringRef getArgument() const final { return "parallel-to-tiles"; }
  StringRef getDescription() const final { return "turn scalar code over static boxes into tile ops"; }

  void runOnOperation() final {
    SmallVector<ParallelOp> ops;
    getOperation().walk([&](ParallelOp op) { ops.push_back(op); });
    for (ParallelOp op : ops) {
      SmallVector<int64_t> box;
      for (Value extent : op.getExtents())
        if (APInt n; matchPattern(extent, m_ConstantInt(&n)) && n.isStrictlyPositive())
          box.push_back(n.getSExtValue());
      if (box.size() == op.getExtents().size() && !op->getParentOfType<ThreadsOp>())
        Conversion(op, box).run();
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createParallelToTiles() { return std::make_unique<ParallelToTiles>(); }
