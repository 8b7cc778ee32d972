#include "compiler/targets/cuda/gemm_match.h"
#include "compiler/analysis/divisor.h"
#include "compiler/ir/zero.h"
#include "compiler/targets/cuda/wgmma_form.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;

namespace tilery::cuda {
namespace {

/// The dimensions of `to`, without those of extent 1, are those of `from`: numbers[d] in `to` of dimension d of `from`. Empty: they are not.
SmallVector<int> sameButOnes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int> numbers(from.size(), -1);
  size_t at = 0;
  for (auto [d, size] : llvm::enumerate(from)) {
    if (size == 1)
      continue;
    while (at < to.size() && to[at] == 1)
      ++at;
    if (at == to.size() || to[at] != size)
      return {};
    numbers[d] = int(at++);
  }
  return llvm::all_of(to.drop_front(at), [](int64_t size) { return size == 1; }) ? numbers : SmallVector<int>();
}

/// The box that an operand is loaded from, its tile dimensions numbered as the operand's. `live` is of those, too.
std::optional<Box> loadedBox(Value operand, ArrayRef<Value> live, std::string &why) {
  ArrayRef<int64_t> shape = tile::shapeOf(operand.getType());
  SmallVector<int> numbers; // of the dimensions of what it is made from
  Operation *op = operand.getDefiningOp();
  if (auto permute = dyn_cast_or_null<tile::PermuteOp>(op)) {
    numbers.resize(shape.size());
    for (auto [d, from] : llvm::enumerate(permute.getOrder()))
      numbers[from] = int(d);
  } else if (isa_and_nonnull<tile::ReshapeOp, tile::ExpandDimsOp>(op)) {
    numbers = sameButOnes(tile::shapeOf(op->getOperand(0).getType()), shape);
  } else if (isa_and_nonnull<arith::BitcastOp>(op)) { // of elements of the same size
    numbers.resize(shape.size());
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  if (!numbers.empty()) {
    SmallVector<Value> inner(numbers.size());
    for (auto [d, number] : llvm::enumerate(numbers))
      inner[d] = number < 0 ? Value() : live[number];
    std::optional<Box> box = loadedBox(op->getOperand(0), inner, why);
    if (box)
      box->renumber(numbers);
    return box;
  }
  why = "it is computed, not loaded";
  auto load = operand.getDefiningOp<tile::LoadOp>();
  if (!load)
    return std::nullopt;
  why = "its load is volatile";
  if (load.getIsVolatile())
    return std::nullopt;
  why = "lanes that do not exist are not 0";
  if (load.getOther() && !tile::isPlusZero(load.getOther()))
    return std::nullopt;
  why = "its addresses have no order";
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  return access ? block::findBox(access, why, live) : std::nullopt;
}

/// The box of a loaded operand whose k coordinate is at `step` * k and whose other coordinates do not move. `step` is null if there is
/// one step only; `live` is of the other dimension and may be null.
std::optional<Box> operandBox(Value operand, unsigned kDim, int64_t k, Value step, Value live, std::string &why) {
  SmallVector<Value> lives(2);
  lives[1 - kDim] = live;
  std::optional<Box> box = loadedBox(operand, lives, why);
  if (!box || !step)
    return box;
  IndexPolynomial rest;
  bool moves = box->along(kDim).start.coefficient(step, rest).constant() == k;
  box->along(kDim).start = rest;
  why = "its steps are no neighbours along k";
  bool others = llvm::any_of(box->dimensions, [&](const block::BoxDimension &dimension) { return dimension.start.uses(step); });
  return moves && !others ? box : std::nullopt;
}

/// What the kernel does besides loading, computing and storing once; null: nothing, and `store` is the store.
const char *otherWork(tile::KernelOp kernel, tile::StoreOp &store) {
  for (Operation &op : kernel.getBody().front()) {
    if (auto found = dyn_cast<tile::StoreOp>(op)) {
      if (store)
        return "it stores twice";
      if (found.getIsVolatile())
        return "its store is volatile";
      store = found;
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      return "it has control flow around its product";
    } else if (!isa<tile::ContractOp, tile::DotOp, tile::LoadOp, tile::ReturnOp>(op) && !isMemoryEffectFree(&op)) {
      return "it has effects besides its loads and its store";
    }
  }
  return store ? nullptr : "it stores nothing";
}

std::optional<int> onlyAxis(const IndexPolynomial &p) {
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

/// True if a scalar is computed from what one of these ops gives.
bool dependsOn(Value value, llvm::function_ref<bool(Operation *)> isThis) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    if (Operation *op = reached[i].getDefiningOp()) {
      if (isThis(op))
        return true;
      reached.insert(op->operand_begin(), op->operand_end());
    }
  return false;
}

GemmKernel::Order orderOf(const GemmKernel &gemm) {
  auto row = onlyAxis(gemm.a.along(0).start), column = onlyAxis(gemm.b.along(1).start);
  if (row == 1 && column == 0)
    return GemmKernel::Order::RowsByColumns;
  if (row == 0 && column == 1)
    return GemmKernel::Order::ColumnsByRows;
  return row && column ? GemmKernel::Order::Own : GemmKernel::Order::Probed;
}

/// What Hopper's tensor cores can multiply at all.
const char *refusedTypes(const GemmKernel &gemm, Type b, Type result, bool isUnsigned, tile::Precision precision) {
  Type a = gemm.operand;
  if (a != b)
    return "its operands are of two types";
  if (a.isInteger(8))
    return isUnsigned ? "its operands are unsigned" : result.isInteger(32) ? nullptr : "8-bit integers are not added in 32 bits";
  if (a.isF32() && precision == tile::Precision::ieee)
    return "f32 operands keep all their bits (precision ieee)";
  if (a.isF32() && precision != tile::Precision::tf32)
    return "f32 operands are split in parts";
  if (!WgmmaForm::typeOf(a))
    return "the tensor cores do not take the operands' type";
  return result.isF32() ? nullptr : "the products are not added in f32";
}

const char *refusedShape(const GemmKernel &gemm) {
  unsigned bytes = gemm.operand.getIntOrFloatBitWidth() / 8, depth = gemm.k * bytes;
  if (gemm.m % 64 || gemm.m > 256)
    return "its rows are not 64, 128, 192 or 256";
  if (gemm.n > 256 || gemm.n % (gemm.operand.isInteger(8) ? 16 : 8))
    return "its columns are not a multiple of 8 (8-bit integers: 16) up to 256";
  if (gemm.m * gemm.n > 128 * 256)
    return "its result does not fit the registers";
  if (depth != 32 && depth != 64 && depth % 128)
    return "its steps of k are not 32, 64 or a multiple of 128 bytes";
  return nullptr;
}

bool isUnsigned(Operation *product) {
  if (auto dot = dyn_cast<tile::DotOp>(product))
    return dot.getAUnsigned() || dot.getBUnsigned();
  auto contract = cast<tile::ContractOp>(product);
  return contract.getAUnsigned() || contract.getBUnsigned();
}

tile::Precision precisionOf(Operation *product) {
  auto dot = dyn_cast<tile::DotOp>(product);
  return dot ? dot.getPrecision() : cast<tile::ContractOp>(product).getPrecision();
}

/// Where the copy engine can store the result.
std::optional<Box> resultBox(tile::AccessOp place, const GemmKernel &gemm, std::string &why) {
  unsigned bytes = gemm.output.isIntOrFloat() ? gemm.output.getIntOrFloatBitWidth() / 8 : 0;
  if (!(bytes == 2 || bytes == 4) || gemm.n % (128 / bytes)) {
    why = "its rows are no multiples of 128 bytes of 2 or 4 an element";
    return std::nullopt;
  }
  std::optional<Box> box = block::findBox(place, why);
  if (box)
    box->renumber(gemm.stored);
  if (box && box->dimensions[0].tile != 1) {
    why = "the elements of its rows are no neighbours in memory";
    return std::nullopt;
  }
  if (!box)
    return box;
  // The copy engine writes 16 bytes or none: what lies behind rows that end between would be overwritten (measured on an H200).
  const analysis::IndexPolynomial &columns = box->dimensions[0].extent;
  int64_t whole = 16 / bytes;
  if (columns.constant().value_or(0) % whole) {
    why = "its rows end between multiples of 16 bytes";
    return std::nullopt;
  }
  if (analysis::divisorOf(columns) % whole)
    box->conditions.push_back({columns, whole});
  return box;
}
} // namespace

std::optional<GemmKernel> matchGemm(tile::KernelOp kernel, std::string &why) {
  auto no = [&](std::string reason) -> std::optional<GemmKernel> {
    why = std::move(reason);
    return std::nullopt;
  };
  GemmKernel gemm;
  gemm.kernel = kernel;
  why.clear();
  for (Operation &op : kernel.getBody().front())
    if (isa<tile::ContractOp, tile::DotOp>(op)) {
      if (gemm.product)
        return no("it has two products");
      gemm.product = &op;
    }
  if (!gemm.product)
    return std::nullopt; // nothing to explain
  if (const char *reason = otherWork(kernel, gemm.store))
    return no(reason);
  Value operands[2], step, accumulator;
  OperandRange live = gemm.product->getOperands().drop_front(gemm.product->getNumOperands());
  if (auto dot = dyn_cast<tile::DotOp>(gemm.product)) {
    operands[0] = dot.getA(), operands[1] = dot.getB(), accumulator = dot.getAcc(), live = dot.getLive();
    if (dot.getClear())
      return no("the product may or may not be added");
  } else {
    auto contract = cast<tile::ContractOp>(gemm.product);
    Block &body = contract.getBody().front();
    operands[0] = body.getTerminator()->getOperand(0), operands[1] = body.getTerminator()->getOperand(1);
    step = body.getArgument(0), accumulator = contract.getAcc(), live = contract.getLive();
  }
  if (!tile::isPlusZero(accumulator))
    return no("the sum does not start from zero");
  auto a = cast<RankedTensorType>(operands[0].getType()), b = cast<RankedTensorType>(operands[1].getType());
  if (a.getRank() != 2)
    return no("it is a batch of products");
  gemm.m = a.getDimSize(0), gemm.k = a.getDimSize(1), gemm.n = b.getDimSize(1);
  gemm.operand = a.getElementType();
  Type result = cast<RankedTensorType>(gemm.product->getResult(0).getType()).getElementType();
  if (const char *reason = refusedTypes(gemm, b.getElementType(), result, isUnsigned(gemm.product), precisionOf(gemm.product)))
    return no(reason);
  if (const char *reason = refusedShape(gemm))
    return no(reason);
  if (gemm.steps() && dependsOn(gemm.steps(), [](Operation *op) { return !isMemoryEffectFree(op); }))
    return no("the number of its steps is loaded");
  std::string reason;
  auto boxA = operandBox(operands[0], 1, gemm.k, step, live.empty() ? Value() : live[0], reason);
  if (!boxA)
    return no("the first operand is no box of a tensor in memory: " + reason);
  auto boxB = operandBox(operands[1], 0, gemm.k, step, live.empty() ? Value() : live[1], reason);
  if (!boxB)
    return no("the second operand is no box of a tensor in memory: " + reason);
  gemm.a = *boxA, gemm.b = *boxB;
  if (gemm.operand.getIntOrFloatBitWidth() != 16 && !(gemm.kMajor(gemm.a, 1) && gemm.kMajor(gemm.b, 0)))
    return no("k is not contiguous in both operands, as the tensor cores want it for types that are not of 16 bits");
  if (!gemm.kMajor(gemm.b, 0) && gemm.n % 64)
    return no("the second operand's rows are not a multiple of 64 long");
  auto stored = dyn_cast<RankedTensorType>(gemm.store.getValue().getType());
  if (stored)
    gemm.stored = sameButOnes(stored.getShape(), {gemm.m, gemm.n});
  if (gemm.stored.empty())
    return no("what is stored has not the product's shape");
  gemm.output = stored.getElementType();
  auto place = gemm.store.getPlace().getDefiningOp<tile::AccessOp>();
  if (!place)
    return no("the result is stored to addresses of no order");
  gemm.c = resultBox(place, gemm, gemm.whyNotCopied);
  gemm.order = orderOf(gemm);
  gemm.equalSteps = !gemm.steps() || !dependsOn(gemm.steps(), [](Operation *op) { return isa<tile::ProgramIdOp>(op); });
  return gemm;
}

} // namespace tilery::cuda
