// Compiles recorded tile IR for named targets: tilery-replay OUT TARGET,TARGET... FILE.mlir...
// OUT/STEM.TARGET.txt receives the plan, the LLVM IR (and a GPU's PTX), or the error; each name is printed once its file is complete, so
// that a caller knows where a crash happened. `./run replay` compares the code that two builds write (tools/replay.py), `./run census`
// reads the plans (tools/census.py).
#include "compiler/record.h"
#include "tilery/compile.h"
#include "tilery/diagnostic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace tilery;

namespace {

std::string codeOf(llvm::StringRef text, llvm::StringRef target) {
  RecordedOptions recorded = recordedOptions(text);
  CompileOptions options;
  options.disjoint = recorded.disjoint;
  options.fpContract = recorded.fpContract;
  options.passes = recorded.passes;
  options.target = target.str();
  options.wantLLVM = options.wantPlan = true;
  try {
    Compiled compiled = compile(*Module::parse(text.str()), options);
    return compiled.plan + "// ---- LLVM\n" + compiled.llvm +
           (target.starts_with("sm_") ? "// ---- PTX\n" + compiled.image.object : std::string());
  } catch (const std::exception &error) {
    return std::string("// ---- error\n") + error.what() + "\n";
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    llvm::errs() << "usage: tilery-replay OUT TARGET,TARGET... FILE.mlir...\n";
    return 2;
  }
  llvm::SmallVector<llvm::StringRef> targets;
  llvm::StringRef(argv[2]).split(targets, ',');
  for (int i = 3; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    if (!file) {
      llvm::errs() << "tilery-replay: cannot read " << argv[i] << "\n";
      return 2;
    }
    for (llvm::StringRef target : targets) {
      std::string name = (llvm::sys::path::stem(argv[i]) + "." + target).str();
      std::error_code failure;
      llvm::raw_fd_ostream out((llvm::StringRef(argv[1]) + "/" + name + ".txt").str(), failure);
      if (failure) {
        llvm::errs() << "tilery-replay: cannot write into " << argv[1] << ": " << failure.message() << "\n";
        return 2;
      }
      out << codeOf((*file)->getBuffer(), target);
      out.close();
      llvm::outs() << name << "\n";
      llvm::outs().flush();
    }
  }
  return 0;
}
