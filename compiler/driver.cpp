// The pipeline from a module to an image: passes, then the target.
#include "compiler/builder/module_impl.h"
#include "compiler/targets/cpu/cpu.h"
#include "compiler/targets/cuda/cuda.h"
#include "compiler/host_program.h"
#include "compiler/lower/verify_code.h"
#include "compiler/passes/passes.h"
#include "compiler/record.h"
#include "compiler/source_chain.h"
#include "compiler/source_line.h"
#include "tilery/cache.h"
#include "tilery/compile.h"
#include "tilery/crash_report.h"
#include "tilery/diagnostic.h"
#include "tilery/version.h"
#include "llvm/Config/llvm-config.h"
#include <cstdlib>

namespace tilery {
namespace {

/// In every process that links the compiler, also where all code comes from the disk cache.
[[maybe_unused]] const bool crashesNameLines = (setSourceLineFinder(sourceLine), true);

bool dumps(llvm::StringRef stage) {
  const char *stages = std::getenv("TILERY_DUMP");
  if (!stages)
    return false;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::StringRef(stages).split(names, ',');
  return llvm::is_contained(names, stage) || llvm::is_contained(names, "all");
}
void dump(llvm::StringRef stage, llvm::StringRef text) {
  if (dumps(stage))
    llvm::errs() << "// ---- tilery: " << stage << "\n" << text << "\n";
}
std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

/// Keeps the first error that MLIR reports, as a Diagnostic.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && !found)
            found = Diagnostic{Diagnostic::Kind::NotImplemented, diagnostic.str(), "", sourceChain(diagnostic.getLocation())};
          return mlir::success();
        }) {}
  [[noreturn]] void raise(const char *otherwise) {
    throw Error(found ? *found : Diagnostic{Diagnostic::Kind::Runtime, otherwise, "", {}});
  }

private:
  std::optional<Diagnostic> found;
  mlir::ScopedDiagnosticHandler handler;
};

const cpu::CpuTarget &targetNamed(const std::string &name) {
  if (const cpu::CpuTarget *target = cpu::findTarget(name))
    return *target;
  throw Error(Diagnostic{Diagnostic::Kind::Value,
                         "there is no target named '" + name + "'",
                         "known: host, " + llvm::join(cpu::targetNames(), ", "),
                         {}});
}

bool toCpu(mlir::ModuleOp module, const CompileOptions &options, Compiled &result) {
  cpu::Options target;
  target.target = targetNamed(options.target);
  target.disjoint = options.disjoint;
  target.fpContract = options.fpContract;
  target.wantLLVM = options.wantLLVM || dumps("llvm");
  target.wantAsm = options.wantAsm || dumps("asm");
  target.wantPlan = options.wantPlan || dumps("plan");
  auto compiled = cpu::compileModule(module, target);
  if (failed(compiled))
    return false;
  result.llvm = std::move(compiled->llvmText);
  result.assembly = std::move(compiled->asmText);
  result.plan = std::move(compiled->planText);
  result.image.object = std::move(compiled->object);
  result.image.kernels = std::move(compiled->kernels);
  return true;
}

bool toCuda(mlir::ModuleOp module, const CompileOptions &options, Compiled &result) {
  auto target = cuda::targetNamed(options.target);
  if (!target)
    throw Error(Diagnostic{
        Diagnostic::Kind::Value, "there is no GPU target named '" + options.target + "'", "write sm_80, sm_89, sm_90a, ...", {}});
  cuda::Options cuda;
  cuda.target = *target;
  cuda.disjoint = options.disjoint;
  cuda.fpContract = options.fpContract;
  cuda.boxes = options.boxes;
  cuda.wantLLVM = options.wantLLVM || dumps("llvm");
  cuda.wantPlan = options.wantPlan || dumps("plan");
  auto compiled = cuda::compileModule(module, cuda);
  if (failed(compiled))
    return false;
  result.llvm = std::move(compiled->llvmText);
  result.assembly = compiled->ptx;
  result.plan = std::move(compiled->planText);
  result.image.object = std::move(compiled->ptx);
  result.image.kernels = std::move(compiled->kernels);
  return true;
}

} // namespace

Compiled compile(Module &source, const CompileOptions &options) {
  Module::Impl &impl = source.get();
  mlir::OwningOpRef<mlir::ModuleOp> module(impl.module->clone());
  FirstError errors(&impl.context);
  record(*module, {options.disjoint, options.fpContract, options.passes});
  if (dumps("tile"))
    dump("tile", textOf(*module));
  if (options.passes) {
    mlir::PassManager manager(&impl.context);
    manager.enableVerifier(lower::verifies());
    buildPipeline(manager);
    if (failed(manager.run(*module)))
      errors.raise("the program could not be optimised");
  }
  Compiled result;
  if (options.wantLLVM || options.wantAsm || options.wantPlan || dumps("passes"))
    result.tile = textOf(*module);
  dump("passes", result.tile);

  bool translated = options.target.starts_with("sm_") ? toCuda(*module, options, result) : toCpu(*module, options, result);
  if (!translated)
    errors.raise("the program could not be translated to machine code");
  dump("plan", result.plan);
  dump("llvm", result.llvm);
  dump("asm", result.assembly);
  auto host = compileHost(*module, result.image.kernels);
  if (failed(host))
    errors.raise("the host function could not be translated");
  result.image.host = std::move(*host);
  return result;
}

std::string targetId(const std::string &target) {
  std::optional<cuda::CudaTarget> gpu = cuda::targetNamed(target);
  return std::string("tilery ") + version + " " + buildId() + " llvm " LLVM_VERSION_STRING " " +
         (gpu ? gpu->key() : targetNamed(target).key());
}

} // namespace tilery
