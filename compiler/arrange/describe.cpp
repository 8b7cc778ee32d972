#include "compiler/arrange/view.h"

namespace tilery::arrange {
namespace {

std::string list(const std::vector<Symbol> &symbols) {
  std::string text = "(";
  for (const Symbol &symbol : symbols)
    text += symbol.str() + ",";
  return text + ")";
}

std::string stepText(const View &view) {
  std::string text;
  if (const auto *tile = std::get_if<Tile>(&view.step)) {
    text = "tile";
    for (const Tile::Dim &dim : tile->dims)
      text += list({dim.stride, dim.spacing}) + (dim.exact ? "e" : "") + (dim.contained ? "c" : "");
  } else if (const auto *select = std::get_if<Select>(&view.step)) {
    text = "select";
    for (int64_t dim : select->inputDims)
      text += " " + std::to_string(dim);
  } else if (const auto *affine = std::get_if<Affine>(&view.step)) {
    text = "affine" + list(affine->offsets) + list(affine->steps);
  } else if (const auto *flat = std::get_if<Flatten>(&view.step)) {
    text = "flatten " + std::to_string(flat->start) + " " + std::to_string(flat->end);
  } else if (std::holds_alternative<Ravel>(view.step)) {
    text = "ravel";
  }
  return text;
}

} // namespace

std::string describe(const Tensor &tensor) {
  std::string text = std::to_string(tensor.level());
  if (tensor.source().jagged)
    text += " jagged " + std::to_string(*tensor.source().jagged);
  for (const View *view = tensor.view().get(); view; view = view->input.get()) {
    text += "; " + stepText(*view) + " @" + std::to_string(view->level) + " ->";
    for (const Shape &level : view->levels)
      text += " " + list(level);
  }
  return text;
}

} // namespace tilery::arrange
