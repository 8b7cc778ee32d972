#include "compiler/targets/cpu/dot_pack.h"
#include "compiler/lower/loop.h"

namespace tilery::cpu {

void emitLoop(llvm::IRBuilder<> &b, llvm::Value *from, llvm::Value *to, int64_t step, LoopBody body,
              llvm::function_ref<void(llvm::Instruction *)> enter) {
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&](const char *name) { return llvm::BasicBlock::Create(b.getContext(), name, function); };
  llvm::BasicBlock *preheader = block("preheader"), *head = block("loop"), *exit = block("exit");
  lower::Loop loop(b, head, exit);
  llvm::Value *runs = b.CreateICmpSLT(from, to);
  if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(runs); fixed && fixed->isOne())
    b.CreateBr(preheader); // then the preheader dominates what follows the loop
  else
    b.CreateCondBr(runs, preheader, exit);
  b.SetInsertPoint(preheader);
  enter(loop.enter());
  llvm::PHINode *i = loop.carry(from);
  body(i);
  llvm::Value *next = b.CreateAdd(i, b.getInt64(step), "", false, /*HasNSW=*/true);
  loop.repeat(next, b.CreateICmpSLT(next, to));
  loop.leave();
}

void forChunks(unsigned width, unsigned lanes, llvm::function_ref<void(unsigned, unsigned)> emit) {
  for (unsigned offset = 0; offset < width;) {
    unsigned n = lanes;
    while (n > width - offset)
      n /= 2;
    emit(offset, n);
    offset += n;
  }
}

static void store(llvm::IRBuilder<> &b, llvm::Type *compute, llvm::Value *value, llvm::Value *row, unsigned offset) {
  b.CreateAlignedStore(value, b.CreateConstInBoundsGEP1_64(compute, row, offset),
                       llvm::Align(compute->getScalarSizeInBits() / 8));
}

/// Stores the first `used` lanes.
static void storeLanes(llvm::IRBuilder<> &b, llvm::Type *compute, llvm::Value *value, unsigned used, llvm::Value *row) {
  forChunks(used, llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements(), [&](unsigned offset, unsigned n) {
    llvm::SmallVector<int> lanes;
    for (unsigned lane = 0; lane < n; ++lane)
      lanes.push_back(int(offset + lane));
    store(b, compute, n == 1 ? b.CreateExtractElement(value, offset) : b.CreateShuffleVector(value, lanes), row, offset);
  });
}

static void packAlong(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count,
                      const PackSource &source) {
  // Positions are made before the loop: what depends on them alone is evaluated there.
  llvm::DenseMap<unsigned, llvm::Value *> positions;
  forChunks(sliver.width, lanes,
            [&](unsigned offset, unsigned) { positions[offset] = b.CreateAdd(sliver.first, b.getInt64(offset)); });
  emitLoop(
      b, b.getInt64(0), b.getInt64(count), 1,
      [&](llvm::Value *k) {
        llvm::Value *row = b.CreateInBoundsGEP(compute, sliver.dst, b.CreateMul(k, b.getInt64(sliver.padded)));
        forChunks(sliver.width, lanes, [&](unsigned offset, unsigned n) {
          store(b, compute, source.alongSliver(positions[offset], k, n, false), row, offset);
        });
        for (unsigned pad = sliver.width; pad < sliver.padded; ++pad)
          store(b, compute, llvm::Constant::getNullValue(compute), row, pad);
      },
      source.enterLoop);
  source.leaveLoop();
}

