// order-programs: a scheduled kernel's code becomes the body of `block.programs`, so that blocks run one program after the other and copies
// of the next run under the end of the last. Rings' positions are carried on.
//
// What a wave of blocks shares in L2 depends on the order of programs: they are walked in groups of some rows of tiles. How the grid's
// numbers run over tiles is read off the coordinates of the copies, or found out at run time by programs 0, 1, R - 1 and R, where R tiles
// make a column (or a row). A wrong guess costs speed only.
#include "compiler/block/passes/join_programs.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "compiler/analysis/integer_op.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <set>

using namespace mlir;

namespace tilery::block {
namespace {

/// One coordinate of a tile of the product, along rows or along columns.
struct Side {
  Value coord, extent; // of the first copy; of the map
  int64_t tile = 0;    // how far the coordinate goes in a program
};

/// The copy that fills what this take's part shows, and the place of one of the tile's dimensions among its coordinates.
std::optional<Side> sideOf(Value factor, unsigned dim) {
  if (auto transpose = factor.getDefiningOp<TransposeOp>())
    return sideOf(transpose.getShared(), 1 - dim);
  if (auto read = factor.getDefiningOp<ReadOp>())
    return sideOf(read.getShared(), dim);
  auto part = factor.getDefiningOp<PartOp>();
  auto take = part ? part.getSlot().getDefiningOp<TakeOp>() : TakeOp();
  if (!take)
    return std::nullopt;
  for (Operation *user : take.getRing().getUsers())
    if (auto acquire = dyn_cast<AcquireOp>(user))
      for (Operation *each : acquire.getResult().getUsers())
        if (auto filled = dyn_cast<PartOp>(each); filled && filled.getIndex() == part.getIndex())
          for (Operation *filler : filled.getResult().getUsers())
            if (auto copy = dyn_cast<CopyOp>(filler)) {
              ArrayRef<int64_t> shape = copy.getTo().getType().getShape();
              int at = (*walkedDimensions(copy.getMap().getType(), shape))[dim];
              auto map = copy.getMap().getDefiningOp<MapOp>();
              if (at < 0 || !map)
                return std::nullopt;
              return Side{copy.getCoords()[at], map.getExtents()[at], shape[dim]};
            }
  return std::nullopt;
}

/// What a scalar is computed from.
struct Slice {
  llvm::SetVector<Operation *> ops; // operands before users
  std::set<unsigned> axes;          // of program ids
  bool divides = false;             // a program id, or what comes of one
  bool pure = true;

  explicit Slice(Value value) { add(value); }

private:
  bool add(Value value) { // true if it depends on a program id
    Operation *op = value.getDefiningOp();
    if (!op)
      return false;
    if (auto found = known.find(op); found != known.end())
      return found->second;
    bool depends = false;
    for (Value operand : op->getOperands())
      depends |= add(operand);
    if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
      axes.insert(id.getAxis());
      depends = true;
    }
    pure &= isMemoryEffectFree(op) && op->getNumRegions() == 0;
    divides |= depends && isa<tile::DivOp, tile::RemOp>(op);
    ops.insert(op);
    return known[op] = depends;
  }
  llvm::DenseMap<Operation *, bool> known;
};

/// How numbers of programs run over tiles: operands of `block.programs`.
struct Walk {
  Value inner, byRows, plane;
};

class FindWalk {
public:
  FindWalk(const Side &row, const Side &column, OpBuilder &builder, Location location)
      : row(row), column(column), b(builder), location(location) {}

  std::optional<Walk> find() {
    Slice rows(row.coord), columns(column.coord);
    if (!rows.pure || !columns.pure)
      return std::nullopt;
    auto only = [](const Slice &slice) { return slice.axes.size() == 1 && !slice.divides ? int(*slice.axes.begin()) : -1; };
    int rowAxis = only(rows), columnAxis = only(columns);
    if (rowAxis + columnAxis == 1 && rowAxis >= 0 && columnAxis >= 0) {
      Value gx = programs(0), plane = arith::MulIOp::create(b, location, gx, programs(1));
      return Walk{gx, constant(b.getBoolAttr(rowAxis == 0)), plane};
    }
    auto first = [](const Slice &slice) { return llvm::all_of(slice.axes, [](unsigned axis) { return axis == 0; }); };
    if ((rowAxis >= 0 && columnAxis >= 0) || !first(rows) || !first(columns) || !hostKnows(row.extent) ||
        !hostKnows(column.extent))
      return std::nullopt;
    llvm::SetVector<Operation *> ops(rows.ops);
    ops.insert(columns.ops.begin(), columns.ops.end());
    return probe(ops.getArrayRef());
  }

private:
  using Tile = std::pair<Value, Value>; // coordinates of its row and column

