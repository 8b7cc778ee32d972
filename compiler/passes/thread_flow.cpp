// Control flow of threads in lockstep.
#include "compiler/analysis/integer_op.h"
#include "compiler/passes/thread_conversion.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

bool ThreadConversion::convertTogether(TogetherOp together) {
  if (mask || (affine.hasFixed() && !op->getParentOfType<RolesOp>()))
    return refuse(together,
                  "a tile operation stands where only some threads of the block come: move it out of the branch or loop that "
                  "depends on the thread");
  Location loc = together.getLoc();
  IRMapping inside = map;
  SetVector<Value> taken;
  getUsedValuesDefinedAbove(together.getBody(), taken);
  for (Value value : taken) {
    Value found = lookup(value);
    if (auto expanded = own.find(value); expanded != own.end()) {
      inside.map(value, firstPart(expanded->second, cast<BufferType>(value.getType()), loc));
    } else if (isa<RankedTensorType>(found.getType()) && !isa<RankedTensorType>(value.getType())) {
      SmallVector<Value> zeros(box.size(), arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0)));
      inside.map(value, ExtractOp::create(builder, loc, value.getType(), found, zeros));
    }
  }
  Block &block = together.getBody().front();
  for (Operation &inner : block.without_terminator())
    builder.clone(inner, inside);
  for (auto [result, yielded] : llvm::zip(together.getResults(), block.getTerminator()->getOperands()))
    map.map(result, inside.lookupOrDefault(yielded));
  return true;
}

