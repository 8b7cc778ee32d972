// Lanes at known distances from a place that all share: what a vector of neighbours becomes where a program takes a tile apart into pairs,
// fours, eights. They are read by vector loads and shuffles in registers.
#include "compiler/lower/evaluator.h"
#include "compiler/lower/read_behind.h"
#include <numeric>

using namespace mlir;

namespace tilery::lower {

std::optional<Spread> Evaluator::spreadOf(const Index &index) const {
  if (threads)
    return std::nullopt;
  if (!index.lanes) {
    Spread spread{index.base, index.multiple, {}};
    for (unsigned l = 0; l < state.lanes; ++l)
      spread.lanes.push_back(index.step * l);
    return spread;
  }
  if (auto found = spreads.find(index.lanes); found != spreads.end() && found->second.lanes.size() == state.lanes)
    return found->second;
  return std::nullopt;
}

Index Evaluator::indexOf(const Spread &spread, unsigned level) {
  auto &b = e.b;
  Index index{spread.base, 0, nullptr, level, spread.multiple};
  int64_t step = spread.lanes.size() > 1 ? spread.lanes[1] - spread.lanes[0] : 0;
  bool even = true;
  for (auto [l, at] : llvm::enumerate(spread.lanes))
    even &= at == spread.lanes[0] + step * int64_t(l);
  AtLevel at(*this, level);
  if (even) {
    index.step = step;
    if (spread.lanes[0]) {
      index.base = b.CreateAdd(spread.base, e.i64(spread.lanes[0]));
      index.multiple = std::gcd(spread.multiple, spread.lanes[0]);
    }
    return index;
  }
  SmallVector<llvm::Constant *> distances;
  for (int64_t distance : spread.lanes)
    distances.push_back(llvm::ConstantInt::getSigned(b.getInt64Ty(), distance));
  index.base = nullptr;
  index.multiple = 1;
  index.lanes = b.CreateAdd(e.splat(spread.base, state.lanes), llvm::ConstantVector::get(distances));
  spreads[index.lanes] = spread;
  return index;
}

bool Evaluator::splitSpread(const Index &number, ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result) {
  auto &b = e.b;
  // Lanes that count up from a multiple of their number.
  if (threads || number.lanes || number.step != 1 || number.multiple % state.lanes != 0)
    return false;
  // What is left: rest + lane / divided, of which `rest` is a multiple of `count`, the number of values that lanes have there.
  int64_t count = state.lanes;
  for (size_t d = sizes.size(), left = count; d-- > 1 && left > 1;) {
    if (sizes[d] % int64_t(left) && left % size_t(sizes[d]))
      return false;
    left = sizes[d] % int64_t(left) == 0 ? 1 : left / sizes[d];
  }
  llvm::Value *rest = number.base;
  int64_t divided = 1, multiple = number.multiple;
  for (size_t d = sizes.size(); d-- > 0;) {
    Spread part{e.i64(0), 0, {}};
    bool ends = !d || sizes[d] % count == 0; // lanes stay within this dimension
    for (unsigned l = 0; l < state.lanes; ++l)
      part.lanes.push_back(ends ? l / divided : l / divided % sizes[d]);
    if (ends) {
      part.base = d ? b.CreateURem(rest, e.i64(sizes[d])) : rest;
      part.multiple = d ? std::gcd(multiple, sizes[d]) : multiple;
    }
    result[d] = indexOf(part, number.level);
    if (!d)
      break;
    rest = b.CreateUDiv(rest, e.i64(sizes[d]));
    multiple = multiple % sizes[d] == 0 ? multiple / sizes[d] : 1;
    divided = ends ? int64_t(state.lanes) : divided * sizes[d];
    count = ends ? 1 : count / sizes[d];
  }
  return true;
}

/// Lanes that far apart in scratch memory are read with what lies between them.
constexpr int64_t mostStep = readBehind / 8;
/// And where the elements are one of each row: nothing behind the rows is read.
constexpr int64_t mostPlaces = 16;
static bool inRows(const Address &address) { return address.row && address.place >= 0 && address.place < address.step; }

// All that lies between, then every second of it, and again: vector loads take what single ones would, and other places of the same rows
// take the same vectors and halves. Behind the arena there is room for it.
Lanes Evaluator::everyStepth(const Address &address) {
  auto &b = e.b;
  bool rows = inRows(address);
  int64_t place = rows ? address.place : 0;
  llvm::Type *element = e.memoryType(address.element);
  llvm::Value *from = rows ? address.row : address.pointer;
  auto read = [&](int64_t first, unsigned lanes) {
    auto *part = b.CreateAlignedLoad(e.vectorOf(element, lanes), b.CreateConstInBoundsGEP1_64(element, from, first),
                                     llvm::Align(address.alignment));
    address.annotate(part);
    return part;
  };
  auto every = [&](int64_t step, unsigned first) {
    SmallVector<int> places;
    for (unsigned lane = 0; lane < state.lanes; ++lane)
      places.push_back(int(lane * step + first));
    return places;
  };
  if (elementBytes(address.element) < 4) // permutations of both inputs are several instructions each: fewer of them
    return b.CreateShuffleVector(read(0, state.lanes * address.step), every(address.step, place));
  SmallVector<llvm::Value *> parts;
  for (int64_t i = 0; i < address.step; ++i)
    parts.push_back(read(i * state.lanes, state.lanes));
  for (; parts.size() > 1; place /= 2) {
    SmallVector<int> half = every(2, place % 2);
    for (size_t i = 0; i < parts.size(); i += 2)
      parts[i / 2] = b.CreateShuffleVector(parts[i], parts[i + 1], half);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

Lanes Evaluator::loadNear(const Address &address) {
  if (threads || address.exists || address.global || address.isVolatile)
    return nullptr;
  if (address.offsets)
    return loadSpread(address);
  bool every = llvm::isPowerOf2_64(address.step) && address.step <= (inRows(address) ? mostPlaces : mostStep);
  return every ? everyStepth(address) : nullptr;
}

Lanes Evaluator::loadSpread(const Address &address) {
  auto &b = e.b;
  auto *offsets = llvm::dyn_cast<llvm::Constant>(address.offsets);
  if (!offsets)
    return nullptr;
  SmallVector<int64_t> places;
  for (unsigned l = 0; l < state.lanes; ++l) {
    auto *distance = llvm::dyn_cast_or_null<llvm::ConstantInt>(offsets->getAggregateElement(l));
    if (!distance)
      return nullptr;
    places.push_back(distance->getSExtValue() + address.step * int64_t(l));
  }
  int64_t lanes = state.lanes, least = *llvm::min_element(places), greatest = *llvm::max_element(places);
  // Vectors as they lie where others read them, too.
  int64_t from = least >= 0 && greatest < lanes ? 0 : least;
  if (greatest - from >= 2 * lanes)
    return nullptr;
  llvm::Type *element = e.memoryType(address.element);
  auto vector = [&](int64_t first) -> llvm::Value * {
    auto *read = b.CreateAlignedLoad(e.vectorOf(element, state.lanes), b.CreateConstGEP1_64(element, address.pointer, first),
                                     llvm::Align(address.alignment));
    address.annotate(read);
    return read;
  };
  SmallVector<int> order;
  for (int64_t place : places)
    order.push_back(int(place - from));
  llvm::Value *first = vector(from);
  return greatest - from < lanes ? b.CreateShuffleVector(first, order)
                                 : b.CreateShuffleVector(first, vector(from + lanes), order);
}

} // namespace tilery::lower
