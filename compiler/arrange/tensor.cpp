#include "compiler/arrange/view.h"
#include "tilery/counted.h"
#include <atomic>

namespace tilery::arrange {
namespace {

std::string shapeText(const Shape &shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + shape[i].str();
  return text + (shape.size() == 1 ? ",)" : ")");
}

int64_t normalise(const char *operation, int64_t dim, size_t rank) {
  int64_t n = rank;
  if (dim < -n || dim >= n)
    throw ArrangementError(Diagnostic::Kind::Index, std::string("`") + operation + "`: dimension " + std::to_string(dim) +
                                                        " is out of range for " + std::to_string(rank) + " dimension" +
                                                        (rank == 1 ? "." : "s."));
  return dim < 0 ? dim + n : dim;
}

void checkRank(const char *operation, const char *what, size_t given, const Shape &shape) {
  // What the operations have that take sizes: a tile of -1 is the whole dimension, an expansion by -1 none.
  const bool keepsByMinusOne = std::string_view(what) == "size" && std::string_view(operation) != "shape";
  const char *hint = given > shape.size() ? "unsqueeze adds a dimension" : keepsByMinusOne ? "-1 leaves a dimension whole" : "";
  if (given != shape.size())
    throw ArrangementError(Diagnostic::Kind::Value,
                           std::string("`") + operation + "` got " + counted(given, what) + " for a tensor of shape `" +
                               shapeText(shape) + "`: one per dimension is needed.",
                           hint);
}

/// Refuses a size that is known, and not 1; `use`: what the operation does to the dimension.
void checkOne(const char *operation, size_t dim, const Symbol &size, const char *use) {
  if (auto known = simplify(size).constant(); known && *known != 1)
    throw ArrangementError(Diagnostic::Kind::Value, std::string("`") + operation + "`: dimension " + std::to_string(dim) +
                                                        " has size " + std::to_string(*known) + "; only those of size 1 can be " +
                                                        use);
}

bool keeps(const Symbol &s) { return s.constant() == -1; }

ViewRef next(const ViewRef &input, unsigned level, decltype(View::step) step, Shape shape) {
  auto view = std::make_shared<View>(View{input, std::move(step), level, input->levels});
  view->levels[level] = std::move(shape);
  return view;
}

/// The views from the source on.
std::vector<const View *> pathTo(const View *view) {
  std::vector<const View *> path;
  for (; view; view = view->input.get())
    path.insert(path.begin(), view);
  return path;
}

} // namespace

static std::atomic<int64_t> instances{0};
std::string Tensor::freshName() { return "tensor_" + std::to_string(instances++); }
int64_t Tensor::count() { return instances; }

Tensor::Tensor(Source source, std::vector<std::optional<Symbol>> shape, const std::vector<Name> &sizeOptions)
    : root(std::make_shared<Source>(std::move(source))) {
  if (root->isConstexpr && !shape.empty())
    throw ArrangementError(Diagnostic::Kind::Value, "`constexpr` can only be set for zero-dimensional tensors.");
  if (!root->isConstexpr && root->value.index() != 0)
    throw ArrangementError(Diagnostic::Kind::Value, "`value` can only be set for constexpr tensors.");
  if (root->name.empty())
    root->name = freshName();
  if (root->jagged && (*root->jagged < 1 || *root->jagged >= shape.size()))
    throw ArrangementError(Diagnostic::Kind::Index,
                           "`jagged_dim` must be a dimension behind the first, which counts the rows: 1 to " +
                               std::to_string(int64_t(shape.size()) - 1) + ", not " + std::to_string(int64_t(*root->jagged)) +
                               ".");
  if (root->jagged && shape[*root->jagged])
    throw ArrangementError(Diagnostic::Kind::Value, "The size of the jagged dimension cannot be given: each row has its own.");
  for (size_t d = 0; d < shape.size(); ++d) {
    std::string prefix = "ninetoothed_" + root->name;
    auto sized = [&] {
      std::string label = root->jagged == d ? prefix + "_seq_len" : prefix + "_size_" + std::to_string(d);
      if (d >= sizeOptions.size())
        return Symbol::plain(label);
      const Name &options = sizeOptions[d];
      return Symbol::named(label, options.role, options.lower, options.upper, options.powerOfTwo);
    };
    root->shape.push_back(shape[d] ? *shape[d] : sized());
    root->strides.push_back(Symbol::plain(prefix + "_stride_" + std::to_string(d)));
  }
  auto view = std::make_shared<View>();
  view->levels = {root->shape};
  current = view;
}

Tensor Tensor::sourceTensor() const {
  auto view = std::make_shared<View>();
  view->levels = {root->shape};
  return Tensor(root, view, 0);
}

const Shape &Tensor::shape() const { return current->levels[depth]; }
size_t Tensor::levels() const { return current->levels.size() - depth; }

Tensor Tensor::inner() const {
  if (isInnermost())
    throw ArrangementError(Diagnostic::Kind::Value, "The elements of this tensor are not tensors.");
  return Tensor(root, current, depth + 1);
}

Tensor Tensor::innermost() const { return Tensor(root, current, current->levels.size() - 1); }

std::vector<Symbol> Tensor::names() const {
  std::map<std::string, Symbol> found;
  auto collect = [&](const std::vector<Symbol> &symbols) {
    for (const Symbol &symbol : symbols)
      for (const Symbol &name : symbol.names())
        found.emplace(name.name().text, name);
  };
  for (const View *view = current.get(); view; view = view->input.get()) {
    for (const Shape &shape : view->levels)
      collect(shape);
    if (auto *tile = std::get_if<Tile>(&view->step))
      for (const Tile::Dim &dim : tile->dims)
        collect({dim.stride, dim.spacing});
    else if (auto *affine = std::get_if<Affine>(&view->step)) {
      collect(affine->offsets);
      collect(affine->steps);
    }
  }
  std::vector<Symbol> result;
  for (auto &[text, symbol] : found)
    result.push_back(symbol);
  return result;
}

std::vector<SizeOfOne> Tensor::sizesOfOne() const {
  std::vector<SizeOfOne> result;
  for (const View *view : pathTo(current.get())) {
    const auto *select = std::get_if<Select>(&view->step);
    if (!select)
      continue;
    const Shape &sizes = view->input->levels[view->level];
    const char *operation = view->levels[view->level].size() == sizes.size() ? "expand" : "squeeze";
    for (size_t d = 0; d < sizes.size(); ++d)
      if (Symbol size = simplify(sizes[d]); select->inputDims[d] < 0 && size.constant() != 1)
        result.push_back({size, operation, view->level, d});
  }
  return result;
}

Tensor Tensor::tile(const std::vector<Symbol> &tile, const std::vector<std::optional<Symbol>> &strides,
                    const std::vector<std::optional<Symbol>> &dilation, bool floorMode) const {
  const Shape &sizes = shape();
  checkRank("tile", "size", tile.size(), sizes);
  if (!strides.empty())
    checkRank("tile", "stride", strides.size(), sizes);
  if (!dilation.empty())
    checkRank("tile", "dilation", dilation.size(), sizes);
  Shape outer, inner;
  Tile step;
  auto check = [](const char *what, const Symbol &number, const char *otherwise) {
    if (auto value = number.constant(); value && *value < 1 && *value != -1)
      throw ArrangementError(Diagnostic::Kind::Value, std::string("`tile`: a ") + what + " is positive, or -1 for " + otherwise +
                                                          ", got " + std::to_string(*value) + ".");
  };
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].constant() != 0)
      check("size", tile[d], "the whole dimension");
    if (!strides.empty() && strides[d] && sizes[d].constant() != 0)
      check("stride", *strides[d], "the tile's size");
    Symbol size = keeps(tile[d]) ? sizes[d] : tile[d];
    Symbol stride = strides.empty() || !strides[d] || keeps(*strides[d]) ? size : *strides[d];
    Symbol spacing = dilation.empty() || !dilation[d] ? Symbol(1) : *dilation[d];
    if (auto value = spacing.constant(); value && *value < 1)
      throw ArrangementError(Diagnostic::Kind::Value,
                             "`tile`: a dilation is positive (1: neighbours), got " + std::to_string(*value) + ".");
    bool whole = keeps(tile[d]) && stride.equals(size) && spacing.constant() == 1;
    Symbol room = sizes[d] - spacing * (size - 1) - 1;
    outer.push_back(whole ? Symbol(1) : (floorMode ? floorDiv(room, stride) : ceilDiv(room, stride)) + 1);
    inner.push_back(size);
    step.dims.push_back({stride, spacing, !floorMode && stride.equals(size) && spacing.constant() == 1, floorMode || whole});
  }
  auto view = std::make_shared<View>(View{current, std::move(step), depth, current->levels});
  view->levels[depth] = std::move(outer);
  view->levels.insert(view->levels.begin() + depth + 1, std::move(inner));
  return with(view);
}

