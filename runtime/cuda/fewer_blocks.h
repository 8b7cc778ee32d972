#pragma once
// Blocks of a multiprocessor against registers of a thread.
#include "runtime/cuda/assembler_log.h"

namespace tilery::cuda {

/// Bytes that a thread's code stores and loads for want of registers, of all kernels together.
uint64_t spilledBytes(const std::vector<Spill> &spills);

/// The PTX for fewer blocks a multiprocessor, of kernels that spill: how many there is room for is a guess of the code generator, made
/// before there are registers, and an assembler that is told nothing spills to have room for as many blocks as there are threads. Empty if there
/// is nothing to change.
std::string withFewerBlocks(const std::string &ptx, const std::vector<Spill> &spills);

} // namespace tilery::cuda
