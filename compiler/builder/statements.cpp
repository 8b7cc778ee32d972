// The statements of the loop body being built, as a program that plans its pipeline by hand counts them.
#include "compiler/builder/impl.h"
#include "compiler/source_chain.h"
#include "mlir/IR/Matchers.h"
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

/// Does a side of a branch end with `break` or `continue`? It sets their flag, which the branch gives.
bool jumps(mlir::Block *side) {
  return side && llvm::any_of(side->getTerminator()->getOperands(),
                              [](mlir::Value flag) { return mlir::matchPattern(flag, mlir::m_One()); });
}

class Statements {
public:
  void add(mlir::Block *block) {
    bool mayJump = false; // a branch before has a jump in it
    for (mlir::Operation &op : *block) {
      if (mlir::isPure(&op) || op.hasTrait<mlir::OpTrait::IsTerminator>())
        continue;
      auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op);
      if (branch && mayJump)
        return add(branch.thenBlock()); // what follows that branch
      if (branch && (jumps(branch.thenBlock()) || jumps(branch.elseBlock())))
        return addJump(branch);
      mayJump = branch && branch.getNumResults();
      addPlain(op, mayJump);
    }
  }

  std::vector<Builder::Statement> found;

private:
  /// What follows the jump in the program stands on its other side.
  void addJump(mlir::scf::IfOp branch) {
    mlir::Block *jump = branch.thenBlock(), *rest = branch.elseBlock();
    if (!jumps(jump))
      std::swap(jump, rest);
    for (mlir::Operation &op : *jump)
      addAccesses(next, &op);
    next.jump = true;
    finish(sourceChain(branch.getLoc()));
    if (rest && !jumps(rest))
      add(rest);
  }

  void addPlain(mlir::Operation &op, bool mayJump) {
    addAccesses(next, &op);
    next.jump = mayJump;
    next.apart += afterContinue(op);
    auto where = sourceChain(op.getLoc());
    if (mayJump || writes(&op))
      finish(std::move(where));
    else // it is read for the statement that follows
      readOn.push_back(lineOf(where));
  }

  /// How many more it is if the branch is a `continue` and all that follows it: like any other with two sides, if nothing is carried.
  static int64_t afterContinue(mlir::Operation &op) {
    auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op);
    if (!branch || branch.getNumResults() || !branch.elseBlock())
      return 0;
    Statements then, other;
    then.add(branch.thenBlock());
    other.add(branch.elseBlock());
    return int64_t(std::max(then.found.size(), other.found.size()));
  }

  void finish(std::vector<SourceLocation> where) {
    next.where = std::move(where);
    next.apart += llvm::count_if(readOn, [&](int line) { return line != lineOf(next.where); });
    found.push_back(std::exchange(next, {}));
    readOn.clear();
  }

  Builder::Statement next;
  std::vector<int> readOn; // lines
};
} // namespace

std::vector<Builder::Statement> Builder::statements() const {
  Statements statements;
  statements.add(statementsOf(impl->b.getInsertionBlock()));
  return std::move(statements.found);
}

} // namespace tilery
