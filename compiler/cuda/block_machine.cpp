#include "compiler/cuda/block_machine.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {

BlockEntry PtxMachine::begin(cpu::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) {
  auto &b = e.b;
  llvm::SmallVector<llvm::Type *> types;
  for (mlir::BlockArgument argument : kernel.getBody().getArguments())
    types.push_back(e.memoryType(argument.getType()));
  types.append(3, b.getInt32Ty());
  types.append((needs.workspaceBytes ? 1 : 0) + (needs.reports ? 1 : 0), b.getPtrTy());
  BlockEntry entry;
  llvm::Function *function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                                    llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), e.module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr("nvvm.maxntid", std::to_string(needs.threads));
  function->addFnAttr(llvm::Attribute::Convergent);
  function->setDoesNotThrow();
  b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "entry", function));
  unsigned count = kernel.getBody().getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    entry.arguments.push_back(function->getArg(i));
  for (unsigned d = 0; d < 3; ++d)
    entry.grid[d] = function->getArg(count + d);
  auto *shared =
      new llvm::GlobalVariable(e.module, llvm::ArrayType::get(b.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                               nullptr, kernel.getSymName() + "_shared", nullptr, llvm::GlobalValue::NotThreadLocal, Shared);
  shared->setAlignment(llvm::Align(64));
  entry.function = function;
  entry.shared = b.CreateAddrSpaceCast(shared, b.getPtrTy());
  Ptx ptx(b);
  entry.thread = b.CreateZExt(ptx.special("tid.x"), b.getInt64Ty());
  entry.number = ptx.special("ctaid.x");
  entry.blocks = ptx.special("nctaid.x");
  unsigned next = count + 3;
  if (needs.workspaceBytes)
    entry.workspace = b.CreateGEP(b.getInt8Ty(), function->getArg(next++),
                                  b.CreateMul(b.CreateZExt(entry.number, b.getInt64Ty()), e.i64(needs.workspaceBytes)));
  if (needs.reports)
    entry.reports = function->getArg(next);
  return entry;
}

llvm::Value *PtxMachine::shuffleDown(cpu::Emitter &e, llvm::Value *value, unsigned distance) {
  auto &b = e.b;
  return b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::nvvm_shfl_sync_down_i32,
                           {b.getInt32(-1), value, b.getInt32(distance), b.getInt32(31)});
}

llvm::Value *PtxMachine::shuffleFrom(cpu::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *mask) {
  auto &b = e.b;
  return b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {mask, value, lane, b.getInt32(31)});
}

} // namespace tilery::cuda
