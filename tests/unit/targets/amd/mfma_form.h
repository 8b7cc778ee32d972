#pragma once
// Products of a wavefront of 64 lanes, as forms: numbers of AMD's ISA for CDNA ("Matrix Fused-Multiply-Add").
#include "compiler/block/forms/memory.h"
#include "compiler/block/forms/product_form.h"

namespace tilery::amd {
using namespace layout;

/// v_mfma_f32_{rows}x{rows}x{depth}_f16, of which a wavefront holds 64 x 4 elements of each factor: a lane has four neighbours along k of one
/// row (of the second factor, one column), and of the sums four rows of one column, then the four that are `step` further on.
inline Layout mfmaFactor(unsigned rows) {
  unsigned groups = 64 / rows; // of lanes, one behind the other along k
  return Layout({{dim(0), rows}, {dim(1), 4 * groups}})
      .add(Register, 4, {0, 1})
      .add(Lane, rows, {1, 0})
      .add(Lane, groups, {0, 4});
}
inline Layout mfmaSums(unsigned rows) {
  unsigned groups = 64 / rows, step = 4 * groups;
  return Layout({{dim(0), rows}, {dim(1), rows}})
      .add(Register, 4, {1, 0})
      .add(Register, rows / step, {int64_t(step), 0})
      .add(Lane, rows, {0, 1})
      .add(Lane, groups, {4, 0});
}

template <unsigned N> const ProductForm &mfmaForm() {
  static constexpr Rows orders[] = {Rows::InOrder};
  static const ProductForm form{
      N, N, 2 * 4 * (64 / N), orders,
      [](unsigned n, Rows) { return product(mfmaSums(N), Layout({{dim(0), 1}, {dim(1), n / N}}).add(Register, n / N, {0, 1})); },
      [](unsigned, Rows) { return mfmaFactor(N); },
      // Four neighbours along k are one access, however they lie.
      [](const Layout &memory, unsigned bytes) {
        std::optional<Layout> places = invert(memory);
        return places && contiguous(*places, dim(1)) * bytes >= 8;
      }};
  return form;
}

} // namespace tilery::amd
