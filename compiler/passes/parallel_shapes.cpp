// Points of a tile.parallel that programs spell by branches and by repetition, brought into its extents.
#include "compiler/passes/parallel_shapes.h"
#include "compiler/analysis/same_value.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// What it does to memory beside reading it.
bool hasEffects(Operation &op) {
  return !isPure(&op) && !isa<LoadOp, ElementLoadOp>(op) && !op.hasTrait<OpTrait::IsTerminator>();
}

/// value = of + number, without wrapping.
struct Sum {
  Value of;
  int64_t number = 0;
};

/// Casts to wider integers are looked through.
Sum sumOf(Value value) {
  if (auto wide = value.getDefiningOp<arith::ExtSIOp>())
    return sumOf(wide.getIn());
  auto add = value.getDefiningOp<arith::AddIOp>();
  if (add && bitEnumContainsAll(add.getOverflowFlags(), arith::IntegerOverflowFlags::nsw))
    for (unsigned side : {0, 1})
      if (std::optional<int64_t> number = constantOf(add->getOperand(side))) {
        Sum sum = sumOf(add->getOperand(1 - side));
        return {sum.of, sum.number + *number};
      }
  return {value};
}

/// What an element is named by: the memory, and indices whose last one counts neighbours.
struct Place {
  Value memory;
  OperandRange indices;

  Sum last() const { return sumOf(indices.back()); }
  bool isBeside(const Place &other) const {
    return memory == other.memory && indices.size() == other.indices.size() &&
           llvm::all_of(llvm::zip(indices.drop_back(), other.indices.drop_back()),
                        [](auto pair) { return analysis::isSameValue(std::get<0>(pair), std::get<1>(pair)); });
  }
};

std::optional<Place> placeOf(AtomicRmwOp update) {
  auto view = update.getPlace().getDefiningOp<ViewOp>();
  if (!view || view.getType().getRank() || view.getResidual() || view.getStarts().empty())
    return std::nullopt;
  return Place{view.getRoot(), view.getStarts()};
}

std::optional<Place> placeOf(Value value) {
  auto load = value.getDefiningOp<ElementLoadOp>();
  return load && !load.getIndices().empty() ? std::optional(Place{load.getBuffer(), load.getIndices()}) : std::nullopt;
}

/// All that a tile.parallel does.
class Neighbours {
public:
  explicit Neighbours(ParallelOp op) : op(op), body(op.getBody().front()) {}

  void join() {
    if (!find())
      return;
    OpBuilder b(op);
    SmallVector<Value> extents(op.getExtents());
    unsigned number = variable.getArgNumber();
    Type type = variable.getType();
    extents[number] = arith::ConstantOp::create(b, op.getLoc(), b.getIntegerAttr(type, extent * int64_t(updates.size())));
    for (AtomicRmwOp update : llvm::drop_begin(updates))
      update.erase();
    for (Operation *multiple : multiples)
      multiple->getResult(0).replaceAllUsesWith(variable);
    for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&inner))
        inner.erase();
    op.getExtentsMutable().assign(extents);
  }

