#pragma once
// Loops of LLVM IR: one block to come back to, and the values that rounds hand on.
#include "compiler/pch.h"

namespace tilery::lower {

/// A loop while it is emitted: enter, carry what it carries, emit the body, repeat, leave.
class Loop {
public:
  /// `head` and `exit` are new blocks of the current function.
  Loop(llvm::IRBuilderBase &b, llvm::BasicBlock *head, llvm::BasicBlock *exit) : exit(exit), b(b), head(head) {}
  llvm::BasicBlock *const exit;

  /// Ends the current block, into the loop if `runs` (null: always), else to the exit. Goes on in the loop. Returns the branch.
  llvm::Instruction *enter(llvm::Value *runs = nullptr);
  /// A value that is `init` in the first round. Before anything else in the loop.
  llvm::PHINode *carry(llvm::Value *init);
  /// Ends the current block: another round with these values (one for each carry) if `again` (null: always), else to the exit. Returns the branch.
  llvm::Instruction *repeat(llvm::ArrayRef<llvm::Value *> next, llvm::Value *again = nullptr);
  /// The other way round: to the exit if `done`.
  void repeatUnless(llvm::Value *done, llvm::ArrayRef<llvm::Value *> next);
  /// Goes on behind the loop.
  void leave() { b.SetInsertPoint(exit); }
  /// The last value of the i-th carry, behind a loop that can be skipped and has one place where it repeats. Before anything else there.
  llvm::PHINode *after(unsigned i);

private:
  void close(llvm::ArrayRef<llvm::Value *> next);

  llvm::IRBuilderBase &b;
  llvm::BasicBlock *head, *before = nullptr;
  llvm::SmallVector<llvm::PHINode *> carried;
};

} // namespace tilery::lower
