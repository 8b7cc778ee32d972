// Which program a block computes next. Programs are independent, so any order is allowed: it decides what a wave of blocks shares in L2.
#include "compiler/targets/cuda/hopper_emitter.h"
#include "compiler/targets/cuda/branch.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
bool hostKnowsExtent(const IndexPolynomial &extent) {
  std::optional<int64_t> constant = extent.constant();
  return !constant || (*constant > 0 && *constant < int64_t(1) << 31);
}
} // namespace

llvm::Value *HopperGemm::scalar(Value value) {
  if (auto found = arguments.find(value); found != arguments.end())
    return found->second;
  if (auto found = scalars.find(value); found != scalars.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  llvm::Value *result;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return e.constant(constant.getValue(), value.getType());
  } else if (auto id = dyn_cast<tile::ProgramIdOp>(op)) {
    result = program[id.getAxis()];
  } else if (auto count = dyn_cast<tile::NumProgramsOp>(op)) {
    result = grid[count.getAxis()];
  } else {
    SmallVector<lower::Lanes> operands;
    for (Value operand : op->getOperands())
      operands.push_back(scalar(operand));
    result = lower::emitElementwise(e, op, operands);
  }
  return scalars[value] = result;
}

llvm::Value *HopperGemm::polynomial(const IndexPolynomial &p, unsigned bits) {
  llvm::Type *type = b.getIntNTy(bits);
  auto number = [&](int64_t value) { return llvm::ConstantInt::getSigned(type, value, /*ImplicitTrunc=*/true); };
  llvm::Value *sum = nullptr;
  for (auto &[monomial, coefficient] : p.terms()) {
    llvm::Value *product = monomial.empty() || coefficient != 1 ? number(coefficient) : nullptr;
    for (Value atom : monomial) {
      llvm::Value *factor = b.CreateSExtOrTrunc(scalar(atom), type);
      product = product ? b.CreateMul(product, factor) : factor;
    }
    sum = sum ? b.CreateAdd(sum, product) : product;
  }
  return sum ? sum : number(0);
}

void HopperGemm::findOrder() {
  if (schedule.group <= 1)
    return;
  if (gemm.order == GemmKernel::Order::Probed) {
    plane = grid[0];
    probeOrder();
  } else if (gemm.order != GemmKernel::Order::Own) {
    plane = b.CreateMul(grid[0], grid[1]);
    inner = grid[0];
    innerIsRow = b.getInt1(gemm.order == GemmKernel::Order::ColumnsByRows);
  }
}

// A one-dimensional grid over rows x columns of tiles, one of the two first, looks like that at three programs. Where it does not behave
// so at others, only speed is lost: what is computed here is a permutation of the programs in any case.
void HopperGemm::probeOrder() {
  const IndexPolynomial &rows = gemm.a.along(0).extent, &columns = gemm.b.along(1).extent;
  if (!hostKnowsExtent(rows) || !hostKnowsExtent(columns))
    return;
  llvm::BasicBlock *before = b.GetInsertBlock(), *probe = newBlock("probe"), *after = newBlock("ordered");
  b.CreateCondBr(b.CreateICmpUGT(programs, blocks), probe, after); // in a single wave the order does not matter
  b.SetInsertPoint(probe);
  auto at = [&](llvm::Value *number) {
    setProgram(b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, b.CreateSub(programs, i32(1))));
    return std::pair(polynomial(gemm.a.along(0).start), polynomial(gemm.b.along(1).start));
  };
  auto count = [&](const IndexPolynomial &extent, unsigned tile) {
    llvm::Value *tiles = b.CreateUDiv(b.CreateAdd(polynomial(extent), i32(tile - 1)), i32(tile));
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, tiles, i32(1));
  };
  auto [row0, column0] = at(i32(0));
  auto [row1, column1] = at(i32(1));
  llvm::Value *rowsFirst = b.CreateICmpEQ(column0, column1);
  llvm::Value *length = b.CreateSelect(rowsFirst, count(rows, gemm.m), count(columns, gemm.n));
  auto [lastRow, lastColumn] = at(b.CreateSub(length, i32(1)));
  auto [nextRow, nextColumn] = at(length);
  auto is = [&](llvm::Value *row, llvm::Value *column, llvm::Value *wantedRow, llvm::Value *wantedColumn) {
    return b.CreateAnd(b.CreateICmpEQ(row, wantedRow), b.CreateICmpEQ(column, wantedColumn));
  };
  llvm::Value *last = b.CreateSub(length, i32(1));
  llvm::Value *byRows = b.CreateAnd(is(lastRow, lastColumn, b.CreateAdd(row0, b.CreateMul(last, i32(gemm.m))), column0),
                                    is(nextRow, nextColumn, row0, b.CreateAdd(column0, i32(gemm.n))));
  llvm::Value *byColumns = b.CreateAnd(is(lastRow, lastColumn, row0, b.CreateAdd(column0, b.CreateMul(last, i32(gemm.n)))),
                                       is(nextRow, nextColumn, b.CreateAdd(row0, i32(gemm.m)), column0));
  llvm::Value *regular =
      b.CreateAnd(b.CreateSelect(rowsFirst, byRows, byColumns), b.CreateICmpEQ(b.CreateURem(grid[0], length), i32(0)));
  llvm::Value *foundLength = b.CreateSelect(regular, length, i32(1));
  llvm::BasicBlock *probed = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode *found = b.CreatePHI(b.getInt32Ty(), 2), *which = b.CreatePHI(b.getInt1Ty(), 2);
  found->addIncoming(foundLength, probed);
  which->addIncoming(rowsFirst, probed);
  found->addIncoming(i32(1), before); // runs of one program: their own order
  which->addIncoming(b.getFalse(), before);
  inner = found, innerIsRow = which;
}

