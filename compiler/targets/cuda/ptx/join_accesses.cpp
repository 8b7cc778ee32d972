#include "compiler/targets/cuda/ptx/join_accesses.h"
#include "compiler/targets/cuda/ptx/ptx.h"
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
                      .Case("@$2 ld.global.b8 $0, [$1];", 1)
                      .Default(0);
  unsigned store = llvm::StringSwitch<unsigned>(assembly->getAsmString())
                       .Case("@$1 st.global.b32 [$0], $2;", 4)
                       .Case("@$1 st.global.b16 [$0], $2;", 2)
                       .Case("@$1 st.global.b8 [$0], $2;", 1)
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
    // Of places at known distances from each other; loads of several tensors may take turns, stores not: they might overlap.
    std::vector<std::vector<Access>> open, groups;
    auto close = [&](bool loads, bool stores) {
      llvm::erase_if(open, [&](std::vector<Access> &group) {
        bool ends = group[0].isLoad ? loads : stores;
        if (ends && group.size() > 1)
          groups.push_back(std::move(group));
        return ends;
      });
    };
    for (llvm::Instruction &instruction : block) {
      std::optional<Access> access = accessOf(instruction);
      if (!access) {
        if (instruction.mayReadOrWriteMemory() && !isHarmless(instruction))
          close(true, true);
        continue;
      }
      auto own = llvm::find_if(open, [&](std::vector<Access> &group) {
        return isAlike(group[0], *access) && distance(access->pointer(), group[0].pointer());
      });
      bool isOwn = own != open.end();
      if (isOwn)
        own->push_back(*access);
      close(!access->isLoad, access->isLoad || !isOwn);
      if (!isOwn)
        open.push_back({*access});
    }
    close(true, true);
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

  std::optional<int64_t> distance(llvm::Value *to, llvm::Value *from) {
    auto *bytes = llvm::dyn_cast<llvm::SCEVConstant>(evolution.getMinusSCEV(evolution.getSCEV(to), evolution.getSCEV(from)));
    return bytes ? std::optional(bytes->getAPInt().getSExtValue()) : std::nullopt;
  }

  void join(std::vector<Access> &group) {
    std::vector<std::pair<int64_t, Access>> placed;
    for (const Access &access : group)
      placed.push_back({*distance(access.pointer(), group[0].pointer()), access});
    std::vector<size_t> order(placed.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](size_t x, size_t y) { return placed[x].first < placed[y].first; });
    for (size_t i = 1; i < order.size(); ++i)
      if (placed[order[i]].first == placed[order[i - 1]].first)
        return; // the order of stores to one place
    unsigned bytes = group[0].bytes;
    for (size_t i = 0; i < order.size();) {
      size_t count = 1;
      int64_t from = placed[order[i]].first;
      for (size_t wanted : {16, 8, 4, 2}) {
        bool fits = wanted * bytes <= 16 && i + wanted <= order.size() &&
                    placed[order[i + wanted - 1]].first == from + int64_t((wanted - 1) * bytes) &&
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
        auto [first, last] = std::minmax_element(order.begin() + i, order.begin() + i + count);
        auto &[distance, at] = placed[group[0].isLoad ? *first : *last]; // where all that is loaded is wanted, or is known
        llvm::IRBuilder<> b(at.call);
        emit(b, members, b.CreatePtrAdd(at.pointer(), b.getInt64(from - distance)));
        done.append(members.begin(), members.end());
      }
      i += count;
    }
    for (const Access &access : done)
      access.call->eraseFromParent();
    done.clear();
  }

  static std::string list(unsigned from, unsigned count) {
    if (count == 1)
      return "$" + std::to_string(from);
    std::string text = "{$" + std::to_string(from);
    for (unsigned i = 1; i < count; ++i)
      text += ", $" + std::to_string(from + i);
    return text + "}";
  }

  /// One instruction for members in the order of their places, of one, two or four registers, in each of which lie as many as fit.
  static void emit(llvm::IRBuilder<> &b, llvm::ArrayRef<Access> members, llvm::Value *pointer) {
    const Access &one = members[0];
    unsigned bytes = std::min<unsigned>(4, members.size() * one.bytes), each = bytes / one.bytes, count = members.size() / each;
    auto *old = llvm::cast<llvm::InlineAsm>(one.call->getCalledOperand());
    std::string kind = (count > 1 ? ".v" + std::to_string(count) : "") + ".b" + std::to_string(bytes * 8) + " ", text,
                constraints;
    llvm::SmallVector<llvm::Value *> args{pointer, one.condition()};
    for (unsigned i = 0; i < members.size(); i += each)
      args.push_back(packed(b, members.slice(i, each), bytes));
    llvm::Type *type = args.back()->getType();
    const char *registers = bytes == 4 ? "r" : "h";
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
    llvm::Type *result = one.isLoad ? type : b.getVoidTy();
    if (one.isLoad && count > 1)
      result = llvm::StructType::get(b.getContext(), llvm::SmallVector<llvm::Type *>(count, type));
    auto *function = llvm::FunctionType::get(result, types, false);
    auto *call = b.CreateCall(llvm::InlineAsm::get(function, text, constraints, old->hasSideEffects()), args);
    call->setAttributes(one.call->getAttributes());
    if (!one.isLoad)
      return;
    for (auto [i, member] : llvm::enumerate(members)) {
      llvm::Value *loaded = count > 1 ? b.CreateExtractValue(call, i / each) : call;
      member.call->replaceAllUsesWith(each > 1 ? element(b, loaded, i % each, member) : loaded);
    }
  }

  /// What members store, or load where their condition fails, in a register.
  static llvm::Value *packed(llvm::IRBuilder<> &b, llvm::ArrayRef<Access> members, unsigned bytes) {
    if (members.size() == 1)
      return members[0].value();
    llvm::Type *type = b.getIntNTy(bytes * 8);
    if (members[0].bytes == 1) { // each lies in a register of 16 bits
      llvm::Value *all = nullptr;
      for (auto [i, member] : llvm::enumerate(members)) {
        llvm::Value *own = b.CreateShl(b.CreateZExt(b.CreateTrunc(member.value(), b.getInt8Ty()), type), i * 8);
        all = all ? b.CreateOr(all, own) : own;
      }
      return all;
    }
    llvm::Value *all = llvm::PoisonValue::get(llvm::FixedVectorType::get(members[0].value()->getType(), members.size()));
    for (auto [i, member] : llvm::enumerate(members))
      all = b.CreateInsertElement(all, member.value(), uint64_t(i));
    return b.CreateBitCast(all, type);
  }

  static llvm::Value *element(llvm::IRBuilder<> &b, llvm::Value *all, unsigned number, const Access &member) {
    llvm::Type *type = member.call->getType();
    if (member.bytes == 1)
      return b.CreateZExt(b.CreateTrunc(b.CreateLShr(all, number * 8), b.getInt8Ty()), type);
    unsigned count = all->getType()->getIntegerBitWidth() / (member.bytes * 8);
    return b.CreateExtractElement(b.CreateBitCast(all, llvm::FixedVectorType::get(type, count)), number);
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