bool ThreadConversion::convertForEach(Operation &inner) {
  Location loc = inner.getLoc();
  int64_t count = ShapedType::getNumElements(box);
  auto line = [&](Value value) -> Value {
    Type type = RankedTensorType::get(count, getElementTypeOrSelf(value));
    return ReshapeOp::create(builder, loc, type, spread(value, box));
  };
  Value comes = mask ? line(mask) : Value();
  SmallVector<Value> lanes;
  for (Value operand : inner.getOperands()) {
    Value found = lookup(operand);
    lanes.push_back(isa<RankedTensorType>(found.getType()) ? line(found) : found);
  }
  auto number = [&](int64_t n) { return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(n)); };
  auto loop = scf::ForOp::create(builder, loc, number(0), number(count), number(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  auto own = [&](Value value) -> Value {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? ExtractOp::create(builder, loc, type.getElementType(), value, ValueRange(loop.getInductionVar())).getResult()
                : value;
  };
  if (comes)
    builder.setInsertionPointToStart(scf::IfOp::create(builder, loc, own(comes), false).thenBlock());
  SmallVector<Value> operands = llvm::map_to_vector(lanes, own);
  builder.clone(inner)->setOperands(operands);
  return true;
}

bool ThreadConversion::convertArrive(BarrierArriveOp arrive) {
  if (anyVaries(arrive->getOperands()))
    return convertForEach(*arrive);
  Location loc = arrive.getLoc();
  int64_t each = arrive.getCount();
  if (!mask) {
    for (int64_t size : ArrayRef(box).take_front(threadDims))
      each *= size;
    cast<BarrierArriveOp>(builder.clone(*arrive, map)).setCount(each);
    return true;
  }
  Value come = arith::ExtUIOp::create(builder, loc, RankedTensorType::get(box, builder.getI32Type()), spread(mask, box));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value one = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
  auto loop = scf::ForOp::create(builder, loc, zero, largest(come, RmwKind::add), one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  builder.clone(*arrive, map);
  return true;
}

bool ThreadConversion::convertWait(BarrierWaitOp wait) {
  if (anyVaries(wait->getOperands()))
    return convertForEach(*wait);
  OpBuilder::InsertionGuard guard(builder);
  if (mask) // the others are ahead of nobody: they wait, too, where somebody does
    builder.setInsertionPointToStart(scf::IfOp::create(builder, wait.getLoc(), largest(mask, RmwKind::or_), false).thenBlock());
  builder.clone(*wait, map);
  return true;
}

bool ThreadConversion::convertUniformIf(scf::IfOp branch) {
  SmallVector<Type> types;
  for (Value result : branch.getResults())
    types.push_back(varying.contains(result) ? RankedTensorType::get(box, result.getType()) : result.getType());
  bool otherwise = branch.elseBlock();
  auto next = scf::IfOp::create(builder, branch.getLoc(), types, lookup(branch.getCondition()), otherwise);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip(branch->getRegions(), next->getRegions())) {
    if (from.empty())
      continue;
    if (to.front().mightHaveTerminator() && !to.front().empty())
      to.front().back().erase();
    builder.setInsertionPointToEnd(&to.front());
    if (!convert(from.front()))
      return false;
    SmallVector<Value> yields;
    for (auto [yielded, result] : llvm::zip(from.front().getTerminator()->getOperands(), branch.getResults()))
      yields.push_back(varying.contains(result) ? spread(lookup(yielded), box) : lookup(yielded));
    scf::YieldOp::create(builder, branch.getLoc(), yields);
  }
  map.map(branch.getResults(), next.getResults());
  return true;
}

SmallVector<std::pair<unsigned, int64_t>> ThreadConversion::placesOf(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    auto places = placesOf(both.getLhs()), more = placesOf(both.getRhs());
    if (places.empty() || more.empty())
      return {};
    for (auto place : more)
      if (llvm::none_of(places, [&](auto other) { return other.first == place.first; }))
        places.push_back(place);
      else
        return {};
    return places;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  bool isLess = compare && compare.getPredicate() == arith::CmpIPredicate::slt;
  if (!compare || (compare.getPredicate() != arith::CmpIPredicate::eq && !isLess))
    return {};
  auto number = analysis::constantOf(compare.getRhs());
  auto form = number ? affine.read(compare.getLhs()) : std::nullopt;
  if (!form || form->base)
    return {};
  SmallVector<std::pair<int64_t, unsigned>> terms;
  for (auto [d, c] : llvm::enumerate(form->coefficients))
    if (c)
      terms.push_back({c, d});
  llvm::sort(terms);
  int64_t below = 0, rest = *number - form->constant;
  for (auto [c, d] : terms) { // digits: each place counts more than all below it
    if (c <= below)
      return {};
    below += c * (box[d] - 1);
  }
  SmallVector<std::pair<unsigned, int64_t>> places;
  if (isLess) { // `t < 32`: digits that count as much are 0, and the others never reach it
    int64_t reach = 0;
    for (auto [c, d] : terms)
      if (c >= rest)
        places.push_back({d, 0});
      else
        reach += c * (box[d] - 1);
    return reach < rest ? places : SmallVector<std::pair<unsigned, int64_t>>();
  }
  for (auto [c, d] : llvm::reverse(terms)) {
    int64_t digit = rest / c;
    if (rest < 0 || digit >= box[d])
      return {};
    places.push_back({d, digit});
    rest -= digit * c;
  }
  return rest ? SmallVector<std::pair<unsigned, int64_t>>() : places;
}

bool ThreadConversion::convertNarrowIf(scf::IfOp branch, ArrayRef<std::pair<unsigned, int64_t>> places) {
  Location loc = branch.getLoc();
  Value condition = lookup(branch.getCondition()), outer = mask;
  SmallVector<int64_t> whole = box;
  for (auto [d, position] : places)
    affine.fix(d, position), box[d] = 1;
  mask = outer ? narrowed(outer) : Value();
  bool ok = convert(*branch.thenBlock());
  SmallVector<Value> yes;
  for (unsigned i = 0; ok && i < branch.getNumResults(); ++i)
    yes.push_back(lookup(branch.thenYield().getOperand(i)));
  for (auto [d, position] : places)
    affine.release(d);
  box = whole;
  if (ok && branch.elseBlock()) {
    mask = both(outer, inverse(condition, loc));
    ok = convert(*branch.elseBlock());
  }
  mask = outer;
  for (unsigned i = 0; ok && i < branch.getNumResults(); ++i)
    map.map(branch.getResult(i), chosen(condition, yes[i], lookup(branch.elseYield().getOperand(i)), loc));
  return ok;
}

bool ThreadConversion::convertLoop(scf::ForOp loop) {
  if (anyVaries({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}))
    return convertUnequalFor(loop);
  auto from = analysis::constantOf(loop.getLowerBound()), to = analysis::constantOf(loop.getUpperBound()),
       step = analysis::constantOf(loop.getStep());
  constexpr int64_t mostPoints = 1 << 16;
  int64_t points = ShapedType::getNumElements(box);
  if (from && to && step && *from == 0 && *step == 1 && *to > 1 && *to * points <= mostPoints && isIndependent(loop))
    return convertBox(loop, *to);
  int64_t trips = from && to && step && *step > 0 ? std::max<int64_t>(*to - *from + *step - 1, 0) / *step : 0;
  bool isShort = this->isShort(loop, trips);
  SmallVector<Value> ahead = isShort && *from == 0 && *step == 1 ? computedAhead(loop, trips) : SmallVector<Value>();
  bool unrolls = isShort && (readsOwn(loop) || !ahead.empty());
  return unrolls ? convertUnrolled(loop, *from, trips, *step, ahead) : convertFor(loop);
}

// Every thread's counter starts at its own place; the loop runs as often as the thread with most iterations needs.
bool ThreadConversion::convertUnequalFor(scf::ForOp loop) {
  Location loc = loop.getLoc();
  if (varying.contains(loop.getStep()))
    return refuse(loop, "a loop's step differs between the threads of a block");
  Type type = loop.getInductionVar().getType();
  Type wide = builder.getI64Type();
  auto widened = [&](Value value) {
    Value found = lookup(value);
    auto tensor = dyn_cast<RankedTensorType>(found.getType());
    Type to = tensor ? Type(RankedTensorType::get(tensor.getShape(), wide)) : wide;
    return found.getType() == to   ? found
           : loop.getUnsignedCmp() ? arith::ExtUIOp::create(builder, loc, to, found).getResult()
                                   : arith::ExtSIOp::create(builder, loc, to, found).getResult();
  };
  auto combined = [&](auto make, Value a, Value b) {
    SmallVector<int64_t> shape = thin();
    cover(shape, a), cover(shape, b);
    return make(spread(a, shape), spread(b, shape));
  };
  Value span = combined([&](Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b).getResult(); },
                        widened(loop.getUpperBound()), widened(loop.getLowerBound()));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
  Value one = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  if (mask)
    span = chosen(mask, span, zero, loc);
  Value step = widened(loop.getStep());
  Value most = arith::AddIOp::create(builder, loc, largest(span, RmwKind::max), arith::SubIOp::create(builder, loc, step, one));
  Value count = DivOp::create(builder, loc, most, step, IntDivMode::floor);

  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(spread(lookup(init), box));
  auto next = scf::ForOp::create(builder, loc, zero, count, one, inits);
  next->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder::InsertionGuard guard(builder);
  if (next.getBody()->mightHaveTerminator() && !next.getBody()->empty())
    next.getBody()->back().erase();
  builder.setInsertionPointToEnd(next.getBody());
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  Value further = arith::MulIOp::create(builder, loc, next.getInductionVar(), step, nsw);
  if (auto start = affine.read(loop.getLowerBound())) {
    start->base = start->base ? arith::AddIOp::create(builder, loc, start->base, further, nsw).getResult() : further;
    affine.know(loop.getInductionVar(), *start);
  }
  Value narrow = type == wide ? further : arith::TruncIOp::create(builder, loc, type, further).getResult();
  Value counter = combined([&](Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b).getResult(); },
                           lookup(loop.getLowerBound()), narrow);
  map.map(loop.getInductionVar(), counter);
  map.map(loop.getRegionIterArgs(), next.getRegionIterArgs());
  auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  Value runs = combined([&](Value a, Value b) { return arith::CmpIOp::create(builder, loc, predicate, a, b).getResult(); },
                        counter, lookup(loop.getUpperBound()));
  Value outer = mask;
  mask = both(outer, runs);
  if (!convert(*loop.getBody()))
    return false;
  SmallVector<Value> yields;
  for (auto [yielded, old] : llvm::zip(loop.getYieldedValues(), next.getRegionIterArgs()))
    yields.push_back(spread(chosen(mask, lookup(yielded), old, loc), box));
  scf::YieldOp::create(builder, loc, yields);
  mask = outer;
  map.map(loop.getResults(), next.getResults());
  return true;
}