std::pair<llvm::Value *, llvm::Value *> HopperGemm::divide(llvm::Value *dividend, llvm::Value *divisor) {
  auto both = [&] {
    llvm::Value *quotient = b.CreateUDiv(dividend, divisor);
    return std::pair(quotient, b.CreateSub(dividend, b.CreateMul(quotient, divisor)));
  };
  if (!latencyBound)
    return both();
  llvm::BasicBlock *before = b.GetInsertBlock(), *divided = newBlock("divided"), *after = newBlock();
  b.CreateCondBr(b.CreateICmpULT(dividend, divisor), after, divided);
  b.SetInsertPoint(divided);
  keepBranch(b);
  auto [quotient, rest] = both();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode *results[] = {b.CreatePHI(b.getInt32Ty(), 2), b.CreatePHI(b.getInt32Ty(), 2)};
  results[0]->addIncoming(i32(0), before), results[1]->addIncoming(dividend, before);
  results[0]->addIncoming(quotient, divided), results[1]->addIncoming(rest, divided);
  return {results[0], results[1]};
}

void HopperGemm::setProgram(llvm::Value *number) {
  scalars.clear();
  auto [rest, x] = divide(number, grid[0]);
  auto [z, y] = divide(rest, grid[1]);
  program[0] = x, program[1] = y, program[2] = z;
}

// Tiles in groups of `group` rows of tiles: a wave then shares both operands in L2.
llvm::Value *HopperGemm::grouped(llvm::Value *number) {
  auto [layer, inPlane] = divide(number, plane);
  llvm::Value *outer = gemm.order == GemmKernel::Order::Probed ? b.CreateUDiv(plane, inner) : grid[1];
  llvm::Value *near = b.CreateSelect(innerIsRow, inner, outer), *far = b.CreateSelect(innerIsRow, outer, inner);
  llvm::Value *perGroup = b.CreateMul(far, i32(schedule.group));
  llvm::Value *groupAt = b.CreateUDiv(inPlane, perGroup), *inside = b.CreateSub(inPlane, b.CreateMul(groupAt, perGroup));
  llvm::Value *first = b.CreateMul(groupAt, i32(schedule.group));
  llvm::Value *height = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b.CreateSub(near, first), i32(schedule.group));
  llvm::Value *farAt = b.CreateUDiv(inside, height);
  llvm::Value *nearAt = b.CreateAdd(first, b.CreateSub(inside, b.CreateMul(farAt, height)));
  llvm::Value *innerAt = b.CreateSelect(innerIsRow, nearAt, farAt), *outerAt = b.CreateSelect(innerIsRow, farAt, nearAt);
  return b.CreateAdd(b.CreateAdd(b.CreateMul(layer, plane), b.CreateMul(outerAt, inner)), innerAt);
}

// A single wave shares operands in any order: it keeps the grid's own.
void HopperGemm::setTile(llvm::Value *number) {
  if (!inner)
    return setProgram(number);
  llvm::Value *several = b.CreateICmpUGT(programs, blocks);
  if (!latencyBound)
    return setProgram(b.CreateSelect(several, grouped(number), number));
  llvm::BasicBlock *before = b.GetInsertBlock(), *waves = newBlock("waves"), *after = newBlock("placed");
  b.CreateCondBr(several, waves, after);
  b.SetInsertPoint(waves);
  keepBranch(b);
  llvm::Value *other = grouped(number);
  waves = b.GetInsertBlock();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode *chosen = b.CreatePHI(b.getInt32Ty(), 2);
  chosen->addIncoming(number, before);
  chosen->addIncoming(other, waves);
  setProgram(chosen);
}

void HopperGemm::overTiles(ArrayRef<llvm::Value *> start,
                           llvm::function_ref<SmallVector<llvm::Value *>(ArrayRef<llvm::Value *>)> body) {
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("tiles"), *after = newBlock("");
  b.CreateCondBr(b.CreateICmpULT(block, programs), loop, after);
  b.SetInsertPoint(loop);
  llvm::PHINode *now = b.CreatePHI(b.getInt32Ty(), 2);
  now->addIncoming(block, before);
  SmallVector<llvm::Value *> carried;
  for (llvm::Value *value : start) {
    llvm::PHINode *phi = b.CreatePHI(b.getInt32Ty(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
  }
  tile = now;
  scalars.clear();
  SmallVector<llvm::Value *> results = body(carried);
  llvm::Value *next = b.CreateAdd(now, blocks);
  now->addIncoming(next, b.GetInsertBlock());
  for (auto [phi, result] : llvm::zip(carried, results))
    llvm::cast<llvm::PHINode>(phi)->addIncoming(result, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, programs), loop, after);
  b.SetInsertPoint(after);
}

} // namespace tilery::cuda
