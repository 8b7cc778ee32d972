#pragma once
// Elements of buffers.
#include "compiler/oracle/interpreter.h"

namespace tilery::oracle {

/// Where an element lies in its storage; -1 if it does not exist.
int64_t byteOf(const Buffer &buffer, llvm::ArrayRef<int64_t> at);
void readBuffer(mlir::Operation *op, const Buffer &buffer, int64_t byte, Tile &to, int64_t lane);
void writeBuffer(const Buffer &buffer, int64_t byte, const Tile &from, int64_t lane);
Tile loadBuffer(mlir::Operation *op, const Buffer &buffer);
void storeBuffer(const Buffer &buffer, const Tile &value, const Tile *mask);

} // namespace tilery::oracle
