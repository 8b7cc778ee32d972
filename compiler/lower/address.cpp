// Where the lanes of accesses, buffers and stored tiles are, and which of them exist.
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/interval.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/analysis/lane_repeats.h"
#include "compiler/lower/evaluator.h"
#include "llvm/IR/Constants.h"

using namespace mlir;

namespace tilery::lower {

void Evaluator::addOffsets(Address &address, llvm::Value *offsets) {
  address.offsets = address.offsets ? e.b.CreateAdd(address.offsets, offsets) : offsets;
  address.apart = nullptr;
}

// Adds `index * step` elements. Terms of outer loops come first, so that their sum is formed out there.
void Evaluator::addTerm(Address &address, const Index &index, llvm::Value *step) {
  auto &b = e.b;
  llvm::Type *element = e.memoryType(address.element);
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (fixed && fixed->isZero())
    return;
  if (std::optional<Spread> spread = index.lanes && fixed ? spreadOf(index) : std::nullopt) {
    SmallVector<llvm::Constant *> distances;
    for (int64_t lane : spread->lanes)
      distances.push_back(llvm::ConstantInt::getSigned(b.getInt64Ty(), lane * fixed->getSExtValue()));
    addOffsets(address, llvm::ConstantVector::get(distances));
    address.level = std::max(address.level, index.level);
    AtLevel at(*this, address.level);
    address.pointer = b.CreateGEP(element, address.pointer, b.CreateMul(spread->base, step));
    return;
  }
  if (index.lanes) {
    return addOffsets(address, b.CreateMul(index.lanes, e.splat(step, state.lanes)));
  }
  {
    address.level = std::max(address.level, index.level);
    AtLevel at(*this, address.level);
    address.pointer = b.CreateGEP(element, address.pointer, b.CreateMul(index.base, step));
  }
  if (index.step == 0)
    return;
  if (fixed) {
    address.step += index.step * fixed->getSExtValue();
    return;
  }
  llvm::Value *apart = address.offsets ? nullptr : b.CreateMul(step, e.i64(index.step));
  addOffsets(address, b.CreateMul(b.CreateMul(e.iota(b.getInt64Ty(), state.lanes), e.splat(e.i64(index.step), state.lanes)),
                                  e.splat(step, state.lanes)));
  address.apart = apart;
}

void Evaluator::addLinear(Address &address, const Linear &l) {
  auto &b = e.b;
  address.level = std::max(address.level, l.level);
  AtLevel at(*this, address.level);
  address.pointer = b.CreateGEP(e.memoryType(address.element), address.pointer, l.base);
  address.step += l.step;
  if (l.lanes)
    addOffsets(address, l.lanes);
}

// A sum in 64 bits without its constant, and that.
static std::pair<llvm::Value *, int64_t> takeConstant(llvm::IRBuilder<> &b, llvm::Value *sum) {
  auto *op = llvm::dyn_cast<llvm::BinaryOperator>(sum);
  if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(sum))
    return {b.getInt64(0), fixed->getSExtValue()};
  if (!op || op->getOpcode() != llvm::Instruction::Add)
    return {sum, 0};
  auto [left, onLeft] = takeConstant(b, op->getOperand(0));
  auto [right, onRight] = takeConstant(b, op->getOperand(1));
  return onLeft || onRight ? std::pair(b.CreateAdd(left, right), onLeft + onRight) : std::pair(sum, int64_t(0));
}

std::pair<Linear, Linear> Evaluator::fromStart(Value integers, const Index &index) {
  auto &b = e.b;
  Linear all = linear(integers, index);
  const Index *start = state.lanes > 1 ? startOfSegment() : nullptr;
  if (!start || all.lanes || all.step != 1 || index.step != 1 || index.loop != start->loop)
    return {all, {}};
  Linear first = linear(integers, *start);
  AtLevel at(*this, all.level);
  return {{first.base, 0, nullptr, first.level}, {b.CreateSub(index.base, start->base), 1, nullptr, all.level}};
}

