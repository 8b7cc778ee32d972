#include "compiler/ir/associates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::tile {
namespace {
constexpr unsigned mostValues = 2, groups = 3;
constexpr int notANumber = groups;
using Group = std::array<int, mostValues>; // from which group each value is
using Ranks = std::array<int, groups>;     // a value's place in the order, group by group

/// The region on values of which nothing is known but their order.
class Orders {
public:
  explicit Orders(Block &block) : block(block), count(block.getNumArguments() / 2) {}

  /// Whether it does nothing but compare and choose.
  bool read() {
    if (!count || count > mostValues)
      return false;
    for (BlockArgument argument : block.getArguments()) {
      Type type = argument.getType();
      if (type.isInteger(1) || !(type.isIntOrIndex() || isa<FloatType>(type)))
        return false;
      valueOf[argument] = argument.getArgNumber() % count;
    }
    for (Operation &op : block.without_terminator())
      if (!read(&op))
        return false;
    for (auto [i, yielded] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (auto known = valueOf.find(yielded); known == valueOf.end() || known->second != i)
        return false;
    return true;
  }

  /// Whether the bracketing makes no difference, whatever the order of three groups is.
  bool holds() {
    SmallVector<SmallVector<Ranks>> ranks;
    for (unsigned i = 0; i < count; ++i)
      ranks.push_back(allRanks(isa<FloatType>(block.getArgument(i).getType())));
    if (count == 1)
      ranks.push_back({Ranks{}});
    Group a{}, b{1, 1}, c{2, 2};
    for (const Ranks &first : ranks[0])
      for (const Ranks &second : ranks[1]) {
        rank = {first, second};
        if (combine(combine(a, b), c) != combine(a, combine(b, c)))
          return false;
      }
    return true;
  }

private:
  bool read(Operation *op) {
    APInt constant;
    auto isDecision = [&](Value value) {
      return decisions.contains(value) || (value.getType().isInteger(1) && matchPattern(value, m_ConstantInt(&constant)));
    };
    if (isa<arith::CmpFOp, arith::CmpIOp>(op)) {
      auto left = valueOf.find(op->getOperand(0)), right = valueOf.find(op->getOperand(1));
      if (left == valueOf.end() || right == valueOf.end() || left->second != right->second)
        return false;
      if (auto compare = dyn_cast<arith::CmpIOp>(op); compare && compare.getPredicate() > arith::CmpIPredicate::ne) {
        auto [signs, fresh] = isUnsigned.try_emplace(left->second, compare.getPredicate() > arith::CmpIPredicate::sge);
        if (signs->second != (compare.getPredicate() > arith::CmpIPredicate::sge))
          return false; // two orders
      }
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      auto left = valueOf.find(select.getTrueValue()), right = valueOf.find(select.getFalseValue());
      if (!isDecision(select.getCondition()))
        return false;
      if (left != valueOf.end() && right != valueOf.end() && left->second == right->second) {
        unsigned of = left->second;
        valueOf[select.getResult()] = of;
        return true;
      }
      if (!isDecision(select.getTrueValue()) || !isDecision(select.getFalseValue()))
        return false;
    } else if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) {
      if (!llvm::all_of(op->getOperands(), isDecision))
        return false;
    } else {
      return isDecision(op->getResult(0));
    }
    decisions.insert(op->getResult(0));
    return true;
  }

  /// Every order of three values, equal ones and (of floats) NaNs among them.
  static SmallVector<Ranks> allRanks(bool floats) {
    SmallVector<Ranks> all;
    int most = floats ? notANumber : notANumber - 1;
    for (int x = 0; x <= most; ++x)
      for (int y = 0; y <= most; ++y)
        for (int z = 0; z <= most; ++z)
          all.push_back({x, y, z});
    // Ranks without gaps: others say the same once more.
    llvm::erase_if(all, [](const Ranks &ranks) {
      return llvm::any_of(ranks, [&](int of) { return of && of != notANumber && !llvm::is_contained(ranks, of - 1); });
    });
    return all;
  }

  Group combine(const Group &left, const Group &right) {
    llvm::DenseMap<Value, int> known; // a decision, or a value's group
    for (unsigned i = 0; i < count; ++i)
      known[block.getArgument(i)] = left[i], known[block.getArgument(count + i)] = right[i];
    for (Operation &op : block.without_terminator()) {
      auto of = [&](unsigned operand) {
        APInt constant;
        Value value = op.getOperand(operand);
        return matchPattern(value, m_ConstantInt(&constant)) ? int(!constant.isZero()) : known.lookup(value);
      };
      if (op.hasTrait<OpTrait::ConstantLike>())
        continue;
      int result;
      if (isa<arith::SelectOp>(op))
        result = of(0) ? of(1) : of(2);
      else if (isa<arith::AndIOp>(op))
        result = of(0) & of(1);
      else if (isa<arith::OrIOp>(op))
        result = of(0) | of(1);
      else if (isa<arith::XOrIOp>(op))
        result = of(0) ^ of(1);
      else
        result = compare(&op, rank[valueOf.lookup(op.getOperand(0))][of(0)], rank[valueOf.lookup(op.getOperand(0))][of(1)]);
      known[op.getResult(0)] = result;
    }
    Group result{};
    for (unsigned i = 0; i < count; ++i)
      result[i] = known.lookup(block.getTerminator()->getOperand(i));
    return result;
  }

  static bool compare(Operation *op, int x, int y) {
    if (auto integers = dyn_cast<arith::CmpIOp>(op))
      return arith::applyCmpPredicate(integers.getPredicate(), APInt(32, x), APInt(32, y));
    auto number = [](int rank) { return rank == notANumber ? APFloat::getNaN(APFloat::IEEEsingle()) : APFloat(float(rank)); };
    return arith::applyCmpPredicate(cast<arith::CmpFOp>(op).getPredicate(), number(x), number(y));
  }

  Block &block;
  unsigned count;
  llvm::DenseMap<Value, unsigned> valueOf; // which of the group's values it is one of
  llvm::DenseSet<Value> decisions;
  llvm::DenseMap<unsigned, bool> isUnsigned;
  std::array<Ranks, mostValues> rank{};
};
} // namespace

Bracketing bracketingOf(Region &combine) {
  Block &block = combine.front();
  auto ops = block.without_terminator();
  if (llvm::hasSingleElement(ops) && block.getNumArguments() == 2) {
    Operation *op = &*ops.begin();
    bool ofBoth = op->getNumOperands() == 2 && op->getOperand(0) != op->getOperand(1) &&
                  llvm::all_of(op->getOperands(), [](Value value) { return isa<BlockArgument>(value); }) &&
                  block.getTerminator()->getOperand(0) == op->getResult(0);
    if (ofBoth && isa<arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp>(op))
      return Bracketing::choice;
    if (ofBoth && isa<arith::AddIOp, arith::MulIOp, arith::XOrIOp>(op))
      return Bracketing::exact;
  }
  Orders orders(block);
  return orders.read() && orders.holds() ? Bracketing::choice : Bracketing::any;
}

} // namespace tilery::tile
