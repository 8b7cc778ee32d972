// The CPU among the targets.
#include "compiler/targets/cpu/cpu.h"
#include "compiler/targets/backend.h"
#include "compiler/targets/cpu/block_sizes.h"
#include "compiler/targets/cpu/emit_object.h"
#include "tilery/environment.h"

namespace tilery::cpu {
namespace {

/// Throws where code for it cannot be made here.
const CpuTarget &targetNamed(const std::string &name) {
  std::string asked = name == "host" ? environmentText("TILERY_CPU_TARGET").value_or("") : "";
  if (asked.empty())
    asked = name;
  const CpuTarget &target = *findTarget(asked);
  if (asked != name && !hostRuns(target))
    throw Error({Diagnostic::Kind::Value,
                 "this processor does not run code for TILERY_CPU_TARGET=" + asked,
                 "`tilery doctor` says which targets it runs; `tilery compile --target` makes code for others",
                 {}});
  if (!canEmit(target))
    throw Error({Diagnostic::Kind::Value,
                 "this build of tilery compiles for x86-64 and NVIDIA GPUs only, not for " + name,
                 "a build from source (./run build) has LLVM's back end for it, too",
                 {}});
  return target;
}

class CpuBackend : public Backend {
public:
  bool claims(std::string_view name) const override { return findTarget(name); }
  bool hasThreads() const override { return false; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names = targetNames();
    names.insert(names.begin(), "host");
    return names;
  }
  std::string key(const std::string &name) const override { return targetNamed(name).key(); }
  llvm::ArrayRef<llvm::StringLiteral> hints() const override {
    static constexpr llvm::StringLiteral heeded[] = {"launch_cooperative_grid", "unroll", "vectorize"};
    return heeded;
  }
  arrange::Cost blockCost(int) const override { return cpu::blockCost(numThreads()); }
  mlir::FailureOr<Translation> compile(mlir::ModuleOp module, const CompileOptions &options) const override {
    Options own;
    own.target = targetNamed(options.target);
    own.disjoint = options.disjoint;
    own.fpContract = options.fpContract;
    own.plainTile = options.plainTile;
    own.plainLLVM = options.plainLLVM;
    own.wantLLVM = options.wantLLVM;
    own.wantAsm = options.wantAsm;
    own.wantPlan = options.wantPlan;
    return compileModule(module, own);
  }
};

} // namespace

const Backend &backend() {
  static const CpuBackend backend;
  return backend;
}

} // namespace tilery::cpu