Value ThreadConversion::largest(Value tile, RmwKind kind) {
  Location loc = tile.getLoc();
  if (auto type = dyn_cast<RankedTensorType>(tile.getType()))
    for (int64_t d = type.getRank(); d-- > 0;)
      tile = reduced(kind, loc, tile, d);
  return tile;
}

// Carried beside what the loop carries: which threads still run, and what those that have left it left with.
bool ThreadConversion::convertWhile(scf::WhileOp loop) {
  Location loc = loop.getLoc();
  bool unequal = mask || varying.contains(loop.getConditionOp().getCondition());
  auto held = [&](Value original) { return spread(lookup(original), box); };
  auto typeOf = [&](Value original) {
    return varying.contains(original) ? Type(RankedTensorType::get(box, original.getType())) : original.getType();
  };
  SmallVector<Value> inits;
  for (auto [init, arg] : llvm::zip(loop.getInits(), loop.getBeforeArguments()))
    inits.push_back(varying.contains(arg) ? held(init) : lookup(init));
  SmallVector<Type> left;
  for (Value result : loop.getResults())
    left.push_back(typeOf(result));
  Type flags = RankedTensorType::get(box, builder.getI1Type());
  if (unequal) {
    Value all = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    inits.push_back(spread(mask ? mask : all, box));
    for (Type type : left)
      inits.push_back(arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)));
  }
  SmallVector<Type> passed(left);
  if (unequal)
    passed.push_back(flags);
  auto next = scf::WhileOp::create(builder, loc, passed, inits);
  Value outer = mask;
  OpBuilder::InsertionGuard guard(builder);

  SmallVector<Location> locs(inits.size(), loc);
  Block *before = builder.createBlock(&next.getBefore(), {}, ValueRange(inits).getTypes(), locs);
  unsigned carried = loop.getInits().size();
  for (auto [i, arg] : llvm::enumerate(loop.getBeforeArguments()))
    map.map(arg, before->getArgument(i));
  if (unequal)
    mask = before->getArgument(carried);
  if (!convert(*loop.getBeforeBody()))
    return false;
  Value condition = lookup(loop.getConditionOp().getCondition());
  SmallVector<Value> forwarded;
  for (auto [i, value] : llvm::enumerate(loop.getConditionOp().getArgs())) {
    Value now = lookup(value);
    if (unequal)
      now = spread(chosen(mask, now, before->getArgument(carried + 1 + i), loc), box);
    else if (varying.contains(loop.getResult(i)))
      now = spread(now, box);
    forwarded.push_back(now);
  }
  if (unequal) {
    Value running = spread(both(mask, condition), box);
    forwarded.push_back(running);
    condition = largest(running, RmwKind::or_);
  }
  scf::ConditionOp::create(builder, loc, condition, forwarded);

  locs.resize(passed.size(), loc);
  Block *after = builder.createBlock(&next.getAfter(), {}, passed, SmallVector<Location>(passed.size(), loc));
  for (auto [i, arg] : llvm::enumerate(loop.getAfterArguments()))
    map.map(arg, after->getArgument(i));
  if (unequal)
    mask = after->getArguments().back();
  if (!convert(*loop.getAfterBody()))
    return false;
  SmallVector<Value> yields;
  for (auto [yielded, arg] : llvm::zip(loop.getYieldOp().getOperands(), loop.getBeforeArguments()))
    yields.push_back(varying.contains(arg) ? held(yielded) : lookup(yielded));
  if (unequal) {
    yields.push_back(mask);
    llvm::append_range(yields, after->getArguments().drop_back());
  }
  scf::YieldOp::create(builder, loc, yields);
  mask = outer;
  for (auto [i, result] : llvm::enumerate(loop.getResults()))
    map.map(result, next.getResult(i));
  return true;
}
