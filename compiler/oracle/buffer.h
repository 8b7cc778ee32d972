#pragma once
// Elements of buffers.
#include "compiler/oracle/interpreter.h"

namespace tilery::oracle {

/// Where an element lies in its storage; -1 if it does not exist.
int64_t byteOf(const Buffer &buffer, llvm::ArrayRef<int64_t> at);
void readBuffer(mlir::Operation *op, const Buffer &buffer, int64_t byte, Tile &to, int64_t lane);
void writeBuffer(const Buffer &buffer, int64_t byte, const Tile &from, int64_t lane);
/// The element's index as the op names it; in debug mode one outside the buffer is an error, `what` says what the op does.
Shape indicesOf(Interpreter &in, mlir::ValueRange indices);
void checkInside(Interpreter &in, mlir::Operation *op, const Buffer &buffer, llvm::ArrayRef<int64_t> at, const char *what);
Tile loadBuffer(mlir::Operation *op, const Buffer &buffer);
void storeBuffer(const Buffer &buffer, const Tile &value, const Tile *mask);

} // namespace tilery::oracle
