#include "compiler/passes/lockstep.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

Lockstep::Lockstep(Operation *op, ArrayRef<int64_t> box)
    : op(op), box(box), builder(op->getContext()),
      affine(builder, box, [this](Value value) { return varying.contains(value) ? Value() : lookup(value); }) {}

bool Lockstep::replace(Block &body, Block &scratch) {
  if (!convert(body)) {
    scratch.dropAllReferences();
    return false;
  }
  op->getBlock()->getOperations().splice(op->getIterator(), scratch.getOperations());
  op->erase();
  return true;
}

bool Lockstep::anyVaries(ValueRange values) const {
  return llvm::any_of(values, [&](Value v) { return varying.contains(v); });
}

void Lockstep::findVarying() {
  for (size_t before = 0; before != varying.size();) {
    before = varying.size();
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        auto load = dyn_cast<LoadOp>(inner);
        bool guarded = load && load.getPlace().getDefiningOp<PointerAccessOp>() && inner->getParentOfType<scf::IfOp>();
        if (guarded || anyVaries(inner->getOperands()) || isa<AtomicRmwOp, AtomicCasOp, ElementUpdateOp>(inner))
          varying.insert(inner->result_begin(), inner->result_end());
        if (auto branch = dyn_cast<scf::IfOp>(inner); branch && branch.getNumResults())
          for (unsigned i = 0; i < branch.getNumResults(); ++i)
            if (anyVaries({branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)}))
              varying.insert(branch.getResult(i));
        if (auto loop = dyn_cast<scf::ForOp>(inner))
          for (unsigned i = 0; i < loop.getNumResults(); ++i)
            if (anyVaries({loop.getInitArgs()[i], loop.getYieldedValues()[i]}))
              varying.insert(loop.getResult(i)), varying.insert(loop.getRegionIterArg(i));
      });
  }
}

void Lockstep::cover(SmallVectorImpl<int64_t> &shape, Value value) const {
  if (auto type = dyn_cast<RankedTensorType>(value.getType()))
    for (auto [size, other] : llvm::zip(shape, type.getShape()))
      size = std::max(size, other);
}

Value Lockstep::padded(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  for (int64_t rank = type ? type.getRank() : box.size(); rank < int64_t(box.size()); ++rank) {
    SmallVector<int64_t> shape(shapeOf(tile.getType()));
    shape.push_back(1);
    tile = ExpandDimsOp::create(builder, tile.getLoc(), tileOf(shape, type.getElementType()), tile, rank);
  }
  return tile;
}

Value Lockstep::narrowed(Value tile) {
  auto type = dyn_cast<RankedTensorType>(tile.getType());
  if (!type || !affine.hasFixed())
    return tile;
  Location loc = tile.getLoc();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> places;
  bool all = true;
  for (auto [d, size] : llvm::enumerate(shape)) {
    auto position = size > 1 ? affine.fixedAt(d) : std::optional<int64_t>(0);
    all &= position.has_value();
    places.push_back(arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(position.value_or(0))));
  }
  if (all) // one lane is all that is computed
    return spread(ExtractOp::create(builder, loc, type.getElementType(), tile, places), thin());
  for (auto [d, place] : llvm::enumerate(places)) {
    if (shape[d] == 1 || !affine.fixedAt(d))
      continue;
    shape[d] = 1;
    tile = TakeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), tile, spread(place, shape), d);
  }
  return tile;
}

Value Lockstep::lookup(Value value) {
  Value found = map.lookupOrDefault(value);
  return found == value ? found : narrowed(padded(found));
}

Value Lockstep::spread(Value value, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, getElementTypeOrSelf(value));
  if (value.getType() == type)
    return value;
  if (isa<RankedTensorType>(value.getType()))
    return BroadcastOp::create(builder, value.getLoc(), type, value);
  return SplatOp::create(builder, value.getLoc(), type, value);
}

Value Lockstep::stretch(Value tile, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(shapeOf(tile.getType()));
  for (unsigned d = 0; d < box.size(); ++d)
    if (!llvm::is_contained(dims, d)) {
      shape.insert(shape.begin() + d, 1);
      tile = ExpandDimsOp::create(builder, tile.getLoc(), tileOf(shape, getElementTypeOrSelf(tile)), tile, d);
    }
  return tile;
}

