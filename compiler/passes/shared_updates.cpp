// Which elements of a buffer the points of a parallel loop share, by counting: the indices are computed at each point of the box.
#include "compiler/passes/shared_updates.h"
#include "compiler/analysis/same_value.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

constexpr int64_t mostPoints = 1 << 17; // of a box that is gone through

/// How an op combines its operands, where the order in which several do it does not matter.
std::optional<RmwKind> kindOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<RmwKind>>(op)
      .Case([](arith::AddFOp) { return RmwKind::fadd; })
      .Case([](arith::AddIOp) { return RmwKind::add; })
      .Case([](arith::MaxNumFOp) { return RmwKind::fmax; })
      .Case([](arith::MinNumFOp) { return RmwKind::fmin; })
      .Case([](arith::MaxSIOp) { return RmwKind::max; })
      .Case([](arith::MinSIOp) { return RmwKind::min; })
      .Case([](arith::MaxUIOp) { return RmwKind::umax; })
      .Case([](arith::MinUIOp) { return RmwKind::umin; })
      .Case([](arith::AndIOp) { return RmwKind::and_; })
      .Case([](arith::OrIOp) { return RmwKind::or_; })
      .Case([](arith::XOrIOp) { return RmwKind::xor_; })
      .Default([](Operation *) { return std::nullopt; });
}

/// Computes integers of a body at the points of its box. What is the same at all points and only added counts as 0.
class Places {
public:
  Places(ParallelOp op, ArrayRef<int64_t> extents) : body(op.getBody().front()), extents(extents) {}

  /// Can no two points have the same indices?
  bool areApart(ValueRange indices) {
    SmallVector<Value> steps;
    llvm::DenseMap<Value, unsigned> slots;
    for (Value index : indices)
      if (!order(index, steps, slots))
        return false;
    int64_t points = 1;
    for (int64_t extent : extents)
      if (llvm::MulOverflow(points, extent, points) || points > mostPoints)
        return false;
    llvm::DenseSet<uint64_t> seen;
    SmallVector<int64_t> values(steps.size());
    for (int64_t point = 0; point < points; ++point) {
      for (auto [slot, step] : llvm::enumerate(steps))
        if (!compute(step, point, slots, values, values[slot]))
          return false;
      uint64_t key = 0;
      for (Value index : indices) {
        int64_t place = values[slots.lookup(index)];
        if (place < -(1 << 20) || place >= (1 << 20) || indices.size() > 3)
          return false;
        key = key << 21 | uint64_t(place + (1 << 20));
      }
      if (!seen.insert(key).second)
        return false;
    }
    return true;
  }

private:
  bool isInside(Value value) const {
    Operation *owner = value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
    return value.getParentBlock() == &body || body.findAncestorOpInBlock(*owner);
  }

  /// Puts what a value is computed from before it.
  bool order(Value value, SmallVectorImpl<Value> &steps, llvm::DenseMap<Value, unsigned> &slots) {
    if (slots.contains(value))
      return true;
    if (isInside(value) && value.getParentBlock() != &body)
      return false; // of a loop or branch
    Operation *op = value.getDefiningOp();
    if (op && isInside(value) && !isa<arith::ConstantOp>(op)) {
      if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp, arith::ExtUIOp, arith::ShRSIOp, arith::ShLIOp,
               arith::AndIOp, arith::OrIOp, arith::XOrIOp, DivOp, RemOp>(op))
        return false;
      bool shifts = isa<arith::AddIOp, arith::SubIOp, arith::ExtSIOp, arith::ExtUIOp>(op);
      for (Value operand : op->getOperands())
        if ((!shifts && isUnknown(operand)) || !order(operand, steps, slots))
          return false;
      if (llvm::any_of(op->getOperands(), [&](Value operand) { return unknown.contains(operand) || isUnknown(operand); }))
        unknown.insert(value);
    }
    slots[value] = steps.size();
    steps.push_back(value);
    return true;
  }

  /// Is a value, or what is added to it, known at run time only?
  bool isUnknown(Value value) {
    APInt number;
    return unknown.contains(value) || (!isInside(value) && !matchPattern(value, m_ConstantInt(&number)));
  }

  bool compute(Value value, int64_t point, llvm::DenseMap<Value, unsigned> &slots, ArrayRef<int64_t> values, int64_t &result) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return result = number.getSExtValue(), true;
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == &body) {
      int64_t below = 1;
      for (unsigned d = extents.size() - 1; d > argument.getArgNumber(); --d)
        below *= extents[d];
      return result = point / below % extents[argument.getArgNumber()], true;
    }
    if (!isInside(value))
      return result = 0, true;
    Operation *op = value.getDefiningOp();
    int64_t x = values[slots.lookup(op->getOperand(0))];
    int64_t y = op->getNumOperands() > 1 ? values[slots.lookup(op->getOperand(1))] : 0;
    bool divides = isa<DivOp, RemOp>(op), shiftsBits = isa<arith::ShRSIOp, arith::ShLIOp>(op);
    if ((divides && (x < 0 || y <= 0)) || (shiftsBits && (y < 0 || y > 40 || x < 0 || x >= (1 << 20))))
      return false;
    result = llvm::TypeSwitch<Operation *, int64_t>(op)
                 .Case([&](arith::AddIOp) { return x + y; })
                 .Case([&](arith::SubIOp) { return x - y; })
                 .Case([&](arith::MulIOp) { return x * y; })
                 .Case([&](arith::ShRSIOp) { return x >> y; })
                 .Case([&](arith::ShLIOp) { return x << y; })
                 .Case([&](arith::AndIOp) { return x & y; })
                 .Case([&](arith::OrIOp) { return x | y; })
                 .Case([&](arith::XOrIOp) { return x ^ y; })
                 .Case([&](DivOp) { return x / y; })
                 .Case([&](RemOp) { return x % y; })
                 .Default([&](Operation *) { return x; }); // more bits
    return result > -(int64_t(1) << 40) && result < int64_t(1) << 40;
  }

  Block &body;
  ArrayRef<int64_t> extents;
  llvm::DenseSet<Value> unknown;
};

