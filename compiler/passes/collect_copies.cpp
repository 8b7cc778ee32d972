// collect-copies: loops in which threads copy every element of a window of a buffer become one load and one store of a tile.
//
// Hand-written pipelines copy some elements a thread (`T.ptx_cp_async`), in loops over rows and columns: where an element lies is a sum of
// loops' counters, numbers of threads and of elements, each times a factor. Where these count through the window as the digits of its
// indices do, and step through memory with one stride along each index, the loops copy a box.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/windows.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;
using analysis::IndexPolynomial;
using analysis::IntegerOp;

namespace {

/// Lane `at` of a tile of indices. Nothing: it is no sum of them.
std::optional<IndexPolynomial> laneOf(Value tile, ArrayRef<IndexPolynomial> at) {
  IntegerOp op = analysis::integerOpOf(tile);
  auto both = [&](auto combine) -> std::optional<IndexPolynomial> {
    auto x = laneOf(op.lhs, at), y = laneOf(op.rhs, at);
    return x && y ? std::optional(combine(*x, *y)) : std::nullopt;
  };
  switch (op.kind) {
  case IntegerOp::Kind::constant:
    return IndexPolynomial(op.number);
  case IntegerOp::Kind::splat:
    return analysis::polynomialOf(op.lhs);
  case IntegerOp::Kind::range:
    return at[0] + IndexPolynomial(op.number);
  case IntegerOp::Kind::extend:
    return laneOf(op.lhs, at);
  case IntegerOp::Kind::add:
    return op.exact ? both([](auto &x, auto &y) { return x + y; }) : std::nullopt;
  case IntegerOp::Kind::subtract:
    return op.exact ? both([](auto &x, auto &y) { return x - y; }) : std::nullopt;
  case IntegerOp::Kind::multiply:
    return op.exact ? both([](auto &x, auto &y) { return x * y; }) : std::nullopt;
  case IntegerOp::Kind::reindex:
    break;
  default:
    return std::nullopt;
  }
  SmallVector<IndexPolynomial> inner(at);
  if (auto expanded = dyn_cast<ExpandDimsOp>(op.op)) {
    inner.erase(inner.begin() + expanded.getAxis());
  } else if (auto broadcast = dyn_cast<BroadcastOp>(op.op)) {
    for (auto [d, size] : llvm::enumerate(shapeOf(op.lhs.getType())))
      if (size == 1)
        inner[d] = IndexPolynomial();
  } else {
    return std::nullopt;
  }
  return laneOf(op.lhs, inner);
}

/// One element that iterations store: where to, and which of the tensor's coordinates it comes from.
struct Copied {
  ElementStoreOp store;
  LoadOp load;
  ViewOp view;
  SmallVector<IndexPolynomial> to, from;
};

/// What counts up: a loop, a dimension of the lanes, or the number of an element of a thread.
struct Digit {
  int64_t extent;
  SmallVector<int64_t> to, from; // what a step adds to each index
};

std::optional<int64_t> extentOf(Value counter) {
  auto argument = cast<BlockArgument>(counter);
  Operation *op = argument.getOwner()->getParentOp();
  if (auto parallel = dyn_cast<ParallelOp>(op))
    return analysis::constantOf(parallel.getExtents()[argument.getArgNumber()]);
  auto loop = cast<scf::ForOp>(op);
  auto first = analysis::constantOf(loop.getLowerBound()), end = analysis::constantOf(loop.getUpperBound()),
       step = analysis::constantOf(loop.getStep());
  bool counts = first == 0 && step == 1 && end.value_or(0) > 0 && loop.getInitArgs().empty();
  return counts ? end : std::nullopt;
}

class Collecting {
public:
  explicit Collecting(scf::ForOp nest) : nest(nest) {}