// Windows of rows side by side overlap: what one row reads a row further down is what the next one reads here.
llvm::Value *Evaluator::offsetAt(tile::AccessOp access, ArrayRef<Index> point) {
  auto isBehind = [&](unsigned d) { return point[d].behind >= 0 && access.isStrided(d); };
  auto dims = llvm::filter_to_vector(llvm::seq<unsigned>(0, point.size()), isBehind);
  if (dims.empty())
    return wide(access.getOffset());
  constexpr auto address = analysis::Wrapping::address;
  analysis::IndexPolynomial sum = analysis::polynomialOf(access.getOffset(), address);
  for (unsigned d : dims)
    sum = sum + analysis::IndexPolynomial(point[d].behind) * analysis::polynomialOf(access.getSteps()[d], address);
  auto known = llvm::find(offsets, sum);
  if (known == offsets.end())
    known = offsets.insert(offsets.end(), std::move(sum));
  llvm::Value *&result = levels[0].memo[Key{&*known, {}}];
  if (result)
    return result;
  llvm::Value *offset = wide(access.getOffset());
  for (unsigned d : dims)
    offset = e.b.CreateAdd(offset, e.b.CreateMul(wide(access.getSteps()[d]), e.i64(point[d].behind)));
  return result = offset;
}

// A tile of pointers: a common base and integer offsets where that form exists, else one pointer a lane.
void Evaluator::addPointers(Address &address, Value pointers, ArrayRef<Index> point) {
  auto &b = e.b;
  if (!isa<RankedTensorType>(pointers.getType())) {
    address.pointer = scalar(pointers);
    setScope(address, pointers);
    return;
  }
  Operation *op = pointers.getDefiningOp();
  if (op && plan.isVirtual(pointers)) {
    if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
      addPointers(address, add.getPtr(), point);
      return addLinear(address, linear(add.getOffset(), point));
    }
    if (auto splat = dyn_cast<tile::SplatOp>(op))
      return addPointers(address, splat.getValue(), {});
    if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(op))
      return addPointers(address, op->getOperand(0), operandPoint(op, point));
  }
  Lanes each = value(pointers, point);
  address.level = levelOf(point);
  if (e.lanesOf(each) == 1) {
    address.pointer = each;
    return;
  }
  // In elements from a null pointer; the element size divides addresses of aligned elements.
  llvm::Value *bytes = b.CreatePtrToInt(each, e.vectorOf(b.getInt64Ty(), state.lanes));
  address.pointer = llvm::ConstantPointerNull::get(b.getPtrTy());
  addOffsets(address, b.CreateExactSDiv(bytes, e.splat(e.i64(elementBytes(address.element)), state.lanes)));
}

void Evaluator::setScope(Address &address, Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tile::AddPtrOp, tile::PtrCastOp, tile::SplatOp>(op))
      return;
    pointer = op->getOperand(0);
  }
  if (auto found = aliasScopes.find(pointer.getAsOpaquePointer()); found != aliasScopes.end())
    std::tie(address.scope, address.noalias) = found->second;
}

Lanes Evaluator::limitAt(ArrayRef<Index> point) const {
  return llvm::any_of(point, [](const Index &index) { return !index.uniform() || index.owned; }) ? state.limit : nullptr;
}

