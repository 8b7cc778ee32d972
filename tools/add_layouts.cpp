#include "add_layouts.h"
#include "compiler/block/ir/layouts.h"
#include <map>
#include <random>

using namespace mlir;
using namespace tilery;
using layout::Layout;

namespace {

struct AddLayouts : PassWrapper<AddLayouts, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AddLayouts)
  AddLayouts() = default;
  AddLayouts(const AddLayouts &other) : PassWrapper(other) {}
  Option<unsigned> seed{*this, "seed", llvm::cl::desc("of the random layouts"), llvm::cl::init(0)};

  StringRef getArgument() const final { return "add-layouts"; }
  StringRef getDescription() const final { return "tiles get random layouts (for tests)"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<block::BlockDialect>(); }

  void runOnOperation() final {
    random.seed(seed);
    layouts.clear();
    SmallVector<Operation *> ops;
    getOperation().getBody().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          argument.setType(withLayout(argument.getType()));
      for (Value result : op->getResults())
        result.setType(withLayout(result.getType()));
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
          constant.setValueAttr(dense.reshape(cast<ShapedType>(constant.getType())));
    }
    for (BlockArgument argument : getOperation().getBody().getArguments())
      argument.setType(withLayout(argument.getType()));
    getOperation().setFunctionType(FunctionType::get(&getContext(), getOperation().getBody().front().getArgumentTypes(), {}));
    for (Operation *op : ops)
      follow(op);
  }

  static Type with(Type type, block::LayoutAttr layout) {
    return RankedTensorType::get(tile::shapeOf(type), getElementTypeOrSelf(type), layout);
  }
  Type withLayout(Type type) {
    if (!isa<RankedTensorType>(type))
      return type;
    block::LayoutAttr &layout = layouts[SmallVector<int64_t>(tile::shapeOf(type))];
    if (!layout)
      layout = block::LayoutAttr::get(&getContext(), randomLayout(tile::shapeOf(type)));
    return with(type, layout);
  }

  /// Each element once in registers, lanes and warps; sometimes lanes that hold copies.
  Layout randomLayout(ArrayRef<int64_t> shape) {
    SmallVector<Layout::Output, 2> outputs;
    for (auto [d, extent] : llvm::enumerate(shape))
      outputs.push_back({layout::dim(d), extent});
    std::vector<std::pair<int64_t, Layout::Vector>> digits;
    for (auto [d, extent] : llvm::enumerate(shape))
      for (int64_t step = 1; step < extent;) {
        int64_t rest = extent / step, count = rest % 2 ? rest : 2;
        Layout::Vector vector(shape.size(), 0);
        vector[d] = step;
        digits.push_back({count, vector});
        step *= count;
      }
    std::shuffle(digits.begin(), digits.end(), random);
    Layout result(outputs);
    for (auto &[count, step] : digits)
      result.add(layout::Axis(random() % 3), count, step);
    if (random() % 2)
      result.add(layout::Lane, 2, Layout::Vector(shape.size(), 0));
    return result;
  }

  /// The op's tiles have the layouts that its rule asks for; none where there is no rule.
  void follow(Operation *op) {
    if (OpTrait::hasElementwiseMappableTraits(op) || block::takesAnyLayout(op))
      return; // tiles of one shape have one layout
    auto tile = [](ValueRange values) {
      auto found = llvm::find_if(values, [](Value value) { return isa<RankedTensorType>(value.getType()); });
      return found == values.end() ? block::LayoutAttr() : block::layoutOf((*found).getType());
    };
    block::LayoutAttr operand = tile(op->getOperands()), result = tile(op->getResults());
    if (!operand && !result)
      return;
    if (auto follows = operand ? block::resultLayout(op, operand.getLayout()) : std::nullopt)
      return setResults(op, block::LayoutAttr::get(&getContext(), *follows));
    auto asked = result ? block::operandLayout(op, result.getLayout()) : std::nullopt;
    convertOperands(op, asked ? block::LayoutAttr::get(&getContext(), *asked) : block::LayoutAttr());
    if (!asked)
      setResults(op, {});
  }

  void convertOperands(Operation *op, block::LayoutAttr layout) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        operand.set(block::ConvertOp::create(builder, op->getLoc(), with(operand.get().getType(), layout), operand.get()));
  }
  void setResults(Operation *op, block::LayoutAttr layout) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults())
      if (Type before = result.getType(); isa<RankedTensorType>(before)) {
        result.setType(with(before, layout));
        auto convert = block::ConvertOp::create(builder, op->getLoc(), before, result);
        result.replaceAllUsesExcept(convert, convert);
      }
  }

  std::mt19937 random;
  std::map<SmallVector<int64_t>, block::LayoutAttr> layouts;
};
} // namespace

std::unique_ptr<Pass> tilery::createAddLayouts() { return std::make_unique<AddLayouts>(); }