  static bool hostKnows(Value extent) {
    std::optional<int64_t> number = analysis::constantOf(extent);
    return !number || (*number > 0 && *number < int64_t(1) << 31);
  }
  Value constant(TypedAttr value) { return arith::ConstantOp::create(b, location, value); }
  Value number(int32_t value) { return constant(b.getI32IntegerAttr(value)); }
  Value programs(unsigned axis) { return tile::NumProgramsOp::create(b, location, axis); }
  Value add(Value x, int32_t y) { return arith::AddIOp::create(b, location, x, number(y)); }
  Value divided(Value x, Value y) { return tile::DivOp::create(b, location, x, y, tile::IntDivMode::trunc); }
  Value equal(Value x, Value y) { return arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, x, y); }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, location, x, y); }
  Value choose(Value which, Value x, Value y) { return arith::SelectOp::create(b, location, which, x, y); }
  Value far(Value from, Value steps, int32_t by) {
    return arith::AddIOp::create(b, location, from, arith::MulIOp::create(b, location, steps, number(by)));
  }
  Value is(Tile tile, Value wantedRow, Value wantedColumn) {
    return both(equal(tile.first, wantedRow), equal(tile.second, wantedColumn));
  }

  /// The tile of a program of the grid's first axis.
  Tile at(ArrayRef<Operation *> ops, Value program) {
    IRMapping copies;
    for (Operation *op : ops)
      if (isa<tile::ProgramIdOp>(op))
        copies.map(op->getResult(0), program);
      else
        b.clone(*op, copies);
    return {copies.lookupOrDefault(row.coord), copies.lookupOrDefault(column.coord)};
  }

  Value tiles(const Side &side) {
    Value extent = arith::TruncIOp::create(b, location, b.getI32Type(), side.extent);
    Value count = divided(add(extent, side.tile - 1), number(side.tile));
    return arith::MaxSIOp::create(b, location, count, number(1));
  }

  Walk probe(ArrayRef<Operation *> ops) {
    Value count = programs(0), last = add(count, -1);
    auto clamped = [&](Value program) { return arith::MinSIOp::create(b, location, program, last); };
    Tile first = at(ops, number(0)), second = at(ops, clamped(number(1)));
    Value rowsFirst = equal(first.second, second.second);
    Value length = choose(rowsFirst, tiles(row), tiles(column)), end = add(length, -1);
    Tile far1 = at(ops, clamped(end)), next = at(ops, clamped(length));
    Value byRows =
        both(is(far1, far(first.first, end, row.tile), first.second), is(next, first.first, add(first.second, column.tile)));
    Value byColumns =
        both(is(far1, first.first, far(first.second, end, column.tile)), is(next, add(first.first, row.tile), first.second));
    Value rest = tile::RemOp::create(b, location, count, length, tile::IntDivMode::trunc);
    Value regular = both(choose(rowsFirst, byRows, byColumns), equal(rest, number(0)));
    return {choose(regular, length, number(1)), rowsFirst, count};
  }

  Side row, column;
  OpBuilder &b;
  Location location;
};

