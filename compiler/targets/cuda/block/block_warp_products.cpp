// Products of warps (mma.sync).
#include "compiler/block/forms/fragments.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/mma/warp_product.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
using layout::Layout;

/// What multiplies the types; nothing if warps do not.
std::optional<MmaForm> formOf(Type element, bool unsignedA, bool unsignedB) {
  auto form = [&](MmaForm::Kind kind) { return MmaForm{kind, unsignedA, unsignedB}; };
  if (element.isF16())
    return form(MmaForm::F16);
  if (element.isBF16())
    return form(MmaForm::BF16);
  if (element.isF32())
    return form(MmaForm::TF32);
  return element.isInteger(8) ? std::optional(form(MmaForm::I8)) : std::nullopt;
}
} // namespace

void BlockEmitter::emitWarpProduct(block::MmaStartOp start) {
  block::LayoutAttr layout = block::layoutOf(start.getType().getTile());
  std::optional<Layout> tiles = layout ? layout::divide(layout.getLayout(), layout::mmaAccumulator()) : std::nullopt;
  block::SharedType typeB = start.getB().getType();
  std::optional<MmaForm> form = formOf(typeB.getElementType(), start.getAUnsigned(), start.getBUnsigned());
  auto fail = [&] { failProduct(start, "has no code in a block: its factors or sums lie otherwise than warps take them"); };
  if (!tiles || !form || start.getType().getTile().getElementType().isF16())
    return fail();
  WarpProduct product(e, machine, *form, *tiles, here().lane, here().warp);
  auto reads = [&](block::SharedType type, Value factor, bool isA) {
    const Layout *lies = type.getLayout() ? &type.getLayout().getLayout() : nullptr;
    std::optional<Layout> memory = lies ? layout::invert(isA ? *lies : lies->transposed()) : std::nullopt;
    return memory && product.read(isA, *memory, partsOf(factor)[0]);
  };
  auto sharedA = dyn_cast<block::SharedType>(start.getA().getType());
  std::optional<HeldFactor> held =
      sharedA ? std::nullopt : HeldFactor::find(start.getA(), block::formOf(start), layout::Rows::InOrder);
  if (!reads(typeB, start.getB(), false) || !(sharedA ? reads(sharedA, start.getA(), true) : held.has_value()))
    return fail();

  Parts sums = partsOf(start.getC());
  if (start.getClear()) {
    llvm::Value *clear = scalar(start.getClear());
    for (llvm::Value *&sum : sums)
      sum = b.CreateSelect(clear, llvm::Constant::getNullValue(sum->getType()), sum);
  }
  Parts factor = held ? packed(start.getA()) : Parts();
  product.held = [&](int64_t rows, unsigned step) { return held->words(factor, rows, step); };
  if (!product.emit(typeB.getShape()[0] / form->depth(), sums))
    return failProduct(start, "takes rows of its first factor that other warps hold");
  remember(start, std::move(sums));
}

} // namespace tilery::cuda
