// NVIDIA GPUs among the targets.
#include "compiler/targets/cuda/cuda.h"
#include "compiler/targets/backend.h"
#include "compiler/targets/cuda/block_sizes.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include "tilery/gpu_error.h"

namespace tilery::cuda {
namespace {

std::string ptxText(unsigned version) { return std::to_string(version / 10) + "." + std::to_string(version % 10); }

CudaTarget gpuNamed(const std::string &name) {
  std::optional<CudaTarget> target = targetNamed(name);
  if (!target)
    throw Error(Diagnostic{Diagnostic::Kind::Value,
                           "there is no GPU target named '" + name + "'",
                           "write one of " + llvm::join(targetNames(), ", ") + "; newer GPUs run what is compiled for sm_80",
                           {}});
  if (target->ptx < leastPtx(*target))
    throw GpuError(GpuError::Fault::Unsupported, {Diagnostic::Kind::Runtime,
                                                  "the NVIDIA driver is too old for " + target->arch() + ": it knows PTX " +
                                                      ptxText(target->ptx) + ", which takes " + ptxText(leastPtx(*target)),
                                                  "update the driver, or run on tensors of the CPU",
                                                  {}});
  return *target;
}

bool wantsLines() { return environmentSwitch("TILERY_LINE_INFO"); }

class CudaBackend : public Backend {
public:
  bool claims(std::string_view name) const override { return name.starts_with("sm_"); }
  bool hasThreads() const override { return true; }
  std::vector<std::string> names() const override { return {targetNames().begin(), targetNames().end()}; }
  std::string key(const std::string &name) const override { return gpuNamed(name).key() + (wantsLines() ? ";lines" : ""); }
  arrange::Cost blockCost(int device) const override {
    constexpr int64_t usual = 132; // multiprocessors of an H100 or H200: ahead of time no device is known
    return cuda::blockCost(device < 0 ? usual : gpuProperties(device).multiprocessors);
  }
  mlir::FailureOr<Translation> compile(mlir::ModuleOp module, const CompileOptions &options) const override {
    return compileModule(module, optionsOf(options));
  }
};

} // namespace

Options optionsOf(const CompileOptions &options) {
  Options own;
  own.target = gpuNamed(options.target);
  own.disjoint = options.disjoint;
  own.fpContract = options.fpContract;
  own.plainTile = options.plainTile;
  own.plainLLVM = options.plainLLVM;
  own.boxes = options.boxes;
  own.cluster = options.cluster;
  own.inTurn = options.inTurn;
  own.lineTables = wantsLines();
  own.wantLLVM = options.wantLLVM;
  own.wantPlan = options.wantPlan;
  own.wantBlock = options.wantBlock;
  return own;
}

const Backend &backend() {
  static const CudaBackend backend;
  return backend;
}

} // namespace tilery::cuda
