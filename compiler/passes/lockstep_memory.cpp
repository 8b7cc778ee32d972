// Accesses to memory by all points of a box at once.
#include "compiler/passes/lockstep.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

/// The same lanes under another shape.
static Value reshaped(OpBuilder &builder, Value tile, ArrayRef<int64_t> shape) {
  Type type = tileOf(shape, getElementTypeOrSelf(tile));
  return tile.getType() == type ? tile : ReshapeOp::create(builder, tile.getLoc(), type, tile).getResult();
}

static ArrayRef<int64_t> shapeOfPlace(Value place) {
  auto view = dyn_cast<ViewType>(place.getType());
  return view ? view.getShape() : cast<AccessType>(place.getType()).getShape();
}

Value Lockstep::tilePlace(Value place, SmallVectorImpl<int64_t> &dims, bool load) {
  if (auto view = place.getDefiningOp<ViewOp>(); view && view.getType().getRank() == 0) {
    if (Value found = tileView(view, dims, load))
      return found;
    dims.clear();
    return scatteredPlace(view, dims, load);
  }
  auto access = place.getDefiningOp<PointerAccessOp>();
  if (!access || access.getType().getRank() != 0)
    return {};
  Value ptrs = lookup(access.getPtrs()), exists = mask;
  if (access.getMask())
    exists = both(mask, lookup(access.getMask()));
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

Value Lockstep::tileView(ViewOp view, SmallVectorImpl<int64_t> &dims, bool load) {
  // Lanes outside a view do not exist, so that a load needs no mask of the branch it stands in.
  Value exists = view.getResidual() ? lookup(view.getResidual()) : Value();
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
  SmallVector<int64_t> shape, roots, steps;
  for (unsigned d = 0; d < box.size(); ++d) {
    if (load && rootDim[d] < 0 && covered[d] <= 1)
      continue;
    dims.push_back(d);
    // Digits of one coordinate are one dimension: 8 a + b, b < 8.
    if (!roots.empty() && rootDim[d] >= 0 && roots.back() == rootDim[d] && steps.back() == dilation[d] * box[d]) {
      shape.back() *= box[d];
      steps.back() = dilation[d];
      continue;
    }
    shape.push_back(box[d]), roots.push_back(rootDim[d]), steps.push_back(dilation[d]);
  }
  SmallVector<Value> dilations;
  for (int64_t step : steps)
    dilations.push_back(arith::ConstantOp::create(builder, view.getLoc(), builder.getI64IntegerAttr(step)));
  if (exists && isa<RankedTensorType>(exists.getType())) {
    SmallVector<int64_t> kept = thin();
    for (int64_t d : dims)
      kept[d] = box[d];
    exists = reshaped(builder, spread(exists, kept), shape);
  }
  auto type = ViewType::get(shape, view.getType().getElementType());
  return ViewOp::create(builder, view.getLoc(), type, lookup(view.getRoot()), starts, dilations, ValueRange(), exists, roots);
}

bool Lockstep::liesWithin(Value index, Value extent) {
  APInt size;
  std::optional<Affine> form = affine.read(index);
  if (!form || form->base || !matchPattern(extent, m_ConstantInt(&size)))
    return false;
  int64_t low = form->constant, high = form->constant;
  for (auto [c, points] : llvm::zip_equal(form->coefficients, box))
    (c < 0 ? low : high) += c * (points - 1);
  return low >= 0 && high < size.getSExtValue();
}

// One address a lane.
Value Lockstep::scatteredPlace(ViewOp view, SmallVectorImpl<int64_t> &dims, bool load) {
  auto root = view.getRoot().getDefiningOp<RootOp>();
  if (!root || !scatters(load))
    return {};
  Location loc = view.getLoc();
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  SmallVector<int64_t> shape(box);
  if (load) {
    shape = thin();
    for (Value start : view.getStarts())
      cover(shape, lookup(start));
    if (mask)
      cover(shape, mask);
  }
  auto wide = [&](Value value) {
    Value found = lookup(value);
    Type to = builder.getI64Type();
    if (auto tensor = dyn_cast<RankedTensorType>(found.getType()))
      to = RankedTensorType::get(tensor.getShape(), to);
    return spread(found.getType() == to ? found : arith::ExtSIOp::create(builder, loc, to, found).getResult(), shape);
  };
  Value offset, exists = mask ? spread(mask, shape) : Value();
  if (view.getResidual())
    exists = both(exists, spread(lookup(view.getResidual()), shape));
  for (auto [start, extent, stride] : llvm::zip(view.getStarts(), root.getExtents(), root.getStrides())) {
    Value at = wide(start);
    if (!liesWithin(start, extent)) {
      Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, wide(extent));
      exists = exists ? arith::AndIOp::create(builder, loc, exists, inside).getResult() : inside;
    }
    Value term = arith::MulIOp::create(builder, loc, at, wide(stride), nsw);
    offset = offset ? arith::AddIOp::create(builder, loc, offset, term, nsw).getResult() : term;
  }
  if (!offset)
    offset = spread(arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0)), shape);
  Value pointers = AddPtrOp::create(builder, loc, spread(lookup(root.getBase()), shape), offset);
  for (unsigned d = 0; d < box.size(); ++d)
    dims.push_back(d);
  auto type = AccessType::get(shape, view.getType().getElementType());
  return PointerAccessOp::create(builder, loc, type, pointers, exists);
}