/// Rows of several slivers, each read to its end: sliver by sliver the same rows, often pages, would be visited again and again.
static void packRowByRow(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count,
                         const PackSource &source) {
  auto row = [&](llvm::Value *k) {
    llvm::Value *first = b.CreateInBoundsGEP(compute, sliver.dst, b.CreateMul(k, b.getInt64(sliver.padded)));
    auto part = [&](llvm::Value *i) {
      llvm::Value *to = b.CreateInBoundsGEP(compute, first, b.CreateMul(i, sliver.pitch));
      llvm::Value *position = b.CreateAdd(sliver.first, b.CreateMul(i, b.getInt64(sliver.width)));
      forChunks(sliver.width, lanes, [&](unsigned offset, unsigned n) {
        store(b, compute, source.alongSliver(b.CreateAdd(position, b.getInt64(offset)), k, n, true), to, offset);
      });
    };
    emitLoop(b, b.getInt64(0), sliver.count, 1, part, source.enterLoop);
    source.leaveLoop();
  };
  emitLoop(b, b.getInt64(0), b.getInt64(count), 1, row, source.enterLoop);
  source.leaveLoop();
}

/// Hides from LLVM what the vector comes of: for each shuffle it looks for a better one through all those before it, which takes a third of
/// the time of a kernel with products, and there is none.
static llvm::Value *hidden(llvm::IRBuilder<> &b, llvm::Value *vector) {
  auto *type = llvm::cast<llvm::FixedVectorType>(vector->getType());
  if (llvm::isa<llvm::PoisonValue>(vector) || type->getScalarSizeInBits() != 32)
    return vector;
  auto *floats = llvm::FixedVectorType::get(b.getFloatTy(), type->getNumElements());
  return b.CreateBitCast(b.CreateArithmeticFence(b.CreateBitCast(vector, floats), floats), type);
}

/// rows[i][j] becomes rows[j][i] for a square of vectors: swaps off-diagonal halves, then quarters, and so on.
static void transpose(llvm::IRBuilder<> &b, llvm::MutableArrayRef<llvm::Value *> rows) {
  unsigned size = rows.size();
  llvm::SmallVector<int> low(size), high(size);
  for (unsigned half = size / 2; half; half /= 2) {
    for (unsigned lane = 0; lane < size; ++lane) {
      bool upper = lane & half;
      low[lane] = upper ? int(size + lane - half) : int(lane);
      high[lane] = upper ? int(size + lane) : int(lane + half);
    }
    for (unsigned i = 0; i < size; ++i)
      if (!(i & half)) {
        llvm::Value *x = rows[i], *y = rows[i + half];
        rows[i] = b.CreateShuffleVector(x, y, low);
        rows[i + half] = b.CreateShuffleVector(x, y, high);
      }
    if (size == 16 && half == 4)
      for (llvm::Value *&row : rows)
        row = hidden(b, row);
  }
}

/// Transposes a square of vectors and stores the first `used` lanes of the first `count`, `padded` elements apart.
static void storeTransposed(llvm::IRBuilder<> &b, llvm::Type *compute, llvm::MutableArrayRef<llvm::Value *> rows, unsigned used,
                            llvm::Value *to, unsigned padded, unsigned count) {
  transpose(b, rows);
  for (auto [d, row] : llvm::enumerate(rows.take_front(count)))
    storeLanes(b, compute, row, used, b.CreateConstInBoundsGEP1_64(compute, to, d * padded));
}

/// Large squares are packed by functions that all packing of one kind in a kernel calls: LLVM spends more time on these shuffles than on
/// all the rest of a kernel with several products.
static bool isLarge(unsigned size, llvm::Type *compute) {
  unsigned bits = size * compute->getScalarSizeInBits();
  return size >= 8 && size <= 16 && (bits == 256 || bits == 512);
}

