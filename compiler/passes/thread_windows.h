#pragma once
// What the threads of a role store into a window of a buffer, an element each, as one loop over the window.
#include "compiler/ir/Tile.h"

namespace tilery {

/// Buffers from outside of which each thread has elements of its own (`x[thread]`), and that no other op touches, become the threads' own.
void ownBuffers(tile::ThreadsOp threads);

/// Replaces stores of single elements by `tile.parallel` over the windows that they fill, in a `tile.together`: where threads, loops and a
/// thread's elements count through the window as the digits of its indices do. `strides`: how the number of a thread is taken apart; 1 is
/// the last. `inMemory`: stores of elements of tensors, too.
void collectWindows(tile::ThreadsOp threads, llvm::ArrayRef<int64_t> strides, bool inMemory = false);

} // namespace tilery