Value Lockstep::positions(unsigned d, Type type, Location loc) {
  Value tile = RangeOp::create(builder, loc, RankedTensorType::get(box[d], builder.getI32Type()), 0, box[d]);
  if (!type.isInteger(32))
    tile = arith::ExtSIOp::create(builder, loc, RankedTensorType::get(box[d], type), tile);
  return stretch(tile, {int64_t(d)});
}

Value Lockstep::tileOfForm(const Affine &form, Type type, Location loc) {
  Value sum;
  auto add = [&](Value term) {
    if (sum) {
      SmallVector<int64_t> shape = thin();
      cover(shape, sum), cover(shape, term);
      term = arith::AddIOp::create(builder, loc, spread(sum, shape), spread(term, shape));
    }
    sum = term;
  };
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, n)); };
  for (auto [d, c] : llvm::enumerate(form.coefficients)) {
    if (c == 0)
      continue;
    Value part = positions(d, type, loc);
    add(c == 1 ? part : arith::MulIOp::create(builder, loc, part, spread(number(c), shapeOf(part.getType()))).getResult());
  }
  if (form.base)
    add(spread(form.base.getType() == type ? form.base : arith::TruncIOp::create(builder, loc, type, form.base).getResult(),
               thin()));
  if (form.constant || !sum)
    add(spread(number(form.constant), thin()));
  return sum;
}

Value Lockstep::both(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  SmallVector<int64_t> shape = thin();
  cover(shape, a), cover(shape, b);
  bool tiles = isa<RankedTensorType>(a.getType()) || isa<RankedTensorType>(b.getType());
  return arith::AndIOp::create(builder, a.getLoc(), tiles ? spread(a, shape) : a, tiles ? spread(b, shape) : b);
}

Value Lockstep::inverse(Value condition, Location loc) {
  Value one = arith::ConstantOp::create(builder, loc, builder.getOneAttr(condition.getType()));
  return arith::XOrIOp::create(builder, loc, condition, one);
}

Value Lockstep::chosen(Value condition, Value yes, Value no, Location loc) {
  SmallVector<int64_t> shape = thin();
  cover(shape, yes), cover(shape, no), cover(shape, condition);
  if (isa<RankedTensorType>(condition.getType()))
    condition = spread(condition, shape);
  return arith::SelectOp::create(builder, loc, condition, spread(yes, shape), spread(no, shape));
}

bool Lockstep::convert(Block &block) {
  return llvm::all_of(block.without_terminator(), [&](Operation &inner) { return convert(inner); });
}

bool Lockstep::convert(Operation &inner) {
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

bool Lockstep::convertElementwise(Operation &inner) {
  SmallVector<int64_t> shape = thin();
  for (Value operand : inner.getOperands())
    cover(shape, lookup(operand));
  OperationState state(inner.getLoc(), inner.getName());
  for (Value operand : inner.getOperands())
    state.addOperands(spread(lookup(operand), shape));
  for (Type type : inner.getResultTypes())
    state.addTypes(RankedTensorType::get(shape, type));
  state.addAttributes(inner.getAttrs());
  map.map(inner.getResults(), builder.create(state)->getResults());
  return true;
}

bool Lockstep::convertIf(scf::IfOp branch) {
  Value condition = lookup(branch.getCondition()), outer = mask;
  mask = both(outer, condition);
  if (!convert(*branch.thenBlock()))
    return false;
  if (branch.elseBlock()) {
    mask = both(outer, inverse(condition, branch.getLoc()));
    if (!convert(*branch.elseBlock()))
      return false;
  }
  mask = outer;
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    Value yes = lookup(branch.thenYield().getOperand(i)), no = lookup(branch.elseYield().getOperand(i));
    map.map(result, varying.contains(result) ? chosen(condition, yes, no, branch.getLoc())
                                             : arith::SelectOp::create(builder, branch.getLoc(), condition, yes, no).getResult());
  }
  return true;
}

bool Lockstep::convertFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (Value bound : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
    if (varying.contains(bound))
      return false;
  for (auto [init, arg] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    Value value = lookup(init);
    inits.push_back(varying.contains(arg) ? spread(value, box) : value);
  }
  auto bound = [&](Value v) { return lookup(v); };
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
    Value value = lookup(yielded);
    yields.push_back(varying.contains(arg) ? spread(value, box) : value);
  }
  scf::YieldOp::create(builder, loop.getLoc(), yields);
  return true;
}