/// The function that packs `used` such rows of `size` elements, of which `count` are wanted.
static llvm::Function *packing(llvm::IRBuilder<> &b, llvm::Type *compute, const PackRows &rows, unsigned size, unsigned used,
                               unsigned padded, unsigned count) {
  llvm::Module &module = *b.GetInsertBlock()->getModule();
  std::string name;
  llvm::raw_string_ostream(name) << "tilery.pack." << *compute << "." << rows.elements << "." << size << "x" << used << "."
                                 << padded;
  if (count != size)
    name += "." + std::to_string(count);
  if (llvm::Function *function = module.getFunction(name))
    return function;
  auto *type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty(), b.getPtrTy()}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  for (auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn})
    function->addFnAttr(attribute);
  function->setMemoryEffects(llvm::MemoryEffects::argMemOnly());
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  b.SetCurrentDebugLocation(llvm::DebugLoc());
  b.SetInsertPoint(llvm::BasicBlock::Create(b.getContext(), "entry", function));
  llvm::SmallVector<llvm::Value *> values;
  for (unsigned i = 0; i < used; ++i)
    values.push_back(
        rows.load(b.CreateGEP(b.getInt8Ty(), function->getArg(0), b.CreateMul(function->getArg(1), b.getInt64(i))), size));
  values.resize(size, llvm::PoisonValue::get(llvm::FixedVectorType::get(compute, size)));
  storeTransposed(b, compute, values, used, function->getArg(2), padded, count);
  b.CreateRetVoid();
  return function;
}

/// Rows of up to `lanes` elements that were computed into a square.
static PackRows rowsOfSquare(llvm::IRBuilder<> &b, llvm::Type *compute, llvm::Value *square, unsigned lanes) {
  auto load = [&b, compute](llvm::Value *at, unsigned n) { return b.CreateLoad(llvm::FixedVectorType::get(compute, n), at); };
  return {square, b.getInt64(lanes * compute->getScalarSizeInBits() / 8), "rows", load};
}

static void callPackRows(llvm::IRBuilder<> &b, llvm::Type *compute, const PackRows &rows, unsigned size, unsigned used,
                         llvm::Value *to, unsigned padded, unsigned count) {
  b.CreateCall(packing(b, compute, rows, size, used, padded, count), {rows.first, rows.bytes, to});
}

static void packKMajor(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count,
                       const PackSource &source) {
  llvm::SmallVector<llvm::Value *> positions;
  for (unsigned i = 0; i < sliver.width; ++i)
    positions.push_back(b.CreateAdd(sliver.first, b.getInt64(i)));
  auto computed = [&](llvm::Value *position, llvm::Value *k, unsigned depth, unsigned used) {
    auto *row = llvm::FixedVectorType::get(compute, depth);
    llvm::Value *square = source.square();
    emitLoop(
        b, b.getInt64(0), b.getInt64(used), 1,
        [&](llvm::Value *i) {
          b.CreateStore(source.alongK(b.CreateAdd(position, i), k, depth, true), b.CreateInBoundsGEP(row, square, i));
        },
        source.enterLoop);
    source.leaveLoop();
    return rowsOfSquare(b, compute, square, depth);
  };
  auto block = [&](llvm::Value *k, unsigned depth) {
    llvm::Value *base = b.CreateInBoundsGEP(compute, sliver.dst, b.CreateMul(k, b.getInt64(sliver.padded)));
    auto rowAt = [&](unsigned d) { return b.CreateConstInBoundsGEP1_64(compute, base, d * sliver.padded); };
    for (unsigned first = 0; first < sliver.width; first += depth) {
      unsigned used = std::min(depth, sliver.width - first);
      llvm::Value *to = b.CreateConstInBoundsGEP1_64(compute, base, first);
      if (isLarge(depth, compute)) {
        auto rows = source.rows(positions[first], k, depth);
        callPackRows(b, compute, rows ? *rows : computed(positions[first], k, depth, used), depth, used, to, sliver.padded,
                     depth);
        continue;
      }
      llvm::SmallVector<llvm::Value *> rows;
      for (unsigned i = 0; i < used; ++i)
        rows.push_back(source.alongK(positions[first + i], k, depth, false));
      if (depth == 1) {
        store(b, compute, rows[0], rowAt(0), first);
        continue;
      }
      rows.resize(depth, llvm::PoisonValue::get(llvm::FixedVectorType::get(compute, depth)));
      storeTransposed(b, compute, rows, used, to, sliver.padded, depth);
    }
    for (unsigned d = 0; d < depth; ++d)
      for (unsigned pad = sliver.width; pad < sliver.padded; ++pad)
        store(b, compute, llvm::Constant::getNullValue(compute), rowAt(d), pad);
  };
  int64_t whole = count / lanes * lanes;
  if (whole) {
    emitLoop(b, b.getInt64(0), b.getInt64(whole), lanes, [&](llvm::Value *k) { block(k, lanes); }, source.enterLoop);
    source.leaveLoop();
  }
  forChunks(count - whole, lanes, [&](unsigned offset, unsigned depth) { block(b.getInt64(whole + offset), depth); });
}