// low <= index < high and `exists` (null: yes) as a mask.
Lanes Evaluator::within(const Index &index, Value low, Value high, unsigned elementBits, Lanes exists) {
  auto &b = e.b;
  llvm::Value *lo, *hi;
  {
    AtLevel at(*this, 0);
    lo = wide(low);
    hi = wide(high);
  }
  auto *fixed = llvm::dyn_cast_or_null<llvm::ConstantInt>(lo);
  if (fixed && !fixed->getValue().isStrictlyPositive())
    lo = nullptr; // indices are never negative
  Lanes result = exists;
  // Bounds that lie between vectors: all lanes exist or none.
  auto between = [&](Value bound) { return analysis::divisorOf(bound) % state.lanes == 0; };
  bool whole = threads && index.step == 1 && !index.lanes && llvm::isPowerOf2_32(state.lanes) &&
               index.multiple % state.lanes == 0 && (!lo || between(low)) && between(high);
  if (index.uniform() || whole) {
    Lanes own = nullptr;
    {
      AtLevel at(*this, index.level);
      if (lo)
        own = b.CreateICmpSGE(index.base, lo);
      own = e.band(own, b.CreateICmpSLT(index.base, hi));
    }
    return e.band(exists, own);
  }
  if (index.lanes || index.step != 1) {
    llvm::Value *position = vectorOf(index);
    if (lo)
      result = e.band(result, b.CreateICmpSGE(position, e.splat(lo, state.lanes)));
    return e.band(result, b.CreateICmpSLT(position, e.splat(hi, state.lanes)));
  }
  // In a width that makes the mask fit the data.
  llvm::Type *narrow = elementBits > 32 ? b.getInt64Ty() : b.getInt32Ty();
  if (!threads) { // positions are the same for all accesses, bounds for all vectors
    constexpr int64_t beyond = 1 << 30;
    auto bounded = [&](llvm::Value *bound) {
      AtLevel at(*this, 0);
      bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, bound, e.i64(0));
      bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, e.i64(beyond));
      return e.splat(b.CreateTrunc(bound, narrow), state.lanes);
    };
    llvm::Value *base = index.base;
    if (exists && e.lanesOf(exists) == 1) { // as a mask of its own it would be widened to lanes, one by one
      base = b.CreateSelect(exists, base, e.i64(beyond));
      result = nullptr;
    }
    llvm::Value *position = b.CreateAdd(e.splat(b.CreateTrunc(base, narrow), state.lanes), e.iota(narrow, state.lanes));
    if (lo)
      result = e.band(result, b.CreateICmpSGE(position, bounded(lo)));
    return e.band(result, b.CreateICmpSLT(position, bounded(hi)));
  }
  // As lane numbers.
  auto laneNumber = [&](llvm::Value *bound) {
    llvm::Value *n = b.CreateSub(bound, index.base);
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, e.i64(0));
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, e.i64(state.lanes));
    return e.splat(b.CreateTrunc(n, narrow), state.lanes);
  };
  if (lo)
    result = e.band(result, b.CreateICmpSGE(e.iota(narrow, state.lanes), laneNumber(lo)));
  return e.band(result, b.CreateICmpSLT(e.iota(narrow, state.lanes), laneNumber(hi)));
}

llvm::Value *Evaluator::zerosAround(Type element, int64_t before, int64_t behind) {
  auto *type = llvm::ArrayType::get(e.memoryType(element), before + behind);
  std::string name = "zeros" + std::to_string((before + behind) * elementBytes(element));
  llvm::GlobalVariable *zeros = e.module.getNamedGlobal(name);
  if (!zeros) { // no constant, which would lie in the object
    auto *none = llvm::ConstantAggregateZero::get(type);
    zeros = new llvm::GlobalVariable(e.module, type, false, llvm::GlobalValue::InternalLinkage, none, name);
    zeros->setAlignment(llvm::Align(64));
  }
  return e.b.CreateConstGEP1_64(e.memoryType(element), zeros, before);
}

void Evaluator::addCondition(RowCondition &row, Lanes mask, unsigned level) {
  if (threads)
    return;
  RowCondition own{mask, level};
  if (e.lanesOf(mask) != 1)
    own = conditions.lookup(mask);
  if (!own.exists)
    return;
  row.level = std::max(row.level, own.level);
  AtLevel at(*this, row.level);
  row.exists = e.band(row.exists, own.exists);
}

