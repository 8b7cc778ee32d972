#include "compiler/targets/cuda/join_accesses.h"
#include "compiler/targets/cuda/ptx.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace tilery::cuda {
namespace {
/// An access of one register, under a condition.
struct Access {
  llvm::CallInst *call;
  unsigned bytes;
  bool isLoad;
  llvm::Value *pointer() const { return call->getArgOperand(0); }
  llvm::Value *condition() const { return call->getArgOperand(1); }
  llvm::Value *value() const { return call->getArgOperand(2); } // what is stored, or loaded where the condition fails
};

std::optional<Access> accessOf(llvm::Instruction &instruction) {
  auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  auto *assembly = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!assembly)
    return std::nullopt;
  unsigned load = llvm::StringSwitch<unsigned>(assembly->getAsmString())
                      .Case("@$2 ld.global.b32 $0, [$1];", 4)
                      .Case("@$2 ld.global.b16 $0, [$1];", 2)
                      .Default(0);
  unsigned store = llvm::StringSwitch<unsigned>(assembly->getAsmString())
                       .Case("@$1 st.global.b32 [$0], $2;", 4)
                       .Case("@$1 st.global.b16 [$0], $2;", 2)
                       .Default(0);
  if (load + store == 0 || (load && !llvm::isa<llvm::Constant>(call->getArgOperand(2))))
    return std::nullopt;
  return Access{call, load + store, load > 0};
}

/// A power of two that divides the address.
uint64_t alignmentOf(llvm::Value *pointer, const llvm::DataLayout &layout, llvm::AssumptionCache *assumptions) {
  constexpr unsigned most = 4; // 16 bytes
  unsigned zeros = most;
  auto within = [&](llvm::Value *number, uint64_t scale) {
    llvm::KnownBits known = llvm::computeKnownBits(number, layout, assumptions);
    zeros = std::min(zeros, known.countMinTrailingZeros() + llvm::countr_zero(scale));
  };
  while (zeros) {
    if (auto *cast = llvm::dyn_cast<llvm::AddrSpaceCastOperator>(pointer)) {
      pointer = cast->getPointerOperand();
      continue;
    }
    auto *element = llvm::dyn_cast<llvm::GEPOperator>(pointer);
    if (!element)
      break;
    for (auto it = llvm::gep_type_begin(element), end = llvm::gep_type_end(element); it != end; ++it) {
      if (it.isStruct())
        return 1;
      within(it.getOperand(), it.getSequentialElementStride(layout).getFixedValue());
    }
    pointer = element->getPointerOperand();
  }
  return std::min(uint64_t(1) << zeros, std::max<uint64_t>(pointer->getPointerAlignment(layout).value(), 1));
}

class Joiner {
public:
  Joiner(llvm::Function &function, llvm::ScalarEvolution &evolution, llvm::AssumptionCache &assumptions)
      : layout(function.getParent()->getDataLayout()), evolution(evolution), assumptions(assumptions) {}

  bool run(llvm::BasicBlock &block) {
    std::vector<Access> open; // accesses of one kind, between which others may be moved
    std::vector<std::vector<Access>> groups;
    auto close = [&] {
      if (open.size() > 1)
        groups.push_back(open);
      open.clear();
    };
    for (llvm::Instruction &instruction : block) {
      std::optional<Access> access = accessOf(instruction);
      if (!access) {
        if (instruction.mayReadOrWriteMemory() && !isHarmless(instruction))
          close();
        continue;
      }
      if (!open.empty() && !isAlike(open[0], *access))
        close();
      open.push_back(*access);
    }
    close();
    for (std::vector<Access> &group : groups)
      join(group);
    return !groups.empty();
  }

  void align(llvm::Instruction &instruction) {
    llvm::Value *pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer || pointer->getType()->getPointerAddressSpace() != Global)
      return;
    llvm::Align known(alignmentOf(pointer, layout, &assumptions));
    if (known > llvm::getLoadStoreAlignment(&instruction))
      llvm::setLoadStoreAlignment(&instruction, known);
  }

