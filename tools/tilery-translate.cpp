// Prints what a target makes of tile IR: tilery-translate --target=avx2 --print=plan file.mlir
#include "tilery/compile.h"
#include "tilery/diagnostic.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstdlib>

using namespace tilery;
namespace cl = llvm::cl;

namespace {
enum Stage { Tile, Plan, Block, LLVM, Asm };
cl::opt<std::string> file(cl::Positional, cl::desc("file.mlir"), cl::init("-"));
cl::opt<std::string> target("target", cl::desc("host, avx2, avx512, sapphirerapids, aarch64-neon, sm_80, sm_90a, ..."),
                            cl::init("host"));
cl::opt<bool> disjoint("disjoint", cl::desc("no written argument overlaps another one"));
cl::opt<bool> exact("exact", cl::desc("a * b + c rounds twice"));
cl::opt<Stage> stage("print", cl::desc("the stage to print"), cl::init(LLVM),
                     cl::values(clEnumValN(Tile, "tile", "tile IR after the passes"),
                                clEnumValN(Plan, "plan", "the plan of loops and storage"),
                                clEnumValN(Block, "block", "block IR of GPUs, of kernels that have some"),
                                clEnumValN(LLVM, "llvm", "LLVM IR, optimised"),
                                clEnumValN(Asm, "asm", "assembly; a GPU's: PTX")));
} // namespace

int main(int argc, char **argv) {
  setenv("TILERY_VERIFY", "1", /*overwrite=*/0); // of IR that was written by hand, errors are told after each pass
  cl::ParseCommandLineOptions(argc, argv, "tilery: what a target makes of tile IR\n");
  auto text = llvm::MemoryBuffer::getFileOrSTDIN(file);
  if (!text) {
    llvm::errs() << "tilery-translate: cannot read " << file << ": " << text.getError().message() << "\n";
    return 1;
  }
  CompileOptions options;
  options.target = target;
  options.disjoint = disjoint;
  options.fpContract = !exact;
  options.wantPlan = true; // any wanted text brings the IR after the passes, too
  options.wantBlock = stage == Block;
  options.wantLLVM = stage == LLVM;
  options.wantAsm = stage == Asm;
  try {
    Compiled compiled = compile(*Module::parse((*text)->getBuffer().str()), options);
    llvm::outs() << (stage == Tile    ? compiled.tile
                     : stage == Plan  ? compiled.plan
                     : stage == Block ? compiled.block
                     : stage == LLVM  ? compiled.llvm
                                      : compiled.assembly);
  } catch (const std::exception &error) {
    llvm::errs() << "tilery-translate: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
