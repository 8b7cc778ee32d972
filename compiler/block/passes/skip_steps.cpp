// skip-steps: a loop that multiplies in some steps only (blocks of keys that a mask leaves out) goes over those steps, so that it has no branch
// around its products and copies run ahead over what is left out.
//
//   for k: if holds(k): x = f(k, x)
// becomes
//   n = for k: count of holds(k)
//   for n times, from i = 0: i = the number of the next step that holds; x = f(k + i step, x); i = i + 1
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

bool multiplies(Operation *op) {
  return op->walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

constexpr int32_t group = 4; // steps that are looked at together

bool isNumber(Type type) { return !isa<RankedTensorType>(type); }

class Loop {
public:
  explicit Loop(scf::ForOp loop) : loop(loop), location(loop.getLoc()) {}

  /// Steps that do not take the branch leave all as it is, but for numbers that each step makes anew.
  bool find(ArrayRef<Value> stored) {
    for (Operation &op : *loop.getBody()) {
      if (multiplies(&op) && (branch || !isa<scf::IfOp>(op)))
        return false;
      if (multiplies(&op))
        branch = cast<scf::IfOp>(op);
    }
    if (!branch || branch.getElseRegion().empty())
      return false;
    inverted = branch.thenBlock()->without_terminator().empty();
    if (!isIdle(*(inverted ? branch.thenBlock() : branch.elseBlock())))
      return false;
    return addGuards(branch.getCondition(), stored) && findCarried(stored) && llvm::all_of(*loop.getBody(), [&](Operation &op) {
             return &op == branch || guards.contains(&op) || op.hasTrait<OpTrait::IsTerminator>() || isMovable(op);
           });
  }

  void write() {
    OpBuilder b(loop);
    scf::ForOp counted = count(b);
    SmallVector<Value> starts;
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs()))
      if (!isAdvanced(i))
        starts.push_back(init);
    size_t taken = starts.size();
    starts.push_back(number(b, 0));
    for (unsigned i : advanced)
      starts.push_back(loop.getInitArgs()[i]);
    Value zero = number(b, 0), one = number(b, 1);
    auto made = scf::ForOp::create(b, location, zero, counted.getResult(0), one, starts);
    made->setAttrs(loop->getDiscardableAttrDictionary());
    b.setInsertionPointToStart(made.getBody());
    IRMapping map;
    SmallVector<Value> next = scan(b, made.getRegionIterArgs().drop_front(taken), map);
    SmallVector<Value> ends = writeStep(b, made.getRegionIterArgs().take_front(taken), map);
    ends.append(next);
    scf::YieldOp::create(b, location, ends);
    size_t tile = 0, behind = 1;
    for (auto [i, result] : llvm::enumerate(loop.getResults()))
      result.replaceAllUsesWith(isAdvanced(i) ? counted.getResult(behind++) : made.getResult(tile++));
    loop.erase();
  }

