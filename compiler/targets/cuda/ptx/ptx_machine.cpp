#include "compiler/targets/cuda/ptx/ptx_machine.h"
#include "compiler/targets/cuda/ptx/ptx.h"
#include "compiler/analysis/divisor.h"
#include "compiler/lower/atomics.h"
#include "compiler/lower/debug_info.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {
namespace {
llvm::Value *special(llvm::IRBuilder<> &b, llvm::Intrinsic::ID id) {
  return b.CreateIntrinsic(b.getInt32Ty(), id, llvm::ArrayRef<llvm::Value *>());
}

/// A parameter that the copy engine reads where the launch put it.
void passMap(llvm::Function &function, unsigned parameter) {
  llvm::LLVMContext &context = function.getContext();
  llvm::AttrBuilder attributes(context);
  attributes.addByValAttr(llvm::ArrayType::get(llvm::Type::getInt64Ty(context), 16));
  attributes.addAlignmentAttr(llvm::Align(64));
  attributes.addAttribute("nvvm.grid_constant");
  function.addParamAttrs(parameter, attributes);
}

/// What a launch keeps of a parameter, in words of LLVM: neighbours that single threads access are joined by it.
llvm::Value *divided(llvm::IRBuilder<> &b, mlir::BlockArgument argument, llvm::Value *value) {
  int64_t divisor = analysis::divisorOf(argument);
  if (divisor == 1)
    return value;
  if (value->getType()->isIntegerTy())
    return b.CreateAnd(value, llvm::ConstantInt::getSigned(value->getType(), -divisor));
  if (value->getType()->isPointerTy())
    llvm::cast<llvm::Argument>(value)->addAttr(llvm::Attribute::getWithAlignment(b.getContext(), llvm::Align(divisor)));
  return value;
}
} // namespace