Tensor Tensor::select(const Shape &shape, const std::vector<int64_t> &inputDims) const {
  return with(next(current, depth, Select{inputDims}, shape));
}

Tensor Tensor::expand(const std::vector<Symbol> &sizes) const {
  checkRank("expand", "size", sizes.size(), shape());
  Shape result;
  std::vector<int64_t> dims;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const bool kept = keeps(sizes[d]) || simplify(sizes[d]).equals(simplify(shape()[d]));
    if (!kept)
      checkOne("expand", d, shape()[d], "repeated");
    result.push_back(kept ? shape()[d] : sizes[d]);
    dims.push_back(kept ? int64_t(d) : -1);
  }
  return select(result, dims);
}

Tensor Tensor::unsqueeze(int64_t dim) const {
  size_t position = normalise("unsqueeze", dim, ndim() + 1);
  Shape result = shape();
  result.insert(result.begin() + position, Symbol(1));
  std::vector<int64_t> dims;
  for (size_t d = 0; d < ndim(); ++d)
    dims.push_back(d < position ? d : d + 1);
  return select(result, dims);
}

Tensor Tensor::squeeze(const std::vector<int64_t> &removed) const {
  std::vector<bool> gone(ndim(), false);
  for (int64_t dim : removed)
    gone[normalise("squeeze", dim, ndim())] = true;
  Shape result;
  std::vector<int64_t> dims(ndim(), -1);
  for (size_t d = 0; d < ndim(); ++d) {
    if (gone[d]) {
      checkOne("squeeze", d, shape()[d], "left out");
      continue;
    }
    dims[d] = result.size();
    result.push_back(shape()[d]);
  }
  return select(result, dims);
}