private:
  static bool isIdle(Block &block) { return block.without_terminator().empty(); }
  bool isAdvanced(unsigned i) const { return llvm::is_contained(advanced, i); }
  Value number(OpBuilder &b, int32_t value) { return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value)); }

  /// Only who takes the branch needs it.
  static bool isMovable(Operation &op) {
    bool reads = isa<tile::LoadOp>(op) && !cast<tile::LoadOp>(op).getIsVolatile();
    return reads || isMemoryEffectFree(&op);
  }

  /// What each step computes whether it takes the branch or not: numbers, of what the branch does not change.
  bool addGuards(Value value, ArrayRef<Value> stored) {
    Operation *op = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value); argument && argument.getOwner() == loop.getBody())
      return argument.getArgNumber() == 0 || follow(argument.getArgNumber() - 1, stored);
    if (!op || op->getBlock() != loop.getBody() || guards.contains(op))
      return true;
    auto load = dyn_cast<tile::LoadOp>(op);
    SmallVector<tile::LoadOp> loads;
    bool computes = load ? !load.getIsVolatile() : op->getNumRegions() ? isOfNumbers(op, loads) : isMemoryEffectFree(op);
    if (load)
      loads.push_back(load);
    if (op == branch || !computes || !llvm::all_of(op->getResultTypes(), isNumber) ||
        !llvm::all_of(loads, [&](tile::LoadOp each) { return isApart(each, stored); }))
      return false;
    bool all = true;
    op->walk([&](Operation *each) {
      for (Value operand : each->getOperands())
        all = all && (op->isAncestor(operand.getParentBlock()->getParentOp()) || addGuards(operand, stored));
    });
    if (!all)
      return false;
    return guards.insert(op);
  }

  /// The number that the loop carries is made anew by each step.
  bool follow(unsigned i, ArrayRef<Value> stored) {
    if (isAdvanced(i))
      return true;
    Value next = loop.getBody()->getTerminator()->getOperand(i);
    if (!isNumber(next.getType()) || next.getDefiningOp() == branch)
      return false;
    advanced.push_back(i);
    return addGuards(next, stored);
  }

  bool findCarried(ArrayRef<Value> stored) {
    Operation *idle = (inverted ? branch.thenBlock() : branch.elseBlock())->getTerminator();
    for (auto [i, next] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands())) {
      auto result = dyn_cast<OpResult>(next);
      bool ofBranch = result && result.getOwner() == branch;
      if (ofBranch ? idle->getOperand(result.getResultNumber()) != loop.getRegionIterArg(i) : !follow(i, stored))
        return false;
    }
    for (OpResult result : branch.getResults())
      if (!llvm::all_of(result.getUsers(), [](Operation *user) { return isa<scf::YieldOp>(user); }))
        return false;
    llvm::sort(advanced);
    return true;
  }

  /// The guards of the step at `state`: its counter, and the numbers that are carried. Gives whether it takes the branch.
  Value writeGuards(OpBuilder &b, ValueRange state, IRMapping &map) {
    map.map(loop.getInductionVar(), state[0]);
    for (auto [i, value] : llvm::zip(advanced, state.drop_front()))
      map.map(loop.getRegionIterArg(i), value);
    for (Operation &op : *loop.getBody())
      if (guards.contains(&op))
        b.clone(op, map);
    Value holds = map.lookupOrDefault(branch.getCondition());
    return inverted ? negated(b, holds) : holds;
  }

  Value negated(OpBuilder &b, Value value) {
    return arith::XOrIOp::create(b, location, value, arith::ConstantOp::create(b, location, b.getBoolAttr(true)));
  }

  SmallVector<Value> nextNumbers(IRMapping &map) {
    SmallVector<Value> next;
    for (unsigned i : advanced)
      next.push_back(map.lookupOrDefault(loop.getBody()->getTerminator()->getOperand(i)));
    return next;
  }

  /// Steps that take the branch, and the numbers behind the loop.
  scf::ForOp count(OpBuilder &b) {
    SmallVector<Value> starts{number(b, 0)};
    for (unsigned i : advanced)
      starts.push_back(loop.getInitArgs()[i]);
    auto body = [&](OpBuilder &inside, Location, Value counter, ValueRange carried) {
      SmallVector<Value> state{counter};
      state.append(carried.begin() + 1, carried.end());
      IRMapping map;
      Value holds = arith::ExtUIOp::create(inside, location, inside.getI32Type(), writeGuards(inside, state, map));
      SmallVector<Value> ends{arith::AddIOp::create(inside, location, carried[0], holds)};
      ends.append(nextNumbers(map));
      scf::YieldOp::create(inside, location, ends);
    };
    auto counting = scf::ForOp::create(b, location, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), starts, body);
    return counting;
  }

  /// Of the loop, in its step of that number.
  Value counterOf(OpBuilder &b, Value step) {
    Type type = loop.getInductionVar().getType();
    if (type.getIntOrFloatBitWidth() > 32)
      step = arith::ExtSIOp::create(b, location, type, step);
    auto nsw = arith::IntegerOverflowFlags::nsw;
    Value way = arith::MulIOp::create(b, location, step, loop.getStep(), nsw);
    return arith::AddIOp::create(b, location, loop.getLowerBound(), way, nsw);
  }

  /// Step by step: what comes behind the one that is found, its number, and what it knows.
  SmallVector<Value> lookAtEach(OpBuilder &b, ValueRange from, ArrayRef<Value> known) {
    SmallVector<Type> types(from.getTypes());
    types.push_back(from[0].getType());
    for (Value value : known)
      types.push_back(value.getType());
    auto whether = [&](OpBuilder &inside, Location, ValueRange state) {
      IRMapping step;
      SmallVector<Value> at(state);
      at[0] = counterOf(inside, state[0]);
      Value holds = writeGuards(inside, at, step);
      SmallVector<Value> passed{arith::AddIOp::create(inside, location, state[0], number(inside, 1))};
      passed.append(nextNumbers(step));
      passed.push_back(state[0]);
      Value behind = arith::AddIOp::create(inside, location, at[0], loop.getStep());
      Value more = arith::CmpIOp::create(inside, location, arith::CmpIPredicate::slt, behind, loop.getUpperBound());
      for (Value value : known)
        passed.push_back(step.lookup(value));
      scf::ConditionOp::create(inside, location, arith::AndIOp::create(inside, location, negated(inside, holds), more), passed);
    };
    auto goOn = [&](OpBuilder &inside, Location, ValueRange passed) {
      scf::YieldOp::create(inside, location, passed.take_front(from.size()));
    };
    return scf::WhileOp::create(b, location, types, from, whether, goOn).getResults();
  }

  /// Numbers that are loaded for each step, and nothing else, say whether it takes the branch.
  bool mayLookAhead() const {
    auto isControl = [](Operation *op) { return op->getNumRegions() > 0; };
    return advanced.empty() && llvm::none_of(guards, isControl) &&
           llvm::any_of(guards, [](Operation *op) { return isa<tile::LoadOp>(op); });
  }

  /// The step at `from`, or else the first of those behind it, of which several are loaded at once: they wait for memory together.
  SmallVector<Value> lookAhead(OpBuilder &b, Value from, ArrayRef<Value> known) {
    IRMapping first;
    Value counter = counterOf(b, from);
    Value holds = writeGuards(b, counter, first);
    auto here = [&](OpBuilder &inside, Location) {
      SmallVector<Value> ends{arith::AddIOp::create(inside, location, from, number(inside, 1)), from};
      for (Value value : known)
        ends.push_back(first.lookup(value));
      scf::YieldOp::create(inside, location, ends);
    };
    auto behind = [&](OpBuilder &inside, Location) {
      Value next = arith::AddIOp::create(inside, location, from, number(inside, 1));
      scf::YieldOp::create(inside, location, lookAtGroups(inside, next, counter, known));
    };
    return scf::IfOp::create(b, location, holds, here, behind).getResults();
  }

  /// Another step comes behind the one at `counter`; counters may be any that their type holds.
  Value hasNext(OpBuilder &b, Value counter) {
    Value left = arith::SubIOp::create(b, location, loop.getUpperBound(), counter);
    return arith::CmpIOp::create(b, location, arith::CmpIPredicate::ugt, left, loop.getStep());
  }

  /// From that step on; the one at `left` does not take the branch.
  SmallVector<Value> lookAtGroups(OpBuilder &b, Value from, Value left, ArrayRef<Value> known) {
    SmallVector<Type> types{from.getType(), from.getType()};
    for (Value value : known)
      types.push_back(value.getType());
    auto whether = [&](OpBuilder &inside, Location, ValueRange state) {
      SmallVector<SmallVector<Value>> steps; // whether each takes the branch, its number, and what it knows
      Value counter = counterOf(inside, state[0]), exists = arith::ConstantOp::create(inside, location, inside.getBoolAttr(true));
      for (int32_t i = 0; i < group; ++i) {
        IRMapping map;
        Value holds = writeGuards(inside, Value(arith::SelectOp::create(inside, location, exists, counter, left)), map);
        Value step = arith::AddIOp::create(inside, location, state[0], number(inside, i));
        SmallVector<Value> &told = steps.emplace_back(SmallVector<Value>{holds, step});
        for (Value value : known)
          told.push_back(map.lookup(value));
        exists = arith::AndIOp::create(inside, location, exists, hasNext(inside, counter));
        counter = arith::AddIOp::create(inside, location, counter, loop.getStep());
      }
      SmallVector<Value> found = steps.pop_back_val();
      for (ArrayRef<Value> told : llvm::reverse(steps)) {
        found[0] = arith::OrIOp::create(inside, location, told[0], found[0]);
        for (size_t i = 1; i < found.size(); ++i)
          found[i] = arith::SelectOp::create(inside, location, told[0], told[i], found[i]);
      }
      Value next = arith::AddIOp::create(inside, location, found[1], number(inside, 1));
      SmallVector<Value> passed{next};
      passed.append(found.begin() + 1, found.end());
      Value goesOn = arith::AndIOp::create(inside, location, negated(inside, found[0]), exists);
      scf::ConditionOp::create(inside, location, goesOn, passed);
    };
    auto goOn = [&](OpBuilder &inside, Location, ValueRange passed) {
      scf::YieldOp::create(inside, location, passed.take_front());
    };
    return scf::WhileOp::create(b, location, types, from, whether, goOn).getResults();
  }

  /// The next step that takes the branch: maps what it knows of it, and gives what comes behind it.
  SmallVector<Value> scan(OpBuilder &b, ValueRange from, IRMapping &map) {
    SmallVector<Value> known; // of the step that is found, where it may be needed
    for (unsigned i : advanced)
      known.push_back(loop.getRegionIterArg(i));
    for (Operation *op : guards)
      if (isa<tile::LoadOp>(op))
        known.push_back(op->getResult(0));
    SmallVector<Value> results = mayLookAhead() ? lookAhead(b, from[0], known) : lookAtEach(b, from, known);
    for (auto [value, result] : llvm::zip(known, ArrayRef(results).drop_front(from.size() + 1)))
      map.map(value, result);
    Value isThere =
        arith::MaxSIOp::create(b, location, results[from.size()], number(b, 0)); // so that places are seen not to be negative
    map.map(loop.getInductionVar(), counterOf(b, isThere));
    results.resize(from.size());
    return results;
  }

  /// The step that takes the branch; gives what it makes of what the loop carries.
  SmallVector<Value> writeStep(OpBuilder &b, ValueRange carried, IRMapping &map) {
    size_t next = 0;
    for (auto [i, argument] : llvm::enumerate(loop.getRegionIterArgs()))
      if (!isAdvanced(i))
        map.map(argument, carried[next++]);
    Block &taken = *(inverted ? branch.elseBlock() : branch.thenBlock());
    for (Operation &op : loop.getBody()->without_terminator())
      if (&op == branch)
        for (Operation &inner : taken.without_terminator())
          b.clone(inner, map);
      else if (!guards.contains(&op) ||
               !isa<tile::LoadOp>(op)) // numbers are computed again: of what they are made tells their signs
        b.clone(op, map);
    SmallVector<Value> ends;
    for (auto [i, end] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
      if (!isAdvanced(i))
        ends.push_back(map.lookupOrDefault(taken.getTerminator()->getOperand(cast<OpResult>(end).getResultNumber())));
    return ends;
  }

  scf::ForOp loop;
  Location location;
  scf::IfOp branch;
  bool inverted = false;               // steps for which the condition does not hold take it
  llvm::SetVector<Operation *> guards; // what each step computes
  SmallVector<unsigned> advanced;      // of what is carried, numbers that each step makes anew
};
} // namespace

/// Loops whose products stand in a branch that some steps do not take, and which do nothing else in those, go over the steps that take it.
void runSkipSteps(tile::KernelOp kernel) {
  SmallVector<Value> stored = storedPlaces(kernel);
  for (auto loop : llvm::make_early_inc_range(kernel.getBody().getOps<scf::ForOp>()))
    if (Loop found(loop); found.find(stored))
      found.write();
}

} // namespace tilery::block
