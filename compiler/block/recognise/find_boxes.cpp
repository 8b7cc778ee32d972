#include "compiler/block/recognise/find_boxes.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/recognise/access_lines.h"
#include "compiler/analysis/divisor.h"
#include "compiler/block/recognise/kernel_work.h"
#include <numeric>

using namespace mlir;

namespace tilery::block {
namespace {
using Monomial = IndexPolynomial::Monomial;
constexpr int64_t copied = 16; // bytes: what addresses and strides of the copy engine are multiples of
constexpr unsigned maxRank = 5;
/// An extent where all lanes exist: coordinates have 32 bits.
IndexPolynomial everything() { return IndexPolynomial(int64_t(1) << 31); }

/// A term of the device's as coefficient * host * device, where "host" is who makes the map.
struct Split {
  int64_t coefficient;
  Monomial host, device;
};

/// True if the value is outside the op's regions.
bool isOutside(Value value, Operation *op) { return !op->isAncestor(value.getParentRegion()->getParentOp()); }

/// Computed from what the kernel has loaded outside the op, from arguments and constants: one number for all coordinates of a tensor.
bool isLoadedNumber(Value value, Operation *op, unsigned depth = 8) {
  if (analysis::hostKnows(Monomial{value}))
    return true;
  Operation *made = value.getDefiningOp();
  if (!made || !depth || isa<RankedTensorType>(value.getType()) || !isOutside(value, op))
    return false;
  if (auto load = dyn_cast<tile::LoadOp>(made))
    return !load.getIsVolatile();
  bool computes = made->hasTrait<OpTrait::ConstantLike>() ||
                  (made->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(made) && made->getNumOperands());
  return computes && llvm::all_of(made->getOperands(), [&](Value each) { return isLoadedNumber(each, op, depth - 1); });
}

/// True if code for a block can compute the value, before it loads anything (or of what it loads outside `loads`).
bool isScalarCode(Value value, Operation *loads, llvm::DenseSet<Value> &known) {
  if (isa<BlockArgument>(value) || !known.insert(value).second)
    return true;
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    auto place = load.getPlace().getDefiningOp<tile::AccessOp>();
    bool isKnown =
        loads ? isOutside(value, loads)
              : place && llvm::all_of(place->getOperands(), [&](Value each) { return isScalarCode(each, loads, known); });
    return isKnown && !load.getIsVolatile() && !isa<RankedTensorType>(value.getType());
  }
  if (SmallVector<tile::LoadOp> inside; isOfNumbers(op, inside)) { // a search for the next step
    bool computes = true;
    op->walk([&](Operation *each) {
      for (Value operand : each->getOperands())
        computes &= op->isAncestor(operand.getParentBlock()->getParentOp()) || isScalarCode(operand, op, known);
    });
    return computes;
  }
  bool computes = isa<tile::ProgramIdOp, tile::NumProgramsOp, arith::ConstantOp>(op) ||
                  (op->hasTrait<OpTrait::Elementwise>() && isMemoryEffectFree(op));
  return computes && !isa<RankedTensorType>(value.getType()) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isScalarCode(operand, loads, known); });
}

/// It is computed from numbers that were loaded, which may be any: not counting those that only decide between others.
bool isOfLoaded(Value value, llvm::DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return false;
  auto any = [&](ValueRange values) { return llvm::any_of(values, [&](Value each) { return isOfLoaded(each, seen); }); };
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (argument && number == 0)
      return any({loop.getLowerBound(), loop.getStep()});
    unsigned carried = argument ? number - 1 : number;
    return any({loop.getInitArgs()[carried], loop.getYieldedValues()[carried]});
  }
  if (argument)
    return false;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return any({branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)});
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return any({select.getTrueValue(), select.getFalseValue()});
  return isa<tile::LoadOp>(op) || (!isa<arith::CmpIOp, arith::CmpFOp>(op) && !op->getNumRegions() && any(op->getOperands()));
}