bool Lockstep::convertLoad(LoadOp load) {
  SmallVector<int64_t> dims;
  Value place = tilePlace(load.getPlace(), dims, true);
  if (!place)
    return false;
  ArrayRef<int64_t> shape = shapeOfPlace(place);
  Value other = load.getOther() ? lookup(load.getOther()) : Value();
  if (other && isa<RankedTensorType>(other.getType()) && dims.size() != box.size())
    return false;
  if (other && !shape.empty())
    other = isa<RankedTensorType>(other.getType()) ? reshaped(builder, spread(other, box), shape) : spread(other, shape);
  auto next = LoadOp::create(builder, load.getLoc(), tileOf(shape, load.getType()), place, other, load.getIsVolatile(),
                             load.getCacheAttr(), load.getEvictionAttr());
  if (shape.empty()) {
    map.map(load.getResult(), spread(next, thin()));
    return true;
  }
  SmallVector<int64_t> apart;
  for (int64_t d : dims)
    apart.push_back(isa<ViewType>(place.getType()) ? box[d] : shape[d]);
  Value tile = reshaped(builder, next, apart);
  map.map(load.getResult(), dims.size() == box.size() ? tile : stretch(tile, dims));
  return true;
}

bool Lockstep::cloneLoad(LoadOp load) {
  if (Operation *place = load.getPlace().getDefiningOp(); place && op->isProperAncestor(place))
    builder.clone(*place, map);
  builder.clone(*load, map);
  return true;
}

bool Lockstep::convertStore(StoreOp store) {
  SmallVector<int64_t> dims;
  Value place = tilePlace(store.getPlace(), dims, false);
  if (!place || repeats(place))
    return false;
  Value value = reshaped(builder, spread(lookup(store.getValue()), box), shapeOfPlace(place));
  StoreOp::create(builder, store.getLoc(), place, value, store.getIsVolatile(), store.getCacheAttr(), store.getEvictionAttr());
  return true;
}

bool Lockstep::repeats(Value place) const {
  auto view = place.getDefiningOp<ViewOp>();
  return view && llvm::any_of(llvm::zip(view.getDims(), view.getType().getShape()), [](auto pair) {
           auto [dim, size] = pair;
           return dim < 0 && size > 1;
         });
}

bool Lockstep::convertAtomic(Operation &inner) {
  SmallVector<int64_t> dims;
  Value place = tilePlace(inner.getOperand(0), dims, false);
  if (!place)
    return false;
  OperationState state(inner.getLoc(), inner.getName());
  state.addOperands(place);
  for (Value operand : llvm::drop_begin(inner.getOperands()))
    state.addOperands(reshaped(builder, spread(lookup(operand), box), shapeOfPlace(place)));
  state.addTypes(RankedTensorType::get(shapeOfPlace(place), inner.getResult(0).getType()));
  state.addAttributes(inner.getAttrs());
  map.map(inner.getResult(0), reshaped(builder, builder.create(state)->getResult(0), box));
  return true;
}

std::optional<Lockstep::Position> Lockstep::position(TypedValue<BufferType> buffer, ValueRange indices, Location) {
  Position result{lookup(buffer), {}};
  for (Value index : indices) {
    auto form = affine.read(index);
    if (!form)
      return {};
    result.indices.push_back(std::move(*form));
  }
  return result;
}

SmallVector<unsigned> Lockstep::digits(const Affine &index, int64_t size) const {
  SmallVector<std::pair<int64_t, unsigned>> terms;
  for (auto [d, c] : llvm::enumerate(index.coefficients))
    if (c)
      terms.push_back({c, d});
  llvm::sort(terms);
  int64_t below = 1;
  SmallVector<unsigned> dims;
  for (auto [c, d] : terms) {
    if (c != below)
      return {};
    below *= box[d];
    dims.insert(dims.begin(), d);
  }
  bool isLine = dims.size() > 1 && below == size && !index.base && index.constant == 0;
  return isLine ? dims : SmallVector<unsigned>();
}