Address Evaluator::address(Value place, ArrayRef<Index> point, bool zeros) {
  auto &b = e.b;
  auto type = cast<tile::AccessType>(place.getType());
  Address where;
  where.element = type.getElementType();
  where.alignment = elementBytes(where.element);
  where.global = true;
  where.constant = threads && !threads->mayBeWritten(place);
  unsigned bits = where.alignment * 8;
  // The power of two that divides the address.
  int64_t divisor = where.alignment;
  SmallVector<unsigned> byLevel;
  for (unsigned d = 0; d < point.size(); ++d)
    byLevel.push_back(d);
  llvm::sort(byLevel, [&](unsigned x, unsigned y) { return std::pair(point[x].level, x) < std::pair(point[y].level, y); });
  llvm::Value *running = nullptr; // the offsets that where.runs are made of
  int tabled = -1;                // the dimension whose runs lie in a table
  Linear along;                   // how far lanes have gone on along the row,
  int64_t longest = 0;            // at most
  int64_t further = 0;            // of the offset: neighbours in a row that does not exist are chosen as one
  RowCondition row;
  bool mayBeZeros = false; // a condition of the row is not among those of its lanes

  auto restrict = [&](Value mask, ArrayRef<Index> point) {
    RowCondition whole;
    Lanes own = zeros ? withinRow(mask, point, whole) : value(mask, point);
    if (whole.exists) {
      addCondition(row, whole.exists, whole.level);
      mayBeZeros = true;
    }
    if (own == b.getTrue())
      return;
    addCondition(row, own, levelOf(point));
    where.exists = e.band(where.exists, own);
  };
  if (auto access = place.getDefiningOp<tile::PointerAccessOp>()) {
    zeros = false;
    addPointers(where, access.getPtrs(), point);
    if (access.getMask())
      restrict(access.getMask(), point);
  } else {
    auto separable = place.getDefiningOp<tile::AccessOp>();
    {
      AtLevel at(*this, 0);
      llvm::Value *offset = offsetAt(separable, point);
      if (!threads && llvm::any_of(point, [](const Index &index) { return index.step; }))
        if (auto [rest, constant] = takeConstant(b, offset); std::abs(constant) <= int64_t(state.lanes))
          std::tie(offset, further) = std::pair(rest, constant);
      where.pointer = b.CreateGEP(e.memoryType(where.element), scalar(separable.getBase()), offset);
    }
    setScope(where, separable.getBase());
    if (threads)
      divisor = std::min(analysis::divisorOf(separable.getBase()), where.alignment * analysis::divisorOf(separable.getOffset()));
    for (unsigned d : byLevel) {
      auto divides = [&](int64_t elements) { divisor = std::min(divisor, elements * where.alignment); };
      analysis::LaneGroups groups;
      if (!separable.isStrided(d))
        groups = groupsOf(separable.getSteps()[d], 0, point[d]);
      if (groups.equal || groups.follow)
        divides(groups.divisor);
      else if (threads && !separable.isStrided(d) && point[d].uniform())
        divides(analysis::laneGroups(separable.getSteps()[d], 0, 1).divisor);
      else if (!threads || point[d].lanes || !separable.isStrided(d))
        divides(1);
      else if (point[d].multiple) // the index is not 0
        divides((point[d].multiple & -point[d].multiple) * analysis::divisorOf(separable.getSteps()[d]));
      if (separable.isStrided(d)) {
        llvm::Value *step = nullptr;
        {
          AtLevel at(*this, 0);
          auto known = point[d].uniform() ? state.numbers.end() : state.numbers.find(separable.getSteps()[d]);
          step = known != state.numbers.end() ? e.i64(known->second) : wide(separable.getSteps()[d]);
        }
        Index index = point[d];
        if (index.behind > 0) { // that is in the offset
          AtLevel at(*this, index.level);
          index.base = b.CreateSub(index.base, e.i64(index.behind));
        }
        auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(step);
        if (!threads && !along.base && index.step == 1 && !index.lanes && fixed && fixed->isOne())
          along = {index.base, 1, nullptr, index.level}, longest = type.getShape()[d];
        else
          addTerm(where, index, step);
      } else {
        auto known = state.inRuns.find(separable.getSteps()[d]);
        if (known != state.inRuns.end() && known->second.masks) {
          tabled = int(d);
          auto [masks, offsets] = rowOf(known->second, point[d]);
          llvm::Type *bits = b.getIntNTy(state.lanes);
          for (unsigned i = 0; i < 3; ++i)
            where.runs.push_back({b.CreateBitCast(b.CreateLoad(bits, b.CreateConstGEP1_64(bits, masks, i)),
                                                  e.vectorOf(b.getInt1Ty(), state.lanes)),
                                  b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), offsets, i))});
          continue;
        }
        Index index = point[d];
        if (groups.equal || groups.follow)
          index.step = 0;
        bool inRow = !threads && !index.lanes && index.step == 1;
        auto repeats = inRow ? analysis::laneRepeats(separable.getSteps()[d]) : analysis::LaneRepeats();
        bool inGroups = repeats.width > 1 && index.multiple % repeats.width == 0;
        if (inGroups) // the first lane's place, and so much more for each group
          index.step = 0;
        Linear l;
        if (threads || along.base)
          l = linear(separable.getSteps()[d], index);
        else
          std::tie(l, along) = fromStart(separable.getSteps()[d], index), longest = type.getShape()[d];
        if (inGroups) {
          SmallVector<llvm::Constant *> groups;
          for (unsigned lane = 0; lane < state.lanes; ++lane)
            groups.push_back(b.getInt64((lane + repeats.ahead) / repeats.width));
          l.lanes = llvm::ConstantVector::get(groups);
        }
        addLinear(where, l);
        if (groups.follow && !groups.equal)
          ++where.step;
        if (l.lanes && known != state.inRuns.end()) {
          AtLevel at(*this, l.level);
          llvm::Value *rest;
          where.runs = runsOf(running = l.lanes, rest);
        }
      }
    }
    constexpr int64_t mostZeros = 1 << 14; // bytes
    int64_t before = state.lanes, behind = before + longest + before;
    zeros &= along.base && !where.offsets && !where.step && tabled < 0 && (before + behind) * where.alignment <= mostZeros;
    SmallVector<unsigned> uniformFirst;
    for (bool uniform : {true, false})
      for (unsigned d = 0; d < point.size(); ++d)
        if ((threads || point[d].uniform()) == uniform)
          uniformFirst.push_back(d);
    for (unsigned d : uniformFirst) {
      OperandRange bound = separable.getBound(d);
      if (int(d) == tabled)
        continue;
      if (bound.size() == 1)
        restrict(bound[0], point[d]);
      if (bound.size() != 2)
        continue;
      bool sure = assumes(point) && llvm::any_of(state.known, [&](const KnownBound &k) {
                    return k.lo == bound[0] && k.hi == bound[1] && k.loop == point[d].loop;
                  });
      if (sure)
        continue;
      bool apart = threads || point[d].uniform();
      Lanes own = within(point[d], bound[0], bound[1], bits, apart ? nullptr : where.exists);
      if (apart)
        addCondition(row, own, point[d].level);
      where.exists = apart ? e.band(where.exists, own) : own;
    }
    if (separable.getResidual())
      restrict(separable.getResidual(), point);
    // Masked loads take a thousand cycles where nothing is mapped, of which no lane exists, too: rows that do not exist are
    // those at the tensor's beginning.
    if (along.base && row.exists && (mayBeZeros || e.lanesOf(where.exists) > 1)) {
      where.level = std::max(where.level, row.level);
      AtLevel at(*this, where.level);
      llvm::Type *element = e.memoryType(where.element);
      llvm::Value *instead = mayBeZeros ? zerosAround(where.element, before, behind)
                                        : b.CreateConstGEP1_64(element, scalar(separable.getBase()), state.lanes);
      where.pointer = b.CreateSelect(row.exists, where.pointer, instead);
    }
    if (along.base)
      addLinear(where, along);
    if (further)
      where.pointer = b.CreateConstGEP1_64(e.memoryType(where.element), where.pointer, further);
    assert((tabled < 0 || (!where.offsets && !where.step)) && "lanes go along the table's dimension alone");
    if (where.offsets != running || where.step)
      where.runs.clear();
  }
  where.exists = e.band(where.exists, limitAt(point));
  where.alignment = std::max<int64_t>(where.alignment, divisor);
  return where;
}