/// The scalar is larger in programs with a larger first coordinate; false also where that is not seen.
bool growsAlong(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  auto grows = [&](unsigned operand) { return growsAlong(op->getOperand(operand)); };
  if (auto id = dyn_cast<tile::ProgramIdOp>(op))
    return id.getAxis() == 0;
  if (isa<arith::MulIOp>(op))
    return grows(0) && analysis::constantOf(op->getOperand(1)).value_or(0) > 0;
  if (isa<arith::AddIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return grows(0) || grows(1);
  if (isa<tile::DivOp>(op)) // the number of steps that it takes to get there
    return grows(0) && analysis::constantOf(op->getOperand(1)).value_or(0) > 0;
  return isa<arith::ExtSIOp, arith::TruncIOp>(op) && grows(0);
}

/// Programs that do not all have as many steps: as operands of order `longest`.
std::optional<Walk> findLengths(tile::KernelOp kernel, OpBuilder &b) {
  constexpr int64_t kept = 25 << 20; // bytes of L2 for what the programs of a section read again
  scf::ForOp longer;
  bool growing = true; // else programs with the least first coordinate have most steps
  kernel.walk([&](scf::ForOp loop) {
    bool low = growsAlong(loop.getLowerBound()), high = growsAlong(loop.getUpperBound());
    if (low != high)
      longer = loop, growing = high;
  });
  if (!longer)
    return std::nullopt;
  Location location = longer.getLoc();
  Slice slice(longer.getUpperBound());
  if (!slice.pure || slice.axes != (growing ? std::set<unsigned>{0} : std::set<unsigned>{}))
    return std::nullopt;
  int64_t bytes = 0;
  longer.walk([&](CopyOp copy) { bytes += copy.getTo().getType().getBytes(); });
  std::optional<int64_t> step = analysis::constantOf(longer.getStep());
  if (!bytes || !step || !longer.getUpperBound().getType().isInteger(32))
    return std::nullopt;
  auto number = [&](int64_t value) -> Value { return arith::ConstantOp::create(b, location, b.getI32IntegerAttr(value)); };
  auto programs = [&](unsigned axis) -> Value { return tile::NumProgramsOp::create(b, location, axis); };
  IRMapping copies;
  Value last = arith::SubIOp::create(b, location, programs(0), number(1));
  for (Operation *op : slice.ops)
    if (isa<tile::ProgramIdOp>(op))
      copies.map(op->getResult(0), last);
    else
      b.clone(*op, copies);
  // No longer than what an i32 counts: sections are as large as L2 keeps, or one row of the grid.
  Value end = arith::MaxSIOp::create(b, location, copies.lookupOrDefault(longer.getUpperBound()), number(1));
  Value rows = tile::DivOp::create(b, location, number(std::max<int64_t>(kept / bytes * *step, 1)), end, tile::IntDivMode::trunc);
  rows = arith::MaxSIOp::create(b, location, rows, number(1));
  rows = arith::MinSIOp::create(b, location, rows, arith::MulIOp::create(b, location, programs(1), programs(2)));
  Value grows = arith::ConstantOp::create(b, location, b.getBoolAttr(growing));
  return Walk{rows, grows, arith::MulIOp::create(b, location, rows, programs(0))};
}

/// Where a ring's positions begin and end in the kernel. Loops and branches carry them, and each slot that is acquired makes them one more.
class Positions {
public:
  llvm::SetVector<OpOperand *> first; // uses of the number that they begin with
  Value last, lastUsed;               // one of them: the next one behind the kernel, or the one before that

  explicit Positions(RingOp ring) {
    Operation *end = nullptr; // the last op of the kernel's body that acquires slots
    for (Operation *user : ring.getResult().getUsers()) {
      if (isa<AllocOp>(user))
        continue;
      follow(user->getOpOperand(1));
      Operation *top = user->getParentOfType<tile::KernelOp>().getBody().front().findAncestorOpInBlock(*user);
      if (isa<AcquireOp>(user) && (!end || end->isBeforeInBlock(top))) {
        end = top;
        last = leaving(cast<AcquireOp>(user), top);
        lastUsed = last ? Value() : user->getOperand(1);
      }
    }
  }

  /// It is taken once a program.
  bool isOnce() const { return lastUsed && lastUsed.getDefiningOp<arith::ConstantOp>(); }
  bool goOnWith(const Positions &other) const {
    return (isOnce() && other.isOnce()) || (last == other.last && lastUsed == other.lastUsed);
  }

private:
  static unsigned numberOf(Value result) { return cast<OpResult>(result).getResultNumber(); }

  /// Up to the constants that the position begins with.
  void follow(OpOperand &use) {
    if (!seen.insert(&use).second)
      return;
    Value value = use.get();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
        follow(*loop.getTiedLoopInit(argument));
      else if (auto loop = dyn_cast<scf::WhileOp>(argument.getOwner()->getParentOp())) // from before its condition to behind it
        follow(argument.getOwner() == loop.getBeforeBody() ? loop.getInitsMutable()[argument.getArgNumber()]
                                                           : loop.getConditionOp().getArgsMutable()[argument.getArgNumber()]);
    } else if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      follow(loop.getInitArgsMutable()[numberOf(value)]);
    } else if (auto loop = value.getDefiningOp<scf::WhileOp>()) {
      follow(loop.getConditionOp().getArgsMutable()[numberOf(value)]);
    } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      for (Region &region : branch->getRegions())
        follow(region.front().getTerminator()->getOpOperand(numberOf(value)));
    } else if (isa<arith::AddIOp, arith::SubIOp>(value.getDefiningOp())) {
      follow(value.getDefiningOp()->getOpOperand(0));
    } else if (value.getDefiningOp<arith::ConstantOp>()) {
      first.insert(&use);
    }
  }

  /// The side of the branch that leaves the position as it was, which comes from outside.
  static scf::YieldOp sideThatKeeps(scf::IfOp branch, unsigned result) {
    bool changes = branch->isAncestor(branch.elseYield().getOperand(result).getParentBlock()->getParentOp());
    return changes ? branch.thenYield() : branch.elseYield();
  }

  /// What a result of the loop was before it.
  static Value entering(scf::WhileOp loop, unsigned result) {
    Value passed = entering(loop.getConditionOp().getArgs()[result], loop.getBeforeBody());
    return loop.getInits()[cast<BlockArgument>(passed).getArgNumber()];
  }

  /// What the position was when it came into the block.
  static Value entering(Value position, Block *block) {
    while (Operation *op = position.getDefiningOp()) {
      if (op->getBlock() != block)
        break;
      if (auto loop = dyn_cast<scf::ForOp>(op))
        position = loop.getInitArgs()[numberOf(position)];
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        position = entering(loop, numberOf(position));
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        position = sideThatKeeps(branch, numberOf(position)).getOperand(numberOf(position));
      else if (isa<arith::AddIOp, arith::SubIOp>(op))
        position = op->getOperand(0);
      else
        break;
    }
    return position;
  }

  /// The position behind `top`, which holds the acquire; null: one more than the acquire's.
  Value leaving(AcquireOp acquire, Operation *top) {
    Value position = acquire.getPosition(), after;
    for (Operation *at = acquire; at != top; at = at->getParentOp()) {
      Value before = entering(position, at->getBlock());
      if (auto loop = dyn_cast<scf::ForOp>(at->getParentOp()))
        after = loop.getTiedLoopResult(cast<BlockArgument>(before));
      else if (auto loop = dyn_cast<scf::WhileOp>(at->getParentOp()))
        after = loop.getResult(cast<BlockArgument>(before).getArgNumber());
      else if (auto branch = dyn_cast<scf::IfOp>(at->getParentOp()))
        for (OpOperand &same : (at->getBlock() == branch.thenBlock() ? branch.elseYield() : branch.thenYield())->getOpOperands())
          if (same.get() == before) {
            after = branch.getResult(same.getOperandNumber());
            follow(same);
          }
      position = after;
    }
    return after;
  }

  llvm::DenseSet<OpOperand *> seen;
};

