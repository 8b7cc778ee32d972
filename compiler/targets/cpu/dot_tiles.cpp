#include "compiler/targets/cpu/dot_tiles.h"
#include "compiler/lower/loop.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilery::cpu {
namespace {
constexpr unsigned side = 16; // rows of a tile register, and words in a row

/// Which registers hold what: sums row by row, then A's tiles, then B's in turns.
struct Registers {
  unsigned rows, columns; // tiles
  Registers(unsigned m, unsigned n) : rows((m + side - 1) / side), columns((n + side - 1) / side) {}
  unsigned sum(unsigned i, unsigned j) const { return i * columns + j; }
  unsigned a(unsigned i) const { return rows * columns + i; }
  unsigned bs() const { return std::min(columns, 8 - a(rows)); }
  unsigned b(unsigned j) const { return a(rows) + j % bs(); }
};

unsigned part(unsigned size, unsigned i) { return std::min(side, size - i * side); }

llvm::Intrinsic::ID productOf(const DotBlocking &blocking) {
  if (blocking.multiply == Multiply::bf16Tiles)
    return llvm::Intrinsic::x86_tdpbf16ps;
  if (blocking.aUnsigned)
    return blocking.bUnsigned ? llvm::Intrinsic::x86_tdpbuud : llvm::Intrinsic::x86_tdpbusd;
  return blocking.bUnsigned ? llvm::Intrinsic::x86_tdpbsud : llvm::Intrinsic::x86_tdpbssd;
}
} // namespace

void blockTiles(DotBlocking &blocking, unsigned m, unsigned n, unsigned words) {
  bool flat = m <= side;
  blocking.rows = cut(m, 1, flat ? side : 2 * side);
  // Four columns of tiles share three registers of B, which then must be of one size.
  blocking.columns = cut(n, side, flat && n % side == 0 ? 4 * side : 2 * side);
  blocking.rowDepth = blocking.unroll = rowDepth(words, side);
}

void configureTiles(llvm::IRBuilder<> &b, const DotBlocking &blocking, unsigned rows, unsigned columns) {
  std::array<uint8_t, 64> setup{1}; // palette 1; bytes of a row from 16 on (two each), rows from 48 on
  Registers registers(rows, columns);
  auto set = [&](unsigned number, unsigned rows, unsigned words) {
    setup[16 + 2 * number] = 4 * words, setup[48 + number] = rows;
  };
  for (unsigned i = 0; i < registers.rows; ++i) {
    set(registers.a(i), part(rows, i), blocking.rowDepth);
    for (unsigned j = 0; j < registers.columns; ++j)
      set(registers.sum(i, j), part(rows, i), part(columns, j));
  }
  for (unsigned j = 0; j < registers.bs(); ++j)
    set(registers.b(j), blocking.rowDepth, part(columns, j));
  auto *data = llvm::ConstantDataArray::get(b.getContext(), setup);
  auto *global = new llvm::GlobalVariable(*b.GetInsertBlock()->getModule(), data->getType(), true,
                                          llvm::GlobalValue::PrivateLinkage, data, "tiles");
  global->setAlignment(llvm::Align(64));
  b.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, global);
}

void releaseTiles(llvm::IRBuilder<> &b) { b.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, llvm::ArrayRef<llvm::Value *>()); }

llvm::Function *tileKernel(llvm::Module &module, const DotBlocking &blocking, llvm::Type *compute, unsigned rows,
                           unsigned columns, llvm::StringRef name) {
  llvm::IRBuilder<> b(module.getContext());
  llvm::Function *function = kernelFunction(b, module, name);
  Registers registers(rows, columns);
  unsigned padded = registers.columns * side, depth = blocking.rowDepth;
  auto block = [&](const char *label) { return llvm::BasicBlock::Create(b.getContext(), label, function); };
  llvm::BasicBlock *entry = block("entry"), *fetch = block("fetch"), *clear = block("clear"), *start = block("start"),
                   *head = block("loop"), *done = block("done");
  b.SetInsertPoint(entry);
  llvm::Value *c = function->getArg(3), *pitch = b.CreateShl(function->getArg(4), 2);
  auto load = [&](unsigned number, llvm::Value *place, llvm::Value *pitch) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {}, {b.getInt8(number), place, pitch});
  };
  auto forSums = [&](llvm::function_ref<void(unsigned number, llvm::Value *place)> body) {
    for (unsigned i = 0; i < registers.rows; ++i)
      for (unsigned j = 0; j < registers.columns; ++j) {
        llvm::Value *row = b.CreateInBoundsGEP(compute, c, b.CreateMul(function->getArg(4), b.getInt64(i * side)));
        body(registers.sum(i, j), b.CreateConstInBoundsGEP1_64(compute, row, j * side));
      }
  };
  b.CreateCondBr(function->getArg(5), fetch, clear);
  b.SetInsertPoint(fetch);
  forSums([&](unsigned number, llvm::Value *place) { load(number, place, pitch); });
  b.CreateBr(start);
  b.SetInsertPoint(clear);
  for (unsigned number = 0; number < registers.a(0); ++number)
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, b.getInt8(number));
  b.CreateBr(start);
  b.SetInsertPoint(start);
  llvm::Value *k = function->getArg(2);
  lower::Loop loop(b, head, done);
  loop.enter(b.CreateICmpSGT(k, b.getInt64(0)));
  llvm::PHINode *a = loop.carry(function->getArg(0)), *panel = loop.carry(function->getArg(1)), *left = loop.carry(k);
  for (unsigned i = 0; i < registers.rows; ++i)
    load(registers.a(i), b.CreateConstInBoundsGEP1_64(compute, a, i * side * depth), b.getInt64(4 * depth));
  for (unsigned j = 0; j < registers.columns; ++j) {
    load(registers.b(j), b.CreateConstInBoundsGEP1_64(compute, panel, j * side), b.getInt64(4 * padded));
    for (unsigned i = 0; i < registers.rows; ++i)
      b.CreateIntrinsic(productOf(blocking), {},
                        {b.getInt8(registers.sum(i, j)), b.getInt8(registers.a(i)), b.getInt8(registers.b(j))});
  }
  llvm::Value *rest = b.CreateSub(left, b.getInt64(depth));
  loop.repeat({b.CreateConstInBoundsGEP1_64(compute, a, depth * rows),
               b.CreateConstInBoundsGEP1_64(compute, panel, depth * padded), rest},
              b.CreateICmpSGT(rest, b.getInt64(0)));
  loop.leave();
  forSums([&](unsigned number, llvm::Value *place) {
    b.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {}, {b.getInt8(number), place, pitch});
  });
  b.CreateRetVoid();
  return function;
}

} // namespace tilery::cpu
