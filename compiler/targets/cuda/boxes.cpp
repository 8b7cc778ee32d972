#include "compiler/targets/cuda/boxes.h"
#include "compiler/analysis/divisor.h"

using namespace mlir;

namespace tilery::cuda {
namespace {

bool isArgument(Value value, tile::KernelOp kernel) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &kernel.getBody().front();
}

/// The host computes constant + sum of coefficient * argument.
bool hostKnows(const IndexPolynomial &p, tile::KernelOp kernel) {
  return llvm::all_of(p.terms(), [](auto &term) { return term.first.size() <= 1; }) &&
         p.all([&](Value atom) { return isArgument(atom, kernel); });
}

/// No term is subtracted: a start that is not before the tensor's.
bool grows(const IndexPolynomial &p) {
  return llvm::all_of(p.terms(), [](auto &term) { return term.second > 0; });
}

/// `p` as the host computes it; its atoms are arguments of the kernel.
PolynomialInfo hostPolynomial(const IndexPolynomial &p) {
  PolynomialInfo result;
  for (auto &[monomial, coefficient] : p.terms()) {
    PolynomialInfo::Term &term = result.terms.emplace_back(PolynomialInfo::Term{coefficient, {}});
    for (Value atom : monomial)
      term.factors.push_back(cast<BlockArgument>(atom).getArgNumber());
  }
  return result;
}

/// The scalar of a tile with equal lanes, through extensions and shape ops; null: there is none.
Value splatted(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto splat = dyn_cast<tile::SplatOp>(op))
      return splat.getValue();
    if (!isa<arith::ExtSIOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

Value throughExtensions(Value value) {
  while (auto extend = value.getDefiningOp<arith::ExtSIOp>())
    value = extend.getIn();
  return value;
}

/// One dimension of an access: lane i is at (start + i) * step elements, and exists for start + i < extent (if there is one).
struct Line {
  IndexPolynomial step, start;
  std::optional<IndexPolynomial> extent;
};

/// ((start + i) % rows) * step, where lanes from `live` on may hold anything and start + live == rows.
std::optional<Line> wrappedLine(Value lanes, Value live) {
  if (!live)
    return std::nullopt;
  Line line{IndexPolynomial(1), {}, {}};
  lanes = throughExtensions(lanes);
  if (auto mul = lanes.getDefiningOp<arith::MulIOp>()) {
    Value factor = splatted(mul.getRhs()), rest = mul.getLhs();
    if (!factor)
      factor = splatted(mul.getLhs()), rest = mul.getRhs();
    if (!factor)
      return std::nullopt;
    line.step = analysis::polynomialOf(factor);
    lanes = throughExtensions(rest);
  }
  auto rem = lanes.getDefiningOp<tile::RemOp>();
  Value rows = rem ? splatted(rem.getRhs()) : Value();
  if (!rows)
    return std::nullopt;
  line.extent = analysis::polynomialOf(rows);
  Value numbers = rem.getLhs();
  if (auto add = numbers.getDefiningOp<arith::AddIOp>()) {
    Value start = splatted(add.getLhs());
    numbers = add.getRhs();
    if (!start)
      start = splatted(add.getRhs()), numbers = add.getLhs();
    if (!start)
      return std::nullopt;
    line.start = analysis::polynomialOf(start);
  }
  auto range = throughExtensions(numbers).getDefiningOp<tile::RangeOp>();
  if (!range || range.getStart() != 0 || !(*line.extent - line.start == analysis::polynomialOf(live)))
    return std::nullopt;
  return line;
}
} // namespace

std::optional<Box> boxOf(tile::AccessOp access, tile::KernelOp kernel, ArrayRef<Value> live) {
  Box box;
  box.base = access.getBase();
  if (access.getSteps().size() != 2 || access.getResidual() || !isArgument(box.base, kernel))
    return std::nullopt;
  unsigned bytes = cast<tile::PtrType>(box.base.getType()).getPointee().getIntOrFloatBitWidth() / 8;
  std::optional<Line> wrapped[2];
  IndexPolynomial steps[2];
  for (unsigned d = 0; d < 2; ++d) {
    if (access.isStrided(d)) {
      steps[d] = analysis::polynomialOf(access.getSteps()[d]);
      continue;
    }
    wrapped[d] = wrappedLine(access.getSteps()[d], live.empty() ? Value() : live[d]);
    if (!wrapped[d] || access.getBoundKinds()[d] != 0)
      return std::nullopt;
    steps[d] = wrapped[d]->step;
  }
  if (steps[1].constant() == 1)
    box.contiguous = 1;
  else if (steps[0].constant() == 1)
    box.contiguous = 0;
  else
    return std::nullopt;
  unsigned other = 1 - box.contiguous;
  box.stride = steps[other];
  if (!hostKnows(box.stride, kernel) || analysis::divisorOf(box.base) % 16 || analysis::divisorOf(box.stride) * bytes % 16)
    return std::nullopt;
  IndexPolynomial offset = analysis::polynomialOf(access.getOffset());
  box.start[other] = offset.divided(box.stride, box.start[box.contiguous]);
  for (unsigned d = 0; d < 2; ++d) {
    if (wrapped[d]) {
      box.start[d] = box.start[d] + wrapped[d]->start;
      box.extent[d] = *wrapped[d]->extent;
      if (!hostKnows(box.extent[d], kernel))
        return std::nullopt;
      continue;
    }
    switch (access.getBoundKinds()[d]) {
    case 0:
      if (!grows(box.start[d]))
        return std::nullopt;
      box.extent[d] = IndexPolynomial(int64_t(1) << 31); // every lane exists
      break;
    case 1: {
      IndexPolynomial lo = analysis::polynomialOf(access.getBound(d)[0]) + box.start[d];
      box.extent[d] = analysis::polynomialOf(access.getBound(d)[1]) + box.start[d];
      bool fromStart = analysis::polynomialOf(access.getBound(d)[0]).isZero(); // every lane but those beyond the end
      if ((!lo.isZero() && !(fromStart && grows(box.start[d]))) || !hostKnows(box.extent[d], kernel))
        return std::nullopt;
      break;
    }
    default:
      return std::nullopt;
    }
  }
  return box;
}

void describeBox(const Box &box, unsigned inner, unsigned outer, DType dtype, GpuInfo &kernel) {
  TensorMapInfo &info = kernel.maps.emplace_back();
  info.slot = cast<BlockArgument>(box.base).getArgNumber();
  info.dtype = dtype;
  info.dimensions = {{hostPolynomial(box.extent[box.contiguous]), 1, inner},
                     {hostPolynomial(box.extent[1 - box.contiguous]), hostPolynomial(box.stride), outer}};
  info.swizzle = inner * byteWidth(dtype);
  for (const IndexPolynomial &extent : box.extent) {
    ConditionInfo notEmpty{hostPolynomial(extent - IndexPolynomial(1)), 0};
    if (!extent.constant() && !llvm::is_contained(kernel.conditions, notEmpty))
      kernel.conditions.push_back(std::move(notEmpty));
  }
}

} // namespace tilery::cuda
