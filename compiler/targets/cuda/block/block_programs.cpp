// Which program a block runs next. Programs are independent, so any order is allowed: it decides what a wave of blocks shares in L2.
#include "compiler/lower/branch.h"
#include "compiler/lower/unroll.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/branch.h"

using namespace mlir;

namespace tilery::cuda {

// What tells how programs run over tiles may take divisions: a single wave shares operands in any order, and does without.
void BlockEmitter::findOrder() {
  if (!order || order.getOrder() == block::Order::grid)
    return;
  if (order.getOrder() == block::Order::longest) {
    if (!order.getInner())
      return;
    inner = scalar(order.getInner());
    byRows = scalar(order.getByRows());
    plane = scalar(order.getPlane());
    return;
  }
  auto isGrid = [](Value value) {
    auto count = value.getDefiningOp<tile::NumProgramsOp>();
    return count && count.getAxis() == 0;
  };
  if (!order.getInner() || isGrid(order.getInner())) {
    inner = entry.grid[0];
    outer = entry.grid[1];
    byRows = order.getByRows() ? scalar(order.getByRows()) : b.getTrue();
    plane = order.getPlane() ? scalar(order.getPlane()) : b.CreateMul(inner, outer);
    return;
  }
  plane = scalar(order.getPlane());
  llvm::BasicBlock *before = b.GetInsertBlock(), *probe = newBlock("probe"), *after = newBlock("ordered");
  b.CreateCondBr(b.CreateICmpUGT(entry.programs, entry.blocks), probe, after);
  b.SetInsertPoint(probe);
  llvm::PHINode *phis[2];
  {
    Scope scope(*this);
    llvm::Value *found[] = {scalar(order.getInner()), scalar(order.getByRows())};
    probe = b.GetInsertBlock();
    b.CreateBr(after);
    b.SetInsertPoint(after);
    for (unsigned i = 0; i < 2; ++i) {
      phis[i] = b.CreatePHI(found[i]->getType(), 2);
      phis[i]->addIncoming(found[i], probe);
      phis[i]->addIncoming(llvm::ConstantInt::get(found[i]->getType(), i == 0), before); // runs of one program: their own order
    }
  }
  inner = phis[0], byRows = phis[1];
}

std::pair<llvm::Value *, llvm::Value *> BlockEmitter::divide(llvm::Value *dividend, llvm::Value *divisor) {
  auto both = [&] {
    llvm::Value *quotient = b.CreateUDiv(dividend, divisor);
    return std::pair(quotient, b.CreateSub(dividend, b.CreateMul(quotient, divisor)));
  };
  if (!latencyBound)
    return both();
  llvm::Value *ofLess[] = {i32(0), dividend};
  Parts results = lower::emitUnless(b, b.CreateICmpULT(dividend, divisor), ofLess, [&] {
    keepBranch(b);
    auto [quotient, rest] = both();
    return Parts{quotient, rest};
  });
  return {results[0], results[1]};
}

// Sections of rows of the grid, in each those programs first that have most steps.
llvm::Value *BlockEmitter::longestFirst(llvm::Value *at) {
  llvm::Value *lengths = entry.grid[0], *rows = b.CreateMul(entry.grid[1], entry.grid[2]);
  auto [section, inSection] = divide(at, plane);
  llvm::Value *first = b.CreateMul(section, inner);
  llvm::Value *height = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateSub(rows, first), inner);
  auto [length, row] = divide(inSection, height);
  llvm::Value *x = b.CreateSelect(byRows, b.CreateSub(b.CreateSub(lengths, i32(1)), length), length);
  return b.CreateAdd(b.CreateMul(b.CreateAdd(first, row), lengths), x);
}

