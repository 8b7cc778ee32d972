#include "compiler/block/forms/convert.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

namespace tilery::layout {
namespace {

const Axis places[] = {Register, Lane, Warp};

/// The copies of an element differ in the digits of `from` that are zero: takes the reader's own digit there, if it has one.
Layout preferOwn(const Layout &source, const Layout &from) {
  Layout result(source.outputs());
  for (Axis axis : places) {
    std::optional<unsigned> output = source.output(axis);
    // Cuts the reader's axis at the ends of the zero digits.
    llvm::SmallVector<std::pair<int64_t, int64_t>, 4> copies; // place, extent
    int64_t place = 1;
    for (const Layout::Digit &digit : from.digits(axis)) {
      if (digit.isZero())
        copies.push_back({place, digit.extent});
      place *= digit.extent;
    }
    int64_t at = 1;
    for (Layout::Digit digit : source.digits(axis))
      while (digit.extent > 1) {
        Layout::Digit low = digit;
        for (auto [begin, count] : copies)
          for (int64_t cut : {begin, begin * count})
            if (cut > at && cut < at * low.extent && cut % at == 0 && low.extent % (cut / at) == 0)
              low.extent = cut / at;
        for (auto [begin, count] : copies)
          if (output && at >= begin && at * low.extent <= begin * count)
            low.step[*output] += at;
        if (low.extent > 2)
          assert(!low.hasFlips());
        result.add(axis, low);
        at *= low.extent;
        digit.extent /= low.extent;
        for (unsigned d = 0; d < digit.step.size(); ++d)
          digit.step[d] *= low.extent, digit.flips[d] = 0;
      }
  }
  return result.canonical();
}

/// (Register, Lane, Warp) of `to` -> that of `from`.
std::optional<Layout> sourceOf(const Layout &from, const Layout &to) {
  std::optional<Layout> holder = invert(from);
  if (!holder)
    return std::nullopt;
  std::optional<Layout> source = compose(*holder, to);
  if (!source)
    return std::nullopt;
  // With all three outputs and all places of `to`, also those that hold copies.
  Layout full({{Register, from.extent(Register)}, {Lane, from.extent(Lane)}, {Warp, from.extent(Warp)}});
  for (Axis axis : places) {
    int64_t at = 1;
    for (const Layout::Digit &digit : source->digits(axis)) {
      Layout::Digit wide{digit.extent, Layout::Vector(3, 0), Layout::Vector(3, 0)};
      for (auto [d, output] : llvm::enumerate(source->outputs())) {
        unsigned to = *full.output(output.axis);
        wide.step[to] = digit.step[d], wide.flips[to] = digit.flips[d];
      }
      full.add(axis, wide);
      at *= digit.extent;
    }
    if (int64_t rest = to.extent(axis) / at; rest > 1)
      full.add(axis, rest, {0, 0, 0});
  }
  return preferOwn(full, from.canonical());
}

/// True if `axis` is read from its own number, and nothing else moves it.
bool keeps(const Layout &source, Axis axis) {
  unsigned output = *source.output(axis);
  for (const Layout::Input &input : source.inputs()) {
    int64_t place = 1;
    for (const Layout::Digit &digit : input.digits) {
      if (digit.flips[output] || digit.step[output] != (input.axis == axis ? place : 0))
        return false;
      place *= digit.extent;
    }
  }
  return true;
}

/// Registers of `from` between which the lanes of one shuffle must choose.
int64_t choices(const Layout &source) {
  unsigned output = *source.output(Register);
  int64_t result = 1;
  for (Axis axis : {Lane, Warp})
    for (const Layout::Digit &digit : source.digits(axis))
      if (digit.step[output] || digit.flips[output])
        result *= digit.extent;
  return result;
}

/// Lanes of warp 0 at their first register, in bytes.
Layout lanesOf(const Layout &access, unsigned elementBytes) {
  Layout result({{Offset, access.outputs()[0].extent * elementBytes}});
  for (const Layout::Digit &digit : access.digits(Lane)) {
    Layout::Digit bytes = digit;
    bytes.step[0] *= elementBytes, bytes.flips[0] *= elementBytes;
    result.add(Lane, bytes);
  }
  return result;
}

} // namespace

std::optional<Transfer> cheapestTransfer(const Layout &registers, const Layout &memory, unsigned elementBytes) {
  std::optional<Layout> access = compose(memory, registers);
  if (!access)
    return std::nullopt;
  unsigned width = widestVector(*access, elementBytes), count = access->extent(Register) / width;
  BankUse use = bankUse(lanesOf(*access, elementBytes), width * elementBytes);
  Transfer best{width * elementBytes, use.passes * count, use.least * count, false};
  if (elementBytes == 2)
    if (std::optional<MatrixMove> move = matrixMove(registers, memory))
      if (std::optional<Layout> rows = compose(memory, move->addresses)) {
        count = registers.extent(Register) / (2 * move->matrices);
        use = bankUse(lanesOf(*rows, 2), 16);
        if (use.passes * count <= best.passes) // fewer instructions for the same bytes
          best = {16, use.passes * count, use.least * count, true};
      }
  if (elementBytes == 1)
    if (std::optional<Layout> turned = turnedBytes(registers, memory))
      if (std::optional<Layout> rows = compose(memory, *turned)) {
        use = bankUse(lanesOf(*rows, 1), 16);
        count = rows->extent(Register);
        best = {16, use.passes * count, use.least * count, true};
      }
  return best;
}

Exchange cheapestExchange(const Layout &store, const Layout &load, unsigned elementBytes) {
  std::optional<Exchange> best;
  auto consider = [&](const std::optional<Layout> &memory) {
    if (!memory)
      return;
    auto in = cheapestTransfer(store, *memory, elementBytes), out = cheapestTransfer(load, *memory, elementBytes);
    if (in && out && (!best || in->passes + out->passes < best->storePasses + best->loadPasses))
      best = Exchange{*memory, in->bytes, out->bytes, in->passes, out->passes, in->matrix, out->matrix};
  };
  llvm::ArrayRef<Layout::Output> tile = store.outputs();
  auto rowMajor = [&](llvm::ArrayRef<unsigned> order, int64_t padding) {
    int64_t size = 1;
    for (const Layout::Output &output : tile)
      size *= output.extent;
    Layout memory({{Offset, 2 * size + padding * size}});
    int64_t step = 1;
    for (auto [i, d] : llvm::enumerate(order)) {
      memory.add(tile[d].axis, tile[d].extent, {step});
      step = step * tile[d].extent + (i == 0 ? padding : 0);
    }
    consider(memory);
  };
  if (tile.size() != 2) {
    llvm::SmallVector<unsigned, 4> order;
    for (unsigned d = tile.size(); d-- > 0;)
      order.push_back(d);
    rowMajor(order, 0);
    assert(best && "an access of a plain tile is a layout");
    return *best;
  }
  for (unsigned inner : {1, 0}) {
    rowMajor({inner, 1 - inner}, 0);
    for (Swizzle swizzle : {Swizzle::B128, Swizzle::B64, Swizzle::B32}) {
      int64_t rows = tile[1 - inner].extent, columns = tile[inner].extent;
      if (rows % 8 || columns * elementBytes % int64_t(swizzle))
        continue;
      Layout boxes = copyBoxes(rows, columns, elementBytes, swizzle);
      consider(invert(inner ? boxes : boxes.transposed()));
    }
    rowMajor({inner, 1 - inner}, 16 / elementBytes);
  }
  assert(best && "an access of a plain tile is a layout");
  return *best;
}

Conversion cheapestConversion(const Layout &from, const Layout &to, unsigned elementBytes) {
  Conversion result{ConversionKind::SharedMemory, std::nullopt, 0, std::nullopt};
  result.source = sourceOf(from, to);
  if (result.source && keeps(*result.source, Warp)) {
    bool sameLane = keeps(*result.source, Lane);
    int64_t chosen = choices(*result.source);
    if (sameLane && chosen == 1) {
      result.kind = keeps(*result.source, Register) ? ConversionKind::None : ConversionKind::Registers;
      return result;
    }
    result.kind = ConversionKind::Shuffles;
    result.shuffles = to.extent(Register) * chosen;
  }
  result.exchange = cheapestExchange(from, to, elementBytes);
  // A shuffle is one pass of the same unit; writing and reading memory needs a barrier of the warp between.
  constexpr unsigned barrierPasses = 16;
  if (result.kind == ConversionKind::Shuffles) {
    if (result.shuffles > result.exchange->storePasses + result.exchange->loadPasses + barrierPasses)
      result.kind = ConversionKind::SharedMemory;
    else
      result.exchange.reset();
  }
  return result;
}

} // namespace tilery::layout