BlockEntry PtxMachine::begin(lower::Emitter &e, tile::KernelOp kernel, const BlockNeeds &needs) {
  auto &b = e.b;
  llvm::SmallVector<llvm::Type *> types(needs.maps, b.getPtrTy());
  for (mlir::BlockArgument argument : kernel.getBody().getArguments())
    types.push_back(e.memoryType(argument.getType()));
  types.append(3, b.getInt32Ty());
  types.append((needs.workspaceBytes ? 1 : 0) + (needs.reports ? 1 : 0), b.getPtrTy());
  BlockEntry entry;
  llvm::Function *function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), types, false),
                                                    llvm::GlobalValue::ExternalLinkage, kernel.getSymName(), e.module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr("nvvm.maxntid", std::to_string(needs.threads));
  if (needs.registers)
    function->addFnAttr("nvvm.maxnreg", std::to_string(needs.registers));
  else if (needs.residentBlocks)
    function->addFnAttr("nvvm.minctasm", std::to_string(needs.residentBlocks));
  if (needs.cluster > 1)
    function->addFnAttr("nvvm.cluster_dim", std::to_string(needs.cluster));
  function->addFnAttr(llvm::Attribute::Convergent);
  function->setDoesNotThrow();
  b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "entry", function));
  if (e.debug) {
    e.debug->beginFunction(function, kernel);
    e.at(kernel.getLoc());
  }
  readsConstants = true;
  unsigned next = 0;
  for (; next < needs.maps; ++next) {
    passMap(*function, next);
    entry.maps.push_back(function->getArg(next));
  }
  bool hasThreads = kernel.walk([](tile::ThreadsOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  for (mlir::BlockArgument argument : kernel.getBody().getArguments()) {
    llvm::Value *own = function->getArg(next++);
    entry.arguments.push_back(hasThreads ? divided(b, argument, own) : own);
  }
  for (llvm::Value *&extent : entry.grid)
    extent = function->getArg(next++);
  entry.programs = b.CreateMul(b.CreateMul(entry.grid[0], entry.grid[1]), entry.grid[2]);
  auto *shared =
      new llvm::GlobalVariable(e.module, llvm::ArrayType::get(b.getInt8Ty(), 0), false, llvm::GlobalValue::ExternalLinkage,
                               nullptr, kernel.getSymName() + "_shared", nullptr, llvm::GlobalValue::NotThreadLocal, Shared);
  shared->setAlignment(llvm::Align(needs.sharedAlignment));
  entry.function = function;
  entry.shared = b.CreateAddrSpaceCast(shared, b.getPtrTy());
  entry.sharedAddress = b.CreatePtrToInt(shared, b.getInt32Ty());
  entry.thread = b.CreateZExt(special(b, llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), b.getInt64Ty());
  entry.number = special(b, llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
  entry.blocks = special(b, llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
  if (needs.workspaceBytes)
    entry.workspace = b.CreateGEP(b.getInt8Ty(), function->getArg(next++),
                                  b.CreateMul(b.CreateZExt(entry.number, b.getInt64Ty()), e.i64(needs.workspaceBytes)));
  if (needs.reports)
    entry.reports = function->getArg(next);
  return entry;
}

llvm::Value *PtxMachine::shuffleDown(lower::Emitter &e, llvm::Value *value, unsigned distance) {
  auto &b = e.b;
  return b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::nvvm_shfl_sync_down_i32,
                           {b.getInt32(-1), value, b.getInt32(distance), b.getInt32(31)});
}

llvm::Value *PtxMachine::shuffleFrom(lower::Emitter &e, llvm::Value *value, llvm::Value *lane, llvm::Value *mask) {
  auto &b = e.b;
  return b.CreateIntrinsic(b.getInt32Ty(), llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {mask, value, lane, b.getInt32(31)});
}

namespace {
/// What stands behind `.global`. PTX takes no operation of caches beside a priority of eviction, and none for volatile accesses.
std::string cacheHint(const lower::Address &where) {
  if (where.isVolatile)
    return "";
  if (where.eviction.empty() || where.eviction == "evict_normal")
    return where.cache.str();
  return ".L1::" + where.eviction.str();
}

/// An access of some neighbouring bytes with one predicated instruction.
struct Piece {
  unsigned bytes, words; // words of 32 bits; 0: fewer bits
  explicit Piece(unsigned bytes) : bytes(bytes), words(bytes / 4) {}
  unsigned registers() const { return std::max(words, 1u); }
  const char *registerKind() const { return words ? "r" : "h"; }
  llvm::Type *type(llvm::IRBuilder<> &b) const { return words ? b.getInt32Ty() : b.getInt16Ty(); }
  std::string instruction(const char *name, const lower::Address &where, const char *order = ".volatile") const {
    std::string text = std::string(name) + (where.isVolatile ? order : "") + ".global" + cacheHint(where);
    if (words > 1)
      text += ".v" + std::to_string(words);
    return text + (words ? ".b32" : bytes == 2 ? ".b16" : ".b8");
  }
  /// "{$from, $from+1, ..}"
  std::string list(unsigned from) const {
    std::string text = words > 1 ? "{" : "";
    for (unsigned i = 0; i < registers(); ++i)
      text += (i ? ", $" : "$") + std::to_string(from + i);
    return text + (words > 1 ? "}" : "");
  }
};

llvm::Value *globalPointer(llvm::IRBuilder<> &b, llvm::Value *pointer) {
  return b.CreateAddrSpaceCast(pointer, b.getPtrTy(Global));
}

/// The bits of a value in units of a piece's registers.
llvm::Value *inUnits(llvm::IRBuilder<> &b, llvm::Value *value, const Piece &piece, unsigned total) {
  if (value->getType()->isPointerTy())
    value = b.CreatePtrToInt(value, b.getInt64Ty());
  else if (auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
           vector && vector->getElementType()->isPointerTy())
    value = b.CreatePtrToInt(value, llvm::FixedVectorType::get(b.getInt64Ty(), vector->getNumElements()));
  unsigned unit = std::min(piece.bytes, 4u);
  value = b.CreateBitCast(value, llvm::FixedVectorType::get(b.getIntNTy(unit * 8), total / unit));
  return unit == 1 ? b.CreateZExt(value, llvm::FixedVectorType::get(b.getInt16Ty(), total)) : value;
}

llvm::CallInst *predicated(llvm::IRBuilder<> &b, const std::string &text, const std::string &constraints, bool pure,
                           llvm::ArrayRef<llvm::Value *> args, llvm::Type *result) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *arg : args)
    types.push_back(arg->getType());
  auto *type = llvm::FunctionType::get(result, types, false);
  auto *call = b.CreateCall(llvm::InlineAsm::get(type, text, constraints + (pure ? "" : ",~{memory}"), !pure), args);
  call->setDoesNotThrow();
  if (pure)
    call->setMemoryEffects(llvm::MemoryEffects::none());
  return call;
}

unsigned bytesOf(llvm::Type *type, lower::Emitter &e) { return e.module.getDataLayout().getTypeStoreSize(type).getFixedValue(); }
} // namespace

