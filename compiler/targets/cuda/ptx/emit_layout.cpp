#include "compiler/targets/cuda/ptx/emit_layout.h"
#include "llvm/Support/MathExtras.h"
#include <map>

namespace tilery::cuda {
namespace {
using layout::Layout;

bool isPowerOfTwo(int64_t x) { return llvm::isPowerOf2_64(uint64_t(x)); }
int log2Of(int64_t x) { return int(llvm::Log2_64(uint64_t(x))); }

/// number * 2^shift for shift of either sign.
llvm::Value *shifted(llvm::IRBuilder<> &b, llvm::Value *number, int shift) {
  return shift > 0 ? b.CreateShl(number, shift) : shift < 0 ? b.CreateLShr(number, -shift) : number;
}

/// One output. Bits that keep their distance are moved together: that is what "chunk xor row" is.
class Coordinate {
public:
  Coordinate(llvm::IRBuilder<> &b, llvm::Type *type) : b(b), type(type) {}

  void addAxis(llvm::ArrayRef<Layout::Digit> digits, unsigned output, llvm::Value *number) {
    std::map<int, int64_t> added, flipped; // shift -> bits of the number
    int64_t place = 1;
    for (const Layout::Digit &digit : digits) {
      int64_t step = digit.step[output], flips = digit.flips[output];
      if (step && isPowerOfTwo(place) && isPowerOfTwo(digit.extent) && isPowerOfTwo(step))
        added[log2Of(step) - log2Of(place)] |= (digit.extent - 1) * place;
      else if (step)
        add(b.CreateMul(digitOf(number, place, digit.extent), constant(step)));
      for (int64_t bit = 1; bit <= flips; bit <<= 1)
        if (flips & bit) {
          if (isPowerOfTwo(place))
            flipped[log2Of(bit) - log2Of(place)] |= place;
          else
            exclusive = flip(exclusive, b.CreateMul(digitOf(number, place, 2), constant(bit)));
        }
      place *= digit.extent;
    }
    for (auto [shift, bits] : added)
      add(shifted(b, b.CreateAnd(number, constant(bits)), shift));
    for (auto [shift, bits] : flipped)
      exclusive = flip(exclusive, shifted(b, b.CreateAnd(number, constant(bits)), shift));
  }

  llvm::Value *value() {
    if (exclusive)
      add(exclusive);
    return !sum ? constant(known) : known ? b.CreateAdd(sum, constant(known)) : sum;
  }

private:
  /// Constants come last, so that places that differ in them have all else in common.
  void add(llvm::Value *term) {
    if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(term))
      known += fixed->getSExtValue();
    else
      sum = sum ? b.CreateAdd(sum, term) : term;
  }
  llvm::Constant *constant(int64_t x) { return llvm::ConstantInt::get(type, uint64_t(x)); }
  llvm::Value *digitOf(llvm::Value *number, int64_t place, int64_t extent) {
    return b.CreateURem(b.CreateUDiv(number, constant(place)), constant(extent));
  }
  llvm::Value *flip(llvm::Value *a, llvm::Value *c) { return a ? b.CreateXor(a, c) : c; }

  llvm::IRBuilder<> &b;
  llvm::Type *type;
  llvm::Value *sum = nullptr, *exclusive = nullptr;
  int64_t known = 0; // beside the sum
};

llvm::Value *coordinateOf(llvm::IRBuilder<> &b, const Layout &canonical, unsigned output,
                          llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place) {
  Coordinate coordinate(b, place.front().second->getType());
  for (auto [axis, number] : place)
    coordinate.addAxis(canonical.digits(axis), output, number);
  return coordinate.value();
}
} // namespace

llvm::SmallVector<llvm::Value *, 2> emitLayout(llvm::IRBuilder<> &b, const Layout &layout,
                                               llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place) {
  Layout canonical = layout.canonical();
  llvm::SmallVector<llvm::Value *, 2> result;
  for (unsigned d = 0; d < layout.outputs().size(); ++d)
    result.push_back(coordinateOf(b, canonical, d, place));
  return result;
}

SplitPlaces::SplitPlaces(const Layout &places) : varying(places.outputs()), added(places.outputs()) {
  Layout canonical = places.canonical();
  for (const Layout::Input &input : canonical.inputs())
    for (const Layout::Digit &digit : input.digits) {
      bool adds = input.axis == layout::Register && !digit.hasFlips();
      Layout::Digit none{digit.extent, Layout::Vector(digit.step.size(), 0), Layout::Vector(digit.step.size(), 0)};
      varying.add(input.axis, adds ? none : digit);
      added.add(input.axis, adds ? digit : none);
    }
}

llvm::Value *emitCoordinate(llvm::IRBuilder<> &b, const Layout &layout, unsigned output,
                            llvm::ArrayRef<std::pair<layout::Axis, llvm::Value *>> place) {
  return coordinateOf(b, layout.canonical(), output, place);
}

} // namespace tilery::cuda
