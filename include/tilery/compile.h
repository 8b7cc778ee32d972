#pragma once
// From tile IR to code that the runtime loads.
#include "tilery/diagnostic.h"
#include "tilery/finding.h"
#include "tilery/guarded.h"
#include "tilery/module.h"
#include "tilery/runtime.h"
#include <string>
#include <vector>

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

struct CompileOptions {
  /// The launch promises TILERY_DISJOINT (abi.h); part of the specialisation.
  bool disjoint = false;
  /// Without `disjoint`: the arguments that share memory, by their names. Where the program writes none of them, that is disjoint, too.
  std::vector<std::pair<std::string, std::string>> overlapping = {};
  /// a * b + c may round once.
  bool fpContract = true;
  /// GPUs: tensors may be copied in boxes, on conditions that a launch must keep (GpuInfo::conditions). Without, code takes any launch.
  bool boxes = true;
  /// GPUs: blocks (2, 4 or 8, a cluster) that share the steps of each program, where a kernel lets them (GpuInfo::split).
  unsigned cluster = 1;
  /// GPUs: no product runs beside other work: what is tried where the assembler gave up on instructions (C75xx).
  bool inTurn = false;
  /// Run the target-independent passes; off only for tests that compare before and after.
  bool passes = true;
  /// Without the optimisations of tile IR, or those of LLVM: what is tried after one has crashed.
  bool plainTile = false, plainLLVM = false;
  bool wantBlock = false, wantLLVM = false, wantAsm = false, wantPlan = false;
  /// "host", or a name of the target table ("avx2", "avx512", "sapphirerapids") to generate code for another machine, or a GPU
  /// ("sm_90a", gpuTarget(device)), for which the image holds PTX.
  std::string target = "host";
  /// Asked by the compiling thread every 50 ms or so, between passes; true ends the compilation, which throws Interrupted.
  bool (*interrupted)(void *) = nullptr;
  void *context = nullptr;
};

/// The compiler itself crashed: a fault, an overflow of the stack, a fatal error of LLVM's. Locks and contexts are as it left them, so that compile()
/// refuses with it from then on; what was compiled goes on working.
class Crashed : public Error {
public:
  Crashed(Diagnostic diagnostic, std::string step) : Error(std::move(diagnostic)), step(std::move(step)) {}
  const std::string step; ///< the pass that crashed; empty: an earlier compilation did
};

struct Compiled {
  CodeImage image;
  std::string tile;  ///< the IR after the passes, when any text is wanted
  std::string block; ///< GPUs: the kernels that go through block IR
  std::string llvm, assembly, plan;
  std::vector<Finding> findings;
  std::vector<Diagnostic> steps; ///< with `wantPlan`: the plan in words, each with its place
};

/// Leaves `module` as it is. Throws Error with the user's position for what the target cannot run, Interrupted, or Crashed. One that takes more than 5 s says on stderr, once, what for.
/// TILERY_DUMP=tile,passes,plan,block,llvm,asm (any of them) prints the stages to stderr.
Compiled compile(Module &module, const CompileOptions &options = {});

/// Names the generated code depends on besides IR and options: build of the compiler, processor and its features.
std::string targetId(const std::string &target = "host");

/// The hints (builder.h) on which the target's code may depend.
std::vector<std::string> hintsOf(const std::string &target = "host");

} // namespace tilery
#pragma GCC visibility pop