Tensor Tensor::permute(const std::vector<int64_t> &order) const {
  checkRank("permute", "dimension", order.size(), shape());
  Shape result;
  std::vector<int64_t> dims(ndim(), -1);
  for (size_t d = 0; d < order.size(); ++d) {
    int64_t from = normalise("permute", order[d], ndim());
    if (dims[from] != -1)
      throw ArrangementError(Diagnostic::Kind::Value, "`permute`: dimension " + std::to_string(from) + " is named twice.");
    dims[from] = d;
    result.push_back(shape()[from]);
  }
  return select(result, dims);
}

Tensor Tensor::flatten(std::optional<int64_t> start, std::optional<int64_t> end) const {
  int64_t rank = ndim();
  auto place = [&](int64_t dim) { return dim == rank ? rank : normalise("flatten", dim, rank); };
  size_t first = start ? place(*start) : 0, last = end ? place(*end) : rank;
  if (first >= last)
    throw ArrangementError(Diagnostic::Kind::Value, "`flatten`: no dimensions between " + std::to_string(first) + " and " +
                                                        std::to_string(last) + " (exclusive).");
  Shape result(shape().begin(), shape().begin() + first);
  Symbol count = 1;
  for (size_t d = first; d < last; ++d)
    count = count * shape()[d];
  result.push_back(count);
  result.insert(result.end(), shape().begin() + last, shape().end());
  return with(next(current, depth, Flatten{first, last}, result));
}

Tensor Tensor::ravel() const {
  Shape all;
  for (size_t l = depth; l < current->levels.size(); ++l)
    all.insert(all.end(), current->levels[l].begin(), current->levels[l].end());
  auto view = std::make_shared<View>(View{current, Ravel{}, depth, current->levels});
  view->levels.resize(depth);
  view->levels.push_back(all);
  return with(view);
}

Tensor Tensor::affine(const Shape &result, const std::vector<Symbol> &offsets, const std::vector<Symbol> &steps) const {
  return with(next(current, depth, Affine{offsets, steps}, result));
}

Tensor Tensor::pad(const std::vector<std::pair<Symbol, Symbol>> &amounts) const {
  checkRank("pad", "pair", amounts.size(), shape());
  Shape result;
  std::vector<Symbol> offsets, steps(ndim(), Symbol(1));
  for (size_t d = 0; d < ndim(); ++d) {
    result.push_back(shape()[d] + amounts[d].first + amounts[d].second);
    offsets.push_back(-amounts[d].first);
  }
  return affine(result, offsets, steps);
}

