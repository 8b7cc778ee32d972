#pragma once
// What schedules of block IR know of the GPU: Hopper's instructions, or those that every GPU from sm_80 on has.
#include "compiler/block/forms/product_form.h"
#include "compiler/block/ir/Block.h"

namespace tilery::block {

constexpr unsigned registersOfAll = 65536;  // of 32 bits, of a multiprocessor, from sm_80 on
constexpr unsigned registersOfThread = 255; // that an instruction can name
constexpr unsigned barrierBytes = 8;        // of a barrier in shared memory; a slot of a ring has two
constexpr unsigned mapBytes = 128;          // of a map that the copy engine reads
constexpr unsigned slotAlignment = 1024;    // of a ring's tiles in shared memory, as swizzles want it
constexpr unsigned warpLanes = 32;
constexpr unsigned warpsOfGroup = 4;                        // of a warpgroup
constexpr unsigned groupThreads = warpsOfGroup * warpLanes; // likewise

struct Gpu {
  /// Products are of warpgroups (wgmma), the copy engine brings boxes, roles deal registers. Else products are of warps (mma.sync), and
  /// threads copy what they multiply (cp.async).
  bool warpgroups = true;
  int64_t sharedBytes = sharedLimit; // of a block
  int64_t operations = 4096;         // of 16-bit numbers that a multiprocessor's tensor cores make in a cycle

  /// Of shared memory, where so many blocks run side by side; each takes 1 KB more than it asks for.
  int64_t sharedOfBlock(unsigned resident) const { return (sharedBytes + 1024) / std::max(resident, 1u) / 1024 * 1024 - 1024; }
  /// Registers of each of so many threads of a multiprocessor, as launches give them: a multiple of eight.
  static unsigned registersOfLaunch(unsigned threads) { return std::min(registersOfAll / threads / 8 * 8, registersOfThread); }

  /// That of the kernel's attribute `block.gpu`; Hopper where it has none.
  static Gpu of(tile::KernelOp kernel);
  /// Sets that attribute. Warps' kernels have no boxes.
  void mark(tile::KernelOp kernel) const;
};

/// Why the copy engine makes no boxes of what the op is about; null: it may.
const char *whyNoBoxes(mlir::Operation *op);
/// True if the op is in a kernel whose products are of warps.
bool multipliesByWarps(mlir::Operation *op);
/// The instruction of the kernel's products.
const layout::ProductForm &formOf(mlir::Operation *op);

} // namespace tilery::block