/// What stands behind it in the programs' code, in a branch: positions stay as they were in programs that end there.
void branchAround(ReturnIfOp returns, ProgramsOp programs) {
  Operation *yield = returns->getBlock()->getTerminator();
  OpBuilder b(returns);
  auto branch = scf::IfOp::create(b, returns.getLoc(), yield->getOperandTypes(), returns.getCondition(), /*withElse=*/true);
  scf::YieldOp::create(b = branch.getThenBodyBuilder(), returns.getLoc(), programs.getCarried());
  Block &rest = branch.getElseRegion().front();
  rest.getOperations().splice(rest.end(), yield->getBlock()->getOperations(), std::next(branch->getIterator()),
                              yield->getIterator());
  b.setInsertionPointToEnd(&rest);
  scf::YieldOp::create(b, returns.getLoc(), yield->getOperands());
  yield->setOperands(branch.getResults());
  returns->erase();
}

/// All but what is made once: memory, maps, and numbers that no program changes.
SmallVector<Operation *> insideOf(Block &body, ArrayRef<Positions> positions) {
  llvm::SetVector<Operation *> inside;
  llvm::DenseSet<Operation *> counting;
  for (const Positions &each : positions)
    for (OpOperand *first : each.first)
      counting.insert(first->getOwner());
  for (Operation &op : body.without_terminator()) {
    bool isScalar = llvm::none_of(op.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    bool isNumber = isScalar && !isa<tile::ProgramIdOp>(op) && op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
                    !isa<BlockDialect>(op.getDialect()) &&
                    llvm::none_of(op.getOperands(), [&](Value operand) { return inside.contains(operand.getDefiningOp()); });
    if ((!isNumber || counting.contains(&op)) && !isa<MapOp, RequireOp, RingOp, AllocOp, BatonOp>(op))
      inside.insert(&op);
  }
  return SmallVector<Operation *>(inside.getArrayRef());
}

std::optional<Walk> findWalk(tile::KernelOp kernel, OpBuilder &builder) {
  MmaStartOp product;
  kernel.walk([&](MmaStartOp op) { product = op; });
  auto row = product ? sideOf(product.getA(), 0) : std::nullopt, column = product ? sideOf(product.getB(), 1) : std::nullopt;
  if (!row || !column)
    return std::nullopt;
  return FindWalk(*row, *column, builder, product.getLoc()).find();
}
} // namespace