  /// False: the nest does something else besides, and is left as it is.
  bool run() {
    if (!look(*nest.getBody()) || copies.empty() || !extentOf(nest.getInductionVar()))
      return false;
    llvm::MapVector<Value, SmallVector<Copied *>> buffers;
    for (Copied &copied : copies)
      buffers[copied.store.getBuffer()].push_back(&copied);
    std::vector<std::pair<Copied *, Box>> boxes;
    for (auto &[buffer, parts] : buffers) {
      std::optional<Box> box = boxOf(parts);
      if (!box)
        return false;
      boxes.emplace_back(parts[0], *box);
    }
    for (auto &[first, box] : boxes)
      make(*first, box);
    nest.erase();
    return true;
  }

private:
  /// The window of the buffer, and its steps in memory; indices without digits are numbers of the program.
  struct Box {
    SmallVector<int64_t> sizes, dims, strides, roots; // of the window's dimensions: of the buffer, in memory, of the tensor
    SmallVector<IndexPolynomial> to, from;            // where it begins
  };

  bool look(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (!extentOf(loop.getInductionVar()) || !look(*loop.getBody()))
          return false;
      } else if (auto parallel = dyn_cast<ParallelOp>(op)) {
        if (!llvm::all_of(parallel.getBody().getArguments(), extentOf))
          return false;
        for (Operation &inner : parallel.getBody().front())
          if (auto store = dyn_cast<ElementStoreOp>(inner); store ? !add(store) : !isMemoryEffectFree(&inner))
            return false;
      } else if (auto load = dyn_cast<LoadOp>(op); load ? bool(load.getIsVolatile()) : !isMemoryEffectFree(&op)) {
        return false;
      }
    }
    return true;
  }

  bool add(ElementStoreOp store) {
    auto value = store.getValue().getDefiningOp<ExtractOp>();
    auto load = value ? value.getValue().getDefiningOp<LoadOp>() : LoadOp();
    auto view = load ? load.getPlace().getDefiningOp<ViewOp>() : ViewOp();
    if (!view || load.getOther() || !view.getLimits().empty() || view.getResidual() || !nest->isAncestor(load) ||
        nest->isAncestor(store.getBuffer().getDefiningOp()) || !store.getBuffer().getDefiningOp<AllocOp>())
      return false;
    Copied copied{store, load, view, {}, {}};
    SmallVector<IndexPolynomial> lanes;
    for (Value index : value.getIndices())
      lanes.push_back(analysis::polynomialOf(index));
    for (Value index : store.getIndices()) {
      std::optional<IndexPolynomial> place = indexOf(index);
      if (!place)
        return false;
      copied.to.push_back(*place);
    }
    for (Value start : view.getStarts())
      copied.from.push_back(analysis::polynomialOf(start));
    for (auto [d, root] : llvm::enumerate(view.getDims()))
      if (root >= 0)
        copied.from[root] = copied.from[root] + analysis::polynomialOf(view.getDilations()[d]) * lanes[d];
    copies.push_back(std::move(copied));
    return true;
  }

  static std::optional<IndexPolynomial> indexOf(Value index) {
    while (auto wider = index.getDefiningOp<arith::ExtSIOp>())
      index = wider.getIn();
    auto extract = index.getDefiningOp<ExtractOp>();
    if (!extract)
      return analysis::polynomialOf(index);
    SmallVector<IndexPolynomial> at;
    for (Value lane : extract.getIndices())
      at.push_back(analysis::polynomialOf(lane));
    return laneOf(extract.getValue(), at);
  }

  /// The counters around a store, from the nest's on.
  SmallVector<Value> countersOf(ElementStoreOp store) {
    SmallVector<Value> counters;
    for (Operation *op = store->getParentOp(); op != nest->getParentOp(); op = op->getParentOp())
      if (auto parallel = dyn_cast<ParallelOp>(op))
        llvm::append_range(counters, parallel.getBody().getArguments());
      else
        counters.push_back(cast<scf::ForOp>(op).getInductionVar());
    return counters;
  }

  SmallVector<int64_t> extentsOf(ElementStoreOp store) {
    return llvm::map_to_vector(countersOf(store), [](Value counter) { return *extentOf(counter); });
  }

  /// Splits off what a counter adds. False: it is multiplied by something else than a constant.
  static bool split(IndexPolynomial &sum, Value counter, int64_t &factor) {
    IndexPolynomial rest;
    std::optional<int64_t> constant = sum.coefficient(counter, rest).constant();
    factor = constant.value_or(0);
    sum = rest;
    return constant && !sum.uses(counter);
  }

  std::optional<Box> boxOf(ArrayRef<Copied *> parts) {
    Copied first = *parts[0];
    std::vector<Digit> digits;
    for (Value counter : countersOf(first.store)) {
      Digit digit{*extentOf(counter), SmallVector<int64_t>(first.to.size()), SmallVector<int64_t>(first.from.size())};
      for (auto [sum, factor] : llvm::zip_equal(first.to, digit.to))
        if (!split(sum, counter, factor))
          return std::nullopt;
      for (auto [sum, factor] : llvm::zip_equal(first.from, digit.from))
        if (!split(sum, counter, factor))
          return std::nullopt;
      if (digit.extent > 1)
        digits.push_back(digit);
    }
    if (parts.size() > 1 && !addElements(parts, digits))
      return std::nullopt;
    auto isOutside = [&](Value atom) { return !nest->isAncestor(atom.getParentBlock()->getParentOp()); };
    auto isKnown = [&](const IndexPolynomial &sum) { return sum.all(isOutside); };
    if (!llvm::all_of(first.to, isKnown) || !llvm::all_of(first.from, isKnown) ||
        nest->isAncestor(first.view.getRoot().getDefiningOp()))
      return std::nullopt;
    return countThrough(digits, first);
  }

  /// A thread's elements, one store each, as one more digit. They begin with the first.
  bool addElements(ArrayRef<Copied *> parts, std::vector<Digit> &digits) {
    Digit digit{int64_t(parts.size()), {}, {}};
    auto apart = [](ArrayRef<IndexPolynomial> x, ArrayRef<IndexPolynomial> y, SmallVectorImpl<int64_t> &steps) {
      for (auto [a, b] : llvm::zip_equal(x, y)) {
        std::optional<int64_t> step = (b - a).constant();
        if (!step)
          return false;
        steps.push_back(*step);
      }
      return true;
    };
    for (auto [number, part] : llvm::enumerate(parts)) {
      SmallVector<int64_t> to, from;
      if (extentsOf(part->store) != extentsOf(parts[0]->store) || part->view.getRoot() != parts[0]->view.getRoot() ||
          !apart(inTerms(*parts[0], part->store, parts[0]->to), inTerms(*parts[0], part->store, part->to), to) ||
          !apart(inTerms(*parts[0], part->store, parts[0]->from), inTerms(*parts[0], part->store, part->from), from))
        return false;
      if (number == 1)
        digit.to = to, digit.from = from;
      for (size_t i = 0; i < to.size(); ++i)
        if (number > 0 && to[i] != int64_t(number) * digit.to[i])
          return false;
      for (size_t i = 0; i < from.size(); ++i)
        if (number > 0 && from[i] != int64_t(number) * digit.from[i])
          return false;
    }
    digits.push_back(digit);
    return true;
  }

  /// The sums with the lanes of the first part's parallel op in place of the other's.
  SmallVector<IndexPolynomial> inTerms(const Copied &first, ElementStoreOp store, ArrayRef<IndexPolynomial> sums) {
    auto mine = cast<ParallelOp>(ElementStoreOp(first.store)->getParentOp()), other = cast<ParallelOp>(store->getParentOp());
    SmallVector<IndexPolynomial> renamed(sums);
    if (mine == other)
      return renamed;
    for (auto [from, to] : llvm::zip(other.getBody().getArguments(), mine.getBody().getArguments()))
      for (IndexPolynomial &sum : renamed) {
        IndexPolynomial rest, factor = sum.coefficient(from, rest);
        sum = rest + factor * IndexPolynomial::of(to);
      }
    return renamed;
  }

  /// The digits of each index are those of a mixed radix, the last of which is the window's size.
  static std::optional<Box> countThrough(ArrayRef<Digit> digits, const Copied &first) {
    Box box{{}, {}, {}, {}, first.to, first.from};
    SmallVector<bool> used(digits.size(), false);
    for (size_t j = 0; j < first.to.size(); ++j) {
      SmallVector<size_t> own;
      for (auto [number, digit] : llvm::enumerate(digits))
        if (digit.to[j]) {
          if (used[number])
            return std::nullopt;
          used[number] = true;
          own.push_back(number);
        }
      if (own.empty())
        continue;
      llvm::sort(own, [&](size_t x, size_t y) { return digits[x].to[j] < digits[y].to[j]; });
      std::optional<size_t> root;
      for (size_t k = 0; k < first.from.size(); ++k)
        if (digits[own[0]].from[k]) {
          if (root)
            return std::nullopt;
          root = k;
        }
      if (!root || !box.to[j].constant())
        return std::nullopt;
      int64_t size = 1, stride = digits[own[0]].from[*root];
      for (size_t number : own) {
        for (size_t k = 0; k < first.from.size(); ++k)
          if (digits[number].from[k] != (k == *root ? stride * size : 0))
            return std::nullopt;
        if (digits[number].to[j] != size)
          return std::nullopt;
        size *= digits[number].extent;
      }
      box.sizes.push_back(size), box.dims.push_back(int64_t(j)), box.strides.push_back(stride),
          box.roots.push_back(int64_t(*root));
    }
    bool inside = llvm::all_of(llvm::zip_equal(box.dims, box.sizes), [&](auto pair) {
      auto [dim, size] = pair;
      ElementStoreOp store = first.store;
      int64_t begin = *box.to[dim].constant();
      return begin >= 0 && begin + size <= store.getBuffer().getType().getShape()[dim];
    });
    return inside && llvm::all_of(used, [](bool is) { return is; }) ? std::optional(box) : std::nullopt;
  }

  void make(Copied &first, const Box &box) {
    OpBuilder b(nest);
    Location loc = first.store.getLoc();
    auto number = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)).getResult(); };
    auto made = [&](const IndexPolynomial &sum) {
      Value total;
      for (auto &[atoms, factor] : sum.terms()) {
        Value term = factor == 1 && !atoms.empty() ? Value() : number(factor);
        for (Value atom : atoms) {
          Value wide = atom.getType().isInteger(64) ? atom : arith::ExtSIOp::create(b, loc, b.getI64Type(), atom).getResult();
          term = term ? arith::MulIOp::create(b, loc, term, wide, arith::IntegerOverflowFlags::nsw).getResult() : wide;
        }
        total = total ? arith::AddIOp::create(b, loc, total, term, arith::IntegerOverflowFlags::nsw).getResult() : term;
      }
      return total ? total : number(0);
    };
    SmallVector<Value> starts, dilations, offsets;
    llvm::transform(box.from, std::back_inserter(starts), made);
    llvm::transform(box.strides, std::back_inserter(dilations), number);
    llvm::transform(box.to, std::back_inserter(offsets), made);
    Type element = first.view.getType().getElementType();
    auto view = ViewOp::create(b, loc, ViewType::get(box.sizes, element), first.view.getRoot(), starts, dilations, ValueRange(),
                               box.roots);
    Operation *load = b.clone(*first.load);
    load->setOperand(0, view);
    load->getResult(0).setType(
        RankedTensorType::get(box.sizes, cast<RankedTensorType>(load->getResult(0).getType()).getElementType()));
    BufferType buffer = first.store.getBuffer().getType();
    auto part = BufferType::get(box.sizes, buffer.getElementType(), buffer.getSpace());
    Value window = SubviewOp::create(b, loc, part, first.store.getBuffer(), offsets, box.dims);
    BufferStoreOp::create(b, loc, window, load->getResult(0), Value());
  }

  scf::ForOp nest;
  std::vector<Copied> copies;
};

struct CollectCopies : PassWrapper<CollectCopies, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CollectCopies)
  StringRef getArgument() const final { return "collect-copies"; }
  StringRef getDescription() const final { return "loops that copy all elements of a window are one load and one store"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() final {
    SmallVector<scf::ForOp> nests;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForOp loop) { nests.push_back(loop); });
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (scf::ForOp nest : nests) {
      if (gone.contains(nest))
        continue;
      SmallVector<Operation *> inside;
      nest.walk([&](scf::ForOp inner) { inside.push_back(inner); });
      if (Collecting(nest).run())
        gone.insert(inside.begin(), inside.end());
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createCollectCopies() { return std::make_unique<CollectCopies>(); }
