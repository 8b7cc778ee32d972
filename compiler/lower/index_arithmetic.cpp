#include "compiler/lower/index_arithmetic.h"
#include <numeric>

using namespace mlir;

namespace tilery::lower {

llvm::Value *IndexArithmetic::vectorOf(const Index &index) {
  auto &b = e.b;
  if (index.lanes || index.uniform())
    return index.lanes ? index.lanes : index.base;
  llvm::Value *steps = b.CreateMul(e.iota(b.getInt64Ty(), width), e.splat(e.i64(index.step), width));
  return b.CreateAdd(e.splat(index.base, width), steps);
}

Lanes IndexArithmetic::counting(llvm::Value *base, int64_t step) {
  auto &b = e.b;
  if (!step)
    return base;
  llvm::Type *type = base->getType();
  llvm::Value *steps = b.CreateMul(e.iota(type, width), e.splat(llvm::ConstantInt::get(type, step), width));
  return b.CreateAdd(e.splat(base, width), steps);
}

llvm::Value *IndexArithmetic::distances(const Linear &l) {
  if (l.lanes || !l.step)
    return l.lanes;
  return e.b.CreateMul(e.iota(e.b.getInt64Ty(), width), e.splat(e.i64(l.step), width));
}

Linear IndexArithmetic::sum(const Linear &x, const Linear &y, bool subtract) {
  auto &b = e.b;
  Linear r;
  r.level = std::max(x.level, y.level);
  AtLevel at(levels, r.level);
  r.base = subtract ? b.CreateSub(x.base, y.base) : b.CreateAdd(x.base, y.base);
  if (!x.lanes && !y.lanes) {
    r.step = subtract ? x.step - y.step : x.step + y.step;
    return r;
  }
  llvm::Value *zero = llvm::Constant::getNullValue(e.vectorOf(b.getInt64Ty(), width));
  llvm::Value *xs = distances(x), *ys = distances(y);
  xs = xs ? xs : zero;
  ys = ys ? ys : zero;
  r.lanes = subtract ? b.CreateSub(xs, ys) : b.CreateAdd(xs, ys);
  return r;
}

Linear IndexArithmetic::product(const Linear &x, const Linear &y) {
  auto &b = e.b;
  Linear r;
  r.level = std::max(x.level, y.level);
  AtLevel at(levels, r.level);
  r.base = b.CreateMul(x.base, y.base);
  auto *factor = llvm::dyn_cast<llvm::ConstantInt>(x.base);
  if (factor && !y.lanes)
    r.step = y.step * factor->getSExtValue();
  else if (llvm::Value *vector = distances(y))
    r.lanes = b.CreateMul(vector, e.splat(x.base, width));
  return r;
}

Lanes IndexArithmetic::lanesBetween(llvm::Value *base, int64_t low, int64_t high) {
  auto &b = e.b;
  auto laneNumber = [&](int64_t bound) {
    llvm::Value *n = b.CreateSub(e.i64(bound), base);
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, e.i64(0));
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, e.i64(width));
    return e.splat(b.CreateTrunc(n, b.getInt32Ty()), width);
  };
  llvm::Value *lane = e.iota(b.getInt32Ty(), width);
  return b.CreateAnd(b.CreateICmpSGE(lane, laneNumber(low)), b.CreateICmpSLT(lane, laneNumber(high)));
}

Index IndexArithmetic::scaled(const Index &index, int64_t factor) {
  if (factor == 1)
    return index;
  AtLevel at(levels, index.level);
  if (std::optional<Spread> spread = index.lanes ? spreadOf(index) : std::nullopt) {
    spread->base = e.b.CreateMul(spread->base, e.i64(factor));
    spread->multiple *= factor;
    for (int64_t &lane : spread->lanes)
      lane *= factor;
    return indexOf(*spread, index.level);
  }
  Index result = index;
  result.loop = -1;
  if (index.lanes)
    result.lanes = e.b.CreateMul(index.lanes, e.splat(e.i64(factor), width));
  else
    result.base = e.b.CreateMul(index.base, e.i64(factor));
  result.step = index.step * factor;
  result.multiple = index.multiple * factor;
  return result;
}