SmallVector<unsigned> Lockstep::linesOf(ArrayRef<Affine> indices, ArrayRef<int64_t> shape) const {
  SmallVector<unsigned> dims;
  bool isLine = false;
  for (auto [index, size] : llvm::zip_equal(indices, shape)) {
    SmallVector<unsigned> line = digits(index, size);
    if (auto d = index.walks(); d && !index.base && index.constant == 0 && box[*d] == size)
      line = {*d};
    else
      isLine = true;
    if (line.empty() || llvm::any_of(line, [&](unsigned d) { return llvm::is_contained(dims, d); }))
      return {};
    dims.append(line);
  }
  return isLine ? dims : SmallVector<unsigned>();
}

Value Lockstep::window(TypedValue<BufferType> buffer, ValueRange indices, Location loc, SmallVectorImpl<int64_t> &order) {
  auto where = position(buffer, indices, loc);
  if (!where)
    return {};
  auto whole = cast<BufferType>(where->buffer.getType());
  if (takesLines() && (whole.getRank() == 1 || takesQuotients()) && where->buffer.getDefiningOp<AllocOp>())
    if (auto lines = linesOf(where->indices, whole.getShape()); !lines.empty()) {
      SmallVector<int64_t> extents;
      for (unsigned d : lines)
        order.push_back(d), extents.push_back(box[d]);
      return ReinterpretOp::create(builder, loc, BufferType::get(extents, whole.getElementType(), whole.getSpace()),
                                   where->buffer);
    }
  SmallVector<Value> offsets;
  SmallVector<int64_t> dims, shape;
  bool isWhole = true;
  for (auto [k, index] : llvm::enumerate(where->indices)) {
    int64_t size = whole.getShape()[k];
    if (!index.isUniform()) {
      auto d = index.walks();
      if (!d || llvm::is_contained(order, *d) || box[*d] > size)
        return {};
      order.push_back(*d), dims.push_back(k), shape.push_back(box[*d]);
      isWhole &= !index.base && index.constant == 0 && box[*d] == size;
    } else {
      isWhole &= size == 1 && !index.base && index.constant == 0;
    }
    offsets.push_back(index.start(builder, loc));
  }
  if (isWhole)
    return where->buffer;
  auto type = BufferType::get(shape, whole.getElementType(), whole.getSpace());
  return SubviewOp::create(builder, loc, type, where->buffer, offsets, dims);
}

std::optional<Lockstep::Quotient> Lockstep::quotient(Value index, int64_t size) {
  while (auto wide = index.getDefiningOp<arith::ExtSIOp>())
    index = wide.getIn();
  int64_t by = 1;
  if (auto division = index.getDefiningOp<DivOp>(); division) // of what is not negative: both modes agree
    if (APInt n; matchPattern(division.getRhs(), m_ConstantInt(&n)) && n.isStrictlyPositive())
      index = division.getLhs(), by = n.getSExtValue();
  auto form = affine.read(index);
  std::optional<unsigned> d = form ? form->walks() : std::nullopt;
  if (!d || form->base || form->constant || box[*d] != size * by)
    return std::nullopt;
  return Quotient{*d, by};
}

// Elements that as many points as an index is divided by have in common, side by side: packed numbers.
Value Lockstep::repeated(TypedValue<BufferType> buffer, ValueRange indices, Location loc, SmallVectorImpl<int64_t> &order) {
  Value from = lookup(buffer);
  auto type = cast<BufferType>(from.getType());
  SmallVector<int64_t> apart, spreadOut, whole;
  for (auto [index, size] : llvm::zip(indices, type.getShape())) {
    std::optional<Quotient> found = quotient(index, size);
    if (!found || llvm::is_contained(order, found->dim))
      return {};
    order.push_back(found->dim);
    apart.append({size, 1}), spreadOut.append({size, found->by}), whole.push_back(size * found->by);
  }
  Value tile = BufferLoadOp::create(builder, loc, type.getTileType(), from);
  return reshaped(builder, spread(reshaped(builder, tile, apart), spreadOut), whole);
}