// Tiles in groups of so many rows of tiles: a wave then shares both operands in L2.
llvm::Value *BlockEmitter::ordered(llvm::Value *at) {
  unsigned rows = *order.getGroup();
  auto [layer, inPlane] = divide(at, plane);
  llvm::Value *columns = outer ? outer : b.CreateUDiv(plane, inner);
  llvm::Value *near = b.CreateSelect(byRows, inner, columns), *far = b.CreateSelect(byRows, columns, inner);
  llvm::Value *perGroup = b.CreateMul(far, i32(rows));
  llvm::Value *groupAt = b.CreateUDiv(inPlane, perGroup), *inside = b.CreateSub(inPlane, b.CreateMul(groupAt, perGroup));
  llvm::Value *first = b.CreateMul(groupAt, i32(rows));
  llvm::Value *height = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateSub(near, first), i32(rows));
  llvm::Value *farAt = b.CreateUDiv(inside, height);
  llvm::Value *nearAt = b.CreateAdd(first, b.CreateSub(inside, b.CreateMul(farAt, height)));
  llvm::Value *innerAt = b.CreateSelect(byRows, nearAt, farAt), *outerAt = b.CreateSelect(byRows, farAt, nearAt);
  return b.CreateAdd(b.CreateAdd(b.CreateMul(layer, plane), b.CreateMul(outerAt, inner)), innerAt);
}

void BlockEmitter::place(llvm::Value *at) {
  if (inner && order.getOrder() == block::Order::longest) {
    at = longestFirst(at);
  } else if (inner) {
    if (!latencyBound) {
      at = b.CreateSelect(b.CreateICmpUGT(entry.programs, entry.blocks), ordered(at), at);
    } else {
      at = lower::emitWhere(b, b.CreateICmpUGT(entry.programs, entry.blocks), at, [&] {
        keepBranch(b);
        return Parts{ordered(at)};
      })[0];
    }
  }
  auto [rest, x] = divide(at, entry.grid[0]);
  auto [z, y] = divide(rest, entry.grid[1]);
  llvm::Value *ids[] = {x, y, z};
  for (unsigned axis = 0; axis < 3; ++axis)
    remember(current.getBody().getArgument(axis), {ids[axis]});
}

llvm::Value *BlockEmitter::programId(unsigned axis) {
  if (current)
    return scalar(current.getBody().getArgument(axis));
  llvm::Value *rest = entry.number;
  for (unsigned i = 0; i < axis; ++i)
    rest = b.CreateUDiv(rest, entry.grid[i]);
  return axis < 2 ? b.CreateURem(rest, entry.grid[axis]) : rest;
}