void runOrderPrograms(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  SmallVector<RingOp> rings(body.getOps<RingOp>());
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (rings.empty() || !schedule || !body.getOps<ProgramsOp>().empty())
    return;
  SmallVector<Positions> positions; // of rings that go on together, once
  SmallVector<Value> starts;
  for (RingOp ring : rings) {
    Positions each(ring);
    auto same = llvm::find_if(positions, [&](Positions &other) { return other.goOnWith(each); });
    if (same != positions.end()) {
      same->first.insert(each.first.begin(), each.first.end());
      continue;
    }
    starts.push_back(each.first[0]->get());
    positions.push_back(each);
  }
  SmallVector<Operation *> inside = insideOf(body, positions);
  OpBuilder builder(body.getTerminator());
  bool joined = kernel->hasAttr(joinedPrograms); // orders count programs of the launch
  std::optional<Walk> walk = schedule->group > 1 && !joined ? findWalk(kernel, builder) : std::nullopt, lengths;
  if (schedule->longest && !joined)
    walk = lengths = findLengths(kernel, builder);
  Order order = lengths ? Order::longest : walk ? Order::grouped : Order::grid;
  auto group = order == Order::grouped ? builder.getI32IntegerAttr(schedule->group) : IntegerAttr();
  auto programs = ProgramsOp::create(builder, kernel.getLoc(), order, group, walk ? walk->inner : Value(),
                                     walk ? walk->byRows : Value(), walk ? walk->plane : Value(), starts);
  Block *loop = builder.createBlock(&programs.getBody());
  for (unsigned d = 0; d < 3; ++d)
    loop->addArgument(builder.getI32Type(), programs.getLoc());
  for (Value start : starts)
    loop->addArgument(start.getType(), programs.getLoc());
  for (Operation *op : inside)
    op->moveBefore(loop, loop->end());
  SmallVector<Value> ends;
  for (auto [each, carried] : llvm::zip(positions, programs.getCarried())) {
    Value one = arith::ConstantOp::create(builder, programs.getLoc(), builder.getI32IntegerAttr(1));
    Value used = each.isOnce() ? Value(carried) : each.lastUsed;
    ends.push_back(each.last ? each.last : arith::AddIOp::create(builder, programs.getLoc(), used, one));
  }
  YieldOp::create(builder, programs.getLoc(), ends);
  for (auto [each, carried] : llvm::zip(positions, programs.getCarried()))
    for (OpOperand *first : each.first)
      first->set(carried);
  programs.walk([&](tile::ProgramIdOp id) {
    id.replaceAllUsesWith(loop->getArgument(id.getAxis()));
    id.erase();
  });
  for (auto returns : llvm::to_vector(loop->getOps<ReturnIfOp>()))
    branchAround(returns, programs);
}

} // namespace tilery::block