class BoxFinder {
public:
  BoxFinder(tile::AccessOp access, std::string &why, const MadeMaps &made) : access(access), why(why), made(made) {
    box.made = made.before;
  }

  std::optional<Box> find(ArrayRef<Value> live) {
    if (!findBase() || (box.made && !findStem()))
      return std::nullopt;
    std::optional<AccessLines> found = linesOf(access, live, why);
    if (!found)
      return std::nullopt;
    lines = std::move(found->lines);
    for (auto &[value, divisor] : found->multiples)
      box.conditions.push_back({value, divisor});
    bool done = findInner() && splitOffset(found->notBelow) && bindConditions(found->notBelow) && checkStrides() && checkStarts();
    return done ? std::optional(std::move(box)) : std::nullopt;
  }

private:
  /// Whether who makes the map knows it.
  bool knows(const Monomial &monomial) const {
    return llvm::all_of(
        monomial, [&](Value atom) { return box.made ? isLoadedNumber(atom, made.before) : analysis::hostKnows(Monomial{atom}); });
  }
  bool knows(const IndexPolynomial &p) const {
    return llvm::all_of(p.terms(), [&](auto &term) { return knows(term.first); });
  }
  IndexPolynomial hostPart(const IndexPolynomial &p) const {
    return p.where([&](const Monomial &m) { return knows(m); });
  }
  IndexPolynomial devicePart(const IndexPolynomial &p) const {
    return p.where([&](const Monomial &m) { return !knows(m); });
  }
  SmallVector<Split> splitTerms(const IndexPolynomial &p) const {
    SmallVector<Split> result;
    for (auto &[monomial, coefficient] : p.terms()) {
      Split &split = result.emplace_back(Split{coefficient, {}, {}});
      for (Value atom : monomial)
        (knows(Monomial{atom}) ? split.host : split.device).push_back(atom);
    }
    return result;
  }

  bool no(const std::string &reason) {
    why = reason;
    return false;
  }

  /// The pointer argument that the access starts from, and what was added to it.
  bool findBase() {
    auto sizeOf = [](Value pointer) {
      Type pointee = cast<tile::PtrType>(pointer.getType()).getPointee();
      return pointee.isIntOrFloat() ? int64_t(pointee.getIntOrFloatBitWidth() / 8) : 0;
    };
    box.base = access.getBase();
    bytes = sizeOf(box.base);
    offset = analysis::polynomialOf(access.getOffset());
    while (Operation *op = box.base.getDefiningOp()) {
      if (box.made && !isa<tile::AddPtrOp, tile::PtrCastOp>(op))
        break;
      if (auto add = dyn_cast<tile::AddPtrOp>(op))
        offset = offset + analysis::polynomialOf(add.getOffset());
      else if (!isa<tile::PtrCastOp>(op) || sizeOf(op->getOperand(0)) != bytes)
        return no("its pointer is no argument of the kernel");
      box.base = op->getOperand(0);
    }
    if (box.made) {
      if (!isOutside(box.base, made.before))
        return no("its pointer is another one in each step");
      return bytes || no("its elements are less than a byte");
    }
    if (!isa<tile::KernelOp>(cast<BlockArgument>(box.base).getOwner()->getParentOp()))
      return no("its pointer is no argument of the kernel");
    if (analysis::divisorOf(box.base) % copied)
      return no("its pointer is not known to be a multiple of 16 bytes");
    return bytes || no("its elements are less than a byte");
  }

  /// The argument over which the host makes a map of such boxes, for the device to change.
  bool findStem() {
    for (BlockArgument argument : access->getParentOfType<tile::KernelOp>().getBody().getArguments())
      if (isa<tile::PtrType>(argument.getType()) && analysis::divisorOf(argument) % copied == 0) {
        box.stem = argument;
        return true;
      }
    return no("no pointer is known to be a multiple of 16 bytes");
  }