// A predicate on the instruction instead of a branch around it: the loads of a thread stay side by side.
llvm::Value *PtxMachine::load(lower::Emitter &e, const lower::Address &where, llvm::Type *type, llvm::Value *exists,
                              llvm::Value *other) {
  auto &b = e.b;
  llvm::Value *pointer = globalPointer(b, where.pointer);
  bool constant = where.constant && readsConstants && !where.isVolatile && where.cache != ".cv";
  bool acquires = lower::acquires(where, type);
  if (!exists && cacheHint(where).empty()) {
    auto *read = b.CreateAlignedLoad(type, pointer, llvm::Align(where.alignment), where.isVolatile);
    if (acquires)
      read->setAtomic(llvm::AtomicOrdering::Acquire);
    if (constant)
      read->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(e.context(), {}));
    return read;
  }
  unsigned total = bytesOf(type, e);
  Piece piece(std::min({total, where.alignment, 16u}));
  llvm::Value *before = exists ? inUnits(b, other, piece, total) : nullptr;
  llvm::Value *units = llvm::PoisonValue::get(llvm::FixedVectorType::get(piece.type(b), total / std::min(piece.bytes, 4u)));
  std::string constraints;
  for (unsigned i = 0; i < piece.registers(); ++i)
    constraints += std::string("=") + piece.registerKind() + ",";
  constraints += "l";
  if (exists)
    constraints += ",b";
  for (unsigned i = 0; exists && i < piece.registers(); ++i)
    constraints += "," + std::to_string(i);
  unsigned n = piece.registers();
  std::string text = (exists ? "@$" + std::to_string(n + 1) + " " : "") +
                     piece.instruction("ld", where, acquires ? ".acquire.sys" : ".volatile") + " " + piece.list(0) + ", [$" +
                     std::to_string(n) + "];";
  llvm::Type *result =
      n == 1 ? piece.type(b) : llvm::StructType::get(e.context(), llvm::SmallVector<llvm::Type *>(n, piece.type(b)));
  for (unsigned at = 0, unit = 0; at < total; at += piece.bytes, unit += n) {
    llvm::SmallVector<llvm::Value *> args{b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), pointer, at)};
    if (exists)
      args.push_back(exists);
    for (unsigned i = 0; exists && i < n; ++i)
      args.push_back(b.CreateExtractElement(before, uint64_t(unit + i)));
    llvm::Value *read = predicated(b, text, constraints, constant, args, result);
    for (unsigned i = 0; i < n; ++i)
      units = b.CreateInsertElement(units, n == 1 ? read : b.CreateExtractValue(read, i), uint64_t(unit + i));
  }
  if (piece.bytes == 1)
    units = b.CreateTrunc(units, llvm::FixedVectorType::get(b.getInt8Ty(), total));
  llvm::Type *scalar = type->getScalarType();
  if (!scalar->isPointerTy())
    return b.CreateBitCast(units, type);
  return b.CreateIntToPtr(b.CreateBitCast(units, type->getWithNewType(b.getInt64Ty())), type);
}

void PtxMachine::store(lower::Emitter &e, const lower::Address &where, llvm::Value *bits, llvm::Value *exists) {
  auto &b = e.b;
  llvm::Value *pointer = globalPointer(b, where.pointer);
  if (!exists && cacheHint(where).empty()) {
    b.CreateAlignedStore(bits, pointer, llvm::Align(where.alignment), where.isVolatile);
    return;
  }
  unsigned total = bytesOf(bits->getType(), e);
  Piece piece(std::min({total, where.alignment, 16u}));
  unsigned n = piece.registers();
  std::string constraints = exists ? "l,b" : "l", guard = exists ? "@$1 " : "";
  for (unsigned i = 0; i < n; ++i)
    constraints += std::string(",") + piece.registerKind();
  llvm::Value *units = inUnits(b, bits, piece, total);
  for (unsigned at = 0, unit = 0; at < total; at += piece.bytes, unit += n) {
    llvm::SmallVector<llvm::Value *> args{b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), pointer, at)};
    if (exists)
      args.push_back(exists);
    unsigned first = args.size();
    for (unsigned i = 0; i < n; ++i)
      args.push_back(b.CreateExtractElement(units, uint64_t(unit + i)));
    predicated(b, guard + piece.instruction("st", where) + " [$0], " + piece.list(first) + ";", constraints, false, args,
               b.getVoidTy());
  }
}

} // namespace tilery::cuda
