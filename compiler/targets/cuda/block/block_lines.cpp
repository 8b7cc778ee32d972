// What threads combine along a dimension of a tile in registers, and hand to other warps through shared memory.
#include "compiler/targets/cuda/block/block_lines.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"

using namespace mlir;

namespace tilery::cuda {
using layout::Layout;

std::optional<SmallVector<LineDigit>> digitsAlong(const Layout &layout, unsigned dim) {
  Layout canonical = layout.canonical();
  SmallVector<LineDigit> digits;
  for (layout::Axis axis : {layout::Register, layout::Lane, layout::Warp, layout::Block}) {
    int64_t place = 1;
    for (const Layout::Digit &digit : canonical.digits(axis)) {
      if (digit.step[dim] || digit.flips[dim]) {
        bool moves = llvm::any_of(llvm::enumerate(digit.step), [&](auto each) { return each.index() != dim && each.value(); });
        bool isBits = llvm::isPowerOf2_64(digit.extent) && llvm::isPowerOf2_64(place);
        if (digit.hasFlips() || moves || axis == layout::Block || (axis == layout::Lane && !isBits))
          return std::nullopt;
        digits.push_back({axis, place, digit.extent, digit.step[dim]});
      }
      place *= digit.extent;
    }
  }
  llvm::sort(digits, [](const LineDigit &a, const LineDigit &b) { return a.step < b.step; });
  int64_t reached = 1;
  for (const LineDigit &digit : digits)
    reached *= digit.step == reached ? digit.extent : 0;
  return reached == layout.outputs()[dim].extent ? std::optional(digits) : std::nullopt;
}

bool isCombined(Operation *op) {
  auto reduce = dyn_cast<tile::ReduceOp>(op);
  block::LayoutAttr layout = block::layoutOf(op->getOperand(0).getType());
  return layout && digitsAlong(layout.getLayout(), reduce ? reduce.getAxis() : cast<tile::ScanOp>(op).getAxis());
}

static int64_t elementsOf(const Layout &layout) {
  int64_t count = 1;
  for (const Layout::Output &output : layout.outputs())
    count *= output.extent;
  return count;
}

int64_t valuesBetweenWarps(const Layout &layout, unsigned dim, bool scans) {
  int64_t warps = 1, most = 0, all = elementsOf(layout);
  for (const LineDigit &digit : digitsAlong(layout, dim).value_or(SmallVector<LineDigit>()))
    if (digit.axis == layout::Warp) {
      warps *= digit.extent;
      most = std::max(most, all / digit.step);
    }
  return scans ? most : warps > 1 ? all / layout.outputs()[dim].extent * warps : 0;
}

unsigned bytesBetweenWarps(block::RoleOp role) {
  int64_t most = 0;
  role.walk([&](Operation *op) {
    auto reduce = dyn_cast<tile::ReduceOp>(op);
    auto scan = dyn_cast<tile::ScanOp>(op);
    block::LayoutAttr layout = reduce || scan ? block::layoutOf(op->getOperand(0).getType()) : block::LayoutAttr();
    int64_t values = layout ? valuesBetweenWarps(layout.getLayout(), reduce ? reduce.getAxis() : scan.getAxis(), bool(scan)) : 0,
            bytes = 0;
    for (Value operand : op->getOperands())
      if (values)
        bytes += llvm::alignTo(values * tile::elementBytes(getElementTypeOrSelf(operand.getType())), 16);
    most = std::max(most, bytes);
  });
  return unsigned(most);
}

llvm::Value *BlockEmitter::digitOf(const LineDigit &digit) {
  llvm::Value *number = digit.axis == layout::Lane ? here().lane : here().warp;
  return b.CreateURem(b.CreateUDiv(number, i32(digit.place)), i32(digit.extent));
}

// Row-major, as far as the layout's coordinates go.
llvm::Value *BlockEmitter::numberIn(const Layout &layout, unsigned number) {
  llvm::Value *result = i32(0);
  for (unsigned d = 0; d < layout.outputs().size(); ++d)
    result = b.CreateAdd(b.CreateMul(result, i32(layout.outputs()[d].extent)), emitCoordinate(b, layout, d, placeOf(number)));
  return result;
}

// Two meetings: what was shown before may still be read.
std::vector<SmallVector<BlockEmitter::Parts>> BlockEmitter::showWarps(ArrayRef<Shown> shown, ArrayRef<Type> elements,
                                                                      int64_t values, llvm::Value *own, unsigned count) {
  llvm::Value *area = b.CreateAdd(base, i32(plan.betweenWarps.lookup(role->op)));
  area = b.CreateAdd(area, b.CreateMul(instance, i32(llvm::alignTo(bytesBetweenWarps(role->op), 16))));
  SmallVector<llvm::Value *> areas;
  for (Type element : elements) {
    areas.push_back(area);
    area = b.CreateAdd(area, i32(llvm::alignTo(values * tile::elementBytes(element), 16)));
  }
  auto placeOfValue = [&](unsigned i, llvm::Value *number) {
    return b.CreateAdd(areas[i], b.CreateMul(number, i32(tile::elementBytes(elements[i]))));
  };
  meetRole();
  for (const Shown &line : shown)
    for (auto [i, value] : llvm::enumerate(line.values))
      machine.storeShared(e, placeOfValue(i, b.CreateAdd(line.first, own)), e.toMemory(value, elements[i]), /*peer=*/false);
  meetRole();
  std::vector<SmallVector<Parts>> taken;
  for (const Shown &line : shown) {
    SmallVector<Parts> &all = taken.emplace_back(count);
    for (auto [i, element] : llvm::enumerate(elements)) {
      unsigned bytes = tile::elementBytes(element), each = 1; // of a load
      while (count % (2 * each) == 0 && 2 * each * bytes <= 16)
        each *= 2;
      llvm::Type *type = e.vectorOf(e.memoryType(element), each);
      for (unsigned at = 0; at < count; at += each) {
        llvm::Value *loaded = machine.loadShared(e, type, placeOfValue(i, b.CreateAdd(line.first, i32(at))), /*peer=*/false);
        loaded = e.fromMemory(loaded, element);
        for (unsigned j = 0; j < each; ++j)
          all[at + j].push_back(each > 1 ? b.CreateExtractElement(loaded, uint64_t(j)) : loaded);
      }
    }
  }
  return taken;
}

} // namespace tilery::cuda
