// load-ahead: lines and numbers that a step computes a product's factor or sums with are loaded in the step before:
//
//   for i { gate = load(g + i); .. write(v * gate); publish; start; wait }
// becomes
//   first = 0 < n ? load(g) : 0
//   for i carrying gate = first { next = i + 1 < n ? load(g + i + 1) : gate; .. write(v * gate); publish; start; wait }
//
// Memory then answers under the step, not in front of its product. Where there is no next step, nothing is loaded. So are tiles that threads
// load for a factor which they compute in registers (scales of groups beside packed weights).
#include "compiler/block/passes/load_ahead.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Again is as good as once.
bool isPlain(Operation *op) {
  return isMemoryEffectFree(op) && !op->getNumRegions() && !isa<tile::DotOp>(op) && !isa<BlockDialect>(op->getDialect());
}

/// Nothing that the step loads or multiplies leads to the value; nor, of what it carries (`ofNext`), to the next step's.
bool isOfNumbers(Value value, scf::ForOp loop, bool ofNext) {
  Block *body = loop.getBody();
  if (value.getParentBlock() != body)
    return true;
  if (Operation *op = value.getDefiningOp())
    return isPlain(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isOfNumbers(operand, loop, ofNext); });
  auto carried = cast<BlockArgument>(value);
  return carried == loop.getInductionVar() || !ofNext || isOfNumbers(loop.getTiedLoopYieldedValue(carried)->get(), loop, false);
}

/// One number, or a row or column of them.
bool isLine(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return getElementTypeOrSelf(type).isIntOrFloat() &&
         (!tile || llvm::count_if(tile.getShape(), [](int64_t extent) { return extent > 1; }) <= 1);
}

bool canComeAhead(tile::LoadOp load, scf::ForOp loop) {
  return load->getBlock() == loop.getBody() && !load.getIsVolatile() &&
         llvm::all_of(load->getOperands(), [&](Value operand) { return isOfNumbers(operand, loop, true); });
}

/// Of the body, what the value is computed from without another product.
void findLoads(Value value, Block &body, llvm::SetVector<Value> &seen, llvm::SetVector<Operation *> &loads) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body || !seen.insert(value))
    return;
  if (isa<tile::LoadOp>(op))
    loads.insert(op);
  else if (isPlain(op))
    for (Value operand : op->getOperands())
      findLoads(operand, body, seen, loads);
}
} // namespace

SmallVector<tile::LoadOp> loadsOfFactors(const LoopKernel &found) {
  llvm::SetVector<Value> seen;
  llvm::SetVector<Operation *> loads;
  for (const BoxProduct &dot : found.dots)
    if (found.isInLoop(dot.op))
      for (Value operand : dot.op->getOperands())
        findLoads(operand, *dot.op->getBlock(), seen, loads);
  SmallVector<Value> stored = storedPlaces(found.kernel);
  SmallVector<tile::LoadOp> result;
  for (Operation *op : loads) {
    auto load = cast<tile::LoadOp>(op);
    bool isBrought = llvm::any_of(found.lines, [&](const LoadedLine &line) { return line.load == load; });
    if (!isBrought && isLine(load.getType()) && isApart(load, stored) && canComeAhead(load, cast<scf::ForOp>(op->getParentOp())))
      result.push_back(load);
  }
  return result;
}

unsigned wordsOf(tile::LoadOp load, bool isShown) {
  auto tile = dyn_cast<RankedTensorType>(load.getType());
  int64_t bytes = tile::elementBytes(getElementTypeOrSelf(load.getType()));
  if (!tile)
    return unsigned(llvm::divideCeil(bytes, 4));
  constexpr unsigned column = 4, shown = 8; // a thread holds every fourth of the columns; every eighth of them, or of the rows
  return unsigned(llvm::divideCeil(tile.getNumElements() * bytes, 4 * (isShown ? shown : column)));
}

namespace {
/// Copies of what leads to loads, for another step.
class OtherStep {
public:
  OtherStep(scf::ForOp loop, OpBuilder &builder) : loop(loop), builder(builder) {}

  void map(Value ofThis, Value ofOther) { values.map(ofThis, ofOther); }

