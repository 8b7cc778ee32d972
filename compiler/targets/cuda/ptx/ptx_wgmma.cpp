// Products of a warpgroup: inline assembly. Sums are tied through each statement, so that they stay in their registers; as each takes LLVM as
// long as its number of operands, all steps of a product are one.
#include "compiler/targets/cuda/ptx/ptx_asm.h"
#include "compiler/targets/cuda/ptx/ptx_machine.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"

namespace tilery::cuda {
namespace {
/// "=f,=f,..,0,1,..": results tied to the operands of the same number, but for the first `fresh` ones, which are results only, written
/// before all operands are read.
std::string tied(llvm::ArrayRef<llvm::Value *> values, size_t fresh) {
  std::string result, back;
  for (size_t i = 0; i < values.size(); ++i) {
    result += std::string(i ? "," : "") + (i < fresh ? "=&" : "=") + (values[i]->getType()->isFloatTy() ? "f" : "r");
    if (i >= fresh)
      back += "," + std::to_string(i);
  }
  return result + back;
}

/// Runs the assembly, whose first operands are `values` on the way out, and, from number `fresh` on, in.
void through(llvm::IRBuilder<> &b, const std::string &text, llvm::MutableArrayRef<llvm::Value *> values, size_t fresh = 0,
             const std::string &constraints = "", llvm::ArrayRef<llvm::Value *> others = {}) {
  llvm::SmallVector<llvm::Value *> args(values.begin() + fresh, values.end());
  args.append(others.begin(), others.end());
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *value : values)
    types.push_back(value->getType());
  llvm::Type *result = types.size() == 1 ? types[0] : llvm::StructType::get(b.getContext(), types);
  llvm::Value *all = assembly(b, text, tied(values, fresh) + constraints, args, result);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = types.size() == 1 ? all : b.CreateExtractValue(all, i);
}

std::string list(size_t from, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", $" : "{$") + std::to_string(from + i);
  return text + "}";
}
} // namespace

/// Runs an instruction that `values` are tied through and that takes `kept`.
static void meet(llvm::IRBuilder<> &b, const std::string &text, llvm::MutableArrayRef<llvm::Value *> values,
                 llvm::ArrayRef<llvm::Value *> kept) {
  std::string named;
  for (size_t i = 0; i < kept.size(); ++i)
    named += values.empty() && i == 0 ? "r" : ",r";
  if (values.empty())
    assembly(b, text, named, kept);
  else
    through(b, text, values, 0, named, kept);
}

// What LLVM makes or copies where it is used (zeros, sums that something else takes as well) would else be written behind the fence, and the
// assembler serialise the products (C7513).
void PtxMachine::wgmmaFence(lower::Emitter &e, Tied sums, Values kept) { meet(e.b, "wgmma.fence.sync.aligned;", sums, kept); }
void PtxMachine::wgmmaCommit(lower::Emitter &e) { assembly(e.b, "wgmma.commit_group.sync.aligned;", "", {}); }

void PtxMachine::wgmmaWait(lower::Emitter &e, unsigned pending, Tied values, Values kept) {
  meet(e.b, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", values, kept);
}

// The assembler knows no move that it would not undo: all lanes are there, which it does not know, either.
void PtxMachine::copyRegisters(lower::Emitter &e, Tied values) {
  std::string text = "{ .reg .b32 all; activemask.b32 all;";
  for (size_t i = 0; i < values.size(); ++i)
    text += " and.b32 $" + std::to_string(i) + ", $" + std::to_string(values.size() + i) + ", all;";
  through(e.b, text + " }", values);
}

// Sums that start from zero are no operands: the zeros would be written behind the fence. The registers of A are operands only: tied, they
// would be copied there where something else goes on in them.
void PtxMachine::wgmma(lower::Emitter &e, const WgmmaForm &form, Tied sums, llvm::ArrayRef<WgmmaStep> steps, Value *scale) {
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(scale);
  size_t fresh = fixed && fixed->isZero() ? sums.size() : 0;
  llvm::MapVector<Value *, std::string> others;
  std::string constraints;
  auto operand = [&](Value *value) {
    auto [at, isNew] = others.try_emplace(value, "$" + std::to_string(2 * sums.size() - fresh + others.size()));
    if (isNew)
      constraints += value->getType()->isIntegerTy(64) ? ",l" : ",r";
    return at->second;
  };
  std::string text = "{ ";
  if (!fixed)
    text += ".reg .pred p; setp.ne.b32 p, " + operand(scale) + ", 0; ";
  llvm::SmallSet<unsigned, 4> begun;
  for (const WgmmaStep &step : steps) {
    bool fromShared = step.a.size() == 1, first = begun.insert(step.sums).second;
    std::string a;
    for (Value *word : step.a)
      a += (a.empty() ? "" : ", ") + operand(word);
    std::string immediates = form.integer() ? "" : ", 1, 1";
    if (form.elementBytes() == 2)
      immediates += std::string(!fromShared ? "" : form.transA ? ", 1" : ", 0") + (form.transB ? ", 1" : ", 0");
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(form.n) + "k" + std::to_string(form.k()) +
            (form.integer() ? ".s32." : ".f32.") + WgmmaForm::name(form.a) + "." + WgmmaForm::name(form.b) + " " +
            list(step.sums, form.sums()) + ", " + (fromShared ? a : "{" + a + "}") + ", " + operand(step.b) +
            (!first   ? ", 1"
             : !fixed ? ", p"
             : fresh  ? ", 0"
                      : ", 1") +
            immediates + "; ";
  }
  llvm::SmallVector<Value *> args;
  for (auto &[value, name] : others)
    args.push_back(value);
  through(e.b, text + "}", sums, fresh, constraints, args);
}

} // namespace tilery::cuda
