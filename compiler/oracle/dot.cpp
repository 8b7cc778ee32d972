// Ops of TileDot.td.
#include "compiler/oracle/dot.h"
#include "compiler/oracle/float_ops.h"
#include "compiler/oracle/inner_sizes.h"

using namespace mlir;

namespace tilery::oracle {
namespace {

struct Sizes {
  int64_t batch, m, n, k;
};
Sizes sizesOf(const Tile &a, const Tile &b) {
  size_t rank = a.shape.size();
  return {rank == 3 ? a.shape[0] : 1, a.shape[rank - 2], b.shape.back(), a.shape.back()};
}

// Each element adds its products in increasing k; the loop order only makes the inner loop contiguous.
template <typename T> void multiply(const Sizes &s, const T *a, const T *b, T *c) {
  for (int64_t batch = 0; batch < s.batch; ++batch, a += s.m * s.k, b += s.k * s.n, c += s.m * s.n)
    for (int64_t i = 0; i < s.m; ++i)
      for (int64_t k = 0; k < s.k; ++k)
        for (int64_t j = 0; j < s.n; ++j)
          c[i * s.n + j] += a[i * s.k + k] * b[k * s.n + j];
}

template <typename T> std::vector<T> floats(const Tile &tile) {
  std::vector<T> values(tile.size());
  for (int64_t i = 0; i < tile.size(); ++i)
    values[i] = T(decode(tile.element, tile.lanes[i]));
  return values;
}
std::vector<uint64_t> integers(const Tile &tile, bool isUnsigned) {
  std::vector<uint64_t> values(tile.size());
  for (int64_t i = 0; i < tile.size(); ++i)
    values[i] = isUnsigned ? asUnsigned(tile.element, tile.lanes[i]) : uint64_t(asSigned(tile.element, tile.lanes[i]));
  return values;
}

template <typename T> Tile floatDot(const Sizes &sizes, const Tile &a, const Tile &b, const Tile &acc, bool clear) {
  Tile result(acc.element, acc.shape);
  std::vector<T> c = clear ? std::vector<T>(acc.size()) : floats<T>(acc);
  multiply(sizes, floats<T>(a).data(), floats<T>(b).data(), c.data());
  for (int64_t i = 0; i < result.size(); ++i)
    result.lanes[i] = encode(result.element, double(c[i]));
  return result;
}

// Relative error of a product's factors under the declared precision; of those below the normal numbers, whose last places are as far apart
// as those of the smallest one, it is relative to that. wgmma reads f32 from memory and leaves out the bits that tf32 lacks.
double inputError(tile::Precision precision, Element input, bool tensorCores) {
  if (input.format != Format::F32 && input.format != Format::F64)
    return 0;
  switch (precision) {
  case tile::Precision::ieee:
    return 0;
  case tile::Precision::tf32:
    return tensorCores ? 0x1p-10 : 0x1p-11;
  default: // three or more passes of a short format
    return 0x1p-20;
  }
}

/// |result - exact| / (|acc| + sum |a||b|), of the additions alone, whatever their order and with or without fma.
double additionError(int64_t k, const Tile &a, const Tile &acc, bool tensorCores) {
  constexpr double f64 = 0x1p-53, f32 = 0x1p-24;
  if (acc.element.format == Format::F64) // the centre itself has the same error as any other order of addition
    return 2 * double(k + 2) * f64;
  if (!tensorCores || a.element.bytes() != 1)
    return double(k + 2) * f32;
  // An instruction shifts its 32 products and the sum to the exponent of the largest, cuts each and the result behind 13 bits.
  int64_t instructions = (k + 31) / 32;
  return double(k + 2 * instructions) * 0x1p-13;
}

// |result - exact| <= (k + 2) u (|acc| + sum |a||b|) + what the rounded inputs bring, whatever the order and with or without fma.
// Instructions that multiply bf16 take denormal factors for zero, and give zero for denormal sums.
void shadowDot(const Sizes &s, const Tile &a, const Tile &b, const Tile &acc, bool clear, tile::Precision precision,
               bool tensorCores, Tile &result) {
  auto middle = [](const Tile &tile, std::vector<double> &radius) {
    std::vector<double> values(tile.size());
    radius.assign(tile.size(), 0);
    for (int64_t i = 0; i < tile.size(); ++i) {
      Interval range = tile.range(i);
      values[i] = range.isExact() ? range.lo : range.lo / 2 + range.hi / 2;
      radius[i] = range.isExact() ? 0 : range.hi - values[i];
    }
    return values;
  };
  std::vector<double> radiusA, radiusB, radiusC;
  std::vector<double> va = middle(a, radiusA), vb = middle(b, radiusB), c = middle(acc, radiusC);
  if (clear) {
    c.assign(c.size(), 0);
    radiusC.assign(c.size(), 0);
  }
  std::vector<double> magnitude(c.size()), spread = radiusC;
  for (size_t i = 0; i < c.size(); ++i)
    magnitude[i] = std::fabs(c[i]);
  auto absolute = [](std::vector<double> values) {
    for (double &value : values)
      value = std::fabs(value);
    return values;
  };
  double extra = inputError(precision, a.element, tensorCores);
  constexpr double smallestNormal = 0x1p-126;
  bool flushes = a.element.format == Format::BF16 && b.element.format == Format::BF16;
  auto inputRadius = [&](double magnitude) {
    return flushes && magnitude < smallestNormal ? magnitude : magnitude ? extra * std::max(magnitude, smallestNormal) : 0;
  };
  std::vector<double> absA = absolute(va), absB = absolute(vb), outerB = absB;
  for (size_t i = 0; i < radiusA.size(); ++i)
    radiusA[i] += inputRadius(absA[i]);
  for (size_t i = 0; i < radiusB.size(); ++i) {
    radiusB[i] += inputRadius(absB[i]);
    outerB[i] += radiusB[i];
  }
  multiply(s, va.data(), vb.data(), c.data());
  multiply(s, absA.data(), absB.data(), magnitude.data());
  multiply(s, radiusA.data(), outerB.data(), spread.data());
  multiply(s, absA.data(), radiusB.data(), spread.data());
  Element compute = acc.element.format == Format::F64 ? acc.element : Element{Format::F32, 32, &llvm::APFloat::IEEEsingle()};
  double added = additionError(s.k, a, acc, tensorCores), tiny = flushes ? 2 * smallestNormal : ulpAt(compute, 0.0);
  for (int64_t i = 0; i < result.size(); ++i) {
    double value = decode(result.element, result.lanes[i]);
    double error = added * magnitude[i] + double(s.k + 2) * tiny + spread[i] * (1 + 0x1p-20);
    if (!std::isfinite(c[i]) || !std::isfinite(error)) {
      bool exactNan = std::isnan(value) && spread[i] == 0;
      result.setRange(i, exactNan ? exactly(value) : unknown());
      continue;
    }
    Interval range = widen(result.element, {c[i] - error, c[i] + error}, 1);
    bool overflows = magnitude[i] + error > largest(compute); // a partial sum may, in some order
    result.setRange(i, range.contains(value) && !overflows ? range : unknown());
  }
}

} // namespace

Tile dot(Interpreter &in, const Tile &a, const Tile &b, const Tile &acc, bool clear, tile::Precision precision, bool aUnsigned,
         bool bUnsigned) {
  Sizes sizes = sizesOf(a, b);
  Tile result;
  if (!acc.element.isFloat()) {
    result = Tile(acc.element, acc.shape);
    std::vector<uint64_t> c = clear ? std::vector<uint64_t>(acc.size()) : integers(acc, false);
    multiply(sizes, integers(a, aUnsigned).data(), integers(b, bUnsigned).data(), c.data());
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = wrap(result.element, c[i]);
    if (hasRanges({&a, &b}) || (!clear && hasRanges({&acc})))
      for (int64_t i = 0; i < result.size(); ++i)
        result.setRange(i, unknown());
  } else {
    result =
        acc.element.format == Format::F64 ? floatDot<double>(sizes, a, b, acc, clear) : floatDot<float>(sizes, a, b, acc, clear);
    if (in.run.options.shadow)
      shadowDot(sizes, a, b, acc, clear, precision, in.run.options.tensorCores, result);
  }
  // An element is undefined if its row, its column or its accumulator is.
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t batch = i / (sizes.m * sizes.n), row = i / sizes.n % sizes.m, column = i % sizes.n;
    if (!clear && acc.undefinedAt(i))
      result.setUndefined(i, acc.undefinedAt(i));
    if (a.undefined.empty() && b.undefined.empty())
      continue;
    for (int64_t k = 0; k < sizes.k; ++k) {
      Unwritten from = a.undefinedAt((batch * sizes.m + row) * sizes.k + k);
      if (!from)
        from = b.undefinedAt((batch * sizes.k + k) * sizes.n + column);
      if (from)
        result.setUndefined(i, from);
    }
  }
  return result;
}