  /// Makes the tile's dimensions, the one with neighbours in memory first.
  bool findInner() {
    auto inner = std::find_if(lines.rbegin(), lines.rend(), [](const AccessLine &line) { return line.step.constant() == 1; });
    if (inner == lines.rend())
      return no("no dimension's elements are neighbours in memory");
    std::rotate(lines.begin(), std::prev(inner.base()), inner.base());
    for (const AccessLine &line : lines) {
      if (!knows(line.step))
        return no("a stride is not known at the launch");
      BoxDimension &dimension = box.dimensions.emplace_back();
      dimension.stride = line.step;
      dimension.tile = int(line.tile);
    }
    return true;
  }

  /// True where bounds say where the tile's first lane is.
  static bool isFixed(const AccessLine &line) { return line.rows || line.lower || line.upper; }

  void startOf(const AccessLine &line, BoxDimension &dimension) {
    if (line.rows)
      dimension.start = *line.wrapped;
    else if (line.lower)
      dimension.start = IndexPolynomial() - *line.lower;
    else if (line.upper)
      dimension.start = IndexPolynomial() - devicePart(*line.upper);
  }

  /// The offset is a sum of coordinates times strides, and what is left moves the base.
  bool splitOffset(ArrayRef<IndexPolynomial> notBelow) {
    IndexPolynomial rest = offset;
    for (auto [line, dimension] : llvm::zip(lines, box.dimensions)) {
      startOf(line, dimension);
      if (!line.rows)
        rest = rest - dimension.start * dimension.stride;
    }
    joinOpenLines(rest, notBelow);
    if (!addCoordinates(devicePart(rest), notBelow))
      return false;
    keepInside(rest);
    moveBase(hostPart(rest));
    for (auto [line, dimension] : llvm::zip(lines, box.dimensions)) {
      dimension.extent = line.rows ? *line.rows : line.upper ? *line.upper + dimension.start : everything();
      if (!knows(dimension.extent))
        return no("where its lanes end is not known at the launch");
    }
    return true;
  }

  /// Dimensions without bounds take the terms with their stride.
  void joinOpenLines(IndexPolynomial &rest, ArrayRef<IndexPolynomial> notBelow) {
    // What has a bound of its own gets a dimension of its own.
    auto isBound = [&](const Monomial &device) {
      return llvm::any_of(notBelow, [&](const IndexPolynomial &value) {
        return llvm::any_of(splitTerms(devicePart(value)), [&](const Split &split) { return split.device == device; });
      });
    };
    std::optional<int64_t> leastRow;
    for (const AccessLine &line : ArrayRef(lines).drop_front())
      if (auto step = line.step.constant(); step && *step > 0)
        leastRow = std::min(leastRow.value_or(*step), *step);
    SmallVector<unsigned> order; // strides of arguments, constants from the largest on
    for (unsigned d = 0; d < lines.size(); ++d)
      if (!isFixed(lines[d]))
        order.push_back(d);
    auto size = [&](unsigned d) { return lines[d].step.constant().value_or(INT64_MAX); };
    llvm::sort(order, [&](unsigned x, unsigned y) { return size(x) != size(y) ? size(x) > size(y) : x < y; });
    for (unsigned d : order) {
      IndexPolynomial taken;
      for (const Split &split : splitTerms(devicePart(rest))) {
        IndexPolynomial term = termOf(split), left, steps = term.divided(lines[d].step, left);
        bool whole = left.isZero() && llvm::all_of(splitTerms(steps), [](const Split &s) { return s.host.empty(); });
        bool beyond = d == 0 && leastRow && std::abs(split.coefficient) >= *leastRow && split.coefficient * bytes % copied == 0;
        if (whole && !beyond && !isBound(split.device))
          taken = taken + steps;
      }
      box.dimensions[d].start = box.dimensions[d].start + taken;
      rest = rest - taken * lines[d].step;
    }
  }

  static IndexPolynomial termOf(const Split &split) {
    Monomial both;
    std::merge(split.host.begin(), split.host.end(), split.device.begin(), split.device.end(), std::back_inserter(both),
               analysis::DefinedBefore());
    return IndexPolynomial::term(std::move(both), split.coefficient);
  }

