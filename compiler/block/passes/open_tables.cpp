// open-tables: an array of numbers that a loop of its own fills from memory (the mask of a program's blocks) is read where they lie in memory, so
// that whoever brings tiles can look, too.
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

struct Table {
  tile::AllocOp memory;
  scf::ForOp loop; // element i is written in step i
  tile::ElementStoreOp fill;
  SmallVector<tile::ElementLoadOp> reads;
};

Value withoutExtension(Value value) {
  auto extended = value.getDefiningOp<arith::ExtSIOp>();
  return extended ? extended.getIn() : value;
}

/// Numbers, and reads of what the kernel does not store.
bool onlyLoads(scf::ForOp loop, Operation *fill, ArrayRef<Value> stored) {
  return llvm::all_of(loop.getBody()->without_terminator(), [&](Operation &op) {
    auto load = dyn_cast<tile::LoadOp>(op);
    bool isTile = llvm::any_of(op.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    return &op == fill || (load ? !isTile && !load.getIsVolatile() && isApart(load, stored) : isMemoryEffectFree(&op) && !isTile);
  });
}

std::optional<Table> tableOf(tile::AllocOp memory, ArrayRef<Value> stored) {
  Table table{memory, {}, {}, {}};
  for (Operation *user : memory->getUsers())
    if (auto read = dyn_cast<tile::ElementLoadOp>(user))
      table.reads.push_back(read);
    else if (auto fill = dyn_cast<tile::ElementStoreOp>(user); fill && !table.fill)
      table.fill = fill;
    else
      return std::nullopt;
  table.loop = table.fill ? dyn_cast<scf::ForOp>(table.fill->getParentOp()) : scf::ForOp();
  if (!table.loop || table.loop->getBlock() != memory->getBlock() || table.loop.getNumResults() ||
      table.fill.getIndices().size() != 1 || !matchPattern(table.loop.getStep(), m_One()) ||
      withoutExtension(table.fill.getIndices()[0]) != table.loop.getInductionVar() || !onlyLoads(table.loop, table.fill, stored))
    return std::nullopt;
  bool behind = llvm::all_of(table.reads, [&](tile::ElementLoadOp read) {
    Operation *top = memory->getBlock()->findAncestorOpInBlock(*read);
    return top != table.loop && table.loop->isBeforeInBlock(top);
  });
  return behind ? std::optional(table) : std::nullopt;
}

/// What the loop wrote there; 0 where it wrote nothing.
void open(Table &table, tile::ElementLoadOp read) {
  OpBuilder b(read);
  Location location = read.getLoc();
  Type counter = table.loop.getInductionVar().getType();
  Value index = read.getIndices()[0];
  if (Value narrow = withoutExtension(index); narrow.getType() == counter)
    index = narrow;
  auto asIndex = [&](Value bound) {
    return bound.getType() == index.getType() ? bound : arith::ExtSIOp::create(b, location, index.getType(), bound).getResult();
  };
  if (index.getType().getIntOrFloatBitWidth() < counter.getIntOrFloatBitWidth())
    index = arith::ExtSIOp::create(b, location, counter, index);
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) {
    return arith::CmpIOp::create(b, location, predicate, index, asIndex(bound)).getResult();
  };
  Value isThere = arith::AndIOp::create(b, location, compare(arith::CmpIPredicate::sge, table.loop.getLowerBound()),
                                        compare(arith::CmpIPredicate::slt, table.loop.getUpperBound()));
  auto branch = scf::IfOp::create(b, location, read->getResultTypes(), isThere, /*withElse=*/true);
  read.getResult().replaceAllUsesWith(branch.getResult(0));
  b = branch.getThenBodyBuilder();
  IRMapping map;
  Value step = index.getType() == counter ? index : arith::TruncIOp::create(b, location, counter, index).getResult();
  map.map(table.loop.getInductionVar(), step);
  for (Operation &op : table.loop.getBody()->without_terminator())
    if (&op != table.fill)
      b.clone(op, map);
  scf::YieldOp::create(b, location, map.lookupOrDefault(table.fill.getValue()));
  b = branch.getElseBodyBuilder();
  scf::YieldOp::create(b, location, arith::ConstantOp::create(b, location, b.getZeroAttr(read.getType())).getResult());
  read.erase();
}
} // namespace

/// Arrays that a loop fills with numbers it loads, one a step, are read where these lie in memory.
void runOpenTables(tile::KernelOp kernel) {
  SmallVector<Value> stored = storedPlaces(kernel);
  for (auto memory : llvm::make_early_inc_range(kernel.getBody().getOps<tile::AllocOp>()))
    if (std::optional<Table> table = tableOf(memory, stored)) {
      for (tile::ElementLoadOp read : table->reads)
        open(*table, read);
      table->loop.erase();
      memory.erase();
    }
}

} // namespace tilery::block
