// Where the lanes of a place are: pointers of their own, or steps along each dimension.
#include "compiler/lower/access_address.h"
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/analysis/lane_repeats.h"
#include "compiler/lower/group_lanes.h"
#include "compiler/lower/runs.h"
#include "llvm/IR/Constants.h"

using namespace mlir;

namespace tilery::lower {

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

AccessAddress::AccessAddress(Evaluator &ev, tile::AccessType type, ArrayRef<Index> point, bool zeros)
    : ev(ev), addresses(ev.addresses), e(ev.e), b(ev.e.b), shape(type.getShape()), point(point), zeros(zeros) {
  where.element = type.getElementType();
  where.alignment = divisor = elementBytes(where.element);
  where.global = true;
}

Address AccessAddress::of(Value place) {
  where.constant = ev.threads && !ev.threads->mayBeWritten(place);
  if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>()) {
    zeros = false;
    addPointers(pointers.getPtrs(), point);
    if (pointers.getMask())
      restrict(pointers.getMask(), point);
  } else {
    addDimensions(place.getDefiningOp<tile::AccessOp>());
  }
  where.exists = e.band(where.exists, addresses.limitAt(point));
  where.alignment = std::max<int64_t>(where.alignment, divisor);
  return where;
}

void AccessAddress::addDimensions(tile::AccessOp access) {
  addOffset(access);
  SmallVector<unsigned> byLevel = llvm::to_vector(llvm::seq<unsigned>(0, point.size()));
  llvm::sort(byLevel, [&](unsigned x, unsigned y) { return std::pair(point[x].level, x) < std::pair(point[y].level, y); });
  for (unsigned d : byLevel) {
    divide(access, d);
    if (access.isStrided(d))
      addStep(access.getSteps()[d], d);
    else
      addPlaces(access.getSteps()[d], d);
  }
  constexpr int64_t mostZeros = 1 << 14; // bytes
  int64_t before = ev.width(), behind = before + longest + before;
  zeros &= along.base && !where.offsets && !where.step && tabled < 0 && (before + behind) * where.alignment <= mostZeros;
  addBounds(access);
  // Masked loads take a thousand cycles where nothing is mapped, of which no lane exists, too: rows that do not exist are
  // those at the tensor's beginning.
  if (along.base && row.exists && (mayBeZeros || e.lanesOf(where.exists) > 1)) {
    where.level = std::max(where.level, row.level);
    AtLevel at(ev.levels, where.level);
    llvm::Type *element = e.memoryType(where.element);
    llvm::Value *instead =
        mayBeZeros ? zerosAround(before, behind) : b.CreateConstGEP1_64(element, ev.scalar(access.getBase()), ev.width());
    where.pointer = b.CreateSelect(row.exists, where.pointer, instead);
  }
  if (along.base)
    addresses.addLinear(where, along);
  if (further)
    where.pointer = b.CreateConstGEP1_64(e.memoryType(where.element), where.pointer, further);
  assert((tabled < 0 || (!where.offsets && !where.step)) && "lanes go along the table's dimension alone");
  if (where.offsets != running || where.step)
    where.runs.clear();
}

void AccessAddress::addOffset(tile::AccessOp access) {
  {
    AtLevel at(ev.levels, 0);
    llvm::Value *offset = this->offset(access);
    if (!ev.threads && llvm::any_of(point, [](const Index &index) { return index.step; }))
      if (auto [rest, constant] = takeConstant(b, offset); std::abs(constant) <= int64_t(ev.width()))
        std::tie(offset, further) = std::pair(rest, constant);
    where.pointer = b.CreateGEP(e.memoryType(where.element), ev.scalar(access.getBase()), offset);
  }
  addresses.setScope(where, access.getBase());
  if (ev.threads)
    divisor = std::min(analysis::divisorOf(access.getBase()), where.alignment * analysis::divisorOf(access.getOffset()));
}

void AccessAddress::divide(tile::AccessOp access, unsigned d) {
  auto divides = [&](int64_t elements) { divisor = std::min(divisor, elements * where.alignment); };
  analysis::LaneGroups groups;
  if (!access.isStrided(d))
    groups = groupsOf(ev, access.getSteps()[d], 0, point[d]);
  if (groups.equal || groups.follow)
    divides(groups.divisor);
  else if (ev.threads && !access.isStrided(d) && point[d].uniform())
    divides(analysis::laneGroups(access.getSteps()[d], 0, 1).divisor);
  else if (!ev.threads || point[d].lanes || !access.isStrided(d))
    divides(1);
  else if (point[d].multiple) // the index is not 0
    divides((point[d].multiple & -point[d].multiple) * analysis::divisorOf(access.getSteps()[d]));
}

void AccessAddress::addStep(Value number, unsigned d) {
  llvm::Value *step = nullptr;
  {
    AtLevel at(ev.levels, 0);
    const auto &numbers = ev.known().numbers;
    auto known = point[d].uniform() ? numbers.end() : numbers.find(number);
    step = known != numbers.end() ? e.i64(known->second) : ev.wide(number);
  }
  Index index = point[d];
  if (index.behind > 0) { // that is in the offset
    AtLevel at(ev.levels, index.level);
    index.base = b.CreateSub(index.base, e.i64(index.behind));
  }
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (!ev.threads && !along.base && index.step == 1 && !index.lanes && fixed && fixed->isOne())
    along = {index.base, 1, nullptr, index.level}, longest = shape[d];
  else
    addresses.addTerm(where, index, step);
}