  /// The multiple of a coordinate of which a condition tells where it ends: rows, where coordinates are blocks of rows.
  int64_t wholeIn(const IndexPolynomial &start, int64_t common, ArrayRef<IndexPolynomial> notBelow) const {
    for (const IndexPolynomial &value : notBelow) {
      IndexPolynomial rest, times = (IndexPolynomial() - devicePart(value)).divided(start, rest);
      int64_t whole = times.constant().value_or(0);
      if (rest.isZero() && whole > 1 && common % whole == 0)
        return whole;
    }
    return 1;
  }

  /// Terms with the same host factor, up to constants, are one more coordinate.
  bool addCoordinates(const IndexPolynomial &terms, ArrayRef<IndexPolynomial> notBelow) {
    std::map<Monomial, SmallVector<Split>, IndexPolynomial::MonomialLess> groups;
    for (Split &split : splitTerms(terms))
      groups[split.host].push_back(split);
    for (auto &[host, splits] : groups) {
      int64_t common = 0;
      for (const Split &split : splits)
        common = std::gcd(common, split.coefficient);
      if (common <= 0)
        return no("its offset is too large");
      IndexPolynomial start;
      for (const Split &split : splits)
        start = start + IndexPolynomial::term(split.device, split.coefficient / common);
      int64_t whole = wholeIn(start, common, notBelow);
      BoxDimension &dimension = box.dimensions.emplace_back();
      dimension.stride = IndexPolynomial::term(host, common / whole);
      dimension.start = start * IndexPolynomial(whole);
      dimension.extent = everything();
      dimension.mayRepeat = true;
    }
    return box.dimensions.size() <= maxRank || no("it moves along more than five strides");
  }

  /// No base lies in front of its tensor where a coordinate holds what it lies in front: the last turn's, of loops that run backwards.
  void keepInside(IndexPolynomial &rest) {
    IndexPolynomial known = hostPart(rest);
    for (auto &[monomial, coefficient] : known.terms()) {
      if (coefficient > 0)
        continue;
      for (BoxDimension &dimension : box.dimensions) {
        size_t d = &dimension - box.dimensions.begin();
        IndexPolynomial steps = stepsBack(IndexPolynomial::term(monomial, coefficient), dimension.stride);
        analysis::SignAnalysis inside, before;
        if (steps.isZero() || (d < lines.size() && (lines[d].rows || lines[d].lower)) ||
            !inside.notNegative(dimension.start + steps) || !before.notNegative(dimension.start) ||
            inside.assumptions() != before.assumptions())
          continue;
        dimension.start = dimension.start + steps;
        rest = rest - steps * dimension.stride;
        break;
      }
    }
  }

  /// A number of steps, or none, of which at most less than one is too many.
  static IndexPolynomial stepsBack(const IndexPolynomial &term, const IndexPolynomial &stride) {
    if (term.constant() && stride.constant() && *stride.constant() > 1)
      return IndexPolynomial(llvm::divideFloorSigned(*term.constant(), *stride.constant()));
    IndexPolynomial left, steps = term.divided(stride, left);
    return left.isZero() && steps.constant() ? steps : IndexPolynomial();
  }

  /// What the host knows moves the base; what may not be a multiple of 16 bytes moves the first lane.
  void moveBase(const IndexPolynomial &terms) {
    bool mayMove = !lines[0].rows && !lines[0].lower;
    for (auto &[monomial, coefficient] : terms.terms()) {
      IndexPolynomial term = IndexPolynomial::term(monomial, coefficient);
      bool aligned = box.made || analysis::divisorOf(term) * bytes % copied == 0 ||
                     llvm::any_of(ArrayRef(box.dimensions).drop_front(), [&](const BoxDimension &dimension) {
                       IndexPolynomial rest;
                       return !dimension.stride.constant() && (term.divided(dimension.stride, rest), rest.isZero());
                     });
      IndexPolynomial &where = aligned || !mayMove ? box.offset : box.dimensions[0].start;
      where = where + term;
    }
  }

