#pragma once
// One walk back through the steps, for expressions (code) and for numbers (tables).
#include "compiler/arrange/view.h"

namespace tilery::arrange {

/// Why a bound needs no test: the bounds of the step's input and inner level imply it, or those of its result do.
enum class Implied : uint8_t { no, byInput, byOuter };

/// 0 <= index < size.
template <class T> struct BoundOf {
  T index;
  Symbol size;
  Implied implied = Implied::no;
  bool isRoot = false;
};

/// `indices[l]`: into level l of `view`. Bounds of the view itself first, of the source last. T needs +, *, quotient and remainder.
template <class T, class Arithmetic>
std::vector<T> walkBack(const View &last, std::vector<std::vector<T>> indices, const Arithmetic &arith,
                        std::vector<BoundOf<T>> &bounds) {
  // Bounds that the step outside of this view implies: by level and dimension.
  std::vector<bool> impliedInput;
  unsigned impliedLevel = 0;
  for (const View *view = &last; view; view = view->input.get()) {
    const auto *tile = std::get_if<Tile>(&view->step);
    for (size_t l = 0; l < indices.size(); ++l)
      for (size_t d = 0; d < indices[l].size(); ++d) {
        Implied implied = tile && l == view->level && tile->dims[d].exact                 ? Implied::byInput
                          : !impliedInput.empty() && l == impliedLevel && impliedInput[d] ? Implied::byOuter
                                                                                          : Implied::no;
        bounds.push_back({indices[l][d], view->levels[l][d], implied, !view->input});
      }
    impliedInput.clear();
    impliedLevel = view->level;
    auto &here = indices[view->level];
    if (tile) {
      const auto inner = indices[view->level + 1];
      for (size_t d = 0; d < here.size(); ++d)
        here[d] = arith.add(arith.mul(here[d], tile->dims[d].stride), arith.mul(inner[d], tile->dims[d].spacing));
      indices.erase(indices.begin() + view->level + 1);
      for (const Tile::Dim &dim : tile->dims)
        impliedInput.push_back(dim.contained && !dim.exact);
    } else if (const auto *select = std::get_if<Select>(&view->step)) {
      std::vector<T> input;
      for (int64_t dim : select->inputDims)
        input.push_back(dim < 0 ? arith.constant(0) : here[dim]);
      here = std::move(input);
    } else if (const auto *affine = std::get_if<Affine>(&view->step)) {
      for (size_t d = 0; d < here.size(); ++d)
        here[d] = arith.add(arith.value(affine->offsets[d]), arith.mul(here[d], affine->steps[d]));
    } else if (const auto *flat = std::get_if<Flatten>(&view->step)) {
      const Shape &sizes = view->input->levels[view->level];
      impliedInput.assign(sizes.size(), false);
      std::fill(impliedInput.begin() + flat->start, impliedInput.begin() + flat->end, true);
      T rest = here[flat->start];
      std::vector<T> parts(flat->end - flat->start, rest);
      // The first dimension takes what is left, so that an index beyond the end stays beyond it.
      for (size_t d = flat->end; d-- > flat->start + 1;) {
        parts[d - flat->start] = arith.mod(rest, sizes[d]);
        rest = arith.div(rest, sizes[d]);
      }
      parts[0] = rest;
      here.erase(here.begin() + flat->start);
      here.insert(here.begin() + flat->start, parts.begin(), parts.end());
    } else if (std::holds_alternative<Ravel>(view->step)) {
      std::vector<std::vector<T>> split;
      size_t at = 0;
      for (size_t l = view->level; l < view->input->levels.size(); ++l) {
        size_t rank = view->input->levels[l].size();
        split.emplace_back(here.begin() + at, here.begin() + at + rank);
        at += rank;
      }
      indices.erase(indices.begin() + view->level);
      indices.insert(indices.begin() + view->level, split.begin(), split.end());
    }
  }
  return indices[0];
}

} // namespace tilery::arrange