llvm::Value *Evaluator::scratchPointer(int buffer) {
  AtLevel at(*this, 0);
  return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), plan.buffers[buffer].outside ? workspace : arena,
                                        plan.buffers[buffer].offset);
}

// The index along the last dimension of a buffer with an exchange.
Index Evaluator::exchanged(const Exchange &exchange, ArrayRef<Index> point) {
  auto &b = e.b;
  const Index &row = point[exchange.dim], &last = point.back();
  auto inUnit = [&](const Index &index) { // all lanes are in one unit
    return index.uniform() || (index.step == 1 && !index.lanes && llvm::isPowerOf2_32(state.lanes) &&
                               state.lanes <= exchange.unit && index.multiple % state.lanes == 0);
  };
  Index result = last;
  result.level = std::max(row.level, last.level);
  AtLevel at(*this, result.level);
  bool rowInUnit = inUnit(row);
  auto number = [&](int64_t n, llvm::Type *type) { return llvm::ConstantInt::get(type, n); };
  llvm::Value *key = rowInUnit ? row.base : vectorOf(row);
  key = b.CreateMul(b.CreateAnd(b.CreateLShr(key, number(llvm::Log2_64(exchange.unit), key->getType())),
                                number(exchange.units - 1, key->getType())),
                    number(exchange.unit, key->getType()));
  if (rowInUnit && inUnit(last)) {
    result.base = b.CreateXor(last.base, key);
    result.multiple = std::min(last.multiple ? last.multiple & -last.multiple : exchange.unit, exchange.unit);
    return result;
  }
  result.lanes = b.CreateXor(e.splat(vectorOf(last), state.lanes), e.splat(key, state.lanes));
  result.base = nullptr;
  result.step = 0;
  return result;
}

