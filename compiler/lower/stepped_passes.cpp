#include "compiler/lower/stepped_passes.h"
#include "compiler/lower/short_blocks.h"
#include "compiler/progress.h"
#include "llvm/IR/Function.h"
#include "llvm/Pass.h"
#include <string>

namespace tilery::lower {
namespace {
/// Stands before another pass.
struct Step : llvm::FunctionPass {
  static char ID;
  std::string following;

  explicit Step(llvm::StringRef following) : FunctionPass(ID), following(("LLVM: " + following).str()) {}
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }
  bool runOnFunction(llvm::Function &function) override {
    Progress::step(following, &function);
    return false;
  }
};
char Step::ID;
} // namespace

void SteppedPasses::add(llvm::Pass *pass) {
  if (pass->getPassName().contains("Instruction Selection"))
    PassManager::add(createShortBlocks());
  if (pass->getPassKind() == llvm::PT_Function)
    PassManager::add(new Step(pass->getPassName()));
  PassManager::add(pass);
}

} // namespace tilery::lower
