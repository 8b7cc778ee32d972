#include "compiler/lower/floats.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/math.h"

namespace tilery::lower {

Lanes callOwnFunction(Emitter &e, const llvm::Twine &name, llvm::ArrayRef<Lanes> operands,
                      llvm::function_ref<Lanes(llvm::ArrayRef<Lanes>)> body) {
  auto &b = e.b;
  llvm::Type *type = operands[0]->getType();
  llvm::Type *element = type->getScalarType();
  std::string symbol = ("tilery." + name + (element->isIntegerTy() ? ".i" : ".f") + llvm::Twine(element->getScalarSizeInBits()) +
                        "x" + llvm::Twine(e.lanesOf(operands[0])))
                           .str();
  llvm::Function *function = e.module.getFunction(symbol);
  if (!function) {
    llvm::IRBuilder<>::InsertPointGuard guard(b);
    auto debug = b.getCurrentDebugLocation();
    b.SetCurrentDebugLocation(llvm::DebugLoc());
    llvm::SmallVector<llvm::Type *> types(operands.size(), type);
    function =
        llvm::Function::Create(llvm::FunctionType::get(type, types, false), llvm::Function::InternalLinkage, symbol, e.module);
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "", function));
    llvm::SmallVector<Lanes> arguments;
    for (llvm::Argument &argument : function->args())
      arguments.push_back(&argument);
    b.CreateRet(body(arguments));
    b.SetCurrentDebugLocation(debug);
  }
  return b.CreateCall(function, operands);
}

Lanes unlessRare(Emitter &e, Lanes usual, Lanes rare, llvm::StringRef name, llvm::ArrayRef<Lanes> operands) {
  auto &b = e.b;
  Lanes any = rare->getType()->isVectorTy() ? b.CreateOrReduce(rare) : rare;
  return emitWhere(b, any, usual, [&] { return Values{callLibm(e, name, operands)}; })[0];
}

} // namespace tilery::lower
