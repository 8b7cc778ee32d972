#include "compiler/analysis/magnitude.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/remembered.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilery::analysis {
using Kind = IntegerOp::Kind;
namespace {
class Magnitudes {
public:
  unsigned of(Value value, unsigned depth = 0) {
    if (depth == deepest)
      return typeOf(value);
    return remembered.of(value, depth, [&] { return std::min(typeOf(value), computed(value, depth + 1)); });
  }
  static unsigned typeOf(Value value) {
    Type element = getElementTypeOrSelf(value.getType());
    return element.isInteger() ? std::max(element.getIntOrFloatBitWidth(), 2u) - 1 : unknown;
  }
  /// Of the exact result; nothing for what is no sum, difference or product.
  std::optional<unsigned> exact(const IntegerOp &op, unsigned depth = 0) {
    if (op.kind == Kind::add || op.kind == Kind::subtract)
      return std::max(of(op.lhs, depth), of(op.rhs, depth)) + 1;
    return op.kind == Kind::multiply ? std::optional(of(op.lhs, depth) + of(op.rhs, depth)) : std::nullopt;
  }

private:
  static constexpr unsigned unknown = 64;
  static constexpr unsigned deepest = 10; // each sum of a long chain is asked for by itself

  static unsigned ofNumber(int64_t number) {
    uint64_t size = number < 0 ? 0 - uint64_t(number) : uint64_t(number);
    return size ? llvm::Log2_64(size) + 1 : 0;
  }

  unsigned computed(Value value, unsigned depth) {
    IntegerOp op = integerOpOf(value, Wrapping::any);
    switch (op.kind) {
    case Kind::constant:
      return ofNumber(op.number);
    case Kind::range:
      return ofNumber(std::max<int64_t>(op.number + ShapedType::getNumElements(tile::shapeOf(value.getType())), 0));
    case Kind::extend:
    case Kind::splat:
    case Kind::reindex:
      return of(op.lhs, depth);
    case Kind::add:
    case Kind::subtract:
    case Kind::multiply: {
      unsigned wide = *exact(op, depth); // what does not fit wraps: then its type is all that is known
      return wide <= typeOf(value) ? wide : unknown;
    }
    case Kind::opaque:
      return unknown;
    }
    return unknown;
  }

  Remembered<unsigned, unsigned> remembered;
};
} // namespace

unsigned magnitudeOf(Value value) { return Magnitudes().of(value); }

bool isExact(Value value) {
  IntegerOp op = integerOpOf(value, Wrapping::any);
  if (op.exact)
    return true;
  Magnitudes magnitudes;
  std::optional<unsigned> wide = magnitudes.exact(op);
  return wide && *wide < Magnitudes::typeOf(value);
}

} // namespace tilery::analysis
