#include "compiler/passes/role_steps.h"
#include "compiler/analysis/barrier_names.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

Value number(OpBuilder &b, Location loc, int64_t n) { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); }
Value flag(OpBuilder &b, Location loc, bool value) { return arith::ConstantOp::create(b, loc, b.getBoolAttr(value)); }

bool holdsWait(Operation *op) {
  return op->walk([](BarrierWaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// A piece of a role between two places where it may stop.
struct Step {
  enum Kind { Plain, Wait, For, If, While } kind;
  int64_t number;                          // what is next when this step is
  Operation *op = nullptr;                 // of all kinds but Plain
  SmallVector<Operation *> ops = {};       // of Plain
  std::vector<Step> body = {}, other = {}; // of a loop; of a branch and its else
  int64_t latch = 0;                       // the end of a loop's turn, or of a branch's first side
  int64_t after = 0;                       // the first number behind the step
};

/// One role: its steps, and the memory of what steps leave for each other.
class Role {
public:
  /// moved: a flag in memory, set when a role goes on behind a wait.
  Role(Region &region, BarrierCounts &barriers, OpBuilder front, unsigned index, Value moved)
      : barriers(barriers), region(region), front(front), index(index), moved(moved) {
    Location loc = region.getLoc();
    steps = plan(region.front());
    collectCrossing();
    next = cell(front, loc, front.getI32Type());
    write(front, loc, next, number(front, loc, 0));
    stopped = cell(front, loc, front.getI1Type());
  }

  int64_t end() const { return numbers; }
  Value nextStep(OpBuilder &b, Location loc) const { return read(b, loc, next); }

  /// Goes on until the role waits or ends.
  void emit(OpBuilder &b, Location loc) {
    write(b, loc, stopped, flag(b, loc, false));
    emit(b, steps);
  }

  /// Stops the launch at the line of the wait that this role stands at.
  void reportWaits(OpBuilder &b) { reportWaits(b, steps); }

private:
  // -- cutting ---------------------------------------------------------------------------------------------------
  std::vector<Step> plan(Block &block) {
    std::vector<Step> result;
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      if (!holdsWait(&op)) {
        if (result.empty() || result.back().kind != Step::Plain)
          result.push_back({Step::Plain, numbers++});
        result.back().ops.push_back(&op);
        result.back().after = numbers;
        owner[&op] = result.back().number;
        continue;
      }
      result.push_back({isa<BarrierWaitOp>(op) ? Step::Wait
                        : isa<scf::ForOp>(op)  ? Step::For
                        : isa<scf::IfOp>(op)   ? Step::If
                                               : Step::While,
                        numbers++, &op});
      Step &step = result.back();
      owner[&op] = step.number;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        step.body = plan(*loop.getBody());
        step.latch = numbers++;
        owner[loop.getBody()->getTerminator()] = step.latch;
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        for (Operation &inner : *loop.getBeforeBody())
          owner[&inner] = step.number;
        step.body = plan(*loop.getAfterBody());
        step.latch = numbers++;
        owner[loop.getAfterBody()->getTerminator()] = step.latch;
      } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
        step.body = plan(*choice.thenBlock());
        step.latch = numbers++;
        owner[choice.thenBlock()->getTerminator()] = step.latch;
        if (choice.elseBlock()) {
          step.other = plan(*choice.elseBlock());
          owner[choice.elseBlock()->getTerminator()] = numbers++;
        }
      }
      step.after = numbers;
    }
    return result;
  }

  // -- values that cross steps -----------------------------------------------------------------------------------
  bool isOutside(Value value) const { return !region.isAncestor(value.getParentRegion()); }

  /// Made again where it is needed: what costs nothing and changes nothing.
  static bool isRemade(Operation *op) {
    return isPure(op) && op->getNumRegions() == 0 && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
  }

  /// The step that an op is emitted with; it may stand deep inside the step's ops.
  int64_t stepOf(Operation *op) const {
    for (; op; op = op->getParentOp())
      if (auto found = owner.find(op); found != owner.end())
        return found->second;
    return -1;
  }

  void cross(Value value) {
    if (isOutside(value) || cells.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (op && owner.contains(op) && isRemade(op)) {
      for (Operation *inner = op; Value operand : inner->getOperands())
        cross(operand);
      return;
    }
    cells[value] = cell(front, value.getLoc(), value.getType());
  }

  void collectCrossing() {
    auto use = [&](Operation *op, Value value) {
      if (isOutside(value))
        return;
      Operation *def = value.getDefiningOp();
      if (auto argument = dyn_cast<BlockArgument>(value); argument && !isCut(argument.getOwner()->getParentOp()))
        return; // of an op that is emitted whole
      if (!def || isCut(def) || stepOf(def) != stepOf(op))
        cross(value);
    };
    region.walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        use(op, operand);
    });
    // What loops and branches that are cut give and carry is in memory.
    region.walk([&](Operation *op) {
      if (!isCut(op))
        return;
      for (Value result : op->getResults())
        cross(result);
      for (Region &inner : op->getRegions())
        for (Value argument : inner.getArguments())
          cross(argument);
    });
  }
  bool isCut(Operation *op) const { return owner.contains(op) && op->getNumRegions() && holdsWait(op); }

  Value cell(OpBuilder &b, Location loc, Type type) {
    auto tile = dyn_cast<RankedTensorType>(type);
    return AllocOp::create(b, loc,
                           tile ? BufferType::get(tile.getShape(), tile.getElementType(), Space::fragment)
                                : BufferType::get({1}, type, Space::local));
  }
  static Value read(OpBuilder &b, Location loc, Value cell) {
    auto type = cast<BufferType>(cell.getType());
    if (type.getSpace() == Space::fragment)
      return BufferLoadOp::create(b, loc, type.getTileType(), cell);
    return ElementLoadOp::create(b, loc, type.getElementType(), cell, number(b, loc, 0));
  }
  static void write(OpBuilder &b, Location loc, Value cell, Value value) {
    if (cast<BufferType>(cell.getType()).getSpace() == Space::fragment)
      BufferStoreOp::create(b, loc, cell, value, Value());
    else
      ElementStoreOp::create(b, loc, cell, number(b, loc, 0), value);
  }

  /// A value of the role at the current place of another step.
  Value get(OpBuilder &b, Value value, IRMapping &map) {
    if (isOutside(value))
      return value;
    if (Value known = map.lookupOrNull(value))
      return known;
    if (auto found = cells.find(value); found != cells.end()) {
      Value content = read(b, value.getLoc(), found->second);
      map.map(value, content);
      return content;
    }
    Operation *op = value.getDefiningOp();
    prepare(b, op, map);
    b.clone(*op, map);
    return map.lookup(value);
  }
  /// Makes what an op reads available.
  void prepare(OpBuilder &b, Operation *op, IRMapping &map) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
          get(b, operand, map);
    });
  }
  void keep(OpBuilder &b, Location loc, ValueRange values, ValueRange contents) {
    for (auto [value, content] : llvm::zip_equal(values, contents))
      if (auto found = cells.find(value); found != cells.end())
        write(b, loc, found->second, content);
  }
  SmallVector<Value> getAll(OpBuilder &b, ValueRange values, IRMapping &map) {
    return llvm::map_to_vector(values, [&](Value value) { return get(b, value, map); });
  }

  // -- emission --------------------------------------------------------------------------------------------------
  Value isNext(OpBuilder &b, Location loc, int64_t step) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, read(b, loc, next), number(b, loc, step));
  }
  void goTo(OpBuilder &b, Location loc, int64_t step) { write(b, loc, next, number(b, loc, step)); }
  void goTo(OpBuilder &b, Location loc, Value condition, int64_t yes, int64_t no) {
    write(b, loc, next, arith::SelectOp::create(b, loc, condition, number(b, loc, yes), number(b, loc, no)));
  }
  void when(OpBuilder &b, Location loc, int64_t step, llvm::function_ref<void(OpBuilder &, IRMapping &)> body) {
    auto choice = scf::IfOp::create(b, loc, isNext(b, loc, step), false);
    OpBuilder inside = choice.getThenBodyBuilder();
    IRMapping map;
    body(inside, map);
  }

  void emit(OpBuilder &b, ArrayRef<Step> list) {
    for (const Step &step : list)
      switch (step.kind) {
      case Step::Plain:
        emitPlain(b, step);
        break;
      case Step::Wait:
        emitWait(b, step);
        break;
      case Step::For:
        emitFor(b, step);
        break;
      case Step::If:
        emitIf(b, step);
        break;
      case Step::While:
        emitWhile(b, step);
        break;
      }
  }

  void emitPlain(OpBuilder &b, const Step &step) {
    when(b, step.ops.front()->getLoc(), step.number, [&](OpBuilder &in, IRMapping &map) {
      for (Operation *op : step.ops) {
        if (auto arrive = dyn_cast<BarrierArriveOp>(op)) {
          prepare(in, op, map);
          barriers.arrive(in, arrive, map);
          continue;
        }
        prepare(in, op, map);
        Operation *copy = in.clone(*op, map);
        lowerArrivals(copy);
        keep(in, op->getLoc(), op->getResults(), copy->getResults());
      }
      goTo(in, step.ops.back()->getLoc(), step.after);
    });
  }
  void lowerArrivals(Operation *op) {
    SmallVector<BarrierArriveOp> found;
    op->walk([&](BarrierArriveOp arrive) { found.push_back(arrive); });
    for (BarrierArriveOp arrive : found) {
      OpBuilder b(arrive);
      IRMapping same;
      barriers.arrive(b, arrive, same);
      arrive.erase();
    }
  }

  void emitWait(OpBuilder &b, const Step &step) {
    auto wait = cast<BarrierWaitOp>(step.op);
    Location loc = wait.getLoc();
    when(b, loc, step.number, [&](OpBuilder &in, IRMapping &map) {
      prepare(in, wait, map);
      Value over = barriers.isOver(in, wait, map);
      goTo(in, loc, over, step.after, step.number);
      write(in, loc, moved, arith::OrIOp::create(in, loc, read(in, loc, moved), over));
      write(in, loc, stopped, arith::XOrIOp::create(in, loc, over, flag(in, loc, true)));
    });
  }

  /// Turns as long as the role is inside these steps and does not wait.
  void emitTurns(OpBuilder &b, Location loc, int64_t first, int64_t after, llvm::function_ref<void(OpBuilder &)> body) {
    auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
    OpBuilder before = OpBuilder::atBlockEnd(&loop.getBefore().emplaceBlock());
    Value at = read(before, loc, next);
    Value behind = arith::CmpIOp::create(before, loc, arith::CmpIPredicate::sge, at, number(before, loc, first));
    Value inside = arith::CmpIOp::create(before, loc, arith::CmpIPredicate::slt, at, number(before, loc, after));
    Value runs = arith::XOrIOp::create(before, loc, read(before, loc, stopped), flag(before, loc, true));
    Value both = arith::AndIOp::create(before, loc, arith::AndIOp::create(before, loc, behind, inside), runs);
    scf::ConditionOp::create(before, loc, both, ValueRange());
    OpBuilder in = OpBuilder::atBlockEnd(&loop.getAfter().emplaceBlock());
    body(in);
    scf::YieldOp::create(in, loc);
  }

  void emitFor(OpBuilder &b, const Step &step) {
    auto loop = cast<scf::ForOp>(step.op);
    Location loc = loop.getLoc();
    auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    auto turn = [&](OpBuilder &in, IRMapping &map, Value index, ValueRange carried) {
      keep(in, loc, loop.getInductionVar(), index);
      keep(in, loc, loop.getRegionIterArgs(), carried);
      keep(in, loc, loop.getResults(), carried);
      Value again = arith::CmpIOp::create(in, loc, less, index, get(in, loop.getUpperBound(), map));
      goTo(in, loc, again, step.number + 1, step.after);
    };
    when(b, loc, step.number, [&](OpBuilder &in, IRMapping &map) {
      turn(in, map, get(in, loop.getLowerBound(), map), getAll(in, loop.getInitArgs(), map));
    });
    emitTurns(b, loc, step.number + 1, step.after, [&](OpBuilder &body) {
      emit(body, step.body);
      when(body, loc, step.latch, [&](OpBuilder &in, IRMapping &map) {
        SmallVector<Value> carried = getAll(in, loop.getYieldedValues(), map);
        Value index = get(in, loop.getInductionVar(), map);
        turn(in, map, arith::AddIOp::create(in, loc, index, get(in, loop.getStep(), map)), carried);
      });
    });
  }

  void emitWhile(OpBuilder &b, const Step &step) {
    auto loop = cast<scf::WhileOp>(step.op);
    Location loc = loop.getLoc();
    auto test = [&](OpBuilder &in, IRMapping &map, ValueRange given) {
      map.map(loop.getBeforeArguments(), given);
      for (Operation &op : loop.getBeforeBody()->without_terminator()) {
        prepare(in, &op, map);
        in.clone(op, map);
      }
      scf::ConditionOp condition = loop.getConditionOp();
      SmallVector<Value> passed = getAll(in, condition.getArgs(), map);
      keep(in, loc, loop.getAfterArguments(), passed);
      keep(in, loc, loop.getResults(), passed);
      goTo(in, loc, get(in, condition.getCondition(), map), step.number + 1, step.after);
    };
    when(b, loc, step.number, [&](OpBuilder &in, IRMapping &map) { test(in, map, getAll(in, loop.getInits(), map)); });
    emitTurns(b, loc, step.number + 1, step.after, [&](OpBuilder &body) {
      emit(body, step.body);
      when(body, loc, step.latch, [&](OpBuilder &in, IRMapping &map) {
        SmallVector<Value> given = getAll(in, loop.getYieldOp().getOperands(), map);
        IRMapping fresh;
        test(in, fresh, given);
      });
    });
  }

  void emitIf(OpBuilder &b, const Step &step) {
    auto choice = cast<scf::IfOp>(step.op);
    Location loc = choice.getLoc();
    bool hasElse = choice.elseBlock() != nullptr;
    auto finish = [&](int64_t at, Block &side) {
      when(b, loc, at, [&](OpBuilder &in, IRMapping &map) {
        keep(in, loc, choice.getResults(), getAll(in, side.getTerminator()->getOperands(), map));
        goTo(in, loc, step.after);
      });
    };
    when(b, loc, step.number, [&](OpBuilder &in, IRMapping &map) {
      goTo(in, loc, get(in, choice.getCondition(), map), step.number + 1, hasElse ? step.latch + 1 : step.after);
    });
    emit(b, step.body);
    finish(step.latch, *choice.thenBlock());
    if (hasElse) {
      emit(b, step.other);
      finish(step.after - 1, *choice.elseBlock());
    }
  }

  void reportWaits(OpBuilder &b, ArrayRef<Step> list) {
    for (const Step &step : list) {
      if (step.kind == Step::Wait) {
        Location loc = step.op->getLoc();
        Value elsewhere =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, read(b, loc, next), number(b, loc, step.number));
        AssertOp::create(b, loc, elsewhere, Value(),
                         "role " + std::to_string(index) + " waits for ever for " +
                             analysis::barrierName(cast<BarrierWaitOp>(step.op).getBarrier()) + ", which nobody completes");
      }
      reportWaits(b, step.body);
      reportWaits(b, step.other);
    }
  }

  BarrierCounts &barriers;
  Region &region;
  OpBuilder front; // before the roles
  unsigned index;
  Value moved, next, stopped;
  int64_t numbers = 0;
  std::vector<Step> steps;
  DenseMap<Operation *, int64_t> owner; // the step of an op, or of a terminator
  DenseMap<Value, Value> cells;
};

} // namespace