  /// Conditions on all lanes: what always holds, what a launch keeps, ends and beginnings of coordinates.
  bool bindConditions(ArrayRef<IndexPolynomial> notBelow) {
    for (const IndexPolynomial &value : notBelow) {
      if (signs.notNegative(value))
        continue;
      auto coordinates = MutableArrayRef(box.dimensions).drop_front(lines.size());
      auto begins = llvm::find_if(coordinates, [&](const BoxDimension &dimension) { return value == dimension.start; });
      auto ends = llvm::find_if(coordinates, [&](const BoxDimension &dimension) {
        return dimension.extent == everything() && knows(value + dimension.start);
      });
      if (begins != coordinates.end()) {
        begun.insert(begins - box.dimensions.begin());
        begins->mayRepeat = false;
      } else if (ends != coordinates.end()) {
        ends->extent = value + ends->start + IndexPolynomial(1);
        ends->mayRepeat = false;
      } else {
        return no("its mask has a condition on all lanes that is no bound of a coordinate");
      }
    }
    return true;
  }

  /// The promise holds for each row's first lane: of the base where the start is a multiple as well.
  bool isPromised() const {
    return box.made && made.promised >= copied && analysis::divisorOf(box.dimensions[0].start) * bytes % copied == 0;
  }

  /// The base of a map that the device makes.
  bool checkBase() {
    box.guardsBase = !isPromised() && !(analysis::divisorOf(box.base) % copied == 0 && offsetDivides());
    return !box.guardsBase || made.guarded || no("its pointer is not known to be a multiple of 16 bytes");
  }

  /// By what the launch keeps of the arguments in each of its terms.
  bool offsetDivides() {
    int64_t unit = copied / std::gcd(copied, bytes);
    SmallVector<BoxCondition> needed;
    for (auto &[monomial, coefficient] : box.offset.terms()) {
      if (analysis::divisorOf(IndexPolynomial::term(monomial, coefficient)) % unit == 0)
        continue;
      Monomial host;
      llvm::copy_if(monomial, std::back_inserter(host), [](Value atom) { return analysis::hostKnows(Monomial{atom}); });
      if (host.empty())
        return false;
      needed.push_back({IndexPolynomial::term(host, coefficient), unit});
    }
    for (const BoxCondition &condition : needed)
      if (!llvm::any_of(box.conditions, [&](const BoxCondition &other) {
            return other.divisor == condition.divisor && other.value == condition.value;
          }))
        box.conditions.push_back(condition);
    return true;
  }

  /// Strides and the offset: multiples of 16 bytes, and strides not negative.
  bool checkStrides() {
    if (box.made && !checkBase())
      return false;
    auto aligned = [&](const IndexPolynomial &elements) {
      int64_t divisor = copied / std::gcd(copied, bytes);
      if (analysis::divisorOf(elements) % divisor == 0 || isPromised())
        return true;
      if (elements.constant() || !(analysis::hostKnows(elements) || made.guarded))
        return false;
      (analysis::hostKnows(elements) ? box.conditions : box.guards).push_back({elements, divisor});
      return true;
    };
    for (const BoxDimension &dimension : ArrayRef(box.dimensions).drop_front()) {
      if (!aligned(dimension.stride))
        return no(dimension.stride.constant()
                      ? "a stride of " + std::to_string(*dimension.stride.constant() * bytes) + " bytes is no multiple of 16"
                      : "a stride that is loaded is not known to be a multiple of 16 bytes");
      IndexPolynomial least = dimension.mayRepeat ? dimension.stride : dimension.stride - IndexPolynomial(1);
      bool isLoaded = !analysis::hostKnows(least); // rows that a promise holds for follow each other
      if (isLoaded && made.guarded)
        box.guards.push_back({least, 0});
      else if (!isLoaded && !signs.notNegative(least))
        return no("its elements lie backwards, or in one place");
    }
    return box.made || aligned(box.offset) || no("it begins between multiples of 16 bytes");
  }