private:
  /// Reads nothing that a store of global memory may write.
  static bool isHarmless(llvm::Instruction &instruction) {
    auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    return load && load->isSimple() && load->getPointerAddressSpace() == Shared;
  }

  static bool isAlike(const Access &x, const Access &y) {
    return x.call->getCalledOperand() == y.call->getCalledOperand() && x.condition() == y.condition() &&
           x.call->getParent() == y.call->getParent() && (!x.isLoad || x.value() == y.value());
  }

  void join(std::vector<Access> &group) {
    const llvm::SCEV *first = evolution.getSCEV(group[0].pointer());
    std::vector<std::pair<int64_t, Access>> placed;
    for (const Access &access : group) {
      auto *distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(evolution.getSCEV(access.pointer()), first));
      if (!distance)
        return;
      placed.push_back({distance->getAPInt().getSExtValue(), access});
    }
    std::vector<size_t> order(placed.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t x, size_t y) { return placed[x].first < placed[y].first; });
    for (size_t i = 1; i < order.size(); ++i)
      if (placed[order[i]].first == placed[order[i - 1]].first)
        return; // the order of stores to one place
    llvm::Instruction *at = group[0].isLoad ? group[0].call : group.back().call;
    int64_t atDistance = group[0].isLoad ? 0 : placed.back().first;
    unsigned bytes = group[0].bytes;
    for (size_t i = 0; i < order.size();) {
      size_t count = 1;
      int64_t from = placed[order[i]].first;
      for (size_t wanted : {4, 2}) {
        bool fits = i + wanted <= order.size() && placed[order[i + wanted - 1]].first == from + int64_t((wanted - 1) * bytes) &&
                    alignmentOf(placed[order[i]].second.pointer(), layout, &assumptions) >= wanted * bytes;
        if (fits) {
          count = wanted;
          break;
        }
      }
      if (count > 1) {
        llvm::SmallVector<Access> members;
        for (size_t j = i; j < i + count; ++j)
          members.push_back(placed[order[j]].second);
        llvm::IRBuilder<> b(at);
        llvm::Value *own = group[0].isLoad ? group[0].pointer() : group.back().pointer();
        emit(b, members, b.CreatePtrAdd(own, b.getInt64(from - atDistance)));
        done.append(members.begin(), members.end());
      }
      i += count;
    }
    for (const Access &access : done)
      access.call->eraseFromParent();
    done.clear();
  }

  static std::string list(unsigned from, unsigned count) {
    std::string text = "{$" + std::to_string(from);
    for (unsigned i = 1; i < count; ++i)
      text += ", $" + std::to_string(from + i);
    return text + "}";
  }

  static void emit(llvm::IRBuilder<> &b, llvm::ArrayRef<Access> members, llvm::Value *pointer) {
    const Access &one = members[0];
    unsigned count = members.size();
    auto *old = llvm::cast<llvm::InlineAsm>(one.call->getCalledOperand());
    std::string kind = ".v" + std::to_string(count) + ".b" + std::to_string(one.bytes * 8) + " ", text, constraints;
    llvm::SmallVector<llvm::Value *> args{pointer, one.condition()};
    for (const Access &member : members)
      args.push_back(member.value());
    const char *registers = one.bytes == 4 ? "r" : "h";
    if (one.isLoad) {
      text = "@$" + std::to_string(count + 1) + " ld.global" + kind + list(0, count) + ", [$" + std::to_string(count) + "];";
      for (unsigned i = 0; i < count; ++i)
        constraints += std::string("=") + registers + ",";
      constraints += "l,b";
      for (unsigned i = 0; i < count; ++i)
        constraints += "," + std::to_string(i);
    } else {
      text = "@$1 st.global" + kind + "[$0], " + list(2, count) + ";";
      constraints = "l,b";
      for (unsigned i = 0; i < count; ++i)
        constraints += std::string(",") + registers;
    }
    if (old->hasSideEffects())
      constraints += ",~{memory}";
    llvm::SmallVector<llvm::Type *> types;
    for (llvm::Value *arg : args)
      types.push_back(arg->getType());
    llvm::Type *result = one.call->getType();
    if (one.isLoad)
      result = llvm::StructType::get(b.getContext(), llvm::SmallVector<llvm::Type *>(count, result));
    auto *type = llvm::FunctionType::get(result, types, false);
    auto *call = b.CreateCall(llvm::InlineAsm::get(type, text, constraints, old->hasSideEffects()), args);
    call->setAttributes(one.call->getAttributes());
    if (one.isLoad)
      for (auto [i, member] : llvm::enumerate(members))
        member.call->replaceAllUsesWith(b.CreateExtractValue(call, i));
  }

  const llvm::DataLayout &layout;
  llvm::ScalarEvolution &evolution;
  llvm::AssumptionCache &assumptions;
  llvm::SmallVector<Access> done;
};
} // namespace

llvm::PreservedAnalyses JoinAccessesPass::run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses) {
  Joiner joiner(function, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function),
                analyses.getResult<llvm::AssumptionAnalysis>(function));
  bool changed = false;
  for (llvm::BasicBlock &block : function) {
    changed |= joiner.run(block);
    for (llvm::Instruction &instruction : block)
      joiner.align(instruction);
  }
  if (!changed)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace tilery::cuda
