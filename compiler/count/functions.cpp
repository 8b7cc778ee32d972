#include "compiler/count/functions.h"
#include "compiler/ir/Tile.h"

using namespace mlir;

namespace tilery::count {
namespace {

struct Row {
  const char *op, *name;
  double single, real; ///< products of their own type that an element of float32, of float64 takes; less than 0: by a call
  const char *instead;
};

// Measured in rows that lie in the cache, one thread of a Zen 4, by those of a fused product (18 and 35 ps an element).
constexpr Row rows[] = {
    {"arith.divf", "a quotient", 5, 8, "multiply by the reciprocal, where a divisor serves many elements"},
    {"arith.remf", "fmod", 40, -144, "x - y * trunc(x / y) takes a fourth, where quotients are small"},
    {"math.powf", "pow", 87, -310,
     "products for small whole exponents; exp2(y * log2(x)) takes a half, where x is positive and last digits do not matter"},
    {"math.sqrt", "sqrt", 8, 14, ""},
    {"math.rsqrt", "rsqrt", 14, 23, ""},
    {"math.cbrt", "cbrt", 72, -308, "exp2(log2(x) / 3) takes a half, where x is positive and last digits do not matter"},
    {"math.exp", "exp", 12, -110, ""},
    {"math.exp2", "exp2", 12, -128, ""},
    {"math.expm1", "expm1", 32, -214, "exp(x) - 1 takes less than a half, where x is not small"},
    {"math.log", "log", 23, -118, ""},
    {"math.log2", "log2", 25, -124, ""},
    {"math.log10", "log10", 38, -200, "log2(x) * 0.30103 takes two thirds"},
    {"math.log1p", "log1p", 48, -211, "log(1 + x) takes a half, where x is not small"},
    {"math.sin", "sin", 38, -236, ""},
    {"math.cos", "cos", 38, -240, ""},
    {"math.tan", "tan", 74, -287, ""},
    {"math.asin", "asin", 52, -163, ""},
    {"math.acos", "acos", 56, -172, ""},
    {"math.atan", "atan", 47, -241, ""},
    {"math.sinh", "sinh", 52, -321, "with e = exp(x), (e - 1 / e) / 2 takes a half, where x is not small"},
    {"math.cosh", "cosh", 44, -213, "with e = exp(x), (e + 1 / e) / 2 takes a half"},
    {"math.tanh", "tanh", 27, -323, "2 * sigmoid(2 * x) - 1 takes three quarters, where x is not small"},
    {"math.asinh", "asinh", 72, -357, ""},
    {"math.acosh", "acosh", 72, -201, ""},
    {"math.atanh", "atanh", 53, -208, ""},
    {"math.erf", "erf", 31, -229, "x * sigmoid(1.702 * x) takes two thirds of a GELU by erf, where an approximation will do"},
    {"math.erfc", "erfc", -434, -235, "1 - erf(x) takes a tenth, where x is not large"},
};
/// A quotient by what rows or tiles have in common: its reciprocal is taken once.
bool isProduct(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  return quotient && isa_and_present<tile::SplatOp, tile::BroadcastOp, arith::ConstantOp>(quotient.getRhs().getDefiningOp()) &&
         bitEnumContainsAll(quotient.getFastmath(), arith::FastMathFlags::arcp);
}
} // namespace

std::optional<FunctionCost> functionCost(Operation *op) {
  const Row *row = llvm::find_if(rows, [&](const Row &row) { return op->getName().getStringRef() == row.op; });
  if (row == std::end(rows) || isProduct(op))
    return {};
  bool isDouble = getElementTypeOrSelf(op->getResult(0)).isF64();
  double own = isDouble ? row->real : row->single;
  return FunctionCost{row->name, own < 0, std::abs(own) * (isDouble ? 2 : 1), row->instead};
}

} // namespace tilery::count
