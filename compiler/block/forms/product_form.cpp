#include "compiler/block/forms/product_form.h"
#include "compiler/block/forms/memory.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tilery::layout {
namespace {
/// Swizzled rows of k, or of 16-bit elements also rows of m or n.
bool isSwizzled(const Layout &memory, unsigned bytes) {
  auto swizzled = [&](const Layout &layout) {
    std::optional<Swizzle> swizzle = swizzleOf(layout, bytes);
    return swizzle && *swizzle != Swizzle::None;
  };
  return swizzled(memory) || (bytes == 2 && swizzled(memory.transposed()));
}

/// Pieces of 16 bytes of k, or of elements that are no bytes also of m or n.
bool isInPieces(const Layout &memory, unsigned bytes) {
  std::optional<Layout> places = invert(memory);
  auto pieces = [&](unsigned d) { return contiguous(*places, dim(d)) * bytes >= 16; };
  return places && (pieces(1) || (bytes > 1 && pieces(0)));
}

std::optional<Rows> orderOf(const ProductForm &form, const Layout &layout, llvm::function_ref<Layout(Rows)> fragment) {
  for (Rows order : form.orders)
    if (divide(layout, fragment(order)))
      return order;
  return std::nullopt;
}

constexpr Rows orders[] = {Rows::InOrder, Rows::Paired};
} // namespace

std::optional<Rows> ProductForm::orderOfSums(const Layout &layout) const {
  return orderOf(*this, layout, [&](Rows order) { return sums(columns, order); });
}
std::optional<Rows> ProductForm::orderOfFactor(const Layout &layout, unsigned bits) const {
  return orderOf(*this, layout, [&](Rows order) { return factor(bits, order); });
}

const ProductForm &warpgroupForm() {
  static const ProductForm form{64, 8, 32, orders, wgmmaAccumulator, wgmmaOperandA, isSwizzled};
  return form;
}

const ProductForm &warpForm() {
  static const ProductForm form{64,
                                8,
                                32,
                                llvm::ArrayRef(orders).take_front(),
                                [](unsigned n, Rows) {
                                  return product(mmaAccumulator(),
                                                 Layout({{dim(0), 1}, {dim(1), n / 8}}).add(Register, n / 8, {0, 1}));
                                },
                                [](unsigned bits, Rows) { return mmaOperandA(bits); },
                                isInPieces};
  return form;
}

} // namespace tilery::layout
