// join-windows: a loop whose turns copy, or multiply, neighbouring windows of buffers does so once, with windows as long as all of them.
//
// `for i: b[:, i * w : (i + 1) * w] = load(..)` is a copy of all of b's columns, and a loop that adds the products of windows along k is one
// product. The whole is the code of the first turn with tiles that are longer in one dimension.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/passes/passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

class Joining {
public:
  explicit Joining(scf::ForOp loop) : loop(loop) {}

  bool run() {
    auto begin = analysis::constantOf(loop.getLowerBound()), end = analysis::constantOf(loop.getUpperBound()),
         step = analysis::constantOf(loop.getStep());
    if (!begin || !end || step != 1 || *begin != 0 || *end < 1 || !loop.getInitArgs().empty())
      return false;
    turns = *end;
    for (Operation &op : loop.getBody()->without_terminator())
      if (!isJoined(op))
        return false;
    if (written.empty() || llvm::any_of(read, [&](Value buffer) { return written.contains(buffer); }))
      return false;
    write();
    return true;
  }

private:
  /// How often the scalar grows by each turn, or nothing.
  std::optional<int64_t> growth(Value value) {
    analysis::IndexPolynomial rest;
    Value counter = loop.getInductionVar();
    auto factor = analysis::polynomialOf(value).coefficient(counter, rest).constant();
    bool isLinear = factor && rest.all([&](Value atom) { return !loop->isAncestor(atom.getParentRegion()->getParentOp()); });
    return isLinear ? factor : std::nullopt;
  }

  /// The dimension in which windows that begin so follow each other; all others lie still.
  std::optional<unsigned> moving(ValueRange starts, ArrayRef<int64_t> dims, ArrayRef<int64_t> shape) {
    std::optional<unsigned> found;
    for (auto [k, start] : llvm::enumerate(starts)) {
      std::optional<int64_t> factor = growth(start);
      if (factor == 0)
        continue;
      auto dim = llvm::find(dims, int64_t(k));
      if (!factor || found || dim == dims.end() || llvm::count(dims, int64_t(k)) != 1 || *factor != shape[dim - dims.begin()])
        return std::nullopt;
      found = unsigned(dim - dims.begin());
    }
    return found;
  }

  bool isOutside(Value value) const { return !loop->isAncestor(value.getParentRegion()->getParentOp()); }

  static Value allocationOf(Value buffer) {
    while (auto window = buffer.getDefiningOp<SubviewOp>())
      buffer = window.getBuffer();
    return buffer.getDefiningOp<AllocOp>() ? buffer : Value();
  }

  /// The value is as long as the windows of all turns in the dimension.
  bool lengthen(Value value, std::optional<unsigned> dim) { return dim && longer.insert({value, *dim}).second; }
  std::optional<unsigned> lengthOf(Value value) const {
    auto found = longer.find(value);
    return found == longer.end() ? std::nullopt : std::optional(found->second);
  }

  bool isJoined(Operation &op) {
    if (auto view = dyn_cast<ViewOp>(op))
      return view.getLimits().empty() && !view.getResidual() && isOutside(view.getRoot()) && dilatesByOne(view) &&
             lengthen(view, moving(view.getStarts(), view.getDims(), shapeOf(view.getType().getTileType())));
    if (auto window = dyn_cast<SubviewOp>(op))
      return isOutside(window.getBuffer()) &&
             lengthen(window, moving(window.getOffsets(), window.getDims(), window.getType().getShape())) &&
             coversAll(window, *lengthOf(window));
    if (auto load = dyn_cast<LoadOp>(op))
      return !load.getOther() && !load.getIsVolatile() && lengthen(load, lengthOf(load.getPlace()));
    if (auto load = dyn_cast<BufferLoadOp>(op)) {
      Value buffer = allocationOf(load.getBuffer());
      bool isSum = isOutside(load.getBuffer()) && load->hasOneUse() && isa<DotOp>(*load->user_begin());
      if (buffer && !isSum)
        read.insert(buffer);
      return buffer && (isSum || lengthen(load, lengthOf(load.getBuffer())));
    }
    if (auto permute = dyn_cast<PermuteOp>(op)) {
      std::optional<unsigned> from = lengthOf(permute.getOperand());
      return from && lengthen(permute, unsigned(llvm::find(permute.getOrder(), int64_t(*from)) - permute.getOrder().begin()));
    }
    if (auto dot = dyn_cast<DotOp>(op))
      return isSumOfAll(dot);
    if (auto store = dyn_cast<BufferStoreOp>(op)) {
      Value buffer = allocationOf(store.getBuffer());
      std::optional<unsigned> to = lengthOf(store.getBuffer());
      bool isSum = sums.contains(store.getOperand(1));
      return buffer && !store.getMask() && written.insert(buffer).second && to == lengthOf(store.getOperand(1)) && (to || isSum);
    }
    return isPure(&op) && op.getNumRegions() == 0 && llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  }

