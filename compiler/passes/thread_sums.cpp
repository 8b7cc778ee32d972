#include "compiler/passes/thread_sums.h"
#include "compiler/analysis/index_polynomial.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilery::tile;

namespace tilery::passes {

ThreadSums::ThreadSums(ThreadsOp threads, ArrayRef<Operation *> ops, const analysis::Divergence &divergence,
                       ArrayRef<int64_t> strides)
    : threads(threads), thread(threads.getBody().getArgument(0)), ops(ops), divergence(divergence), strides(strides) {
  int64_t outer = threads.getCount();
  for (int64_t stride : strides) {
    places.push_back(addDigit(outer / stride));
    outer = stride;
  }
}

unsigned ThreadSums::addDigit(int64_t extent) {
  entries.push_back({extent, Value()});
  return unsigned(entries.size() - 1);
}

int64_t ThreadSums::extentOf(ArrayRef<unsigned> digits) const {
  int64_t product = 1;
  for (unsigned digit : digits)
    product *= extent(digit);
  return product;
}

bool ThreadSums::isInside(Operation *op) const {
  return llvm::any_of(ops, [&](Operation *top) { return top->isAncestor(op); });
}

bool ThreadSums::isAlike(Value value) const {
  Operation *at = value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp();
  bool isOutside = !threads->isProperAncestor(at) && value != thread;
  return isOutside || (!divergence.varies(value) && !isInside(at));
}

bool ThreadSums::mayRepeat(Operation *op) const {
  if (isa<LoadOp>(op))
    return isInside(op) && !cast<LoadOp>(op).getIsVolatile();
  if (auto load = dyn_cast<ElementLoadOp>(op))
    return isInside(op) && !divergence.isOwn(load.getBuffer());
  return isPure(op);
}

std::optional<Sum> ThreadSums::of(Value value) {
  using Kind = analysis::IntegerOp::Kind;
  if (value == thread) {
    Sum sum;
    for (auto [place, stride] : llvm::zip_equal(places, strides))
      sum = sum + Sum(stride) * Sum::of(place);
    return sum;
  }
  analysis::IntegerOp op = analysis::integerOpOf(value);
  if (op.kind == Kind::constant)
    return Sum(op.number);
  if (isAlike(value)) {
    auto [found, isNew] = numbers.try_emplace(value, unsigned(entries.size()));
    if (isNew)
      entries.push_back({0, value});
    return Sum::of(found->second);
  }
  if (op.kind == Kind::extend)
    return of(op.lhs);
  if (op.kind != Kind::add && op.kind != Kind::subtract && op.kind != Kind::multiply)
    return counted(value);
  std::optional<Sum> x = of(op.lhs), y = of(op.rhs);
  if (!x || !y)
    return std::nullopt;
  return op.kind == Kind::add ? *x + *y : op.kind == Kind::subtract ? *x - *y : *x * *y;
}

/// Counters of loops, and quotients and rests of sums by constants.
std::optional<Sum> ThreadSums::counted(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar() || !isInside(loop))
      return std::nullopt;
    auto first = analysis::constantOf(loop.getLowerBound()), end = analysis::constantOf(loop.getUpperBound()),
         step = analysis::constantOf(loop.getStep());
    if (first != 0 || step != 1 || end.value_or(0) < 1)
      return std::nullopt;
    auto [found, isNew] = numbers.try_emplace(value, unsigned(entries.size()));
    if (isNew)
      entries.push_back({*end, Value()});
    return Sum::of(found->second);
  }
  Operation *op = value.getDefiningOp();
  auto divide = dyn_cast<DivOp>(op);
  auto rest = dyn_cast<RemOp>(op);
  auto shift = dyn_cast<ShiftOp>(op);
  auto bits = dyn_cast<arith::AndIOp>(op);
  if (!((divide && divide.getMode() == IntDivMode::floor) || (rest && rest.getMode() == IntDivMode::floor) ||
        (shift && shift.getMode() == ShiftMode::right_signed) || bits))
    return std::nullopt;
  std::optional<Sum> sum = of(op->getOperand(0));
  std::optional<int64_t> by = analysis::constantOf(op->getOperand(1));
  if (!sum || !by || *by < 0 || (shift && *by > 30) || (bits && !llvm::isPowerOf2_64(*by + 1)))
    return std::nullopt;
  return quotient(*sum, shift ? int64_t(1) << *by : bits ? *by + 1 : *by, rest || bits);
}

/// What `by` divides, and a rest that is at least 0 and less than it.
std::optional<Sum> ThreadSums::quotient(const Sum &sum, int64_t by, bool wantsRest) const {
  if (by < 1)
    return std::nullopt;
  Sum whole, rest;
  int64_t most = 0;
  for (auto &[atoms, factor] : sum.terms()) {
    if (factor % by == 0) {
      whole = whole + Sum::term(atoms, factor / by);
      continue;
    }
    rest = rest + Sum::term(atoms, factor);
    if (factor < 0 || atoms.size() > 1 || (atoms.size() == 1 && !isDigit(atoms[0])))
      return std::nullopt;
    most += atoms.empty() ? factor : factor * (extent(atoms[0]) - 1);
  }
  if (most >= by)
    return std::nullopt;
  return wantsRest ? rest : whole;
}

std::optional<SmallVector<unsigned>> ThreadSums::countOf(const Sum &sum, Sum &begin) const {
  SmallVector<std::pair<int64_t, unsigned>> found;
  for (auto &[atoms, factor] : sum.terms()) {
    if (llvm::none_of(atoms, [&](unsigned number) { return isDigit(number); }))
      begin = begin + Sum::term(atoms, factor);
    else if (atoms.size() > 1)
      return std::nullopt;
    else if (extent(atoms[0]) > 1)
      found.emplace_back(factor, atoms[0]);
  }
  llvm::sort(found);
  SmallVector<unsigned> digits;
  int64_t weight = 1;
  for (auto [factor, digit] : found) {
    if (factor != weight)
      return std::nullopt;
    weight *= extent(digit);
    digits.push_back(digit);
  }
  return digits;
}

bool isNumberOf(ThreadsOp threads, Value index, std::optional<int64_t> &more) {
  auto thread = analysis::IndexPolynomial::of(threads.getBody().getArgument(0));
  std::optional<int64_t> apart = (analysis::polynomialOf(index) - thread).constant();
  if (!more)
    more = apart;
  return apart && apart == more;
}

} // namespace tilery::passes