Tensor Tensor::slice(const std::vector<Slice> &slices) const {
  size_t taken = 0, ellipses = 0;
  for (const Slice &s : slices) {
    taken += s.kind == Slice::Kind::index || s.kind == Slice::Kind::range;
    ellipses += s.kind == Slice::Kind::ellipsis;
  }
  if (ellipses > 1)
    throw ArrangementError(Diagnostic::Kind::Value, "Only one `Ellipsis` is allowed.");
  if (taken > ndim())
    throw ArrangementError(Diagnostic::Kind::Index, "too many"); // the caller prints the index
  // Every dimension gets a range; then indices are squeezed and new axes inserted.
  Shape result;
  std::vector<Symbol> offsets, steps;
  std::vector<int64_t> squeezed, added;
  int64_t position = 0;
  auto takeAll = [&] {
    result.push_back(shape()[result.size()]);
    offsets.push_back(0);
    steps.push_back(1);
    ++position;
  };
  for (const Slice &s : slices) {
    const auto d = result.size();
    if (s.kind == Slice::Kind::newAxis) {
      added.push_back(position++);
    } else if (s.kind == Slice::Kind::ellipsis) {
      for (size_t rest = ndim() - taken; rest > 0; --rest)
        takeAll();
    } else {
      const Symbol &size = shape()[d];
      // Only a written negative number counts from the end; a name is taken as it is.
      auto fromEnd = [&](const Symbol &at) { return at.constant() && *at.constant() < 0 ? size + at : at; };
      if (s.kind == Slice::Kind::index) {
        squeezed.push_back(d);
        offsets.push_back(fromEnd(*s.start));
        steps.push_back(1);
        result.push_back(1);
        continue;
      }
      Symbol step = s.step.value_or(1);
      bool backward = step.constant() && *step.constant() < 0;
      if (step.constant() == 0)
        throw ArrangementError(Diagnostic::Kind::Value, "A slice's step cannot be 0.");
      Symbol start = s.start ? fromEnd(*s.start) : backward ? size - 1 : Symbol(0);
      Symbol stop = s.stop ? fromEnd(*s.stop) : backward ? Symbol(-1) : size;
      result.push_back(floorDiv(stop - start + step - (backward ? -1 : 1), step));
      offsets.push_back(start);
      steps.push_back(step);
      ++position;
    }
  }
  while (result.size() < ndim())
    takeAll();
  Tensor sliced = affine(result, offsets, steps);
  if (!squeezed.empty())
    sliced = sliced.squeeze(squeezed);
  for (int64_t at : added)
    sliced = sliced.unsqueeze(at);
  return sliced;
}

void Tensor::setInner(const Tensor &inner) {
  if (inner.depth != depth + 1 || inner.root->name != root->name)
    throw ArrangementError(Diagnostic::Kind::Value, "A tensor's `dtype` can only be replaced by one derived from it.");
  for (const View *view = inner.current.get(); view; view = view->input.get())
    if (view == current.get()) {
      current = inner.current;
      root = inner.root;
      return;
    }
  throw ArrangementError(Diagnostic::Kind::Value, "A tensor's `dtype` can only be replaced by one derived from it.");
}

void Tensor::setShape(const Shape &shape) {
  checkRank("shape", "size", shape.size(), this->shape());
  auto view = std::make_shared<View>(*current);
  view->levels[depth] = shape;
  if (!current->input && depth == 0) {
    root = std::make_shared<Source>(*root);
    root->shape = shape;
  }
  current = view;
}

void Tensor::setDtype(const std::string &dtype) {
  root = std::make_shared<Source>(*root);
  root->dtype = dtype;
}