  /// Where the tensor begins bounds nothing, coordinates must not be negative.
  bool checkStarts() {
    llvm::DenseSet<Value> known;
    // Addresses may wrap around (ragged descriptors count on it), what the host computes may not.
    constexpr int64_t large = int64_t(1) << 30;
    for (auto &[monomial, coefficient] : box.offset.terms())
      if (!box.made && !monomial.empty() && (coefficient >= large || coefficient <= -large))
        return no("its offset may have more than 64 bits");
    for (auto [d, dimension] : llvm::enumerate(box.dimensions)) {
      if (!dimension.start.all([&](Value atom) { return isScalarCode(atom, made.before, known); }))
        return no("its place depends on what is loaded");
      llvm::DenseSet<Value> seen;
      dimension.isLoaded = !dimension.start.all([&](Value atom) { return !isOfLoaded(atom, seen); });
      dimension.mayBeNegative = d < lines.size() ? lines[d].lower.has_value() : begun.contains(d);
      if (dimension.mayBeNegative || signs.notNegative(dimension.start))
        continue;
      // The base moves by multiples of 16 bytes alone.
      if (!box.made || (d == 0 && analysis::divisorOf(dimension.start) * bytes % copied))
        return no("a coordinate may be negative");
      dimension.shifts = true;
    }
    for (const BoxDimension &dimension : box.dimensions)
      if (dimension.extent.constant().value_or(1) < 1)
        return no("it has no lanes");
      else if (!dimension.extent.constant() && analysis::hostKnows(dimension.extent)) // the copy engine knows no empty tensor
        need(dimension.extent - IndexPolynomial(1));
    llvm::for_each(signs.assumptions(), [&](const IndexPolynomial &value) { need(value); });
    return true;
  }

  /// A launch keeps this value from being negative, unless another condition says so already.
  void need(const IndexPolynomial &value) {
    bool known = llvm::any_of(box.conditions, [&](const BoxCondition &other) {
      return !other.divisor && (value - other.value).constant().value_or(-1) >= 0;
    });
    if (!known)
      box.conditions.push_back({value, 0});
  }

  tile::AccessOp access;
  std::string &why;
  const MadeMaps &made;
  Box box;
  SmallVector<AccessLine, 4> lines; // of box.dimensions, as many as there are
  int64_t bytes = 0;                // of an element
  IndexPolynomial offset;           // elements from the argument
  analysis::SignAnalysis signs;
  llvm::DenseSet<unsigned> begun; // coordinates that may be negative: no lane exists there
};
} // namespace

BoxDimension &Box::along(unsigned tile) {
  return *llvm::find_if(dimensions, [&](const BoxDimension &dimension) { return dimension.tile == int(tile); });
}

void Box::renumber(ArrayRef<int> numbers) {
  for (BoxDimension &dimension : dimensions)
    if (dimension.tile >= 0)
      dimension.tile = numbers[dimension.tile];
}

std::optional<Box> findBox(tile::AccessOp access, std::string &why, ArrayRef<Value> live, const MadeMaps &made) {
  if (const char *none = whyNoBoxes(access)) {
    why = none;
    return std::nullopt;
  }
  std::optional<Box> box = BoxFinder(access, why, {}).find(live);
  if (box || !made.before)
    return box;
  std::string other;
  box = BoxFinder(access, other, made).find(live);
  auto isLoaded = [](const IndexPolynomial &p) { return !analysis::hostKnows(p); };
  bool needs = box && (!isa<BlockArgument>(box->base) || isLoaded(box->offset) ||
                       !isa<tile::KernelOp>(cast<BlockArgument>(box->base).getOwner()->getParentOp()) ||
                       llvm::any_of(box->dimensions, [&](const BoxDimension &dimension) {
                         return isLoaded(dimension.stride) || isLoaded(dimension.extent);
                       }));
  if (!needs) // the host would know all of it: it is no box for another reason
    return std::nullopt;
  return box;
}

int64_t promisedOf(Operation *op) {
  auto promised = op->getAttrOfType<IntegerAttr>("tile.aligned");
  return promised ? promised.getInt() : 1;
}

} // namespace tilery::block