// Of groups side by side one element each: `2 * (j // 4) + 1`. The whole is loaded, and halved until one of each group is left.
Value Lockstep::picked(TypedValue<BufferType> buffer, ValueRange indices, Location loc, SmallVectorImpl<int64_t> &order) {
  auto where = position(buffer, indices, loc);
  if (!where)
    return {};
  auto whole = cast<BufferType>(where->buffer.getType());
  SmallVector<int64_t> shape, within, dims, groups; // dims, groups: of `shape`, those of the box and those that go
  for (auto [index, size] : llvm::zip_equal(where->indices, whole.getShape())) {
    int64_t step = 0;
    for (int64_t c : index.coefficients)
      step = c && (!step || c < step) ? c : step;
    if (step < 1 || !llvm::isPowerOf2_64(step) || size % step || index.base || index.constant < 0 || index.constant >= step ||
        llvm::any_of(index.coefficients, [&](int64_t c) { return c % step; }))
      return {};
    Affine group = index;
    group.constant = 0;
    for (int64_t &c : group.coefficients)
      c /= step;
    SmallVector<unsigned> line = digits(group, size / step);
    if (auto d = group.walks(); d && box[*d] == size / step)
      line = {*d};
    if (line.empty() || llvm::any_of(line, [&](unsigned d) { return llvm::is_contained(order, int64_t(d)); }))
      return {};
    for (unsigned d : line)
      dims.push_back(int64_t(shape.size())), order.push_back(d), shape.push_back(box[d]);
    for (int64_t left = step, place = index.constant; left > 1; left /= 2) { // the highest bit first
      groups.push_back(int64_t(shape.size())), within.push_back(place >= left / 2), shape.push_back(2);
      place %= left / 2;
    }
  }
  Value tile = reshaped(builder, BufferLoadOp::create(builder, loc, whole.getTileType(), where->buffer), shape);
  Type element = whole.getElementType();
  dims.append(groups);
  SmallVector<int64_t> permuted;
  for (int64_t d : dims)
    permuted.push_back(shape[d]);
  if (!llvm::is_sorted(dims))
    tile = PermuteOp::create(builder, loc, tileOf(permuted, element), tile, dims);
  for (int64_t place : llvm::reverse(within)) {
    permuted.pop_back();
    Type half = tileOf(permuted, element);
    auto split = SplitOp::create(builder, loc, half, half, tile);
    tile = place ? split.getRhs() : split.getLhs();
  }
  return tile;
}

bool Lockstep::convertElementLoad(ElementLoadOp load) {
  SmallVector<int64_t> order;
  Value from = window(load.getBuffer(), load.getIndices(), load.getLoc(), order), tile;
  if (from && !order.empty()) {
    tile = BufferLoadOp::create(builder, load.getLoc(), cast<BufferType>(from.getType()).getTileType(), from);
  } else if (takesQuotients()) {
    order.clear();
    tile = repeated(load.getBuffer(), load.getIndices(), load.getLoc(), order);
    if (!tile) {
      order.clear();
      tile = picked(load.getBuffer(), load.getIndices(), load.getLoc(), order);
    }
  }
  if (!tile)
    return false;
  SmallVector<int64_t> dims(order), permutation, shape;
  for (int64_t d : order)
    shape.push_back(box[d]);
  tile = reshaped(builder, tile, shape);
  shape.clear();
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

bool Lockstep::convertElementStore(ElementStoreOp store) {
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
    return reshaped(builder, tile, cast<BufferType>(to.getType()).getShape());
  };
  Value exists = mask ? arrange(mask) : Value();
  BufferStoreOp::create(builder, store.getLoc(), to, arrange(lookup(store.getValue())), exists);
  return true;
}

bool Lockstep::convertUpdate(ElementUpdateOp update) {
  Location loc = update.getLoc();
  RmwKind kind = update.getKind();
  SmallVector<int64_t> order;
  Value to = kind == RmwKind::exchange ? Value() : window(update.getBuffer(), update.getIndices(), loc, order);
  if (!to)
    return false;
  Value value = spread(lookup(update.getValue()), box);
  if (mask) {
    Value rest = arith::ConstantOp::create(builder, loc, neutral(kind, update.getValue().getType()));
    value = arith::SelectOp::create(builder, loc, spread(mask, box), value, spread(rest, box));
  }
  SmallVector<int64_t> dims(order), permutation;
  llvm::sort(dims);
  for (int64_t d = int64_t(box.size()); d-- > 0;)
    if (!llvm::is_contained(dims, d))
      value = reduced(kind, loc, value, d);
  SmallVector<int64_t> permuted;
  for (int64_t d : order)
    permutation.push_back(llvm::find(dims, d) - dims.begin()), permuted.push_back(box[d]);
  Type tile = cast<BufferType>(to.getType()).getTileType();
  if (!llvm::is_sorted(permutation))
    value = PermuteOp::create(builder, loc, tileOf(permuted, getElementTypeOrSelf(tile)), value, permutation);
  value = reshaped(builder, value, shapeOf(tile));
  Value old = BufferLoadOp::create(builder, loc, tile, to);
  BufferStoreOp::create(builder, loc, to, combine(kind, loc, old, value), Value());
  return true;
}