  Value load(tile::LoadOp load) {
    for (Value operand : load->getOperands())
      copy(operand, values, true);
    Operation *other = builder.clone(*load, values);
    other->removeAttr("block.ahead");
    return other->getResult(0);
  }

private:
  void copy(Value value, IRMapping &copies, bool ofOther) {
    if (copies.contains(value) || value.getParentBlock() != loop.getBody())
      return;
    Operation *op = value.getDefiningOp();
    if (!op && ofOther) { // what this step leaves of it
      Value left = loop.getTiedLoopYieldedValue(cast<BlockArgument>(value))->get();
      copy(left, ofThis, false);
      copies.map(value, ofThis.lookupOrDefault(left));
    }
    if (!op)
      return;
    for (Value operand : op->getOperands())
      copy(operand, copies, ofOther);
    builder.clone(*op, copies);
  }

  scf::ForOp loop;
  OpBuilder &builder;
  IRMapping values, ofThis;
};

class Loop {
public:
  Loop(scf::ForOp loop, ArrayRef<tile::LoadOp> loads) : loop(loop), loads(loads), location(loads[0]->getLoc()) {}

  void write() {
    IRRewriter rewriter(loop.getContext());
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> firsts = loadFirst(rewriter);
    auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument> carried) {
      OpBuilder b(loop.getContext());
      b.setInsertionPointAfter(loads.back());
      SmallVector<Value> ends = loadNext(b, carried);
      for (auto [op, argument] : llvm::zip_equal(loads, carried)) {
        tile::LoadOp load = op;
        load.getResult().replaceAllUsesWith(argument);
        load->erase();
      }
      return ends;
    };
    (void)loop.replaceWithAdditionalYields(rewriter, firsts, /*replaceInitOperandUsesInLoop=*/false, next);
  }

private:
  SmallVector<Value> loadIf(OpBuilder &b, Value condition, function_ref<void(OtherStep &)> map, ValueRange otherwise) {
    SmallVector<Type> types = llvm::map_to_vector(loads, [](tile::LoadOp load) { return load.getType(); });
    auto branch = scf::IfOp::create(b, location, types, condition, /*withElse=*/true);
    OpBuilder inside = branch.getThenBodyBuilder();
    OtherStep step(loop, inside);
    map(step);
    SmallVector<Value> loaded = llvm::map_to_vector(loads, [&](tile::LoadOp load) { return step.load(load); });
    scf::YieldOp::create(inside, location, loaded);
    OpBuilder missing = branch.getElseBodyBuilder();
    scf::YieldOp::create(missing, location, otherwise);
    return branch.getResults();
  }

  Value isBelowEnd(OpBuilder &b, Value number) {
    auto below = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    return arith::CmpIOp::create(b, location, below, number, loop.getUpperBound());
  }

  SmallVector<Value> loadFirst(OpBuilder &b) {
    SmallVector<Value> nothing = llvm::map_to_vector(
        loads, [&](tile::LoadOp load) -> Value { return arith::ConstantOp::create(b, location, b.getZeroAttr(load.getType())); });
    auto map = [&](OtherStep &step) {
      step.map(loop.getInductionVar(), loop.getLowerBound());
      for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
        step.map(argument, init);
    };
    return loadIf(b, isBelowEnd(b, loop.getLowerBound()), map, nothing);
  }

  SmallVector<Value> loadNext(OpBuilder &b, ArrayRef<BlockArgument> carried) {
    Value number = arith::AddIOp::create(b, location, loop.getInductionVar(), loop.getStep());
    auto map = [&](OtherStep &step) { step.map(loop.getInductionVar(), number); };
    return loadIf(b, isBelowEnd(b, number), map, SmallVector<Value>(carried.begin(), carried.end()));
  }

  scf::ForOp loop;
  ArrayRef<tile::LoadOp> loads;
  Location location;
};
} // namespace

void runLoadAhead(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || !schedule->ahead)
    return;
  llvm::MapVector<Operation *, SmallVector<tile::LoadOp>> loops;
  kernel.walk([&](tile::LoadOp load) {
    if (load->hasAttr("block.ahead") && canComeAhead(load, load->getParentOfType<scf::ForOp>()))
      loops[load->getParentOp()].push_back(load);
  });
  for (auto &[loop, loads] : loops)
    Loop(cast<scf::ForOp>(loop), loads).write();
}

} // namespace tilery::block
