#pragma once
// A whole target, as an example of what a new one has to say. Its machine has vectors of eight bytes and no products, which it computes one
// element after the other; LLVM compiles its IR for this processor, so that the CPU's runtime launches it.
#include "compiler/lower/codegen.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/targets/backend.h"
#include "compiler/targets/cpu/emit_object.h"

namespace tilery::toy {

/// What is decided about a product: nothing but the order.
struct ToyProduct : lower::ProductPlan {
  void print(llvm::raw_ostream &stream) const override { stream << "element after element"; }
};

/// What the shared lowering asks. Everything that is not answered here is done in the shared way.
class ToyLowering : public lower::Target {
public:
  ToyLowering() : Target("the toy target", machine()) {}
  std::unique_ptr<lower::ProductPlan> planProduct(mlir::Operation *, const lower::Options &,
                                                  llvm::function_ref<bool(mlir::Value)>) const override {
    return std::make_unique<ToyProduct>();
  }

private:
  static lower::Machine machine() {
    lower::Machine machine;
    machine.vectorBits = 64;
    return machine;
  }
};

/// How a kernel begins, runs over its programs and ends, and the ops that the shared emitter leaves to targets.
class ToyKernel : public lower::KernelEmitter {
public:
  using KernelEmitter::KernelEmitter;

  mlir::FailureOr<KernelInfo> emit() {
    auto &b = e.b;
    mlir::FailureOr<KernelInfo> info = lower::describe(kernel);
    if (failed(info))
      return mlir::failure();
    info->scratchBytes = plan.arenaBytes;
    llvm::Type *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
    function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {ptr, i64, i64, ptr}, false),
                                      llvm::GlobalValue::ExternalLinkage, info->name, e.module);
    b.SetInsertPoint(newBlock("entry"));
    makeScopes();
    llvm::Value *slots = b.CreateLoad(ptr, function->getArg(0));
    for (mlir::BlockArgument argument : kernel.getBody().getArguments()) {
      llvm::Value *slot = b.CreateConstInBoundsGEP1_64(i64, slots, argument.getArgNumber());
      evaluator.scalars[argument] = e.fromMemory(b.CreateLoad(e.memoryType(argument.getType()), slot), argument.getType());
    }
    evaluator.memory.arena = function->getArg(3);
    nests.loop(function->getArg(1), function->getArg(2), 1, false, {}, [&](llvm::Value *program, llvm::ArrayRef<lower::Lanes>) {
      programId = program;
      pid = {b.CreateTrunc(program, b.getInt32Ty()), b.getInt32(0), b.getInt32(0)}; // grids of one dimension
      evaluator.failed |= !block(kernel.getBody().front());
      return llvm::SmallVector<lower::Lanes>();
    });
    b.CreateRetVoid();
    return evaluator.failed ? mlir::FailureOr<KernelInfo>() : info;
  }

protected:
  void dotOp(mlir::Operation *op) override {
    auto dot = mlir::dyn_cast<tile::DotOp>(op);
    auto type = mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType());
    if (!dot || !type.getElementType().isF32() || type.getRank() != 2)
      return refuse(op);
    int buffer = plan.storage.lookup(dot.getResult());
    llvm::ArrayRef<int64_t> shape = type.getShape();
    int64_t depth = tile::shapeOf(dot.getA().getType())[1];
    forEach(shape, [&](llvm::ArrayRef<lower::Index> at) {
      lower::Lanes start = lower::startsAtZero(op) ? llvm::ConstantFP::get(e.b.getFloatTy(), 0)
                                                   : evaluator.memory.load(evaluator.addresses.ofStored(buffer, shape, at));
      lower::Lanes sum =
          nests.loop(e.i64(0), e.i64(depth), 1, false, {start}, [&](llvm::Value *k, llvm::ArrayRef<lower::Lanes> sum) {
            lower::Index inner{k, 0, nullptr, evaluator.levels.current()};
            lower::Lanes product =
                e.b.CreateFMul(evaluator.value(dot.getA(), {at[0], inner}), evaluator.value(dot.getB(), {inner, at[1]}));
            return llvm::SmallVector<lower::Lanes>{e.b.CreateFAdd(sum[0], product)};
          })[0];
      evaluator.memory.store(evaluator.addresses.ofStored(buffer, shape, at), sum);
    });
  }
};

/// The entry of the list of targets.
class ToyBackend : public Backend {
public:
  bool claims(std::string_view name) const override { return name == "toy"; }
  bool hasThreads() const override { return false; }
  std::vector<std::string> names() const override { return {"toy"}; }
  std::string key(const std::string &name) const override { return name; }
  /// Its programs run one after the other, and cost what they move.
  arrange::Cost blockCost(int) const override {
    return [](const arrange::Work &work) {
      double bytes = 0;
      for (const arrange::Tiles &tiles : work.tiles)
        bytes += tiles.visits * tiles.bytes();
      return double(work.programs) * bytes;
    };
  }
  mlir::FailureOr<Translation> compile(mlir::ModuleOp source, const CompileOptions &options) const override {
    Translation result;
    llvm::LLVMContext context;
    llvm::Module module("toy", context);
    cpu::prepareModule(module, cpu::hostTarget());
    ToyLowering target;
    lower::Options lowering{target, options.disjoint, options.fpContract};
    lower::Emitter e(module, lowering);
    for (auto kernel : source.getOps<tile::KernelOp>()) {
      lower::Plan plan = lower::planKernel(kernel, lowering);
      llvm::raw_string_ostream text(result.plan);
      plan.print(text, kernel);
      mlir::FailureOr<KernelInfo> info = ToyKernel(e, kernel, plan).emit();
      if (failed(info))
        return mlir::failure();
      result.kernels.push_back(*info);
    }
    result.object = cpu::emitObject(module, cpu::hostTarget(), {});
    return result;
  }
};

} // namespace tilery::toy
