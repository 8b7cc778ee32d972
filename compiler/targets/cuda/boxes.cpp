#include "compiler/targets/cuda/boxes.h"

using namespace mlir;

namespace tilery::cuda {
namespace {

bool isArgument(Value value, tile::KernelOp kernel) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &kernel.getBody().front();
}

/// The host computes constant + sum of coefficient * argument.
bool hostKnows(const Polynomial &p, tile::KernelOp kernel) {
  return llvm::all_of(p.terms, [](auto &term) { return term.first.size() <= 1; }) &&
         p.all([&](Value atom) { return isArgument(atom, kernel); });
}

int64_t divisibility(Value argument, tile::KernelOp kernel) {
  auto attr = kernel.getArgAttrOfType<IntegerAttr>(cast<BlockArgument>(argument).getArgNumber(), "tile.divisibility");
  return attr ? attr.getInt() : 1;
}

/// Every value of p is a multiple of n.
bool multipleOf(const Polynomial &p, int64_t n, tile::KernelOp kernel) {
  return llvm::all_of(p.terms, [&](auto &term) {
    int64_t factor = term.second;
    for (const void *atom : term.first)
      factor *= divisibility(Value::getFromOpaquePointer(atom), kernel);
    return factor % n == 0;
  });
}

/// No term is subtracted: a start that is not before the tensor's.
bool grows(const Polynomial &p) {
  return llvm::all_of(p.terms, [](auto &term) { return term.second > 0; });
}

/// `p` as the host computes it; its atoms are arguments of the kernel.
PolynomialInfo hostPolynomial(const Polynomial &p) {
  PolynomialInfo result;
  for (auto &[monomial, coefficient] : p.terms) {
    PolynomialInfo::Term &term = result.terms.emplace_back(PolynomialInfo::Term{coefficient, {}});
    for (const void *atom : monomial)
      term.factors.push_back(cast<BlockArgument>(Value::getFromOpaquePointer(atom)).getArgNumber());
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
  Polynomial step, start;
  std::optional<Polynomial> extent;
};

/// ((start + i) % rows) * step, where lanes from `live` on may hold anything and start + live == rows.
std::optional<Line> wrappedLine(Value lanes, Value live) {
  if (!live)
    return std::nullopt;
  Line line{Polynomial(1), {}, {}};
  lanes = throughExtensions(lanes);
  if (auto mul = lanes.getDefiningOp<arith::MulIOp>()) {
    Value factor = splatted(mul.getRhs()), rest = mul.getLhs();
    if (!factor)
      factor = splatted(mul.getLhs()), rest = mul.getRhs();
    if (!factor)
      return std::nullopt;
    line.step = Polynomial::of(factor);
    lanes = throughExtensions(rest);
  }
  auto rem = lanes.getDefiningOp<tile::RemOp>();
  Value rows = rem ? splatted(rem.getRhs()) : Value();
  if (!rows)
    return std::nullopt;
  line.extent = Polynomial::of(rows);
  Value numbers = rem.getLhs();
  if (auto add = numbers.getDefiningOp<arith::AddIOp>()) {
    Value start = splatted(add.getLhs());
    numbers = add.getRhs();
    if (!start)
      start = splatted(add.getRhs()), numbers = add.getLhs();
    if (!start)
      return std::nullopt;
    line.start = Polynomial::of(start);
  }
  auto range = throughExtensions(numbers).getDefiningOp<tile::RangeOp>();
  if (!range || range.getStart() != 0 || !(*line.extent - line.start == Polynomial::of(live)))
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
  Polynomial steps[2];
  for (unsigned d = 0; d < 2; ++d) {
    if (access.isStrided(d)) {
      steps[d] = Polynomial::of(access.getSteps()[d]);
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
  if (!hostKnows(box.stride, kernel) || divisibility(box.base, kernel) % 16 || !multipleOf(box.stride, 16 / bytes, kernel))
    return std::nullopt;
  Polynomial offset = Polynomial::of(access.getOffset());
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
      box.extent[d] = Polynomial(int64_t(1) << 31); // every lane exists
      break;
    case 1: {
      Polynomial lo = Polynomial::of(access.getBound(d)[0]) + box.start[d];
      box.extent[d] = Polynomial::of(access.getBound(d)[1]) + box.start[d];
      bool fromStart = Polynomial::of(access.getBound(d)[0]).isZero(); // every lane but those beyond the end
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
  for (const Polynomial &extent : box.extent) {
    ConditionInfo notEmpty{hostPolynomial(extent - Polynomial(1)), 0};
    if (!extent.constant() && !llvm::is_contained(kernel.conditions, notEmpty))
      kernel.conditions.push_back(std::move(notEmpty));
  }
}

} // namespace tilery::cuda
