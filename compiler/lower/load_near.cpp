// Lanes of scratch memory that lie near each other are read by vector loads and shuffles in registers.
#include "compiler/lower/lane_memory.h"
#include "compiler/lower/read_behind.h"

using namespace mlir;

namespace tilery::lower {

/// Lanes that far apart in scratch memory are read with what lies between them.
constexpr int64_t mostStep = readBehind / 8;
/// And where the elements are one of each row: nothing behind the rows is read.
constexpr int64_t mostPlaces = 16;
static bool inRows(const Address &address) { return address.row && address.place >= 0 && address.place < address.step; }

// All that lies between, then every second of it, and again: vector loads take what single ones would, and other places of the same rows
// take the same vectors and halves. Behind the arena there is room for it.
Lanes LaneMemory::everyStepth(const Address &address) {
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
    for (unsigned lane = 0; lane < width; ++lane)
      places.push_back(int(lane * step + first));
    return places;
  };
  if (elementBytes(address.element) < 4) // permutations of both inputs are several instructions each: fewer of them
    return b.CreateShuffleVector(read(0, width * address.step), every(address.step, place));
  SmallVector<llvm::Value *> parts;
  for (int64_t i = 0; i < address.step; ++i)
    parts.push_back(read(i * width, width));
  for (; parts.size() > 1; place /= 2) {
    SmallVector<int> half = every(2, place % 2);
    for (size_t i = 0; i < parts.size(); i += 2)
      parts[i / 2] = b.CreateShuffleVector(parts[i], parts[i + 1], half);
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

Lanes LaneMemory::loadNear(const Address &address) {
  if (threads || address.exists || address.global || address.isVolatile)
    return nullptr;
  if (address.offsets)
    return loadSpread(address);
  bool every = llvm::isPowerOf2_64(address.step) && address.step <= (inRows(address) ? mostPlaces : mostStep);
  return every ? everyStepth(address) : nullptr;
}

Lanes LaneMemory::loadSpread(const Address &address) {
  auto &b = e.b;
  auto *offsets = llvm::dyn_cast<llvm::Constant>(address.offsets);
  if (!offsets)
    return nullptr;
  SmallVector<int64_t> places;
  for (unsigned l = 0; l < width; ++l) {
    auto *distance = llvm::dyn_cast_or_null<llvm::ConstantInt>(offsets->getAggregateElement(l));
    if (!distance)
      return nullptr;
    places.push_back(distance->getSExtValue() + address.step * int64_t(l));
  }
  int64_t lanes = width, least = *llvm::min_element(places), greatest = *llvm::max_element(places);
  // Vectors as they lie where others read them, too.
  int64_t from = least >= 0 && greatest < lanes ? 0 : least;
  if (greatest - from >= 2 * lanes)
    return nullptr;
  llvm::Type *element = e.memoryType(address.element);
  auto vector = [&](int64_t first) -> llvm::Value * {
    auto *read = b.CreateAlignedLoad(e.vectorOf(element, width), b.CreateConstGEP1_64(element, address.pointer, first),
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