Address Evaluator::scratchAddress(int buffer, ArrayRef<int64_t> shape, ArrayRef<Index> indices) {
  Point point(indices);
  if (const Exchange &exchange = plan.buffers[buffer].exchange; exchange.units > 1)
    point.back() = exchanged(exchange, indices);
  Address where;
  where.element = plan.buffers[buffer].element;
  where.alignment = elementBytes(where.element);
  where.pointer = scratchPointer(buffer);
  if (auto found = aliasScopes.find(nullptr); found != aliasScopes.end())
    std::tie(where.scope, where.noalias) = found->second;
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  SmallVector<unsigned> byLevel;
  for (unsigned d = 0; d < point.size(); ++d)
    byLevel.push_back(d);
  llvm::sort(byLevel, [&](unsigned x, unsigned y) { return std::pair(point[x].level, x) < std::pair(point[y].level, y); });
  int64_t elements = 64 / where.alignment; // a power of two that divides the element's number
  for (unsigned d : byLevel) {
    if (shape[d] == 1)
      continue;
    addTerm(where, point[d], e.i64(strides[d]));
    int64_t multiple = point[d].lanes ? 1 : point[d].multiple * strides[d];
    elements = multiple ? std::min(elements, multiple & -multiple) : elements;
  }
  if (threads)
    where.alignment *= elements;
  where.exists = limitAt(indices);
  return where;
}

