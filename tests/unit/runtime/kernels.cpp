#include "kernels.h"
#include "compiler/targets/cpu/emit_object.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/SourceMgr.h"

std::string tilery::test::objectOf(const std::string &text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(text, problem, context);
  if (!module)
    throw std::runtime_error(problem.getMessage().str() + " in line " + std::to_string(problem.getLineNo()));
  cpu::prepareModule(*module, cpu::hostTarget());
  return cpu::emitObject(*module, cpu::hostTarget(), {});
}