/// A for AMX: what lies along K is copied, else transposed by way of a square in memory.
static void packTiles(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count, bool kMajor,
                      const PackSource &source) {
  unsigned deep = sliver.rowDepth;
  llvm::DenseMap<unsigned, llvm::Value *> positions; // made before the loops, as above
  if (!kMajor)
    forChunks(sliver.width, lanes,
              [&](unsigned offset, unsigned) { positions[offset] = b.CreateAdd(sliver.first, b.getInt64(offset)); });
  auto words = [&](llvm::Value *k, unsigned offset, unsigned n) { // [k + offset, +n) of a tile that begins at k
    llvm::Value *tile = b.CreateInBoundsGEP(compute, sliver.dst, b.CreateMul(k, b.getInt64(sliver.width)));
    llvm::Value *begin = b.CreateAdd(k, b.getInt64(offset)), *to = b.CreateConstInBoundsGEP1_64(compute, tile, offset);
    auto along = [&](int64_t count, LoopBody body) {
      emitLoop(b, b.getInt64(0), b.getInt64(count), 1, body, source.enterLoop);
      source.leaveLoop();
    };
    if (kMajor) {
      along(sliver.width, [&](llvm::Value *i) {
        store(b, compute, source.alongK(b.CreateAdd(sliver.first, i), begin, n, true),
              b.CreateInBoundsGEP(compute, to, b.CreateMul(i, b.getInt64(deep))), 0);
      });
      return;
    }
    for (unsigned first = 0; first < sliver.width; first += lanes) {
      unsigned used = std::min(lanes, sliver.width - first);
      llvm::Value *square = source.square();
      along(n, [&](llvm::Value *i) {
        llvm::Value *row = b.CreateInBoundsGEP(compute, square, b.CreateMul(i, b.getInt64(lanes)));
        forChunks(used, lanes, [&](unsigned offset, unsigned n) {
          store(b, compute, source.alongSliver(positions[first + offset], b.CreateAdd(begin, i), n, false), row, offset);
        });
      });
      callPackRows(b, compute, rowsOfSquare(b, compute, square, lanes), lanes, n,
                   b.CreateConstInBoundsGEP1_64(compute, to, first * deep), deep, used);
    }
  };
  int64_t whole = count / deep * deep;
  if (whole) {
    emitLoop(b, b.getInt64(0), b.getInt64(whole), deep, [&](llvm::Value *k) { words(k, 0, deep); }, source.enterLoop);
    source.leaveLoop();
  }
  forChunks(count - whole, deep, [&](unsigned offset, unsigned n) { words(b.getInt64(whole), offset, n); });
}

void packSliver(llvm::IRBuilder<> &b, llvm::Type *compute, unsigned lanes, const Sliver &sliver, int64_t count, bool kMajor,
                const PackSource &source) {
  if (sliver.rowDepth)
    return packTiles(b, compute, lanes, sliver, count, kMajor, source);
  if (sliver.count)
    return packRowByRow(b, compute, lanes, sliver, count, source);
  (kMajor ? packKMajor : packAlong)(b, compute, lanes, sliver, count, source);
}

} // namespace tilery::cpu
