#include "compiler/block/ir/gpu.h"

using namespace mlir;

namespace tilery::block {

Gpu Gpu::of(tile::KernelOp kernel) {
  Gpu gpu;
  auto entries = kernel->getAttrOfType<DictionaryAttr>("block.gpu");
  if (!entries)
    return gpu;
  gpu.warpgroups = false;
  gpu.sharedBytes = entries.getAs<IntegerAttr>("shared").getInt();
  gpu.operations = entries.getAs<IntegerAttr>("operations").getInt();
  return gpu;
}

void Gpu::mark(tile::KernelOp kernel) const {
  if (warpgroups)
    return;
  Builder b(kernel.getContext());
  NamedAttribute entries[] = {b.getNamedAttr("operations", b.getI64IntegerAttr(operations)),
                              b.getNamedAttr("shared", b.getI64IntegerAttr(sharedBytes))};
  kernel->setAttr("block.gpu", b.getDictionaryAttr(entries));
  kernel->setAttr("block.no_boxes", b.getUnitAttr());
}

const char *whyNoBoxes(Operation *op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  if (!kernel || !kernel->hasAttr("block.no_boxes"))
    return nullptr;
  return kernel->hasAttr("block.gpu") ? "boxes are for Hopper's copy engine" : "a launch broke its conditions";
}

bool multipliesByWarps(Operation *op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  return kernel && kernel->hasAttr("block.gpu");
}

const layout::ProductForm &formOf(Operation *op) { return multipliesByWarps(op) ? layout::warpForm() : layout::warpgroupForm(); }

} // namespace tilery::block
