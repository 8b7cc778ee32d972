// Arrangements as plain values.
#include "compiler/arrange/view.h"
#include <algorithm>

namespace tilery::arrange {

std::vector<StepState> stepsOf(const Tensor &tensor) {
  std::vector<StepState> steps;
  for (const View *view = tensor.view().get(); view; view = view->input.get()) {
    StepState state{"", view->level, {}, {}, view->levels};
    if (const auto *tile = std::get_if<Tile>(&view->step)) {
      state.kind = "tile";
      for (const Tile::Dim &dim : tile->dims) {
        state.symbols.insert(state.symbols.end(), {dim.stride, dim.spacing});
        state.numbers.insert(state.numbers.end(), {dim.exact, dim.contained});
      }
    } else if (const auto *select = std::get_if<Select>(&view->step)) {
      state.kind = "select";
      state.numbers = select->inputDims;
    } else if (const auto *affine = std::get_if<Affine>(&view->step)) {
      state.kind = "affine";
      for (size_t d = 0; d < affine->offsets.size(); ++d)
        state.symbols.insert(state.symbols.end(), {affine->offsets[d], affine->steps[d]});
    } else if (const auto *flat = std::get_if<Flatten>(&view->step)) {
      state.kind = "flatten";
      state.numbers = {int64_t(flat->start), int64_t(flat->end)};
    } else if (std::holds_alternative<Ravel>(view->step)) {
      state.kind = "ravel";
    }
    steps.push_back(std::move(state));
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

static decltype(View::step) stepOf(const StepState &state) {
  const auto &symbols = state.symbols;
  const auto &numbers = state.numbers;
  if (state.kind == "tile") {
    Tile tile;
    for (size_t d = 0; 2 * d + 1 < symbols.size(); ++d)
      tile.dims.push_back({symbols[2 * d], symbols[2 * d + 1], numbers.at(2 * d) != 0, numbers.at(2 * d + 1) != 0});
    return tile;
  }
  if (state.kind == "select")
    return Select{numbers};
  if (state.kind == "affine") {
    Affine affine;
    for (size_t d = 0; 2 * d + 1 < symbols.size(); ++d)
      affine.offsets.push_back(symbols[2 * d]), affine.steps.push_back(symbols[2 * d + 1]);
    return affine;
  }
  if (state.kind == "flatten")
    return Flatten{size_t(numbers.at(0)), size_t(numbers.at(1))};
  if (state.kind == "ravel")
    return Ravel{};
  if (!state.kind.empty())
    throw ArrangementError(Diagnostic::Kind::Value, "There is no step `" + state.kind + "`.");
  return std::monostate();
}

Tensor fromSteps(Source source, const std::vector<StepState> &steps, unsigned level) {
  ViewRef view;
  for (const StepState &state : steps)
    view = std::make_shared<View>(View{view, stepOf(state), state.level, state.levels});
  if (!view || level >= view->levels.size())
    throw ArrangementError(Diagnostic::Kind::Value, "These are not the steps of a tensor.");
  return Tensor(std::make_shared<Source>(std::move(source)), view, level);
}

} // namespace tilery::arrange