  static bool dilatesByOne(ViewOp view) {
    return llvm::all_of(view.getDilations(), [](Value dilation) { return analysis::constantOf(dilation) == 1; });
  }

  /// Elements outside of the buffer do not exist, and are not there for a longer window.
  bool coversAll(SubviewOp window, unsigned dim) {
    int64_t along = window.getDims()[dim];
    auto rest = analysis::polynomialOf(window.getOffsets()[along]) -
                analysis::polynomialOf(loop.getInductionVar()) * analysis::IndexPolynomial(window.getType().getShape()[dim]);
    auto first = rest.constant();
    return first && *first >= 0 &&
           *first + turns * window.getType().getShape()[dim] <= window.getBuffer().getType().getShape()[along];
  }

  /// The window of the first turn begins where the buffer does.
  bool isAtBegin(SubviewOp window) {
    return llvm::all_of(llvm::enumerate(window.getOffsets()), [&](auto offset) {
      return int64_t(offset.index()) == window.getDims()[*lengthOf(window)] || analysis::constantOf(offset.value()) == 0;
    }); // (the moving one does where it covers all)
  }

  /// The product adds to a buffer that it is stored in, or begins it in the first turn.
  bool isSumOfAll(DotOp dot) {
    auto before = dot.getAcc().getDefiningOp<BufferLoadOp>();
    auto store = dot->hasOneUse() ? dyn_cast<BufferStoreOp>(*dot->user_begin()) : BufferStoreOp();
    unsigned rank = cast<RankedTensorType>(dot.getA().getType()).getRank();
    if (!before || before->getBlock() != loop.getBody() || !store || store.getBuffer() != before.getBuffer() ||
        !dot.getLive().empty() || lengthOf(dot.getA()) != rank - 1 || lengthOf(dot.getB()) != rank - 2)
      return false;
    if (Value clear = dot.getClear(); clear && !isOutside(clear)) {
      auto compare = clear.getDefiningOp<arith::CmpIOp>();
      if (!compare || compare.getPredicate() != arith::CmpIPredicate::eq || compare.getLhs() != loop.getInductionVar() ||
          analysis::constantOf(compare.getRhs()) != 0)
        return false;
    } else if (clear && analysis::constantOf(clear) != 0) {
      return false; // each turn begins anew
    }
    return sums.insert(dot).second;
  }

  Type typeOf(Value value) const {
    std::optional<unsigned> dim = lengthOf(value);
    if (!dim)
      return value.getType();
    auto of = [&](ArrayRef<int64_t> from) {
      SmallVector<int64_t> shape(from);
      shape[*dim] *= turns;
      return shape;
    };
    if (auto tile = dyn_cast<RankedTensorType>(value.getType()))
      return RankedTensorType::get(of(tile.getShape()), tile.getElementType());
    if (auto buffer = dyn_cast<BufferType>(value.getType()))
      return BufferType::get(value.getContext(), of(buffer.getShape()), buffer.getElementType(), buffer.getSpace());
    auto view = cast<ViewType>(value.getType());
    return ViewType::get(value.getContext(), of(view.getShape()), view.getElementType());
  }

  void write() {
    OpBuilder b(loop);
    IRMapping whole;
    whole.map(loop.getInductionVar(), loop.getLowerBound());
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto window = dyn_cast<SubviewOp>(op); window && typeOf(window) == window.getBuffer().getType() && isAtBegin(window)) {
        whole.map(window.getResult(), window.getBuffer());
        continue;
      }
      Operation *copy = b.clone(op, whole);
      for (auto [from, to] : llvm::zip(op.getResults(), copy->getResults()))
        to.setType(typeOf(from));
    }
    loop.erase();
  }

  scf::ForOp loop;
  int64_t turns = 0;
  llvm::DenseMap<Value, unsigned> longer;
  llvm::DenseSet<Value> written, read, sums;
};

struct JoinWindows : PassWrapper<JoinWindows, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(JoinWindows)
  StringRef getArgument() const final { return "join-windows"; }
  StringRef getDescription() const final {
    return "loops over neighbouring windows of buffers are copies and products of the whole";
  }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      Joining(loop).run();
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createJoinWindows() { return std::make_unique<JoinWindows>(); }
