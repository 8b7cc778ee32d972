// The pipeline from a module to an image: passes, then the target.
#include "compiler/driver.h"
#include "compiler/builder/module_impl.h"
#include "compiler/explain/findings.h"
#include "compiler/host_program.h"
#include "compiler/ir/hints.h"
#include "compiler/ir/rounds_each.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/lower/verify_code.h"
#include "compiler/passes/passes.h"
#include "compiler/progress.h"
#include "compiler/record.h"
#include "compiler/source_chain.h"
#include "compiler/source_line.h"
#include "tilery/cache.h"
#include "tilery/compilations.h"
#include "tilery/crash_report.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include "tilery/version.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tilery {
namespace {

std::string nameOf(mlir::ModuleOp module) {
  auto kernels = module.getOps<tile::KernelOp>();
  return kernels.empty() ? "a program without kernels" : "kernel " + (*kernels.begin()).getSymName().str();
}

/// In every process that links the compiler, also where all code comes from the disk cache.
[[maybe_unused]] const bool crashesNameLines = (setSourceLineFinder(sourceLine), true);

bool dumps(llvm::StringRef stage) {
  std::string stages = environmentText("TILERY_DUMP").value_or("");
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
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && !found) {
            found = Diagnostic{Diagnostic::Kind::NotImplemented, diagnostic.str(), "", sourceChain(diagnostic.getLocation())};
            for (mlir::Diagnostic &note : diagnostic.getNotes()) // where there is something to change, the program is at fault
              if (std::string text = note.str(); llvm::StringRef(text).consume_front("hint: ")) {
                found->kind = Diagnostic::Kind::Runtime;
                found->hint = text.substr(6);
              }
          }
          return mlir::success();
        }) {}
  [[noreturn]] void raise(const char *otherwise) {
    throw Error(found ? *found : Diagnostic{Diagnostic::Kind::Runtime, otherwise, "", {}});
  }

private:
  std::optional<Diagnostic> found;
  mlir::ScopedDiagnosticHandler handler;
};

/// Where LLVM meets what it has no code for, it may end the process: that is a crash like others, of one compilation.
void crashWhereLLVMGivesUp() {
  [[maybe_unused]] static const bool once = [] {
    llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
      std::fprintf(stderr, "LLVM ERROR: %s\n", reason);
      std::abort();
    });
    return true;
  }();
}

} // namespace

const Backend &backendFor(Backends backends, const std::string &target) {
  std::vector<std::string> known;
  for (const Backend *backend : backends) {
    if (backend->claims(target))
      return *backend;
    llvm::append_range(known, backend->names());
  }
  throw Error(
      Diagnostic{Diagnostic::Kind::Value, "there is no target named '" + target + "'", "known: " + llvm::join(known, ", "), {}});
}

namespace {
Compiled compileUnguarded(Backends backends, Module::Impl &impl, CompileOptions options, FirstError &errors) {
  mlir::OwningOpRef<mlir::ModuleOp> module(impl.module->clone());
  tile::HeededHints heeded;
  options.fpContract &= !module.get()->hasAttr(tile::roundsEachName);
  record(*module, {options.disjoint, options.fpContract, options.passes});
  if (dumps("tile"))
    dump("tile", textOf(*module));
  if (options.passes) {
    mlir::PassManager manager(&impl.context);
    manager.enableVerifier(lower::verifies());
    manager.addInstrumentation(passSteps());
    buildPipeline(manager, backendFor(backends, options.target).hasThreads(), options.plainTile);
    if (failed(manager.run(*module)))
      errors.raise("the program could not be optimised");
  }
  options.disjoint |= !options.overlapping.empty() && lower::writesNone(*module, options.overlapping);
  Compiled result;
  if (options.wantLLVM || options.wantAsm || options.wantPlan || dumps("passes"))
    result.tile = textOf(*module);
  dump("passes", result.tile);

  options.wantLLVM |= dumps("llvm");
  options.wantAsm |= dumps("asm");
  options.wantPlan |= dumps("plan");
  options.wantBlock |= dumps("block");
  explain::Findings findings(options.wantPlan);
  auto translation = backendFor(backends, options.target).compile(*module, options);
  if (failed(translation))
    errors.raise("the program could not be translated to machine code");
  result.image.object = std::move(translation->object);
  result.image.kernels = std::move(translation->kernels);
  result.llvm = std::move(translation->llvm);
  result.assembly = std::move(translation->assembly);
  result.plan = std::move(translation->plan);
  result.block = std::move(translation->block);
  dump("plan", result.plan);
  dump("block", result.block);
  dump("llvm", result.llvm);
  dump("asm", result.assembly);
  auto host = compileHost(*module, result.image.kernels);
  if (failed(host))
    errors.raise("the host function could not be translated");
  result.image.host = std::move(*host);
  result.findings = findings.take();
  result.steps = findings.takeSteps();
  result.image.ignoredHints = heeded.ignored(*impl.module);
  return result;
}

std::atomic<bool> hasCrashed{false};
} // namespace

Compiled compileWith(Backends backends, Module &source, const CompileOptions &options) {
  checkEnvironment();
  crashWhereLLVMGivesUp();
  if (hasCrashed)
    throw Crashed({Diagnostic::Kind::Runtime, "the compiler crashed before in this process", "start the program anew"}, "");
  if (forkedAmidCompilations())
    throw Crashed({Diagnostic::Kind::Runtime, "this process was forked while another thread compiled",
                   "fork before, or start processes anew (spawn)"},
                  "");
  Compiling compiling;
  Module::Impl &impl = source.get();
  std::lock_guard lock(impl.mutex);
  FirstError errors(&impl.context);
  auto interrupted = [&] { return options.interrupted(options.context); };
  Progress progress(options.interrupted ? std::function<bool()>(interrupted) : nullptr, nameOf(*impl.module));
  Compiled result;
  int signal = guarded([&] { result = compileUnguarded(backends, impl, options, errors); });
  if (!signal)
    return result;
  hasCrashed = true;
  source.abandon();
  throw Crashed({Diagnostic::Kind::Runtime,
                 std::string("the compiler crashed (") + strsignal(signal) + ") in the step \"" + progress.current() + "\" of " +
                     nameOf(*impl.module),
                 "please report it with what TILERY_RECORD=FOLDER writes there in another run: the tile IR that was compiled"},
                progress.current());
}

Compiled compile(Module &module, const CompileOptions &options) { return compileWith(backends(), module, options); }

std::vector<std::string> hintsOf(const std::string &target) {
  std::vector<std::string> names;
  for (llvm::StringRef name : backendFor(backends(), target).hints())
    names.push_back(name.str());
  return names;
}

std::string targetId(const std::string &target) {
  return std::string("tilery ") + version + " " + buildId() + " llvm " LLVM_VERSION_STRING " " +
         backendFor(backends(), target).key(target);
}

} // namespace tilery
