// The statements of the loop body being built, as a program that plans its pipeline by hand counts them.
#include "compiler/builder/impl.h"
#include "compiler/source_chain.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilery {
namespace {

/// The block whose statements count: a body that is one branch without another side holds those of the branch.
mlir::Block *statementsOf(mlir::Block *block) {
  mlir::Operation *only = nullptr;
  for (mlir::Operation &op : *block)
    if (!mlir::isPure(&op) && !op.hasTrait<mlir::OpTrait::IsTerminator>()) {
      if (only)
        return block;
      only = &op;
    }
  auto branch = mlir::dyn_cast_if_present<mlir::scf::IfOp>(only);
  if (!branch || (branch.elseBlock() && !branch.elseBlock()->without_terminator().empty()))
    return block;
  return statementsOf(branch.thenBlock());
}

void *allocationOf(mlir::Value buffer) {
  while (mlir::Operation *op = buffer.getDefiningOp())
    if (mlir::isa<tile::SubviewOp, tile::ReinterpretOp>(op))
      buffer = op->getOperand(0);
    else
      break;
  return buffer.getAsOpaquePointer();
}

/// Of the op itself, not of what stands in it.
template <typename Effect> bool has(mlir::Operation *op) {
  auto interface = mlir::dyn_cast<mlir::MemoryEffectOpInterface>(op);
  return interface && interface.hasEffect<Effect>();
}

void addAccesses(Builder::Statement &statement, mlir::Operation *root) {
  root->walk([&](mlir::Operation *op) {
    for (mlir::Value operand : op->getOperands())
      if (mlir::isa<tile::BufferType>(operand.getType())) {
        if (has<mlir::MemoryEffects::Read>(op))
          statement.reads.push_back(allocationOf(operand));
        if (has<mlir::MemoryEffects::Write>(op))
          statement.writes.push_back(allocationOf(operand));
      }
  });
}

bool writes(mlir::Operation *root) {
  bool found = false;
  root->walk([&](mlir::Operation *op) { found = found || has<mlir::MemoryEffects::Write>(op); });
  return found;
}
int lineOf(const std::vector<SourceLocation> &chain) { return chain.empty() ? 0 : chain.front().line; }
} // namespace

std::vector<Builder::Statement> Builder::statements() const {
  std::vector<Statement> found;
  Statement next;
  std::vector<int> readOn; // lines
  for (mlir::Operation &op : *statementsOf(impl->b.getInsertionBlock())) {
    if (mlir::isPure(&op) || op.hasTrait<mlir::OpTrait::IsTerminator>())
      continue;
    addAccesses(next, &op);
    auto where = sourceChain(op.getLoc());
    if (!writes(&op)) { // it is read for the statement that follows
      readOn.push_back(lineOf(where));
      continue;
    }
    next.where = std::move(where);
    next.apart = llvm::count_if(readOn, [&](int line) { return line != lineOf(next.where); });
    found.push_back(std::exchange(next, {}));
    readOn.clear();
  }
  return found;
}

} // namespace tilery
