#include "compiler/ir/hints.h"
#include "compiler/targets/cuda/mma/mma_plan.h"
#include "compiler/lower/emitter.h"
#include <numeric>

using namespace mlir;

namespace tilery::cuda {
namespace {
constexpr int64_t accumulatorsOfThread = 128, stageLimit = 64 * 1024, stagingBudget = 96 * 1024;

MmaForm chooseForm(Type a, Type b, Type result, tile::Precision precision, bool unsignedA, bool unsignedB) {
  auto form = [&](MmaForm::Kind kind) { return MmaForm{kind, unsignedA, unsignedB}; };
  if (isa<FloatType>(result)) {
    if (result.isF64())
      return form(MmaForm::F64);
    auto fits = [](Type type, bool same) { return same || type.getIntOrFloatBitWidth() == 8; }; // 8 bits fit either, exactly
    if (fits(a, a.isF16()) && fits(b, b.isF16()))
      return form(MmaForm::F16);
    if (fits(a, a.isBF16()) && fits(b, b.isBF16()))
      return form(MmaForm::BF16);
    bool rounds =
        precision == tile::Precision::tf32 && result.isF32() && !a.isF64() && !b.isF64(); // f32 operands, as was asked for
    return form(rounds ? MmaForm::TF32 : MmaForm::FusedF32);
  }
  unsigned bits = result.getIntOrFloatBitWidth();
  if (bits > 32)
    return form(MmaForm::FusedI64);
  bool bytes = a.getIntOrFloatBitWidth() <= 8 && b.getIntOrFloatBitWidth() <= 8;
  return form(bytes ? MmaForm::I8 : MmaForm::FusedI32);
}

/// The dimension along which neighbours of the tile are neighbours in memory, as far as that is known; else the last one.
unsigned contiguousDim(Value tile) {
  unsigned last = cast<RankedTensorType>(tile.getType()).getRank() - 1;
  Operation *op = tile.getDefiningOp();
  if (auto load = dyn_cast_or_null<tile::LoadOp>(op)) {
    if (auto access = load.getPlace().getDefiningOp<tile::AccessOp>())
      for (unsigned d = 0; d <= last; ++d)
        if (access.isStrided(d) && matchPattern(access.getSteps()[d], m_One()))
          return d;
    return last;
  }
  if (auto permute = dyn_cast_or_null<tile::PermuteOp>(op)) {
    unsigned source = contiguousDim(permute.getOperand());
    for (auto [d, from] : llvm::enumerate(permute.getOrder()))
      if (from == source)
        return d;
  }
  if (op && lower::isElementwise(op))
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return contiguousDim(operand);
  return last;
}

/// The largest multiple of `unit` that divides `total` and is at most `limit`.
int64_t largestDivisor(int64_t total, int64_t unit, int64_t limit) {
  for (int64_t count = std::max<int64_t>(limit / unit, 1); count > 1; --count)
    if (total % (count * unit) == 0)
      return count * unit;
  return unit;
}

int64_t elementsOf(tile::KernelOp kernel) {
  int64_t largest = 0;
  kernel.walk([&](Operation *op) {
    if (lower::isProduct(op)) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape().take_back(2);
      largest = std::max(largest, int64_t(llvm::alignTo(shape[0], 16) * llvm::alignTo(shape[1], 8)));
    }
  });
  return largest;
}

/// Warps for a pass of at most `rows` x `columns` tiles of 16 x 8: as few tiles each as can be, then as few fragments to load as can be.
void chooseWarps(MmaPlan &plan, int64_t rows, int64_t columns, unsigned warps) {
  int64_t registers = std::min<int64_t>(accumulatorsOfThread, accumulatorsOfThread * 8 / warps); // more warps have fewer each
  int64_t most = std::max<int64_t>(registers / 4 / (plan.form.elementBytes() == 8 ? 2 : 1), 1);
  std::tuple<int64_t, int64_t> best{INT64_MAX, INT64_MAX};
  for (unsigned warpColumns = 1; warpColumns <= warps; warpColumns *= 2)
    for (unsigned warpRows = 1; warpRows * warpColumns <= warps; warpRows *= 2) {
      int64_t tilesM = llvm::divideCeil(rows, warpRows), tilesN = llvm::divideCeil(columns, warpColumns);
      std::tuple<int64_t, int64_t> cost{tilesM * tilesN, 2 * tilesM + tilesN};
      if (cost < best) {
        best = cost;
        plan.warpRows = warpRows, plan.warpColumns = warpColumns, plan.tilesM = tilesM, plan.tilesN = tilesN;
      }
    }
  while (plan.tilesM * plan.tilesN > most) {
    unsigned &larger = 2 * plan.tilesM > plan.tilesN ? plan.tilesM : plan.tilesN;
    larger = llvm::divideCeil(larger, 2);
  }
  plan.passRows = std::min<int64_t>(plan.m, plan.tilesM * plan.warpRows * 16);
  plan.passColumns = std::min<int64_t>(plan.n, plan.tilesN * plan.warpColumns * 8);
}

/// All rows at once, each in one warp. False if warps cannot share the result like that.
bool chooseRows(MmaPlan &plan, unsigned warps) {
  int64_t registers = std::min<int64_t>(accumulatorsOfThread, accumulatorsOfThread * 8 / warps);
  unsigned each = plan.form.elementBytes() == 8 ? 8 : 4;
  if (plan.batch != 1 || plan.m % (16 * warps) || plan.n % 8 || plan.m / 16 / warps * (plan.n / 8) * each > registers)
    return false;
  plan.warpRows = warps, plan.warpColumns = 1, plan.tilesM = plan.m / 16 / warps, plan.tilesN = plan.n / 8;
  plan.passRows = plan.m, plan.passColumns = plan.n;
  return true;
}

/// The layout of a stage of at most `bytes` of k.
void stageOperands(MmaPlan &plan, int64_t bytes) {
  unsigned size = plan.form.elementBytes();
  int64_t depth = plan.form.depth(), paddedK = llvm::alignTo(plan.k, depth);
  int64_t stageK = largestDivisor(paddedK, depth, bytes / size);
  plan.chunks = paddedK / stageK;
  for (MmaOperand *operand : {&plan.a, &plan.b}) {
    bool isA = operand->isA;
    unsigned rank = cast<RankedTensorType>(operand->tile.getType()).getRank();
    operand->lanesAlongK = contiguousDim(operand->tile) == (isA ? rank - 1 : rank - 2);
    operand->kMajor = operand->lanesAlongK || size == 1; // four bytes of k are a register: they cannot come from four rows
    operand->total = isA ? plan.m : plan.n;
    operand->rows = isA ? plan.passRows : plan.passColumns;
    operand->paddedRows = isA ? plan.tilesM * plan.warpRows * 16 : plan.tilesN * plan.warpColumns * 8;
    operand->k = stageK;
    operand->elementBytes = size;
    int64_t along = operand->lanesAlongK ? std::gcd(plan.k, stageK) : std::gcd(operand->rows, operand->total);
    operand->lanes = std::gcd<int64_t>(along, 16 / size);
  }
}
} // namespace

