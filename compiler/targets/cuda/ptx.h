#pragma once
// From an LLVM module to PTX text, and the PTX instructions that LLVM has no intrinsic of the right form for.
#include "compiler/targets/cuda/target.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "mlir/IR/Types.h"

namespace tilery::cuda {

/// Sets triple and data layout.
void prepareModule(llvm::Module &module, const CudaTarget &target);
/// Optimises and translates; `llvmText`, if not null, receives the optimised module.
std::string emitPtx(llvm::Module &module, const CudaTarget &target, bool fpContract, std::string *llvmText = nullptr);

/// Address space numbers of NVPTX.
enum AddressSpace : unsigned { Generic = 0, Global = 1, Shared = 3, Param = 101 };

/// Instructions as inline assembly. Shared memory addresses are i32, barriers are addresses of 8 bytes of shared memory.
class Ptx {
public:
  explicit Ptx(llvm::IRBuilder<> &b) : b(b) {}

  void barrierInit(llvm::Value *barrier, unsigned arrivals);
  void fenceBarrierInit();
  void arrive(llvm::Value *barrier);
  void arriveExpect(llvm::Value *barrier, unsigned bytes);
  /// Waits until the phase of that parity is complete.
  void wait(llvm::Value *barrier, llvm::Value *parity);
  /// Copies a box of a 2-D tensor into shared memory; `barrier` counts the bytes.
  void loadBox(llvm::Value *shared, llvm::Value *map, llvm::Value *inner, llvm::Value *outer, llvm::Value *barrier);
  void prefetchMap(llvm::Value *map);
  void storeBox(llvm::Value *map, llvm::Value *inner, llvm::Value *outer, llvm::Value *shared);
  void commitStores();
  /// Waits until all but the last `pending` groups of this thread's stores have read their shared memory (`read`) or are complete.
  void waitStores(bool read, unsigned pending);
  /// Makes ordinary writes to shared memory visible to the copy engine and the tensor cores.
  void fenceProxy();
  void namedBarrier(llvm::Value *id, unsigned threads);
  void blockBarrier();

  void wgmmaFence();
  void wgmmaCommit();
  /// Waits until at most `pending` groups run; the accumulators given are tied through it, so that no use of them moves above.
  void wgmmaWait(unsigned pending, llvm::MutableArrayRef<llvm::Value *> accumulators);
  struct Wgmma {
    unsigned n;          // columns, 8 to 256
    const char *type;    // of both operands
    unsigned k;          // depth: 32 bytes
    bool integer;        // 32-bit integer accumulators rather than floats
    bool transA, transB; // the operand's m or n is contiguous rather than k: of 16-bit types only
  };
  /// The form for operands of this type; `type` is null if there is none.
  static Wgmma wgmmaOf(unsigned n, mlir::Type operand, bool transA, bool transB);
  /// accumulators (n / 2) = [scale ? accumulators : 0] + A * B for 64 x n x k.
  void wgmma(const Wgmma &form, llvm::MutableArrayRef<llvm::Value *> accumulators, llvm::Value *a, llvm::Value *bDescriptor,
             llvm::Value *scale);
  /// Four 8x8 matrices of 16-bit elements from registers to the rows the lanes' addresses name.
  void storeMatrices(llvm::Value *address, llvm::ArrayRef<llvm::Value *> registers);
  /// A vector of 8 bytes.
  void storePair(llvm::Value *address, llvm::Value *pair);

  /// The thread's number, read here and now: what depends on it is not computed ahead.
  llvm::Value *threadNow();
  /// The same i32, computed before what follows here.
  llvm::Value *here(llvm::Value *value);
  llvm::Value *special(const char *name); // "tid.x", "ctaid.x", "nctaid.x"

private:
  llvm::CallInst *assembly(const std::string &text, const std::string &constraints, llvm::ArrayRef<llvm::Value *> args,
                           llvm::Type *result = nullptr);
  llvm::IRBuilder<> &b;
};

} // namespace tilery::cuda