Address Evaluator::bufferAddress(Value buffer, ArrayRef<Index> point) {
  auto type = cast<tile::BufferType>(buffer.getType());
  Operation *op = buffer.getDefiningOp();
  if (auto view = dyn_cast_or_null<tile::SubviewOp>(op)) {
    ArrayRef<int64_t> shape = cast<tile::BufferType>(view.getBuffer().getType()).getShape();
    Point parent;
    Lanes exists = nullptr;
    for (auto [k, size] : llvm::enumerate(shape)) {
      Index index;
      {
        AtLevel at(*this, 0);
        index.base = wide(view.getOffsets()[k]);
      }
      auto walked = llvm::find(view.getDims(), int64_t(k));
      auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(index.base);
      int64_t width = 1;
      if (walked != view.getDims().end()) {
        unsigned d = walked - view.getDims().begin();
        width = type.getShape()[d];
        index = plus(index, point[d]);
      }
      parent.push_back(index);
      auto offset = analysis::intervalOf(view.getOffsets()[k]);
      bool inside = fixed && fixed->getSExtValue() >= 0 && fixed->getSExtValue() + width <= size;
      if (inside || (offset && offset->least >= 0 && offset->greatest + width <= size))
        continue;
      // Outside the buffer nothing exists; the comparison is unsigned, so that one covers both sides.
      llvm::Value *position = vectorOf(index);
      exists = e.band(exists, e.b.CreateICmpULT(position, llvm::ConstantInt::get(position->getType(), size)));
    }
    Address where = bufferAddress(view.getBuffer(), parent);
    where.exists = e.band(where.exists, exists);
    return where;
  }
  Address where;
  if (auto cast = dyn_cast_or_null<tile::ReinterpretOp>(op)) {
    Point start(mlir::cast<tile::BufferType>(cast.getBuffer().getType()).getRank(), constant(0));
    where = bufferAddress(cast.getBuffer(), start); // of whole buffers and leading windows: contiguous
    where.row = nullptr;                            // the rows are others
  } else {
    assert(op && "buffers come from allocations of their kernel");
    llvm::Value *own = threads ? threads->privateBuffer(op) : nullptr;
    where.pointer = own ? own : scratchPointer(plan.temporaries.find(op)->second[0]);
    if (auto found = aliasScopes.find(nullptr); found != aliasScopes.end())
      std::tie(where.scope, where.noalias) = found->second;
  }
  where.element = type.getElementType();
  where.alignment = elementBytes(where.element);
  int64_t stride = 1;
  SmallVector<std::pair<unsigned, int64_t>> terms;
  for (int d = int(type.getRank()) - 1; d >= 0; --d) {
    terms.push_back({unsigned(d), stride});
    stride *= type.getShape()[d];
  }
  llvm::sort(terms,
             [&](auto x, auto y) { return std::pair(point[x.first].level, y.first) < std::pair(point[y.first].level, x.first); });
  unsigned last = type.getRank() - 1;
  auto *place = threads || !point[last].uniform() ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(point[last].base);
  for (auto [d, step] : terms)
    if (type.getShape()[d] != 1 && !(place && d == last))
      addTerm(where, point[d], e.i64(step));
  if (place && type.getShape()[last] != 1) {
    where.row = where.pointer;
    where.place = place->getSExtValue();
    addTerm(where, point[last], e.i64(1));
  }
  where.exists = e.band(where.exists, limitAt(point));
  return where;
}

llvm::Value *Evaluator::lanePointers(const Address &address) {
  auto &b = e.b;
  llvm::Value *offsets = address.offsets;
  if (address.step) {
    llvm::Value *steps = b.CreateMul(e.iota(b.getInt64Ty(), state.lanes), e.splat(e.i64(address.step), state.lanes));
    offsets = offsets ? b.CreateAdd(offsets, steps) : steps;
  }
  if (!offsets)
    return e.splat(address.pointer, state.lanes);
  return b.CreateGEP(e.memoryType(address.element), address.pointer, offsets);
}

} // namespace tilery::lower