void AccessAddress::addPlaces(Value steps, unsigned d) {
  auto known = ev.known().inRuns.find(steps);
  bool knownInRuns = known != ev.known().inRuns.end();
  if (knownInRuns && known->second.masks) {
    tabled = int(d);
    where.runs = runsIn(ev, known->second, point[d]);
    return;
  }
  Index index = point[d];
  analysis::LaneGroups whole = groupsOf(ev, steps, 0, index);
  if (whole.equal || whole.follow)
    index.step = 0;
  bool inRow = !ev.threads && !index.lanes && index.step == 1;
  auto repeats = inRow ? analysis::laneRepeats(steps) : analysis::LaneRepeats();
  bool inGroups = repeats.width > 1 && index.multiple % repeats.width == 0;
  if (inGroups) // the first lane's place, and so much more for each group
    index.step = 0;
  Linear l;
  if (ev.threads || along.base)
    l = ev.linear(steps, index);
  else
    std::tie(l, along) = fromStart(steps, index), longest = shape[d];
  if (inGroups) {
    SmallVector<llvm::Constant *> groups;
    for (unsigned lane = 0; lane < ev.width(); ++lane)
      groups.push_back(b.getInt64((lane + repeats.ahead) / repeats.width));
    l.lanes = llvm::ConstantVector::get(groups);
  }
  addresses.addLinear(where, l);
  where.step += whole.follow && !whole.equal;
  if (l.lanes && knownInRuns) {
    AtLevel at(ev.levels, l.level);
    llvm::Value *rest;
    where.runs = runsOf(e, ev.width(), running = l.lanes, rest);
  }
}

// In two parts: what is known where the current segment begins, and how far lanes have gone on from there.
std::pair<Linear, Linear> AccessAddress::fromStart(Value integers, const Index &index) {
  Linear all = ev.linear(integers, index);
  const Index *start = ev.width() > 1 ? ev.segment.start() : nullptr;
  if (!start || all.lanes || all.step != 1 || index.step != 1 || index.loop != start->loop)
    return {all, {}};
  Linear first = ev.linear(integers, *start);
  AtLevel at(ev.levels, all.level);
  return {{first.base, 0, nullptr, first.level}, {b.CreateSub(index.base, start->base), 1, nullptr, all.level}};
}

// Windows of rows side by side overlap: what one row reads a row further down is what the next one reads here.
llvm::Value *AccessAddress::offset(tile::AccessOp access) {
  auto isBehind = [&](unsigned d) { return point[d].behind >= 0 && access.isStrided(d); };
  auto dims = llvm::filter_to_vector(llvm::seq<unsigned>(0, point.size()), isBehind);
  if (dims.empty())
    return ev.wide(access.getOffset());
  constexpr auto address = analysis::Wrapping::address;
  analysis::IndexPolynomial sum = analysis::polynomialOf(access.getOffset(), address);
  for (unsigned d : dims)
    sum = sum + analysis::IndexPolynomial(point[d].behind) * analysis::polynomialOf(access.getSteps()[d], address);
  auto known = llvm::find(addresses.offsets, sum);
  if (known == addresses.offsets.end())
    known = addresses.offsets.insert(addresses.offsets.end(), std::move(sum));
  llvm::Value *&result = ev.levels.outermost()[Key{&*known, {}}];
  if (result)
    return result;
  llvm::Value *offset = ev.wide(access.getOffset());
  for (unsigned d : dims)
    offset = b.CreateAdd(offset, b.CreateMul(ev.wide(access.getSteps()[d]), e.i64(point[d].behind)));
  return result = offset;
}

// A tile of pointers: a common base and integer offsets where that form exists, else one pointer a lane.
void AccessAddress::addPointers(Value pointers, ArrayRef<Index> point) {
  if (!isa<RankedTensorType>(pointers.getType())) {
    where.pointer = ev.scalar(pointers);
    addresses.setScope(where, pointers);
    return;
  }
  Operation *op = pointers.getDefiningOp();
  if (op && ev.plan.isVirtual(pointers)) {
    if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
      addPointers(add.getPtr(), point);
      return addresses.addLinear(where, ev.linear(add.getOffset(), point));
    }
    if (auto splat = dyn_cast<tile::SplatOp>(op))
      return addPointers(splat.getValue(), {});
    if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(op))
      return addPointers(op->getOperand(0), ev.indices.operandPoint(op, point));
  }
  Lanes each = ev.value(pointers, point);
  where.level = levelOf(point);
  if (e.lanesOf(each) == 1) {
    where.pointer = each;
    return;
  }
  // In elements from a null pointer; the element size divides addresses of aligned elements.
  llvm::Value *bytes = b.CreatePtrToInt(each, e.vectorOf(b.getInt64Ty(), ev.width()));
  where.pointer = llvm::ConstantPointerNull::get(b.getPtrTy());
  where.addOffsets(b, b.CreateExactSDiv(bytes, e.splat(e.i64(elementBytes(where.element)), ev.width())));
}

} // namespace tilery::lower
