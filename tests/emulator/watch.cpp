#include "watch.h"
#include "block.h"
#include "run.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Scalar/Sink.h"
#include <cstring>

namespace tilery::emulator {
namespace {
struct Watched {
  llvm::Instruction *instruction;
  llvm::Value *pointer;
  llvm::Value *mask;   // null: all elements
  llvm::Value *stored; // null: unknown
  llvm::Type *type;
  Act act;
};

std::optional<Watched> watchedOf(llvm::Instruction &instruction) {
  if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return Watched{load,    load->getPointerOperand(), nullptr,
                   nullptr, load->getType(),           load->isVolatile() || load->isAtomic() ? Act::Looks : Act::Loads};
  if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    llvm::Value *value = store->getValueOperand();
    return Watched{store, store->getPointerOperand(), nullptr,
                   value, value->getType(),           store->isVolatile() || store->isAtomic() ? Act::Updates : Act::Stores};
  }
  if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
    return Watched{update, update->getPointerOperand(), nullptr, nullptr, update->getType(), Act::Updates};
  if (auto *swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return Watched{swap, swap->getPointerOperand(), nullptr, nullptr, swap->getNewValOperand()->getType(), Act::Updates};
  auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  auto argument = [&](unsigned number) { return call->getArgOperand(number); };
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
  case llvm::Intrinsic::masked_load:
  case llvm::Intrinsic::masked_gather:
    return Watched{call, argument(0), argument(1), nullptr, call->getType(), Act::Loads};
  case llvm::Intrinsic::masked_store:
  case llvm::Intrinsic::masked_scatter:
    return Watched{call, argument(1), argument(2), argument(0), argument(0)->getType(), Act::Stores};
  default:
    return std::nullopt;
  }
}

/// Writes the calls.
class Watcher {
public:
  explicit Watcher(llvm::Function &function) : function(function), layout(function.getParent()->getDataLayout()) {}

  void add(const Watched &one) {
    llvm::IRBuilder<> b(one.instruction);
    auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(one.type);
    llvm::Value *value = one.stored ? spilled(b, one.stored) : llvm::ConstantPointerNull::get(b.getPtrTy());
    if (one.pointer->getType()->isVectorTy()) {
      uint32_t bytes = layout.getTypeStoreSize(vector->getElementType());
      for (uint32_t lane = 0; lane < vector->getNumElements(); ++lane) {
        llvm::Value *own = one.stored ? b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), value, lane * bytes) : value;
        llvm::Value *mask = b.CreateZExt(b.CreateExtractElement(one.mask, uint64_t(lane)), b.getInt64Ty());
        call(b, one, b.CreateExtractElement(one.pointer, uint64_t(lane)), own, bytes, 1, mask);
      }
      return;
    }
    if (one.mask) {
      uint32_t count = vector->getNumElements();
      llvm::Value *mask = b.CreateZExt(b.CreateBitCast(one.mask, b.getIntNTy(count)), b.getInt64Ty());
      return call(b, one, one.pointer, value, layout.getTypeStoreSize(vector->getElementType()), count, mask);
    }
    llvm::Value *pointer = one.pointer, *mask = b.getInt64(1);
    if (auto *choice = llvm::dyn_cast<llvm::SelectInst>(pointer); choice && !one.stored) {
      pointer = choice->getTrueValue(); // where the element does not exist, what is read in its place is dropped
      mask = b.CreateZExt(choice->getCondition(), b.getInt64Ty());
    }
    call(b, one, pointer, value, layout.getTypeStoreSize(one.type), 1, mask);
  }

private:
  llvm::Value *spilled(llvm::IRBuilder<> &b, llvm::Value *stored) {
    llvm::Value *&place = places[stored->getType()];
    llvm::BasicBlock &first = function.getEntryBlock();
    if (!place)
      place = llvm::IRBuilder<>(&first, first.begin()).CreateAlloca(stored->getType());
    b.CreateStore(stored, place);
    return place;
  }

  void call(llvm::IRBuilder<> &b, const Watched &one, llvm::Value *pointer, llvm::Value *value, uint32_t bytes, uint32_t count,
            llvm::Value *mask) {
    const llvm::DebugLoc &where = one.instruction->getDebugLoc();
    llvm::Value *numbers[] = {b.getInt32(bytes), b.getInt32(count), mask, b.getInt32(uint32_t(one.act)),
                              b.getInt32(where ? where.getLine() : 0)};
    llvm::SmallVector<llvm::Value *> args{function.getArg(0), pointer, value};
    args.append(std::begin(numbers), std::end(numbers));
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *arg : args)
      types.push_back(arg->getType());
    // Code may be kept and run by another process: it knows how far the function is from the first one.
    llvm::Value *first = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function.getArg(0), offsetof(Thread, functions));
    llvm::Value *callee = b.CreateConstGEP1_64(b.getInt8Ty(), b.CreateLoad(b.getPtrTy(), first),
                                               reinterpret_cast<const char *>(&watch) - firstFunction());
    b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), types, false), callee, args);
  }

  llvm::Function &function;
  const llvm::DataLayout &layout;
  llvm::DenseMap<llvm::Type *, llvm::Value *> places; // of what is stored
};
} // namespace

/// Loads move to where what they bring is used: what a thread loads ahead and then has no use for, as lanes past the end of a tile do, is
/// no access.
static void sinkLoads(llvm::Function &function) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SinkingPass());
  passes.run(function, functions);
}

void watchAccesses(llvm::Function &function) {
  sinkLoads(function);
  std::vector<Watched> all;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto watched = watchedOf(instruction)) {
      const llvm::Value *object = llvm::getUnderlyingObject(watched->pointer, 0);
      if (!llvm::isa<llvm::AllocaInst, llvm::GlobalVariable>(object) && object != function.getArg(0))
        all.push_back(*watched);
    }
  Watcher watcher(function);
  for (const Watched &one : all)
    watcher.add(one);
}

void watch(Thread *thread, const char *pointer, const char *value, uint32_t bytes, uint32_t count, uint64_t mask, uint32_t act,
           uint32_t line) {
  for (uint32_t i = 0; i < count; ++i)
    if (mask >> i & 1) {
      bool isSame = value && !std::memcmp(pointer + i * bytes, value + i * bytes, bytes);
      touch(*thread, pointer + i * bytes, bytes, {{thread->clock.agent, thread->clock.now}, Act(act), line, isSame});
    }
}

} // namespace tilery::emulator