private:
  bool find() {
    for (Operation &inner : body) {
      auto update = dyn_cast<AtomicRmwOp>(inner);
      if (update && update->use_empty())
        updates.push_back(update);
      else if (hasEffects(inner) || inner.getNumRegions())
        return false;
    }
    return (updates.size() == 2 || updates.size() == 4) && areNeighbours() && isCounted();
  }

  bool areNeighbours() {
    AtomicRmwOp first = updates[0];
    std::optional<Place> place = placeOf(first), value = placeOf(first.getValue());
    if (!place || !value)
      return false;
    for (auto [e, update] : llvm::enumerate(updates)) {
      std::optional<Place> nextPlace = placeOf(update), nextValue = placeOf(update.getValue());
      auto isNext = [e = e](const Place &at, const Place &from) {
        return at.isBeside(from) && analysis::isSameValue(at.last().of, from.last().of) &&
               at.last().number == from.last().number + int64_t(e);
      };
      if (!nextPlace || !nextValue || !isNext(*nextPlace, *place) || !isNext(*nextValue, *value) ||
          update->getAttrDictionary() != first->getAttrDictionary())
        return false;
      named.insert(update.getPlace().getDefiningOp());
      named.insert(update.getValue().getDefiningOp());
    }
    return findVariable(place->last().of) && findVariable(value->last().of);
  }

  /// It is a variable of the loop times the number of neighbours.
  bool findVariable(Value multiple) {
    auto product = multiple.getDefiningOp<arith::MulIOp>();
    auto argument = product ? dyn_cast<BlockArgument>(product.getLhs()) : BlockArgument();
    if (!argument || argument.getOwner() != &body || constantOf(product.getRhs()) != int64_t(updates.size()) ||
        (variable && variable != argument))
      return false;
    variable = argument;
    multiples.insert(product);
    return true;
  }

  /// The variable counts groups of neighbours, and nothing else.
  bool isCounted() {
    std::optional<int64_t> found = constantOf(op.getExtents()[variable.getArgNumber()]);
    auto limit = llvm::maxIntN(variable.getType().getIntOrFloatBitWidth());
    if (!found || *found < 1 || *found > limit / 4)
      return false;
    extent = *found;
    for (Operation *user : variable.getUsers()) {
      auto product = dyn_cast<arith::MulIOp>(user);
      if (!product || product.getLhs() != variable || constantOf(product.getRhs()) != int64_t(updates.size()))
        return false;
      multiples.insert(user);
    }
    return llvm::all_of(multiples, [&](Operation *multiple) { return leadsToNames(multiple); });
  }

  /// Last indices of the updates' elements are all that is computed of it.
  bool leadsToNames(Operation *number) {
    return llvm::all_of(number->getUses(), [&](OpOperand &use) {
      Operation *user = use.getOwner();
      if (isa<arith::AddIOp>(user))
        return constantOf(user->getOperand(1 - use.getOperandNumber())) && leadsToNames(user);
      if (isa<arith::ExtSIOp>(user))
        return leadsToNames(user);
      if (!named.contains(user))
        return false;
      auto view = dyn_cast<ViewOp>(user);
      OperandRange indices = view ? view.getStarts() : cast<ElementLoadOp>(user).getIndices();
      return use.getOperandNumber() + 1 == indices.getBeginOperandIndex() + indices.size();
    });
  }

  ParallelOp op;
  Block &body;
  SmallVector<AtomicRmwOp> updates;
  llvm::SmallDenseSet<Operation *> named; // places of the updates, and loads of their values
  llvm::SmallDenseSet<Operation *> multiples;
  BlockArgument variable;
  int64_t extent = 0;
};

} // namespace

void tilery::narrowToGuard(ParallelOp op) {
  Block &body = op.getBody().front();
  scf::IfOp branch;
  for (Operation &inner : body)
    if (hasEffects(inner)) {
      if (branch || !isa<scf::IfOp>(inner))
        return;
      branch = cast<scf::IfOp>(inner);
    }
  if (!branch || branch->getNumResults() || (branch.elseBlock() && !branch.elseBlock()->without_terminator().empty()))
    return;
  auto guard = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto variable = guard ? dyn_cast<BlockArgument>(guard.getLhs()) : BlockArgument();
  std::optional<int64_t> bound = guard ? constantOf(guard.getRhs()) : std::nullopt;
  if (!variable || variable.getOwner() != &body || !bound || guard.getPredicate() != arith::CmpIPredicate::slt)
    return;
  unsigned number = variable.getArgNumber();
  std::optional<int64_t> extent = constantOf(op.getExtents()[number]);
  if (!extent || *bound < 1 || *bound >= *extent)
    return;
  OpBuilder b(op);
  Value narrow = arith::ConstantOp::create(b, op.getLoc(), b.getIntegerAttr(variable.getType(), *bound));
  op.getExtentsMutable().slice(number, 1).assign(narrow);
  auto taken = branch.thenBlock()->without_terminator();
  body.getOperations().splice(branch->getIterator(), branch.thenBlock()->getOperations(), taken.begin(), taken.end());
  branch.erase();
}

void tilery::joinNeighbours(ParallelOp op) { Neighbours(op).join(); }