Operation *tilery::notInterleavable(RolesOp roles) {
  Operation *found = nullptr;
  roles->walk([&](Operation *op) {
    if (op == roles.getOperation() || found)
      return;
    bool waits = holdsWait(op);
    bool flow = isa<scf::ForOp, scf::IfOp, scf::WhileOp, BarrierWaitOp>(op);
    if (isa<RolesOp>(op) || (waits && !flow))
      found = op;
    if (auto loop = dyn_cast<scf::WhileOp>(op);
        loop && loop.getBefore().walk([](BarrierWaitOp) { return WalkResult::interrupt(); }).wasInterrupted())
      found = op;
  });
  return found;
}

void tilery::interleaveRoles(RolesOp op, BarrierCounts &barriers) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  op->walk([&](AllocOp alloc) { alloc->moveBefore(op); });
  Value none = number(b, loc, 0);
  Value moved = AllocOp::create(b, loc, BufferType::get({1}, b.getI1Type(), Space::local));
  std::vector<std::unique_ptr<Role>> roles;
  for (auto [i, body] : llvm::enumerate(op.getBodies()))
    roles.push_back(std::make_unique<Role>(body, barriers, b, i, moved));
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder before = OpBuilder::atBlockEnd(&loop.getBefore().emplaceBlock());
  Value any = flag(before, loc, false);
  for (auto &role : roles) {
    Value end = number(before, loc, role->end());
    Value runs = arith::CmpIOp::create(before, loc, arith::CmpIPredicate::ne, role->nextStep(before, loc), end);
    any = arith::OrIOp::create(before, loc, any, runs);
  }
  scf::ConditionOp::create(before, loc, any, ValueRange());
  OpBuilder in = OpBuilder::atBlockEnd(&loop.getAfter().emplaceBlock());
  ElementStoreOp::create(in, loc, moved, none, flag(in, loc, false));
  Value goesOn = flag(in, loc, false);
  for (auto &role : roles) {
    Value first = role->nextStep(in, loc);
    role->emit(in, loc);
    Value other = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::ne, first, role->nextStep(in, loc));
    goesOn = arith::OrIOp::create(in, loc, goesOn, other);
  }
  goesOn = arith::OrIOp::create(in, loc, goesOn, ElementLoadOp::create(in, loc, in.getI1Type(), moved, none));
  Value stuck = arith::XOrIOp::create(in, loc, goesOn, flag(in, loc, true));
  OpBuilder report = scf::IfOp::create(in, loc, stuck, false).getThenBodyBuilder();
  for (auto &role : roles)
    role->reportWaits(report);
  scf::YieldOp::create(in, loc);
  op.erase();
}
