#include "compiler/targets/cuda/ptx/math_library.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Transforms/IPO/Internalize.h"

extern "C" const char _binary_device_math_bc_start[], _binary_device_math_bc_end[]; // cmake/DeviceMath.cmake

namespace tilery::cuda {
namespace {

llvm::Value *nativeCall(llvm::IRBuilder<> &b, llvm::Module &module, llvm::StringRef name, llvm::ArrayRef<llvm::Value *> args) {
  llvm::Type *f64 = b.getDoubleTy();
  llvm::SmallVector<llvm::Type *> types(args.size(), f64);
  std::string mangled = ("_Z" + llvm::Twine(name.size()) + name + (args.size() == 2 ? "dd" : "d")).str();
  return b.CreateCall(module.getOrInsertFunction(mangled, llvm::FunctionType::get(f64, types, false)), args);
}

/// The library's function with what it lacks: it gives +0 where an odd function of -0 is -0, and its pow overflows inside where the
/// exponent is beyond 2^64 (from where on the result no longer depends on it).
llvm::Value *call(llvm::IRBuilder<> &b, llvm::Module &module, llvm::StringRef name, llvm::SmallVector<llvm::Value *> args) {
  llvm::Type *f64 = b.getDoubleTy();
  if (name == "pow") {
    auto limit = [&](double value) { return llvm::ConstantFP::get(f64, value); };
    llvm::Value *y = args[1];
    args[1] = b.CreateSelect(b.CreateFCmpOGT(y, limit(0x1p64)), limit(0x1p64),
                             b.CreateSelect(b.CreateFCmpOLT(y, limit(-0x1p64)), limit(-0x1p64), y));
  }
  llvm::Value *result = nativeCall(b, module, name, args);
  constexpr llvm::StringLiteral odd[] = {"expm1", "log1p", "tanh", "erf",   "sin",   "tan",
                                         "asin",  "atan",  "sinh", "asinh", "atanh", "cbrt"};
  if (llvm::is_contained(odd, name))
    result = b.CreateSelect(b.CreateFCmpOEQ(args[0], llvm::ConstantFP::get(f64, 0.0)), args[0], result);
  return result;
}

void define(llvm::Function &function) {
  llvm::Module &module = *function.getParent();
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "", &function));
  llvm::StringRef name = function.getName();
  bool single = function.getReturnType()->isFloatTy();
  llvm::SmallVector<llvm::Value *> args;
  for (llvm::Argument &argument : function.args())
    args.push_back(single ? b.CreateFPExt(&argument, b.getDoubleTy()) : &argument);
  llvm::Value *result = call(b, module, single ? name.drop_back() : name, args);
  b.CreateRet(single ? b.CreateFPTrunc(result, b.getFloatTy()) : result);
}

std::unique_ptr<llvm::Module> openLibrary(llvm::LLVMContext &context) {
  llvm::StringRef bytes(_binary_device_math_bc_start, _binary_device_math_bc_end - _binary_device_math_bc_start);
  return llvm::cantFail(llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "device_math"), context));
}

} // namespace

std::string linkMath(llvm::Module &module) {
  llvm::SmallVector<llvm::Function *> wanted;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic())
      wanted.push_back(&function);
  if (wanted.empty())
    return "";
  for (llvm::Function *function : wanted)
    define(*function);
  std::unique_ptr<llvm::Module> library = openLibrary(module.getContext());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  llvm::StringSet<> linked;
  llvm::Linker::linkModules(module, std::move(library), llvm::Linker::LinkOnlyNeeded,
                            [&](llvm::Module &, const llvm::StringSet<> &names) { linked = names; });
  for (llvm::StringRef name : linked.keys())
    if (llvm::Function *function = module.getFunction(name))
      function->setLinkage(llvm::GlobalValue::InternalLinkage);
  std::string missing;
  for (llvm::Function &function : module) {
    if (function.isDeclaration() && !function.isIntrinsic())
      missing = function.getName();
    // Its functions are for any GPU; ours name none, and only equals are inlined.
    for (const char *attribute : {"target-cpu", "target-features"})
      function.removeFnAttr(attribute);
  }
  return missing;
}

} // namespace tilery::cuda
