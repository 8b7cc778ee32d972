#pragma once
// Products of sm_100 as a form: one thread starts them for a block (tcgen05.mma), and their sums lie in tensor memory, 128 lanes of 512 columns
// of 32 bits, until a warpgroup takes them to registers, each warp the 32 lanes that are its own. Numbers of the PTX ISA.
#include "compiler/block/forms/memory.h"
#include "compiler/block/forms/product_form.h"
#include "compiler/targets/cuda/ptx/ptx_asm.h"
#include "compiler/targets/cuda/ptx/ptx_machine.h"

namespace tilery::blackwell {
using namespace layout;

/// `columns` of all lanes, by tcgen05.ld and tcgen05.st of 32x32b: a thread has a row.
inline Layout tensorMemory(unsigned columns) {
  return Layout({{dim(0), 128}, {dim(1), columns}}).add(Register, columns, {0, 1}).add(Lane, 32, {1, 0}).add(Warp, 4, {32, 0});
}

/// Of 128 rows for one block. The first factor may lie in tensor memory, too; what it reads of shared memory is swizzled as wgmma's is.
inline const ProductForm &tensorMemoryForm() {
  static constexpr Rows orders[] = {Rows::InOrder};
  static const ProductForm form{128,
                                16,
                                32,
                                orders,
                                [](unsigned n, Rows) { return tensorMemory(n); },
                                [](unsigned bits, Rows) { return tensorMemory(8 * 32 / bits); },
                                warpgroupForm().reads};
  return form;
}

/// What of f16 is multiplied into f32: 128 x n, both factors with k contiguous.
inline uint32_t instructionDescriptor(unsigned n) { return 1u << 4 | n / 8 << 17 | 128u / 16 << 24; }
/// The descriptor of shared memory without its address: other bits than wgmma's for the same facts.
inline uint64_t descriptor(const MatrixDescriptor &matrix) {
  uint64_t mode = matrix.swizzle == Swizzle::B128 ? 2 : matrix.swizzle == Swizzle::B64 ? 4 : 6;
  return mode << 61 | uint64_t(1) << 46 | uint64_t(matrix.stride / 16) << 32 | uint64_t(matrix.leading / 16) << 16;
}

/// What a block machine has besides on such a GPU. Addresses of tensor memory are i32: the lane above bit 16, the column below.
class TensorMemoryMachine : public cuda::PtxMachine {
public:
  using PtxMachine::PtxMachine;
  /// By one warp: so many columns, a power of two from 32 on; their address comes into shared memory.
  void allocate(lower::Emitter &e, Value *shared, unsigned columns) {
    run(e, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [$0], " + std::to_string(columns) + ";", "r", {shared});
  }
  void free(lower::Emitter &e, Value *memory, unsigned columns) {
    run(e, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 $0, " + std::to_string(columns) + ";", "r", {memory});
  }
  /// By one thread: sums = a * b, or added to what they are where `adds` (i1) holds.
  void multiply(lower::Emitter &e, Value *sums, Value *a, Value *b, uint32_t form, Value *adds) {
    run(e, "tcgen05.mma.cta_group::1.kind::f16 [$0], $1, $2, $3, $4;", "r,l,l,r,b", {sums, a, b, e.b.getInt32(form), adds});
  }
  using PtxMachine::multiply;
  /// The products that this thread started arrive at the barrier when they are done.
  void commit(lower::Emitter &e, Value *barrier) {
    run(e, "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [$0];", "r", {barrier});
  }
  /// Between a meeting of threads and tensor memory, on either side.
  void fence(lower::Emitter &e, bool before) {
    run(e, std::string("tcgen05.fence::") + (before ? "before" : "after") + "_thread_sync;", "", {});
  }
  /// By all warps of a warpgroup: `count` neighbouring columns (a power of two) of the thread's own lane, as i32.
  llvm::SmallVector<Value *> take(lower::Emitter &e, Value *memory, unsigned count) {
    std::string results, constraints;
    for (unsigned i = 0; i < count; ++i)
      results += (i ? ",$" : "$") + std::to_string(i), constraints += "=r,";
    auto *type = llvm::StructType::get(e.context(), llvm::SmallVector<llvm::Type *>(count, e.b.getInt32Ty()));
    Value *all = cuda::assembly(e.b,
                                "tcgen05.ld.sync.aligned.32x32b.x" + std::to_string(count) + ".b32 {" + results + "}, [$" +
                                    std::to_string(count) + "];\n\ttcgen05.wait::ld.sync.aligned;",
                                constraints + "r", {memory}, type);
    llvm::SmallVector<Value *> values;
    for (unsigned i = 0; i < count; ++i)
      values.push_back(e.b.CreateExtractValue(all, i));
    return values;
  }

private:
  static void run(lower::Emitter &e, const std::string &text, const std::string &constraints, Values args) {
    cuda::assembly(e.b, text, constraints, args);
  }
};

} // namespace tilery::blackwell
