// Lanes two elements apart: the columns of a convolution with a stride of 2, pairs of neighbours, halves of complex numbers.
#include "compiler/lower/every_second.h"

using namespace mlir;

namespace tilery::lower {

// The second vector begins with the first one's last element, so that nothing behind the last lane's is read. What lies between two elements
// that exist is memory; between others nothing is read.
llvm::Value *loadEverySecond(Emitter &e, const Address &where, unsigned lanes, llvm::Value *exists, llvm::Value *other) {
  auto &b = e.b;
  unsigned narrowest = e.options.target.machine.maskedBits, bytes = elementBytes(where.element);
  if (where.offsets || where.step != 2 || where.isVolatile || lanes < 4 || (exists && (!narrowest || bytes * 8 < narrowest)))
    return nullptr;
  llvm::Type *element = e.memoryType(where.element), *type = e.vectorOf(element, lanes);
  auto read = [&](unsigned first) -> llvm::Value * {
    llvm::Value *from = b.CreateConstInBoundsGEP1_64(element, where.pointer, first);
    llvm::Instruction *part;
    if (exists) {
      SmallVector<int> laneOf; // of each element, `lanes`: none
      for (unsigned i = 0; i < lanes; ++i)
        laneOf.push_back((first + i) % 2 ? int(lanes) : int((first + i) / 2));
      llvm::Value *mask = b.CreateShuffleVector(exists, llvm::Constant::getNullValue(exists->getType()), laneOf);
      part = b.CreateMaskedLoad(type, from, llvm::Align(bytes), mask, llvm::Constant::getNullValue(type));
    } else {
      part = b.CreateAlignedLoad(type, from, llvm::Align(bytes));
    }
    where.annotate(part);
    return part;
  };
  llvm::Value *low = read(0), *high = read(lanes - 1);
  SmallVector<int> places;
  for (unsigned lane = 0; lane < lanes; ++lane)
    places.push_back(2 * lane < lanes ? int(2 * lane) : int(lanes + 2 * lane - (lanes - 1)));
  llvm::Value *result = b.CreateShuffleVector(low, high, places);
  auto *zero = llvm::dyn_cast<llvm::Constant>(other);
  return !exists || (zero && zero->isNullValue()) ? result : b.CreateSelect(exists, result, other);
}

llvm::Value *loadEach(Emitter &e, const Address &where, unsigned lanes) {
  auto &b = e.b;
  llvm::Type *element = e.memoryType(where.element);
  llvm::Value *result = llvm::PoisonValue::get(e.vectorOf(element, lanes)), *apart = e.i64(where.step);
  if (where.offsets && !where.apart)
    return nullptr;
  if (where.apart)
    apart = b.CreateAdd(apart, where.apart);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    llvm::Value *from = b.CreateGEP(element, where.pointer, b.CreateMul(apart, e.i64(lane)));
    auto *read = b.CreateAlignedLoad(element, from, llvm::Align(elementBytes(where.element)));
    where.annotate(read);
    result = b.CreateInsertElement(result, read, uint64_t(lane));
  }
  return result;
}

llvm::Value *loadRepeated(Emitter &e, const Address &where, unsigned lanes, llvm::Value *exists, llvm::Value *other) {
  auto &b = e.b;
  auto *offsets = llvm::dyn_cast_or_null<llvm::Constant>(where.offsets);
  unsigned narrowest = e.options.target.machine.maskedBits, bytes = elementBytes(where.element);
  if (!offsets || where.step || where.isVolatile || (exists && (!narrowest || bytes * 8 < narrowest)))
    return nullptr;
  SmallVector<int> places;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    auto *place = llvm::dyn_cast_or_null<llvm::ConstantInt>(offsets->getAggregateElement(lane));
    int64_t before = places.empty() ? -1 : places.back();
    if (!place || place->getSExtValue() < std::max<int64_t>(before, 0) || place->getSExtValue() > before + 1)
      return nullptr;
    places.push_back(int(place->getSExtValue()));
  }
  llvm::Type *element = e.memoryType(where.element);
  llvm::Instruction *read;
  if (exists) { // what one of its lanes asks for; as many elements as lanes, whose masks LLVM need not take apart
    llvm::Value *none = llvm::Constant::getNullValue(exists->getType()), *mask = nullptr;
    for (unsigned turn = 0; turn < lanes; ++turn) {
      SmallVector<int> laneOf(lanes, int(lanes)); // of each element, `lanes`: none
      for (unsigned lane = turn; lane < lanes; ++lane)
        if (lane - turn == unsigned(llvm::find(places, places[lane]) - places.begin()))
          laneOf[places[lane]] = int(lane);
      if (llvm::all_of(laneOf, [&](int lane) { return lane == int(lanes); }))
        break;
      llvm::Value *asked = b.CreateShuffleVector(exists, none, laneOf);
      mask = mask ? b.CreateOr(mask, asked) : asked;
    }
    llvm::Type *type = e.vectorOf(element, lanes);
    read = b.CreateMaskedLoad(type, where.pointer, llvm::Align(bytes), mask, llvm::Constant::getNullValue(type));
  } else {
    read = b.CreateAlignedLoad(llvm::FixedVectorType::get(element, places.back() + 1), where.pointer, llvm::Align(bytes));
  }
  where.annotate(read);
  llvm::Value *result = b.CreateShuffleVector(read, places);
  return exists ? b.CreateSelect(exists, result, other) : result;
}

} // namespace tilery::lower