void MmaPlan::print(llvm::raw_ostream &out) const {
  out << "mma " << form.name() << " warps=" << warpRows << "x" << warpColumns << " tiles=" << tilesM << "x" << tilesN
      << " k=" << a.k << " stages=" << stages << (a.kMajor ? "" : " a-transposed") << (b.kMajor ? "" : " b-transposed");
  if (wholeRows)
    out << " whole-rows" << (a.inRegisters ? " a-in-registers" : "");
  if (!atOnce())
    out << " passes=" << batch << "x" << passesM() << "x" << passesN();
}

unsigned mmaThreads(tile::KernelOp kernel) {
  int64_t elements = elementsOf(kernel), products = 0;
  if (!elements)
    return 0;
  kernel.walk([&](Operation *op) { products += lower::isProduct(op); });
  int64_t explicitThreads = 0;
  kernel.walk([&](tile::ThreadsOp op) { explicitThreads = std::max<int64_t>(explicitThreads, op.getCount()); });
  if (explicitThreads)
    return llvm::alignTo(std::min<int64_t>(explicitThreads, 1024), 32);
  int64_t warps = 4;
  if (auto wanted = tile::hint(kernel, "num_warps"))
    warps = std::clamp<int64_t>(llvm::PowerOf2Ceil(*wanted), 1, 16);
  else if (elements >= 128 * 64 &&
           products == 1) // of several the warps' rows are many, so that each loads the other factor less often
    warps = 8;
  while (warps < 8 && elements > warps * 32 * accumulatorsOfThread)
    warps *= 2;
  return warps * 32;
}

MmaPlan planMma(Operation *op, unsigned threads, unsigned maxStages, bool wholeRows) {
  auto dot = dyn_cast<tile::DotOp>(op);
  auto contract = dyn_cast<tile::ContractOp>(op);
  MmaPlan plan;
  std::tie(plan.a.tile, plan.b.tile) = lower::factorsOf(op);
  plan.a.isUnsigned = dot ? dot.getAUnsigned() : contract.getAUnsigned();
  plan.b.isUnsigned = dot ? dot.getBUnsigned() : contract.getBUnsigned();
  plan.b.isA = false;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  plan.form = chooseForm(lower::elementOf(plan.a.tile), lower::elementOf(plan.b.tile), result.getElementType(),
                         dot ? dot.getPrecision() : contract.getPrecision(), plan.a.isUnsigned, plan.b.isUnsigned);
  ArrayRef<int64_t> shape = result.getShape();
  plan.batch = shape.size() == 3 ? shape[0] : 1;
  plan.m = shape[shape.size() - 2], plan.n = shape.back();
  plan.k = tile::shapeOf(plan.a.tile.getType()).back();

  int64_t rows = llvm::divideCeil(plan.m, 16), columns = llvm::divideCeil(plan.n, 8);
  int64_t stageBytes = plan.form.fused() ? 64 : 128; // of k
  while (true) {
    plan.wholeRows = wholeRows && rows * 16 >= plan.m && columns * 8 >= plan.n && chooseRows(plan, threads / 32);
    if (!plan.wholeRows)
      chooseWarps(plan, rows, columns, threads / 32);
    stageOperands(plan, stageBytes);
    if (plan.stageBytes() <= stageLimit)
      break;
    if (stageBytes > 32)
      stageBytes /= 2;
    else if (rows > columns)
      rows = llvm::divideCeil(rows, 2);
    else
      columns = llvm::divideCeil(columns, 2);
  }
  bool asked = contract && contract.getNumStages(); // planSimt takes some off if there is too little shared memory
  unsigned wanted = 3;
  if (asked) {
    tile::heedHint("num_stages");
    wanted = std::clamp<int64_t>(*contract.getNumStages(), 1, 16);
  }
  if (!contract)
    wanted = std::min<int64_t>(wanted, plan.chunks);
  int64_t budget = std::max<int64_t>(asked ? INT64_MAX : stagingBudget,
                                     result.getNumElements() * lower::elementBytes(result.getElementType()));
  plan.stages = std::min({wanted, maxStages, unsigned(std::clamp<int64_t>(budget / plan.stageBytes(), 1, 16))});
  return plan;
}

} // namespace tilery::cuda