BlockEmitter::Parts BlockEmitter::overPrograms(Parts start,
                                               llvm::function_ref<Parts(llvm::Value *, ArrayRef<llvm::Value *>)> body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("programs"), *after = newBlock("");
  b.CreateCondBr(b.CreateICmpULT(entry.number, entry.programs), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode *now = b.CreatePHI(b.getInt32Ty(), 2);
  now->addIncoming(entry.number, before);
  Parts carried, ends;
  for (llvm::Value *value : start) {
    llvm::PHINode *phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  Parts results = body(now, carried);
  llvm::BasicBlock *last = b.GetInsertBlock();
  llvm::Value *next = b.CreateAdd(now, entry.blocks);
  now->addIncoming(next, last);
  for (auto [phi, result] : llvm::zip_equal(carried, results))
    llvm::cast<llvm::PHINode>(phi)->addIncoming(result, last);
  llvm::Instruction *again = b.CreateCondBr(b.CreateICmpULT(next, entry.programs), loop, after);
  auto isLoop = [](LoopLikeOpInterface) { return WalkResult::interrupt(); };
  if (!role->op->walk(isLoop).wasInterrupted()) // else a program's own loops hold what is moved, too
    lower::neverHoist(again);
  b.SetInsertPoint(after);
  for (auto [value, result] : llvm::zip_equal(start, results)) {
    llvm::PHINode *phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    phi->addIncoming(result, last);
    ends.push_back(phi);
  }
  return ends;
}

void BlockEmitter::emitPrograms(block::ProgramsOp programs) {
  if (role && role->oneThread) // others keep their registers for tiles
    prepare(programs);
  Block &body = programs.getBody().front();
  bool isAhead = role && role->programs == programs;
  SmallVector<size_t> sizes;
  Parts start;
  for (Value init : programs.getInits()) {
    llvm::append_range(start, partsOf(init));
    sizes.push_back(start.size());
  }
  auto partsAt = [&](ArrayRef<llvm::Value *> all, size_t i) {
    return Parts(all.slice(i ? sizes[i - 1] : 0, sizes[i] - (i ? sizes[i - 1] : 0)));
  };
  size_t own = start.size();
  if (isAhead)
    llvm::append_range(start, role->first);
  block::ProgramsOp before = std::exchange(current, programs);
  llvm::Value *blocks = number;
  Parts ends = overPrograms(start, [&](llvm::Value *at, ArrayRef<llvm::Value *> carried) {
    Scope scope(*this);
    number = at;
    for (auto [i, argument] : llvm::enumerate(programs.getCarried()))
      remember(argument, partsAt(carried, i));
    for (auto [value, part] : llvm::zip(isAhead ? ArrayRef<Value>(role->ahead) : ArrayRef<Value>(), carried.drop_front(own)))
      remember(value, {part});
    emitBlock(body);
    Parts next;
    for (Value operand : body.getTerminator()->getOperands())
      llvm::append_range(next, partsOf(operand));
    if (isAhead) {
      llvm::Value *last = b.CreateSub(entry.programs, i32(1));
      llvm::Value *following = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateAdd(at, entry.blocks), last);
      llvm::append_range(next, aheadOf(*role, following));
    }
    return next;
  });
  number = blocks;
  current = before;
  for (auto [i, result] : llvm::enumerate(programs.getResults()))
    remember(result, partsAt(ends, i));
}

// Those of the body's numbers that follow from the program's coordinates, and that something else than such a number uses.
void BlockEmitter::findAhead(Role &one) {
  one.programs = *one.op.getBody().getOps<block::ProgramsOp>().begin();
  Block &body = one.programs.getBody().front();
  llvm::DenseSet<Value> fixed, follows;
  SmallVector<Value> all;
  for (unsigned axis = 0; axis < 3; ++axis)
    follows.insert(body.getArgument(axis)), all.push_back(body.getArgument(axis));
  for (Operation &op : body) {
    if (op.getNumResults() != 1 || !(lower::isElementwise(&op) || op.hasTrait<OpTrait::ConstantLike>()))
      continue;
    bool isNumber = llvm::all_of(op.getOperands(), [&](Value operand) {
      return operand.getParentBlock() != &body || fixed.contains(operand) || follows.contains(operand);
    });
    bool moves = llvm::any_of(op.getOperands(), [&](Value operand) { return follows.contains(operand); });
    if (isNumber)
      (moves ? follows : fixed).insert(op.getResult(0));
    if (isNumber && moves)
      all.push_back(op.getResult(0));
  }
  for (Value value : all)
    if (llvm::any_of(value.getUsers(),
                     [&](Operation *user) { return user->getNumResults() != 1 || !follows.contains(user->getResult(0)); }))
      one.ahead.push_back(value);
}

BlockEmitter::Parts BlockEmitter::aheadOf(Role &one, llvm::Value *at) {
  block::ProgramsOp before = std::exchange(current, one.programs);
  llvm::Value *now = std::exchange(number, at);
  auto scalars = evaluator.scalars;
  size_t size = known.size();
  for (Value value : known) // those of the program before
    if (one.programs->isProperAncestor(value.getParentBlock()->getParentOp()) ||
        value.getParentBlock()->getParentOp() == one.programs)
      evaluator.scalars.erase(value);
  Parts result;
  for (Value value : one.ahead) {
    llvm::Value *part = scalar(value);
    result.push_back(part->getType()->isIntegerTy(32) ? machine.here(e, part) : part);
  }
  known.truncate(size);
  evaluator.scalars = std::move(scalars);
  current = before;
  number = now;
  return result;
}

} // namespace tilery::cuda
