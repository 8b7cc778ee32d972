#pragma once
// Elements of buffers.
#include "compiler/oracle/interpreter.h"

namespace tilery::oracle {

/// The element's index as the op names it; in debug mode one outside the buffer is an error, `what` says what the op does.
Shape indicesOf(Interpreter &in, mlir::ValueRange indices);
void checkInside(Interpreter &in, mlir::Operation *op, const Buffer &buffer, llvm::ArrayRef<int64_t> at, const char *what);
/// One element, as iterations of parallel loops read and write it.
void readElement(Interpreter &in, mlir::Operation *op, const Buffer &buffer, llvm::ArrayRef<int64_t> at, AccessKind kind,
                 Tile &to);
void writeElement(Interpreter &in, mlir::Operation *op, const Buffer &buffer, llvm::ArrayRef<int64_t> at, AccessKind kind,
                  const Tile &from);
Tile loadBuffer(mlir::Operation *op, const Buffer &buffer);
void storeBuffer(const Buffer &buffer, const Tile &value, const Tile *mask);

} // namespace tilery::oracle
