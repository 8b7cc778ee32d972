#include "compiler/passes/thread_sums.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/passes/unroll_arrays.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilery::tile;

namespace tilery::passes {

ThreadSums::ThreadSums(ThreadsOp threads, ArrayRef<Operation *> ops, const analysis::Divergence &divergence,
                       ArrayRef<int64_t> strides)
    : threads(threads), thread(threads.getBody().getArgument(0)), ops(ops), divergence(divergence) {
  int64_t outer = threads.getCount();
  for (int64_t stride : strides) {
    threadNumber = threadNumber + Sum(stride) * numberOf(addNumber(outer / stride));
    outer = stride;
  }
}

SmallVector<unsigned> ThreadSums::addNumber(int64_t extent) {
  SmallVector<unsigned> digits;
  for (int64_t prime = 2; extent > 1; ++prime)
    for (prime = prime * prime > extent ? extent : prime; extent % prime == 0; extent /= prime) {
      digits.push_back(unsigned(entries.size()));
      entries.push_back({prime, Value()});
    }
  return digits;
}

Sum ThreadSums::numberOf(ArrayRef<unsigned> digits) const {
  Sum number;
  int64_t weight = 1;
  for (unsigned digit : digits) {
    number = number + Sum(weight) * Sum::of(digit);
    weight *= extent(digit);
  }
  return number;
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
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Sum> sum = find(value);
  known.try_emplace(value, sum);
  return sum;
}

std::optional<Sum> ThreadSums::find(Value value) {
  using Kind = analysis::IntegerOp::Kind;
  if (value == thread)
    return threadNumber;
  analysis::IntegerOp op = analysis::integerOpOf(value);
  if (op.kind == Kind::constant)
    return Sum(op.number);
  if (std::optional<int64_t> number = foldedNumber(value))
    return Sum(*number);
  if (isAlike(value)) {
    auto [found, isNew] = numbers.try_emplace(value, Sum::of(unsigned(entries.size())));
    if (isNew)
      entries.push_back({0, value});
    return found->second;
  }
  if (op.kind == Kind::extend)
    return of(op.lhs);
  if (op.kind != Kind::add && op.kind != Kind::subtract && op.kind != Kind::multiply)
    return counted(value);
  std::optional<Sum> x = of(op.lhs), y = of(op.rhs);
  constexpr size_t many_terms = 256;
  if (!x || !y || (op.kind == Kind::multiply && x->terms().size() * y->terms().size() > many_terms))
    return std::nullopt;
  return op.kind == Kind::add ? *x + *y : op.kind == Kind::subtract ? *x - *y : *x * *y;
}

std::optional<Sum> ThreadSums::ofEach(ArrayRef<Value> values, ArrayRef<unsigned> number) {
  std::optional<Sum> first = of(values[0]);
  if (!first)
    return std::nullopt;
  SmallVector<int64_t> steps; // of the digits
  Sum sum = *first;
  for (int64_t at = 1; unsigned digit : number) {
    std::optional<Sum> own = of(values[at]);
    std::optional<int64_t> step = own ? (*own - *first).constant() : std::nullopt;
    if (!step)
      return std::nullopt;
    steps.push_back(*step);
    sum = sum + Sum(*step) * Sum::of(digit);
    at *= extent(digit);
  }
  for (auto [at, value] : llvm::enumerate(values)) {
    std::optional<Sum> own = of(value);
    int64_t expected = 0, left = int64_t(at);
    for (auto [digit, step] : llvm::zip_equal(number, steps)) {
      expected += left % extent(digit) * step;
      left /= extent(digit);
    }
    if (!own || (*own - *first).constant() != expected)
      return std::nullopt;
  }
  return sum;
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
    auto [found, isNew] = numbers.try_emplace(value);
    if (isNew)
      found->second = numberOf(addNumber(*end));
    return found->second;
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
    int64_t left = atoms.empty() ? llvm::mod(factor, by) : factor % by ? factor : 0;
    if (left != factor)
      whole = whole + Sum::term(atoms, (factor - left) / by);
    if (!left)
      continue;
    rest = rest + Sum::term(atoms, left);
    if (left < 0 || atoms.size() > 1 || (atoms.size() == 1 && !isDigit(atoms[0])))
      return std::nullopt;
    most += atoms.empty() ? left : left * (extent(atoms[0]) - 1);
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
