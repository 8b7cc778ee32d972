#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/ptx/math_f32.h"
#include "llvm/Analysis/VectorUtils.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Emitter;
using lower::Lanes;

static lower::Machine machineOfThread(const CudaTarget &gpu) {
  lower::Machine machine;
  machine.vectorBits = 128;
  machine.vectorRegisters = 64;
  machine.floatAtomics = true;
  machine.relaxedAtomics = true;
  machine.turnsFactors = true;
  machine.turnedBytes = gpu.sharedBytes / 8 * 5; // room for stored tiles beside them
  return machine;
}

GpuLowering::GpuLowering(const CudaTarget &gpu, bool instructions)
    : Target("the GPU target", machineOfThread(gpu)), sm(gpu.sm), approximates(instructions),
      narrowsBF16(instructions && gpu.sm >= 90), convertsFloat8(gpu.sm >= 89) {}

// Comparing all with all is the fastest as long as the threads are enough for it.
// A thread's part fits its registers; with few elements, as many threads as there are have some.
SortSteps::SortSteps(tile::SortOp op, unsigned threads) {
  ArrayRef<int64_t> shape = tile::shapeOf(op.getValue().getType());
  int64_t count = shape[op.getAxis()], elements = ShapedType::getNumElements(shape);
  int64_t most = lower::elementBytes(getElementTypeOrSelf(op.getType())) > 4 ? 8 : 16;
  run = std::min<int64_t>(llvm::PowerOf2Ceil(count), threads * most);
  own = std::clamp<int64_t>(llvm::bit_floor(uint64_t(std::max<int64_t>(elements / threads, 1))), llvm::divideCeil(run, threads),
                            std::min(run, most));
  merges = llvm::Log2_64_Ceil(llvm::divideCeil(count, run));
}

SmallVector<Type> GpuLowering::temporaries(Operation *op) const {
  auto sort = dyn_cast<tile::SortOp>(op);
  if (!sort)
    return {};
  constexpr unsigned fewestThreads = 32; // that a block may have: its number of them is not known yet
  Type type = sort.getValue().getType();
  unsigned merges = SortSteps(sort, fewestThreads).merges, apart = type != sort.getType();
  return SmallVector<Type>(std::max(apart, std::min(2u, merges)), type);
}

StringRef GpuLowering::syncScope(tile::SyncScope scope) const {
  if (!approximates || scope == tile::SyncScope::sys)
    return "";
  return scope == tile::SyncScope::cta ? "block" : "device";
}

/// The number 2^m + few, where few takes the float's m bits behind its leading one: conversions of integers have a quarter of the speed.
static Lanes biasedFew(Emitter &e, Lanes few, llvm::Type *type, uint64_t bits) {
  auto &b = e.b;
  llvm::Type *integers = e.vectorOf(b.getIntNTy(type->getScalarSizeInBits()), e.lanesOf(few));
  Lanes cut = b.CreateTrunc(few, integers);
  return b.CreateBitCast(b.CreateOr(cut, llvm::ConstantInt::get(integers, bits)), e.vectorOf(type, e.lanesOf(few)));
}

/// The same of bytes, which an instruction takes out of a word and puts below the number's other bytes.
static Lanes biasedByte(Emitter &e, Lanes value, llvm::Type *type, uint64_t bits) {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(value), width = type->getScalarSizeInBits() / 8;
  constexpr unsigned word = 4;
  if (lanes % word)
    return biasedFew(e, b.CreateZExt(value, e.vectorOf(b.getInt32Ty(), lanes)), type, bits);
  SmallVector<llvm::Constant *> others;
  for (unsigned i = 0; i < word; ++i)
    others.push_back(b.getInt8(uint8_t(bits >> 8 * (i % width))));
  SmallVector<llvm::Value *> numbers;
  for (unsigned lane = 0; lane < lanes; lane += word / width) {
    SmallVector<int> chosen;
    for (unsigned i = 0; i < word; ++i)
      chosen.push_back(i % width ? word + i : lane % word + i / width);
    Lanes bytes = b.CreateShuffleVector(e.slice(value, lane / word * word, word), llvm::ConstantVector::get(others), chosen);
    numbers.push_back(b.CreateBitCast(bytes, e.vectorOf(type, word / width)));
  }
  if (width == word) { // of single numbers
    Lanes all = llvm::PoisonValue::get(e.vectorOf(type, lanes));
    for (auto [i, number] : llvm::enumerate(numbers))
      all = b.CreateInsertElement(all, number, i);
    return all;
  }
  return llvm::concatenateVectors(b, numbers);
}