Index IndexArithmetic::plus(const Index &x, const Index &y) {
  Index result;
  result.level = std::max(x.level, y.level);
  AtLevel at(levels, result.level);
  result.multiple = std::gcd(x.multiple, y.multiple);
  result.owned = x.owned || y.owned;
  if (!x.lanes && !y.lanes) {
    result.base = e.b.CreateAdd(x.base, y.base);
    result.step = x.step + y.step;
    return result;
  }
  if (std::optional<Spread> left = spreadOf(x), right = spreadOf(y); left && right) {
    left->base = e.b.CreateAdd(left->base, right->base);
    left->multiple = result.multiple = std::gcd(left->multiple, right->multiple);
    for (auto [lane, other] : llvm::zip(left->lanes, right->lanes))
      lane += other;
    Index sum = indexOf(*left, result.level);
    sum.owned = result.owned;
    return sum;
  }
  llvm::Value *both[] = {vectorOf(x), vectorOf(y)};
  e.unify(both);
  result.lanes = e.b.CreateAdd(both[0], both[1]);
  return result;
}

Point IndexArithmetic::operandPoint(Operation *op, ArrayRef<Index> point) {
  ArrayRef<int64_t> from = tile::shapeOf(op->getOperand(0).getType());
  Point result;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    result.append(point.begin(), point.end());
    result.erase(result.begin() + expand.getAxis());
    return result;
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    result.resize(point.size());
    for (auto [d, source] : llvm::enumerate(permute.getOrder()))
      result[source] = point[d];
    return result;
  }
  if (isa<tile::BroadcastOp>(op)) {
    for (auto [index, size] : llvm::zip(point, from))
      result.push_back(size == 1 ? constant(0) : index);
    return result;
  }
  return reshaped(from, tile::shapeOf(op->getResult(0).getType()), point);
}

Point IndexArithmetic::pointOf(const Index &number, ArrayRef<int64_t> shape) {
  return reshaped(shape, {ShapedType::getNumElements(shape)}, {number});
}

// Dimensions of both shapes are matched in groups of equal products; within a group the position goes through its row-major number.
Point IndexArithmetic::reshaped(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<Index> point) {
  Point result(from.size(), constant(0));
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t i0 = i, j0 = j;
    int64_t have = i < from.size() ? from[i++] : 1, want = j < to.size() ? to[j++] : 1;
    while (have != want) {
      if (have < want)
        have *= from[i++];
      else
        want *= to[j++];
    }
    // `have == want` may be reached with sizes of 1 on both sides: each keeps its own 0.
    if (have == 1)
      continue;
    SmallVector<size_t> sources;
    for (size_t d = i0; d < i; ++d)
      if (from[d] != 1)
        sources.push_back(d);
    std::optional<Index> number;
    int64_t stride = 1;
    for (size_t d = j; d-- > j0;) {
      if (to[d] == 1)
        continue;
      Index term = scaled(point[d], stride);
      number = number ? plus(term, *number) : term;
      stride *= to[d];
    }
    if (sources.size() == 1) {
      result[sources[0]] = *number;
      continue;
    }
    SmallVector<int64_t> sizes;
    for (size_t d : sources)
      sizes.push_back(from[d]);
    SmallVector<Index> parts(sources.size());
    split(*number, sizes, parts);
    for (auto [d, part] : llvm::zip(sources, parts))
      result[d] = part;
  }
  return result;
}

void IndexArithmetic::split(const Index &number, ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result) {
  auto &b = e.b;
  AtLevel at(levels, number.level);
  int64_t inner = sizes.back();
  // A run of consecutive lanes that stays within one inner row keeps its form.
  bool sameRow = number.step == 1 && !number.lanes && inner % width == 0 && number.multiple % int64_t(width) == 0;
  if (number.uniform() || sameRow) {
    Index rest = number;
    rest.loop = -1;
    for (size_t d = sizes.size(); d-- > 0;) {
      Index &part = result[d];
      part = rest;
      if (d) {
        part.base = b.CreateURem(rest.base, e.i64(sizes[d]));
        part.multiple = std::gcd(rest.multiple, sizes[d]);
        rest.base = b.CreateUDiv(rest.base, e.i64(sizes[d]));
        rest.step = 0;
        rest.multiple = 1;
      }
    }
    return;
  }
  if (splitSpread(number, sizes, result))
    return;
  // 32 bits are enough for the lanes of a tile, and their division by a constant has vector code.
  llvm::Type *i32 = e.vectorOf(b.getInt32Ty(), width), *i64 = e.vectorOf(b.getInt64Ty(), width);
  llvm::Value *rest = b.CreateTrunc(vectorOf(number), i32);
  for (size_t d = sizes.size(); d-- > 0;) {
    auto *size = llvm::ConstantInt::get(i32, sizes[d]);
    llvm::Value *part = d ? b.CreateURem(rest, size) : rest;
    if (d)
      rest = b.CreateUDiv(rest, size);
    result[d] = Index{nullptr, 0, b.CreateZExt(part, i64), number.level};
  }
}

} // namespace tilery::lower
