// The list of targets of the binding whose GPU is emulated, in place of compiler/backends.cpp: code for the GPU that is here is the CPU's.
#include "compiler/driver.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/emitter.h"
#include "compiler/lower/verify_code.h"
#include "compiler/targets/cpu/cpu.h"
#include "compiler/targets/cpu/emit_object.h"
#include "compiler/targets/cuda/cuda.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "settings.h"
#include "tests/emulator/machine.h"
#include "tests/emulator/watch.h"

using namespace mlir;

namespace tilery {
namespace {

class EmulatedBackend : public Backend {
public:
  /// The driver's version stands in the names of GPUs that are here only.
  bool claims(std::string_view name) const override {
    return cuda::backend().claims(name) && name.find(":cuda") != std::string_view::npos;
  }
  bool hasThreads() const override { return true; }
  std::vector<std::string> names() const override { return {}; }
  std::string key(const std::string &name) const override {
    return (emulator::settings().watches ? "watched " : "emulated ") + cuda::backend().key(name);
  }
  arrange::Cost blockCost(int device) const override { return cuda::backend().blockCost(device); }

  FailureOr<Translation> compile(ModuleOp source, const CompileOptions &wanted) const override {
    cuda::Options options = cuda::optionsOf(wanted);
    Translation texts;
    if (wanted.wantLLVM || wanted.wantAsm || wanted.wantPlan || wanted.wantBlock) { // the GPU's own
      explain::Aside before;                                                        // the code that runs says the same
      OwningOpRef<ModuleOp> copy(source.clone());
      FailureOr<Translation> real = cuda::compileModule(*copy, options);
      if (failed(real))
        return failure();
      texts = std::move(*real);
    }
    llvm::LLVMContext context;
    llvm::Module module("emulated", context);
    const cpu::CpuTarget &host = cpu::hostTarget();
    cpu::prepareModule(module, host);
    cuda::GpuLowering lowering(options.target, /*instructions=*/false);
    lower::Options lanes{lowering, options.disjoint, options.fpContract};
    lower::Emitter e(module, lanes);
    emulator::EmulatedMachine machine;
    options.wantPlan = options.wantBlock = false;
    SmallVector<std::string> names;
    for (auto kernel : source.getOps<tile::KernelOp>())
      names.push_back(kernel.getSymName().str());
    FailureOr<Translation> result = cuda::emitKernels(source, options, e, machine);
    if (failed(result) || failed(lower::verifyCode(module, source)))
      return failure();
    if (emulator::settings().watches)
      for (const std::string &name : names)
        emulator::watchAccesses(*module.getFunction(name));
    cpu::EmitOptions emitOptions;
    emitOptions.fpContract = options.fpContract;
    texts.object = cpu::emitObject(module, host, emitOptions);
    texts.kernels = std::move(result->kernels);
    return texts;
  }
};

} // namespace

Backends backends() {
  static const EmulatedBackend emulated;
  static const Backend *const list[] = {&cpu::backend(), &emulated, &cuda::backend()};
  return list;
}

} // namespace tilery
