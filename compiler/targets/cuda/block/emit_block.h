#pragma once
// From lowered block IR (roles, rings, layouts, waits in their places) to code of a block of threads.
#include "compiler/block/ir/Block.h"
#include "compiler/lower/emitter.h"
#include "compiler/targets/cuda/ptx/block_machine.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

/// Whether the kernel is block IR with roles, which `emitBlock` takes.
bool hasRoles(tile::KernelOp kernel);

/// Bytes of shared memory that the kernel takes.
unsigned sharedBytesOf(tile::KernelOp kernel);

/// Emits the kernel into the emitter's module; gives how it is launched. Failure, after an error was reported, where an op has no code.
mlir::FailureOr<GpuInfo> emitBlock(lower::Emitter &e, tile::KernelOp kernel, BlockMachine &machine);

} // namespace tilery::cuda
