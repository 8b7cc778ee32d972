#include "compiler/block/recognise/access_lines.h"
#include "compiler/analysis/divisor.h"

using namespace mlir;

namespace tilery::block {
namespace {
using analysis::polynomialOf;

/// The scalar of a tile with equal lanes, through extensions and shape ops; null: there is none.
Value splatted(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto splat = dyn_cast<tile::SplatOp>(op))
      return splat.getValue();
    if (!isa<arith::ExtSIOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// The same of integers, constants too; nothing: there is none.
std::optional<IndexPolynomial> numberOfAll(Value value) {
  if (DenseElementsAttr constant; matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return IndexPolynomial(constant.getSplatValue<APInt>().getSExtValue());
  Value scalar = splatted(value);
  return scalar ? std::optional(polynomialOf(scalar)) : std::nullopt;
}

Value throughExtensions(Value value) {
  while (auto extend = value.getDefiningOp<arith::ExtSIOp>())
    value = extend.getIn();
  return value;
}

/// Values of which a bound is the least (or the largest), and conditions without which no lane exists.
struct Parts {
  SmallVector<IndexPolynomial> values;
  SmallVector<Value> conditions;
};

bool isZero(Value value) { return analysis::constantOf(value) == 0; }

void upperParts(Value bound, Parts &parts) {
  if (auto least = bound.getDefiningOp<arith::MinSIOp>()) {
    upperParts(least.getLhs(), parts);
    upperParts(least.getRhs(), parts);
  } else if (auto select = bound.getDefiningOp<arith::SelectOp>(); select && isZero(select.getFalseValue())) {
    parts.conditions.push_back(select.getCondition());
    upperParts(select.getTrueValue(), parts);
  } else if (IndexPolynomial value = polynomialOf(bound); !llvm::is_contained(parts.values, value)) {
    parts.values.push_back(value);
  }
}

void lowerParts(Value bound, Parts &parts) {
  if (auto most = bound.getDefiningOp<arith::MaxSIOp>()) {
    lowerParts(most.getLhs(), parts);
    lowerParts(most.getRhs(), parts);
  } else if (IndexPolynomial value = polynomialOf(bound); !llvm::is_contained(parts.values, value)) {
    parts.values.push_back(value);
  }
}

/// A condition as values that are not negative where it holds; false: it has another form.
bool inequalities(Value condition, SmallVectorImpl<IndexPolynomial> &notBelow) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return inequalities(both.getLhs(), notBelow) && inequalities(both.getRhs(), notBelow);
  if (std::optional<int64_t> constant = analysis::constantOf(condition); constant && *constant)
    return true;
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isSignlessInteger())
    return false;
  IndexPolynomial x = polynomialOf(compare.getLhs()), y = polynomialOf(compare.getRhs()), one(1);
  using P = arith::CmpIPredicate;
  switch (compare.getPredicate()) {
  case P::slt:
    notBelow.push_back(y - x - one);
    return true;
  case P::sle:
    notBelow.push_back(y - x);
    return true;
  case P::sgt:
    notBelow.push_back(x - y - one);
    return true;
  case P::sge:
    notBelow.push_back(x - y);
    return true;
  case P::eq:
    notBelow.append({x - y, y - x});
    return true;
  default:
    return false;
  }
}

/// How many rows there are of those that `lanes` name, and their `numbers`: behind the last they begin again (`numbers % rows`), or are one of
/// them, or whatever the program puts there (`numbers < rows ? numbers : 0`).
std::optional<IndexPolynomial> numberOfRows(Value lanes, Value &numbers) {
  if (auto rem = lanes.getDefiningOp<tile::RemOp>()) {
    numbers = rem.getLhs();
    return numberOfAll(rem.getRhs());
  }
  if (auto least = lanes.getDefiningOp<arith::MinSIOp>()) {
    bool isLastLeft = numberOfAll(least.getLhs()).has_value();
    numbers = isLastLeft ? least.getRhs() : least.getLhs();
    std::optional<IndexPolynomial> last = numberOfAll(isLastLeft ? least.getLhs() : least.getRhs());
    return last ? std::optional(*last + IndexPolynomial(1)) : std::nullopt;
  }
  auto select = lanes.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!compare)
    return std::nullopt;
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  bool isSwapped = predicate == P::sgt || predicate == P::sle, isElse = predicate == P::sge || predicate == P::sle;
  if (!isSwapped && predicate != P::slt && predicate != P::sge)
    return std::nullopt;
  numbers = isElse ? select.getFalseValue() : select.getTrueValue();
  if (throughExtensions(isSwapped ? compare.getRhs() : compare.getLhs()) != throughExtensions(numbers))
    return std::nullopt;
  return numberOfAll(throughExtensions(isSwapped ? compare.getLhs() : compare.getRhs()));
}

/// Rows by numbers from `start` on, each a step behind the last, where lanes from `live` on may hold anything and live is at most
/// rows - start.
bool wrap(AccessLine &line, Value lanes, Value live) {
  if (!live)
    return false;
  line.step = IndexPolynomial(1);
  lanes = throughExtensions(lanes);
  if (auto mul = lanes.getDefiningOp<arith::MulIOp>()) {
    Value factor = splatted(mul.getRhs()), rest = mul.getLhs();
    if (!factor)
      factor = splatted(mul.getLhs()), rest = mul.getRhs();
    if (!factor)
      return false;
    line.step = polynomialOf(factor);
    lanes = throughExtensions(rest);
  }
  Value numbers;
  line.rows = numberOfRows(lanes, numbers);
  if (!line.rows)
    return false;
  line.wrapped = IndexPolynomial();
  numbers = throughExtensions(numbers);
  if (auto add = numbers.getDefiningOp<arith::AddIOp>()) {
    Value start = splatted(add.getLhs());
    numbers = add.getRhs();
    if (!start)
      start = splatted(add.getRhs()), numbers = add.getLhs();
    if (!start)
      return false;
    line.wrapped = polynomialOf(start);
  }
  auto range = throughExtensions(numbers).getDefiningOp<tile::RangeOp>();
  Parts most;
  upperParts(live, most);
  return range && range.getStart() == 0 && llvm::is_contained(most.values, *line.rows - *line.wrapped);
}

/// The value is a multiple of so many, where what the host adds to it is, too, which joins `multiples`.
bool isMultiple(const IndexPolynomial &value, int64_t of, AccessLines &lines) {
  IndexPolynomial host;
  for (auto &[monomial, coefficient] : value.terms()) {
    IndexPolynomial term = IndexPolynomial::term(monomial, coefficient);
    if (coefficient % of == 0 || analysis::divisorOf(term) % of == 0)
      continue;
    if (!analysis::hostKnows(monomial))
      return false;
    host = host + term;
  }
  if (host.constant())
    return *host.constant() % of == 0;
  lines.multiples.push_back({host, of});
  return true;
}

/// Lanes from 0 to a constant, of which other bounds, multiples of it, leave all or none: blocks of a tensor that is a number of blocks.
/// These bounds become conditions on all lanes.
void splitBlocks(Parts &lower, Parts &upper, int64_t size, AccessLines &lines) {
  int64_t block = size;
  for (const IndexPolynomial &value : upper.values)
    block = std::min(block, value.constant().value_or(block));
  if (block <= 0 || block == size || upper.values.size() == 1)
    return;
  AccessLines found;
  for (const IndexPolynomial &value : lower.values) {
    if (value.constant().value_or(1) <= 0)
      continue;
    if (!isMultiple(value, block, found))
      return;
    found.notBelow.push_back(IndexPolynomial() - value);
  }
  for (const IndexPolynomial &value : upper.values) {
    if (value.constant().value_or(0) >= block)
      continue;
    if (!isMultiple(value, block, found))
      return;
    found.notBelow.push_back(value - IndexPolynomial(1));
  }
  lower.values.clear();
  upper.values = {IndexPolynomial(block)};
  lines.notBelow.append(found.notBelow);
  lines.multiples.append(found.multiples);
}

/// The bound that is left of several; false: more than one.
bool onlyOne(const Parts &parts, std::optional<IndexPolynomial> &bound, llvm::function_ref<bool(int64_t)> saysNothing) {
  for (const IndexPolynomial &value : parts.values) {
    if (std::optional<int64_t> constant = value.constant(); constant && saysNothing(*constant))
      continue;
    if (bound)
      return false;
    bound = value;
  }
  return true;
}
} // namespace

