#pragma once
// Line tables: the source line of every instruction, so that debuggers and profilers name the user's line.
#include "compiler/pch.h"
#include "llvm/IR/DIBuilder.h"

namespace tilery::lower {

class DebugInfo {
public:
  using Kind = llvm::DICompileUnit::DebugEmissionKind;
  explicit DebugInfo(llvm::Module &module, Kind kind = Kind::LineTablesOnly);
  /// Starts the subprogram of `function`, declared where the kernel is, or the first operation in it that has a line.
  void beginFunction(llvm::Function *function, mlir::Operation *kernel);
  /// The place in the current function, null if the location names no file.
  llvm::DILocation *line(mlir::Location location);
  void finish();

private:
  llvm::DIFile *file(llvm::StringRef path);
  llvm::Module &module;
  Kind kind;
  llvm::DIBuilder builder;
  llvm::DICompileUnit *unit = nullptr;
  llvm::DISubprogram *subprogram = nullptr;
  llvm::DenseMap<llvm::StringRef, llvm::DIFile *> files;
  llvm::DenseMap<llvm::DIFile *, llvm::DIScope *> scopes; // lines of files other than the kernel's
};

/// The innermost file:line:column of a location, null if there is none.
mlir::FileLineColLoc sourceLine(mlir::Location location);

} // namespace tilery::lower
