#pragma once
// A GPU of another kind, as far as it can be looked at without one: gfx90a, by the general path's plan and emitter, which ask a thread machine.
// Products of f16 are mfma, as its form deals them to lanes. Its code is LLVM IR for LLVM's own back end.
#include "amd_machine.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/targets/backend.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"
#include "mfma_form.h"

namespace tilery::amd {

/// Its numbers in NVIDIA's record, which the general path reads: shared memory, and which instructions there are.
inline cuda::CudaTarget gfx90a() {
  cuda::CudaTarget target;
  target.sm = 80, target.specific = false;
  target.multiprocessors = 110, target.sharedBytes = 64 << 10;
  return target;
}

class AmdLowering : public cuda::GpuLowering {
public:
  AmdLowering() : GpuLowering(gfx90a(), /*instructions=*/false) {}
  llvm::StringRef syncScope(tile::SyncScope scope) const override {
    return scope == tile::SyncScope::sys ? "" : scope == tile::SyncScope::gpu ? "agent" : "workgroup";
  }
};

class AmdEmitter : public cuda::SimtEmitter {
public:
  AmdEmitter(lower::Emitter &e, tile::KernelOp kernel, const cuda::SimtPlan &plan, const cuda::CudaTarget &target,
             AmdMachine &amd)
      : SimtEmitter(e, kernel, plan, target, amd), amd(amd), threads(plan.threads) {}

protected:
  /// Tiles of the result by turns to wavefronts; a lane takes its elements of the factors from where they are, as any thread does.
  void dotOp(mlir::Operation *op) override {
    auto &b = e.b;
    auto dot = mlir::dyn_cast<tile::DotOp>(op);
    llvm::ArrayRef<int64_t> shape = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getShape();
    const ProductForm &form = mfmaForm<32>();
    int64_t depth = form.depthBytes / 2, k = dot ? tile::shapeOf(dot.getA().getType())[1] : 0;
    bool fits = dot && shape.size() == 2 && shape[0] % form.rows == 0 && shape[1] % form.columns == 0 && k % depth == 0 &&
                lower::elementOf(dot.getA()).isF16() && lower::elementOf(dot.getB()).isF16() &&
                lower::elementOf(dot.getResult()).isF32() && lower::startsAtZero(op);
    if (!fits)
      return KernelEmitter::refuse(op);
    int buffer = plan.storage.lookup(dot.getResult());
    llvm::Value *lane = b.CreateURem(amd.thread, e.i64(64)), *wave = b.CreateUDiv(amd.thread, e.i64(64));
    int64_t across = shape[1] / form.columns, tiles = shape[0] / form.rows * across;
    Layout factor = form.factor(16, Rows::InOrder), sums = form.sums(form.columns, Rows::InOrder);
    auto *half4 = llvm::FixedVectorType::get(b.getHalfTy(), 4), *float16 = llvm::FixedVectorType::get(b.getFloatTy(), 16);
    auto index = [&](llvm::Value *first, llvm::Value *own) {
      return lower::Index{b.CreateAdd(first, own), 0, nullptr, evaluator.levels.current()};
    };
    amd.barrier(e); // what the factors are read from is written
    nests.loop(wave, e.i64(tiles), std::max(threads / 64, 1u), false, {}, [&](llvm::Value *tile, llvm::ArrayRef<lower::Lanes>) {
      llvm::Value *row = b.CreateMul(b.CreateUDiv(tile, e.i64(across)), e.i64(form.rows));
      llvm::Value *column = b.CreateMul(b.CreateURem(tile, e.i64(across)), e.i64(form.columns));
      auto step = [&](llvm::Value *at, llvm::ArrayRef<lower::Lanes> sum) {
        llvm::Value *factors[2] = {llvm::PoisonValue::get(half4), llvm::PoisonValue::get(half4)};
        for (unsigned r = 0; r < 4; ++r) {
          auto place = cuda::emitLayout(b, factor, {{Register, e.i64(r)}, {Lane, lane}});
          lower::Index inner = index(at, place[1]);
          llvm::Value *elements[] = {evaluator.value(dot.getA(), {index(row, place[0]), inner}),
                                     evaluator.value(dot.getB(), {inner, index(column, place[0])})};
          for (unsigned f : {0, 1})
            factors[f] = b.CreateInsertElement(factors[f], b.CreateBitCast(elements[f], b.getHalfTy()), uint64_t(r));
        }
        llvm::Value *none = b.getInt32(0);
        return llvm::SmallVector<lower::Lanes>{b.CreateIntrinsic(float16, llvm::Intrinsic::amdgcn_mfma_f32_32x32x8f16,
                                                                 {factors[0], factors[1], sum[0], none, none, none})};
      };
      lower::Lanes zero = llvm::Constant::getNullValue(float16);
      lower::Lanes sum = nests.loop(e.i64(0), e.i64(k), depth, false, {zero}, step)[0];
      for (unsigned r = 0; r < 16; ++r) {
        auto place = cuda::emitLayout(b, sums, {{Register, e.i64(r)}, {Lane, lane}});
        evaluator.memory.store(evaluator.addresses.ofStored(buffer, shape, {index(row, place[0]), index(column, place[1])}),
                               b.CreateExtractElement(sum, uint64_t(r)));
      }
      return llvm::SmallVector<lower::Lanes>();
    });
    amd.barrier(e);
  }

private:
  AmdMachine &amd;
  unsigned threads;
};

class AmdBackend : public Backend {
public:
  bool claims(std::string_view name) const override { return name == "gfx90a"; }
  bool hasThreads() const override { return true; }
  std::vector<std::string> names() const override { return {"gfx90a"}; }
  std::string key(const std::string &name) const override { return name; }
  arrange::Cost blockCost(int) const override {
    return [](const arrange::Work &work) { return double(work.programs); };
  }
  mlir::FailureOr<Translation> compile(mlir::ModuleOp source, const CompileOptions &options) const override {
    Translation result;
    llvm::LLVMContext context;
    llvm::Module module("amd", context);
    module.setTargetTriple(llvm::Triple("amdgcn-amd-amdhsa"));
    module.setDataLayout(module.getTargetTriple().computeDataLayout());
    AmdLowering lowering;
    lower::Options lanes{lowering, options.disjoint, options.fpContract};
    lower::Emitter e(module, lanes);
    AmdMachine machine;
    cuda::CudaTarget target = gfx90a();
    for (auto kernel : source.getOps<tile::KernelOp>()) {
      mlir::FailureOr<KernelInfo> info = lower::describe(kernel);
      if (failed(info))
        return mlir::failure();
      cuda::SimtPlan plan = cuda::planSimt(kernel, lanes, cuda::tileBytes(target), 0);
      mlir::FailureOr<GpuInfo> gpu = AmdEmitter(e, kernel, plan, target, machine).emit();
      if (failed(gpu))
        return mlir::failure();
      info->gpu = *gpu;
      result.kernels.push_back(std::move(*info));
    }
    llvm::raw_string_ostream(result.llvm) << module;
    result.object = result.llvm;
    return result;
  }
};

} // namespace tilery::amd