Lanes GpuLowering::function(Emitter &e, StringRef name, ArrayRef<Lanes> operands) const {
  if (name == "f16 of few")
    return biasedFew(e, operands[0], e.b.getHalfTy(), 0x6400);
  if (name == "f32 of few")
    return biasedFew(e, operands[0], e.b.getFloatTy(), 0x4b000000);
  if (name == "f16 of a byte")
    return biasedByte(e, operands[0], e.b.getHalfTy(), 0x6400);
  if (name == "f32 of a byte")
    return biasedByte(e, operands[0], e.b.getFloatTy(), 0x4b000000);
  if (!approximates || !operands[0]->getType()->getScalarType()->isFloatTy())
    return nullptr;
  if (name == "exp summed")
    return summedExp(e, operands[0]);
  if (name == "exp nearly")
    return nearExp(e, operands[0]);
  if (name == "exp")
    return approximateExp(e, operands[0]);
  if (name == "exp2")
    return approximateExp2(e, operands[0]);
  if (name == "exp2 nearly")
    return nearExp2(e, operands[0]);
  if (name == "erf")
    return approximateErf(e, operands[0]);
  if (name == "tanh")
    return approximateTanh(e, operands[0]);
  if (name == "erf nearly")
    return nearErf(e, operands[0]);
  return fastFunction(e, name, operands);
}

Lanes GpuLowering::divide(Emitter &e, Lanes x, Lanes y, bool approximately) const {
  if (e.lanesOf(x) > 1 && e.lanesOf(y) == 1)
    return approximately ? divideByUniformNearly(e, x, y) : divideByUniform(e, x, y);
  if (!approximately || !approximates)
    return nullptr;
  llvm::SmallVector<Lanes> both = {x, y}; // of a number by lanes, too: correctly rounded, each lane's reciprocal has a branch
  e.unify(both);
  return approximateQuotient(e, both[0], both[1]);
}

// One instruction each: two lie in a register.
Lanes GpuLowering::widenBF16(Emitter &e, Lanes bits) const {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(bits);
  if (!approximates || lanes % 2)
    return nullptr;
  auto *pairs = llvm::FixedVectorType::get(b.getInt32Ty(), lanes / 2);
  Lanes both = b.CreateBitCast(bits, pairs);
  Lanes low = b.CreateShl(both, 16), high = b.CreateAnd(both, llvm::ConstantInt::get(pairs, 0xffff0000));
  SmallVector<int> order;
  for (int i = 0; i < int(lanes); ++i)
    order.push_back(i / 2 + (i % 2 ? int(lanes) / 2 : 0));
  return b.CreateBitCast(b.CreateShuffleVector(low, high, order), e.vectorOf(b.getFloatTy(), lanes));
}

Lanes GpuLowering::narrowBF16(Emitter &e, Lanes value) const {
  auto &b = e.b;
  unsigned lanes = e.lanesOf(value);
  if (!narrowsBF16)
    return nullptr;
  return b.CreateBitCast(b.CreateFPTrunc(value, e.vectorOf(b.getBFloatTy(), lanes)), e.vectorOf(b.getInt16Ty(), lanes));
}

} // namespace tilery::cuda
