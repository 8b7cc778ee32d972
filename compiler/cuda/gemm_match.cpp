#include "compiler/cuda/gemm_match.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::cuda {
namespace {

/// True for +0 in every lane.
bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    value = splat.getValue();
  Attribute constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return false;
  if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
    if (!dense.isSplat())
      return false;
    constant = dense.getSplatValue<Attribute>();
  }
  auto number = dyn_cast<FloatAttr>(constant);
  return number && number.getValue().isPosZero();
}

/// The box of a loaded operand whose k coordinate is at `step` * k and whose other coordinate does not move. `step` is null if there is
/// one step only; `live` is of the other dimension and may be null.
std::optional<Box> operandBox(Value operand, unsigned kDim, int64_t k, Value step, Value live, tile::KernelOp kernel) {
  if (auto permute = operand.getDefiningOp<tile::PermuteOp>()) { // of two dimensions: it exchanges them
    std::optional<Box> box = operandBox(permute.getValue(), 1 - kDim, k, step, live, kernel);
    if (box) {
      box->contiguous = 1 - box->contiguous;
      std::swap(box->start[0], box->start[1]);
      std::swap(box->extent[0], box->extent[1]);
    }
    return box;
  }
  auto load = operand.getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  if (!access || load.getIsVolatile() || (load.getOther() && !isZero(load.getOther())))
    return std::nullopt;
  SmallVector<Value> lives(2);
  lives[1 - kDim] = live;
  std::optional<Box> box = boxOf(access, kernel, lives);
  if (!box || !step)
    return box;
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
               (!isa<tile::ContractOp, tile::DotOp, tile::LoadOp, tile::ReturnOp>(op) && !isMemoryEffectFree(&op))) {
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
  if (!onlyStores(kernel, gemm.store))
    return std::nullopt;
  for (Operation &op : kernel.getBody().front())
    if (isa<tile::ContractOp, tile::DotOp>(op)) {
      if (gemm.product)
        return std::nullopt;
      gemm.product = &op;
    }
  if (!gemm.product)
    return std::nullopt;
  Value operands[2], step, accumulator;
  OperandRange live = gemm.product->getOperands().drop_front(gemm.product->getNumOperands());
  if (auto dot = dyn_cast<tile::DotOp>(gemm.product)) {
    operands[0] = dot.getA(), operands[1] = dot.getB(), accumulator = dot.getAcc(), live = dot.getLive();
    if (dot.getClear())
      return std::nullopt;
  } else {
    auto contract = cast<tile::ContractOp>(gemm.product);
    Block &body = contract.getBody().front();
    operands[0] = body.getTerminator()->getOperand(0), operands[1] = body.getTerminator()->getOperand(1);
    step = body.getArgument(0), accumulator = contract.getAcc(), live = contract.getLive();
  }
  if (!isZero(accumulator))
    return std::nullopt;
  auto a = cast<RankedTensorType>(operands[0].getType()), b = cast<RankedTensorType>(operands[1].getType());
  Type result = cast<RankedTensorType>(gemm.product->getResult(0).getType()).getElementType();
  gemm.operand = a.getElementType();
  if (a.getRank() != 2 || gemm.operand != b.getElementType() || !(gemm.operand.isF16() || gemm.operand.isBF16()) ||
      !result.isF32())
    return std::nullopt;
  gemm.m = a.getDimSize(0), gemm.k = a.getDimSize(1), gemm.n = b.getDimSize(1);
  if (gemm.m % 64 || gemm.m > 256 || gemm.n > 256 || gemm.n % 8 || gemm.m * gemm.n > 128 * 256)
    return std::nullopt;
  if (gemm.k != 16 && gemm.k != 32 && gemm.k % 64)
    return std::nullopt;
  auto boxA = operandBox(operands[0], 1, gemm.k, step, live.empty() ? Value() : live[0], kernel);
  auto boxB = operandBox(operands[1], 0, gemm.k, step, live.empty() ? Value() : live[1], kernel);
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
