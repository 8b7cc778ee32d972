// Copies, fills, products, reductions and atomics of whole regions.
#include "compiler/builder/region.h"
#include "tilery/counted.h"
#include <algorithm>

namespace tilery {

using Kind = Diagnostic::Kind;

void copy(Builder &b, const Region &src, const Region &dst, const std::optional<Operand> &outside) {
  auto extents = copyExtents(b, src, dst, "T.copy");
  auto &[from, to] = extents;
  if (isThreadsOwn(b, {&src, &dst}))
    return forEachElement(b, to, [&](const std::vector<Operand> &at) {
      storeElement(b, dst, extents.second, at, loadElement(b, src, extents.first, at));
    });
  Together together(b);
  storeRegion(b, dst, to, loadRegion(b, src, from, "T.copy", outside), "T.copy");
}

void fill(Builder &b, const Region &region, const Operand &value) {
  const Shape &extents = knownExtents(b, region, "T.fill");
  if (isThreadsOwn(b, {&region}))
    return forEachElement(b, extents, [&](const std::vector<Operand> &at) { storeElement(b, region, extents, at, value); });
  Together together(b);
  storeRegion(b, region, extents, b.full(longExtents(extents), b.castFinite(value, region.dtype()), region.dtype()), "T.fill");
}

Value load(Builder &b, const Region &region) { return loadRegion(b, region, knownExtents(b, region, "a read"), "a read"); }

void store(Builder &b, const Region &region, const Value &tile) {
  storeRegion(b, region, knownExtents(b, region, "a write"), tile, "a write");
}

static Shape matrix(Builder &b, const Region &region) {
  const Shape &extents = knownExtents(b, region, "T.gemm");
  if (extents.size() < 2 || std::any_of(extents.begin(), extents.end() - 2, [](int64_t n) { return n != 1; }))
    b.fail(Kind::Assertion, "T.gemm takes matrices: `" + region.name + "` has the extents " + regionShapeText(extents),
           "all dimensions but the last two must be 1");
  return Shape(extents.end() - 2, extents.end());
}

static Value loadMatrix(Builder &b, const Region &region, const Shape &shape) {
  Value value = loadRegion(b, region, region.extents, "T.gemm");
  return value.shape() == shape ? value : b.reshape(value, shape);
}

void gemm(Builder &b, const Region &A, const Region &B, const Region &C, const GemmOptions &options) {
  Shape a = matrix(b, A), bShape = matrix(b, B), c = matrix(b, C);
  int64_t m = a[options.transposeA], ka = a[!options.transposeA], kb = bShape[options.transposeB],
          n = bShape[!options.transposeB];
  auto check = [&](const char *axis, const char *first, int64_t x, const char *second, int64_t y, const std::string &names) {
    if (x != y)
      b.fail(Kind::Assertion,
             std::string("T.gemm ") + axis + " shape check failed: " + first + " = " + std::to_string(x) + ", " + second + " = " +
                 std::to_string(y) + names,
             "C (M, N) takes A (M, K), or (K, M) where transpose_A is set, and B (K, N), or (N, K) where transpose_B is");
  };
  auto shapes = [&](const Region &x, const Shape &xs, const Region &y, const Shape &ys) {
    return " (`" + x.name + "` is " + regionShapeText(xs) + ", `" + y.name + "` is " + regionShapeText(ys) + ")";
  };
  check("M", "M_A", m, "M_C", c[0], shapes(A, a, C, c));
  check("N", "N_B", n, "N_C", c[1], shapes(B, bShape, C, c));
  check("K", "K_A", ka, "K_B", kb, shapes(A, a, B, bShape));
  if (isThreadsOwn(b, {&A, &B, &C}))
    b.fail(Kind::Value, "T.gemm takes tiles of the block, but not arrays that each thread has for itself",
           "use T.alloc_fragment for C and T.alloc_shared for A and B");
  Together together(b);
  Value x = loadMatrix(b, A, a), y = loadMatrix(b, B, bShape), acc = loadMatrix(b, C, c);
  if (options.transposeA)
    x = b.permute(x, {1, 0});
  if (options.transposeB)
    y = b.permute(y, {1, 0});
  std::optional<Value> clear;
  if (options.clear)
    clear = b.cast(*options.clear, DType::Bool);
  Value result = b.dot(x, y, acc, clear, C.dtype(), options.dot);
  storeRegion(b, C, C.extents, b.reshape(result, longExtents(C.extents)), "T.gemm");
}

/// How an element joins what has been reduced so far.
static BinaryOp combineOf(RegionReduce kind, bool propagateNan) {
  static constexpr BinaryOp ops[] = {BinaryOp::Add, BinaryOp::Add, BinaryOp::Max, BinaryOp::Min,
                                     BinaryOp::Max, BinaryOp::And, BinaryOp::Or,  BinaryOp::Xor};
  BinaryOp op = ops[size_t(kind)];
  if (propagateNan)
    op = op == BinaryOp::Max ? BinaryOp::MaxNan : op == BinaryOp::Min ? BinaryOp::MinNan : op;
  return op;
}
static bool takesAbs(RegionReduce kind) { return kind == RegionReduce::AbsSum || kind == RegionReduce::AbsMax; }

/// Each thread for itself, in increasing index.
static void reduceElements(Builder &b, RegionReduce kind, const Region &src, const Region &dst, size_t axis, bool clear,
                           bool propagateNan) {
  Shape rest = src.extents, out = dst.extents;
  rest[axis] = 1;
  auto element = [&](std::vector<Operand> at, const Operand &k) {
    if (src.extents[axis] != 1)
      at.insert(at.begin() + std::count_if(src.extents.begin(), src.extents.begin() + axis, [](int64_t n) { return n != 1; }), k);
    Value value = b.cast(loadElement(b, src, src.extents, at), dst.dtype());
    return takesAbs(kind) ? b.unary(UnaryOp::Abs, value) : value;
  };
  forEachElement(b, rest, [&](const std::vector<Operand> &at) {
    if (clear)
      storeElement(b, dst, out, at, element(at, Literal(int64_t(0))));
    auto bound = [&](int64_t n) { return b.constant(Literal(n), DType::I32); };
    auto loop = b.beginFor(bound(clear), bound(src.extents[axis]), bound(1), {});
    Value value = element(at, loop.iv);
    storeElement(b, dst, out, at, b.binary(combineOf(kind, propagateNan), loadElement(b, dst, out, at), value));
    b.endFor({});
  });
}

void reduce(Builder &b, RegionReduce kind, const Region &src, const Region &dst, int64_t dim, bool clear, bool propagateNan) {
  const Shape &extents = knownExtents(b, src, "T.reduce");
  const Shape &out = knownExtents(b, dst, "T.reduce");
  int64_t rank = extents.size(), axis = dim < 0 ? dim + rank : dim;
  if (axis < 0 || axis >= rank)
    b.fail(Kind::Value, "T.reduce: dimension " + std::to_string(dim) + " is outside `" + src.name + "`, which has " +
                            counted(rank, "dimension"));
  Shape dropped = extents, kept = extents;
  dropped.erase(dropped.begin() + axis);
  kept[axis] = 1;
  if (dropped.empty())
    dropped = {1};
  if (out != dropped && out != kept)
    b.fail(Kind::Value, "Invalid reduce output shape, buffer shape is " + regionShapeText(extents) + ", dim is " +
                            std::to_string(dim) + ", output shape is " + regionShapeText(out) + ", expected shapes are " +
                            regionShapeText(dropped) + " or " + regionShapeText(kept));
  using R = RegionReduce;
  if (!isInteger(dst.dtype()) && !isBool(dst.dtype()) && kind >= R::BitAnd)
    b.fail(Kind::Value,
           std::string("a bitwise reduction needs an integer or bool output, `") + dst.name + "` is " + dtypeName(dst.dtype()));
  if (isThreadsOwn(b, {&src, &dst}))
    return reduceElements(b, kind, src, dst, axis, clear, propagateNan);
  Together together(b);
  Value value = b.reshape(loadRegion(b, src, extents, "T.reduce"), extents);
  value = b.cast(value, dst.dtype());
  if (takesAbs(kind))
    value = b.unary(UnaryOp::Abs, value);
  bool isMax = kind == R::Max || kind == R::AbsMax;
  ReduceKind combine = kind == R::Sum || kind == R::AbsSum ? ReduceKind::Sum
                       : isMax                             ? (propagateNan ? ReduceKind::MaxNan : ReduceKind::Max)
                       : kind == R::Min                    ? (propagateNan ? ReduceKind::MinNan : ReduceKind::Min)
                       : kind == R::BitAnd                 ? ReduceKind::And
                       : kind == R::BitOr                  ? ReduceKind::Or
                                                           : ReduceKind::Xor;
  Value result = b.cast(b.reduce(combine, value, axis, false), dst.dtype());
  Shape tile = longExtents(out);
  result = b.reshape(result, tile);
  if (!clear) {
    result = b.binary(combineOf(kind, propagateNan), loadRegion(b, dst, out, "T.reduce"), result);
  }
  storeRegion(b, dst, out, result, "T.reduce");
}

void scan(Builder &b, ReduceKind kind, const Region &src, const Region &dst, int64_t dim, bool reverse) {
  const Shape &extents = knownExtents(b, src, "a scan");
  int64_t rank = extents.size(), axis = dim < 0 ? dim + rank : dim;
  if (axis < 0 || axis >= rank)
    b.fail(Kind::Value,
           "dimension " + std::to_string(dim) + " is outside `" + src.name + "`, which has " + counted(rank, "dimension"));
  if (knownExtents(b, dst, "a scan") != extents)
    b.fail(Kind::Value, "a scan of `" + src.name + "` " + regionShapeText(extents) + " cannot be written to `" + dst.name + "` " +
                            regionShapeText(dst.extents));
  if (isThreadsOwn(b, {&src, &dst}))
    b.fail(Kind::Value, "a scan takes tiles of the block, but not arrays that each thread has for itself",
           "use T.alloc_fragment or T.alloc_shared, or a T.serial loop");
  Together together(b);
  Value value = b.reshape(loadRegion(b, src, extents, "a scan"), extents);
  storeRegion(b, dst, extents, b.reshape(b.scan(kind, value, axis, reverse), longExtents(extents)), "a scan");
}

void atomic(Builder &b, RmwKind kind, const Region &dst, const std::variant<Region, Operand> &src, MemoryOrder order) {
  Shape to = dst.extents.empty() ? Shape(dst.shape.size(), 1) : dst.extents;
  auto *source = std::get_if<Region>(&src);
  if (source && isThreadsOwn(b, {source})) {
    auto extents = copyExtents(b, *source, dst, "an atomic update");
    return forEachElement(b, extents.second, [&](const std::vector<Operand> &at) {
      updateElement(b, kind, dst, extents.second, at, loadElement(b, *source, extents.first, at), order);
    });
  }
  Together together(b);
  Value value;
  if (auto *region = std::get_if<Region>(&src)) {
    Shape from;
    std::tie(from, to) = copyExtents(b, *region, dst, "an atomic update");
    value = b.cast(loadRegion(b, *region, from, "an atomic update"), dst.dtype());
  } else {
    Region box = dst;
    box.extents = to;
    value =
        b.full(longExtents(knownExtents(b, box, "an atomic update")), b.cast(std::get<Operand>(src), dst.dtype()), dst.dtype());
  }
  if (dst.isGlobal()) {
    b.atomicRmw(kind, placeOf(b, dst, to), value, order, SyncScope::Gpu);
    return;
  }
  static constexpr BinaryOp ops[] = {BinaryOp::Add, BinaryOp::Max, BinaryOp::Min, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor};
  if (kind == RmwKind::Exchange)
    return storeRegion(b, dst, to, value, "an atomic update");
  // A buffer belongs to one program, whose statements take effect in order.
  storeRegion(b, dst, to, b.binary(ops[size_t(kind)], loadRegion(b, dst, to, "an atomic update"), value), "an atomic update");
}

} // namespace tilery
