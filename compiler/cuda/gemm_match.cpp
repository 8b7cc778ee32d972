#include "compiler/cuda/gemm_match.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::cuda {
namespace {

/// The box of a loaded operand whose k coordinate is at `step` * k and whose other coordinate does not move.
/// `live`: of its other dimension, may be null.
std::optional<Box> operandBox(Value operand, unsigned kDim, int64_t k, Value step, Value live, tile::KernelOp kernel) {
  auto load = operand.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  if (!access || load.getIsVolatile())
    return std::nullopt;
  if (Value other = load.getOther()) {
    Attribute constant;
    if (auto splat = other.getDefiningOp<tile::SplatOp>())
      other = splat.getValue();
    if (!matchPattern(other, m_Constant(&constant)))
      return std::nullopt;
    if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
      if (!dense.isSplat())
        return std::nullopt;
      constant = dense.getSplatValue<Attribute>();
    }
    auto number = dyn_cast<FloatAttr>(constant);
    if (!number || !number.getValue().isPosZero())
      return std::nullopt;
  }
  SmallVector<Value> lives(2);
  lives[1 - kDim] = live;
  std::optional<Box> box = boxOf(access, kernel, lives);
  if (!box)
    return std::nullopt;
  Polynomial rest;
  if (box->start[kDim].coefficient(step, rest).constant() != k || box->start[1 - kDim].uses(step) || rest.uses(step))
    return std::nullopt;
  box->start[kDim] = rest;
  return box;
}

/// True if the kernel does nothing but load, compute and store once.
bool onlyStores(tile::KernelOp kernel, tile::StoreOp &store) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto found = dyn_cast<tile::StoreOp>(op)) {
      if (store || found.getIsVolatile())
        return false;
      store = found;
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) ||
               (!isa<tile::ContractOp, tile::LoadOp, tile::ReturnOp>(op) && !isMemoryEffectFree(&op))) {
      return false;
    }
  }
  return bool(store);
}

std::optional<int> onlyAxis(const Polynomial &p) {
  int axis = -1;
  bool one = p.all([&](Value atom) {
    auto id = atom.getDefiningOp<tile::ProgramIdOp>();
    if (!id)
      return !atom.getDefiningOp<tile::RemOp>() && !atom.getDefiningOp<tile::DivOp>();
    bool same = axis < 0 || axis == int(id.getAxis());
    axis = id.getAxis();
    return same;
  });
  return one && axis >= 0 ? std::optional(axis) : std::nullopt;
}
} // namespace

std::optional<GemmKernel> matchGemm(tile::KernelOp kernel) {
  GemmKernel gemm;
  gemm.kernel = kernel;
  auto contracts = kernel.getBody().front().getOps<tile::ContractOp>();
  if (!llvm::hasSingleElement(contracts) || !onlyStores(kernel, gemm.store))
    return std::nullopt;
  gemm.contract = *contracts.begin();
  Block &body = gemm.contract.getBody().front();
  auto yielded = body.getTerminator()->getOperands();
  auto a = cast<RankedTensorType>(yielded[0].getType()), b = cast<RankedTensorType>(yielded[1].getType());
  Type result = cast<RankedTensorType>(gemm.contract.getType()).getElementType();
  gemm.operand = a.getElementType();
  if (a.getRank() != 2 || gemm.operand != b.getElementType() || !(gemm.operand.isF16() || gemm.operand.isBF16()) ||
      !result.isF32())
    return std::nullopt;
  gemm.m = a.getDimSize(0), gemm.k = a.getDimSize(1), gemm.n = b.getDimSize(1);
  if (gemm.m % 64 || gemm.m > 256 || gemm.n > 256 || gemm.n % 8 || gemm.m * gemm.n > 128 * 256)
    return std::nullopt;
  if (gemm.k != 16 && gemm.k != 32 && gemm.k % 64)
    return std::nullopt;
  OperandRange live = gemm.contract.getLive();
  auto boxA = operandBox(yielded[0], 1, gemm.k, body.getArgument(0), live.empty() ? Value() : live[0], kernel);
  auto boxB = operandBox(yielded[1], 0, gemm.k, body.getArgument(0), live.empty() ? Value() : live[1], kernel);
  if (!boxA || !boxB || (boxB->contiguous == 1 && gemm.n % 64))
    return std::nullopt;
  gemm.a = *boxA, gemm.b = *boxB;
  auto stored = dyn_cast<RankedTensorType>(gemm.store.getValue().getType());
  if (!stored || stored.getShape() != ArrayRef<int64_t>{gemm.m, gemm.n})
    return std::nullopt;
  gemm.output = stored.getElementType();
  if (auto place = gemm.store.getPlace().getDefiningOp<tile::AccessOp>())
    gemm.c = boxOf(place, kernel);
  else
    return std::nullopt;
  if (gemm.c && (gemm.c->contiguous != 1 || gemm.n % 64 || !(gemm.output.isF16() || gemm.output.isBF16())))
    gemm.c.reset();
  auto row = onlyAxis(gemm.a.start[0]), column = onlyAxis(gemm.b.start[1]);
  gemm.twoDimensional = row == 1 && column == 0;
  return gemm;
}

} // namespace tilery::cuda