// Elements that nobody may look at hold something that nobody expects.
static void forgetDead(Interpreter &in, ValueRange live, Tile &result) {
  if (live.empty())
    return;
  int64_t rows = int64_t(in.tile(live[0]).lanes[0]), columns = int64_t(in.tile(live[1]).lanes[0]);
  int64_t n = result.shape.back(), m = result.shape[result.shape.size() - 2];
  for (int64_t i = 0; i < result.size(); ++i)
    if (i / n % m >= rows || i % n >= columns)
      result.lanes[i] =
          result.element.isFloat() ? encode(result.element, std::nan("")) : wrap(result.element, 0xABABABABABABABAB);
}

void addDotHandlers(Handlers &table) {
  table.add<tile::DotOp>([](Interpreter &in, tile::DotOp op) {
    if (in.run.options.matchSizes)
      checkInnerSizes(in, op);
    bool clear = op.getClear() && in.decide(op.getClear());
    Tile result = dot(in, in.tile(op.getA()), in.tile(op.getB()), in.tile(op.getAcc()), clear, op.getPrecision(),
                      op.getAUnsigned(), op.getBUnsigned());
    forgetDead(in, op.getLive(), result);
    in.set(op.getResult(), std::move(result));
  });
  table.add<tile::ContractOp>([](Interpreter &in, tile::ContractOp op) {
    Block &block = op.getBody().front();
    Tile acc = in.tile(op.getAcc());
    for (int64_t step = 0, steps = in.decide(op.getSteps()); step < steps; ++step) {
      Tile index({Format::Int, 64}, {});
      index.lanes[0] = uint64_t(step);
      in.set(block.getArgument(0), std::move(index));
      Operation *yield = in.runBlock(block);
      acc = dot(in, in.tile(yield->getOperand(0)), in.tile(yield->getOperand(1)), acc, false, op.getPrecision(),
                op.getAUnsigned(), op.getBUnsigned());
    }
    forgetDead(in, op.getLive(), acc);
    in.set(op.getResult(), std::move(acc));
  });
}

} // namespace tilery::oracle