std::optional<AccessLines> linesOf(tile::AccessOp access, ArrayRef<Value> live, std::string &why) {
  auto no = [&](const char *reason) -> std::optional<AccessLines> {
    why = reason;
    return std::nullopt;
  };
  AccessLines result;
  SmallVector<Value> conditions;
  if (Value residual = access.getResidual()) {
    if (isa<RankedTensorType>(residual.getType()))
      return no("its mask joins several dimensions");
    conditions.push_back(residual);
  }
  ArrayRef<int64_t> shape = cast<tile::AccessType>(access.getType()).getShape();
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (access.getBoundKinds()[d] == 2)
      return no("its mask is not an interval");
    Parts lower, upper;
    if (access.getBoundKinds()[d] == 1) {
      lowerParts(access.getBound(d)[0], lower);
      upperParts(access.getBound(d)[1], upper);
      conditions.append(upper.conditions);
    }
    if (shape[d] == 1) { // its bounds are conditions on all lanes
      for (const IndexPolynomial &value : lower.values)
        result.notBelow.push_back(IndexPolynomial() - value);
      for (const IndexPolynomial &value : upper.values)
        result.notBelow.push_back(value - IndexPolynomial(1));
      if (!access.isStrided(d))
        return no("its addresses are no multiples of a step");
      continue;
    }
    AccessLine line;
    line.tile = d, line.size = shape[d];
    splitBlocks(lower, upper, line.size, result);
    if (!onlyOne(lower, line.lower, [](int64_t from) { return from <= 0; }) ||
        !onlyOne(upper, line.upper, [&](int64_t to) { return to >= line.size; }))
      return no("several bounds meet in one dimension");
    if (access.isStrided(d))
      line.step = polynomialOf(access.getSteps()[d]);
    else if (!wrap(line, access.getSteps()[d], live.empty() ? Value() : live[d]))
      return no("its addresses are no multiples of a step");
    else if (line.lower || line.upper)
      return no("rows that begin again behind the last are masked, too");
    result.lines.push_back(std::move(line));
  }
  for (Value condition : conditions)
    if (!inequalities(condition, result.notBelow))
      return no("its mask has a condition that is no comparison of integers");
  return result;
}

} // namespace tilery::block