/// An element that a store computes anew from itself and something else: `combination` of `load` and `other`, in more bits or not.
struct Update {
  ElementLoadOp load;
  Operation *combination;
  Value other;
};

std::optional<Update> updateOf(ElementStoreOp store) {
  Value value = store.getValue();
  if (auto narrow = value.getDefiningOp<arith::TruncFOp>(); narrow && narrow->hasOneUse())
    value = narrow.getIn();
  Operation *op = value.getDefiningOp();
  if (!op || !op->hasOneUse() || op->getNumOperands() != 2 || !kindOf(op))
    return std::nullopt;
  for (unsigned side : {0, 1}) {
    Value own = op->getOperand(side);
    if (auto wide = own.getDefiningOp<arith::ExtFOp>(); wide && wide->hasOneUse())
      own = wide.getIn();
    auto load = own.getDefiningOp<ElementLoadOp>();
    if (!load || !load->hasOneUse() || load.getBuffer() != store.getBuffer() || load->getBlock() != store->getBlock())
      continue;
    if (llvm::equal(load.getIndices(), store.getIndices(),
                    [](Value a, Value b) { return a == b || analysis::isSameValue(a, b); }))
      return Update{load, op, op->getOperand(1 - side)};
  }
  return std::nullopt;
}

/// A float in the type of the elements. Of the greater and the lesser, which are what they were rounded, too.
Value narrowed(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  auto wide = value.getDefiningOp<arith::ExtFOp>();
  return wide && wide.getIn().getType() == type ? wide.getIn() : arith::TruncFOp::create(b, loc, type, value);
}

/// Is a buffer touched in the body by nothing but these two?
bool isAlone(Value buffer, Operation *load, Operation *store, ParallelOp op) {
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) { return user == load || user == store || !op->isAncestor(user); });
}

} // namespace

void tilery::shareUpdates(ParallelOp op, ArrayRef<int64_t> extents) {
  SmallVector<ElementStoreOp> stores;
  op->walk([&](ElementStoreOp store) { stores.push_back(store); });
  for (ElementStoreOp store : stores) {
    std::optional<Update> update = updateOf(store);
    Operation *owner = store.getBuffer().getDefiningOp();
    if (!update || !owner || op->isAncestor(owner) || !isAlone(store.getBuffer(), update->load, store, op) ||
        Places(op, extents).areApart(store.getIndices()))
      continue;
    OpBuilder builder(store);
    Value other = narrowed(builder, store.getLoc(), update->other, store.getValue().getType());
    ElementUpdateOp::create(builder, store.getLoc(), *kindOf(update->combination), store.getBuffer(), other, store.getIndices());
    SmallVector<Operation *> steps{store, store.getValue().getDefiningOp()};
    if (steps.back() != update->combination)
      steps.push_back(update->combination);
    for (Operation *step : steps)
      step->erase();
    for (Operation *wide : llvm::make_early_inc_range(update->load->getUsers()))
      wide->erase();
    update->load->erase();
  }
}