/// The position of the first flattening in `path`, where nothing but permutations stands before it; `dims` are what it flattens.
static std::optional<size_t> findFlattening(const std::vector<const View *> &path, std::vector<int64_t> &dims) {
  for (size_t d = 0; d < path[0]->levels[0].size(); ++d)
    dims.push_back(d);
  for (size_t i = 1; i < path.size() && path[i]->level == 0; ++i) {
    if (std::holds_alternative<Flatten>(path[i]->step))
      return i;
    const auto *select = std::get_if<Select>(&path[i]->step);
    if (!select || path[i]->levels[0].size() != dims.size())
      return std::nullopt;
    std::vector<int64_t> permuted(dims.size(), -1);
    for (size_t d = 0; d < dims.size(); ++d)
      if (select->inputDims[d] >= 0)
        permuted[select->inputDims[d]] = dims[d];
    dims = permuted;
    if (std::count(dims.begin(), dims.end(), -1))
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Flattening> flatteningOf(const Tensor &tensor) {
  Flattening result;
  auto path = pathTo(tensor.view().get());
  if (tensor.level() != 0 || tensor.source().jagged)
    return std::nullopt;
  auto found = findFlattening(path, result.dims);
  if (!found)
    return std::nullopt;
  const auto &flat = std::get<Flatten>(path[*found]->step);
  result.start = flat.start, result.end = flat.end;
  return result;
}

Tensor mergeDims(const Tensor &tensor, const std::vector<std::vector<int64_t>> &groups, std::optional<Symbol> row) {
  auto path = pathTo(tensor.view().get());
  std::vector<int64_t> dims;
  const View *first = path[*findFlattening(path, dims)];
  const auto &flat = std::get<Flatten>(first->step);
  const size_t end = groups.size() - (dims.size() - flat.end);
  std::vector<std::optional<Symbol>> shape;
  for (const auto &group : groups) {
    Symbol size = 1;
    for (int64_t d : group)
      size = size * tensor.source().shape[d];
    shape.push_back(size);
  }
  if (end == flat.start + 1)
    shape[flat.start] = first->levels[0][flat.start];
  if (row)
    shape[end - 1] = *row;
  Source source = tensor.source();
  source.shape.clear();
  Tensor merged(source, shape);
  ViewRef head = merged.view();
  if (end > flat.start + 1) {
    auto flattened = std::make_shared<View>(*first);
    flattened->input = head;
    flattened->step = Flatten{flat.start, end};
    head = flattened;
  }
  std::function<ViewRef(const View *)> relinked = [&](const View *view) -> ViewRef {
    if (view == first)
      return head;
    auto copy = std::make_shared<View>(*view);
    copy->input = relinked(view->input.get());
    return copy;
  };
  return merged.with(relinked(tensor.view().get()));
}

ViewRef Tensor::replayed(const Symbol::Values &values, const std::function<ViewRef(const ViewRef &)> &ofSource) const {
  auto replaced = [&](std::vector<Symbol> symbols) {
    for (Symbol &symbol : symbols)
      symbol = symbol.substitute(values);
    return symbols;
  };
  std::function<ViewRef(const ViewRef &)> replay = [&](const ViewRef &old) -> ViewRef {
    if (!old->input)
      return ofSource(old);
    auto view = std::make_shared<View>(*old);
    view->input = replay(old->input);
    for (Shape &shape : view->levels)
      shape = replaced(shape);
    if (auto *tile = std::get_if<Tile>(&view->step))
      for (Tile::Dim &dim : tile->dims)
        dim.stride = dim.stride.substitute(values), dim.spacing = dim.spacing.substitute(values);
    else if (auto *affine = std::get_if<Affine>(&view->step))
      affine->offsets = replaced(affine->offsets), affine->steps = replaced(affine->steps);
    return view;
  };
  return replay(current);
}

Tensor Tensor::substitute(const Symbol::Values &values) const {
  auto source = std::make_shared<Source>(*root);
  for (Symbol &size : source->shape)
    size = size.substitute(values);
  return Tensor(source,
                replayed(values,
                         [&](const ViewRef &old) {
                           auto view = std::make_shared<View>(*old);
                           view->levels = {source->shape};
                           return view;
                         }),
                depth);
}

Tensor Tensor::padded(const Symbol &length) const {
  // The source's own bounds stay those of the row; every step sees the longer one.
  return with(replayed({{rowLength().name().text, length}}, [&](const ViewRef &old) {
    Shape shape = old->levels[0];
    std::vector<int64_t> same;
    for (size_t d = 0; d < shape.size(); ++d)
      same.push_back(d);
    shape[*root->jagged] = length;
    return next(old, 0, Select{same}, shape);
  }));
}

void Tensor::setRowLengths(std::vector<int64_t> lengths) {
  root = std::make_shared<Source>(*root);
  root->rowLengths = std::move(lengths);
}

std::vector<int64_t> Tensor::axes() const {
  // A dimension was inserted if its index is dropped on the way to the source.
  std::vector<bool> inserted(ndim(), false);
  if (const auto *select = std::get_if<Select>(&current->step); select && current->level == depth) {
    inserted.assign(ndim(), true);
    for (int64_t dim : select->inputDims)
      if (dim >= 0)
        inserted[dim] = false;
    for (size_t d = 0; d < ndim() && ndim() == select->inputDims.size(); ++d)
      inserted[d] = false; // expanded
  }
  std::vector<int64_t> result;
  for (size_t d = 0; d < ndim(); ++d)
    result.push_back(inserted[d] ? -1 : int64_t(d));
  return result;
}

} // namespace tilery::arrange
