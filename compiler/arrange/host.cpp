// The host function of an arranged kernel: it checks a call and launches.
#include "compiler/builder/inner_sizes.h"
#include "tilery/arrange_ir.h"
#include <algorithm>

namespace tilery::arrange {
namespace {

class Host {
public:
  Host(Builder &builder, const std::vector<Parameter> &parameters) : b(builder), parameters(parameters) {}

  /// Reads the arguments, and checks sizes that the arrangement was made for.
  void begin(const std::string &name) {
    std::vector<Builder::HostArg> handles = b.beginHost(name, hostParams(parameters));
    auto next = handles.cbegin();
    for (const Parameter &p : parameters)
      if (p.dtype)
        take(p, next);
  }

  void checkSizesOfOne(const Parameter &p) {
    for (const SizeOfOne &each : p.tensor.sizesOfOne()) {
      std::string operation, does = std::string(each.operation) == "squeeze" ? "leaves out" : "repeats";
      for (unsigned level = 0; level < each.level; ++level)
        operation += "dtype.";
      Value size = value(each.size);
      b.hostCheck(size, number(1),
                  "the arrangement of argument `" + p.name + "` " + does + " dimension " + std::to_string(each.dim) + " (`" +
                      operation + each.operation + "`), which has size {0} in this call, not {1}");
    }
  }

  /// Every argument that is read or written tile by tile must have one tile (or set of tiles) for every program.
  void checkGrid(const Parameter &p, const Parameter &first) {
    const Shape &mine = first.tensor.shape(), &theirs = p.tensor.shape();
    std::string what = "arguments `" + first.name + "` and `" + p.name + "` " + differentGrids + ": {0} and {1} programs";
    std::vector<Value> sizes = values(theirs);
    if (mine.size() != theirs.size()) {
      Value all = product(values(mine));
      b.hostCheck(all, product(sizes), what);
      return;
    }
    for (size_t d = 0; d < mine.size(); ++d)
      if (!simplify(mine[d]).equals(simplify(theirs[d])))
        b.hostCheck(value(mine[d]), sizes[d],
                    what + " in dimension " + std::to_string(d) + " of the outermost level" +
                        sources(mine[d], first, theirs[d], p));
  }

  /// Dimensions that are cut in the same way along one dimension of the grid must have one size: else elements of the larger one meet none
  /// of the smaller. Where the arrangement says what elements outside are, that may be meant.
  void checkSizes(const std::vector<size_t> &placed) {
    using Dim = std::pair<const Parameter *, size_t>;
    std::vector<const Parameter *> said;
    std::map<std::string, Dim> own, cut; // cut: by dimension of the grid, and how a size gives the number of tiles
    for (size_t k : placed)
      if (const Parameter &p = parameters[k]; !p.isJagged() && std::holds_alternative<std::monostate>(p.tensor.source().other)) {
        said.push_back(&p);
        for (size_t d = 0; d < p.rank(); ++d)
          own.insert_or_assign(p.sizeName(d), Dim(&p, d));
      }
    for (const Parameter *p : said)
      for (size_t axis = 0; axis < p->tensor.ndim(); ++axis) {
        const Symbol &size = p->tensor.shape()[axis];
        std::vector<Symbol> names = size.names();
        auto found = names.size() == 1 ? own.find(names[0].name().text) : own.end();
        if (found == own.end())
          continue;
        Symbol form = simplify(size.substitute({{names[0].name().text, Symbol::plain("size")}}));
        std::string key = std::to_string(p->tensor.ndim()) + " " + std::to_string(axis) + " " + form.str();
        auto [other, isNew] = cut.try_emplace(key, found->second);
        if (isNew || other->second == found->second)
          continue;
        auto [x, i] = other->second;
        auto [y, j] = found->second;
        Value left = value(Symbol::plain(x->sizeName(i))), right = value(Symbol::plain(y->sizeName(j)));
        b.hostCheck(left, right,
                    "arguments `" + x->name + "` and `" + y->name +
                        "` are cut into the same tiles, and have {0} and {1} elements there (in their dimensions " +
                        std::to_string(i) + " and " + std::to_string(j) + ")");
      }
  }

  /// Elements of the larger factor meet none of the smaller one, which read as 0, unless the arrangement says what they are.
  void checkInnerSizes(const std::string &kernel) {
    for (const InnerSizes &each : innerSizesOf(passed.front(), kernel)) {
      auto left = extents.find(each.left), right = extents.find(each.right);
      if (left == extents.end() || right == extents.end())
        continue;
      Value sizes[2] = {passed[each.left], passed[each.right]};
      for (Value &size : sizes)
        if (each.most)
          size = b.binary(BinaryOp::Min, size, number(*each.most));
      b.hostCheck(sizes[0], sizes[1],
                  "arguments `" + left->second->name + "` and `" + right->second->name + "` " + differentInnerSizes +
                      ": {0} and {1} elements");
    }
  }

  void launch(const std::string &kernel, const Tensor &grid) {
    std::vector<Value> axes = values(grid.shape());
    std::ranges::reverse(axes);
    if (axes.empty())
      axes.push_back(number(1));
    for (size_t k = 3; k < axes.size(); ++k)
      axes[2] = b.binary(BinaryOp::Mul, axes[2], axes[k]);
    axes.resize(std::min<size_t>(axes.size(), 3));
    b.launch(kernel, axes, passed);
    b.endHost({});
  }

  /// Sizes of levels, each computed once.
  std::vector<Value> values(const Shape &shape) {
    std::vector<Value> result;
    for (const Symbol &size : shape)
      result.push_back(value(size));
    return result;
  }

private:
  /// Whose sizes give the numbers of programs, where it is not each one's own: the one that is wrong may be neither.
  std::string sources(const Symbol &mine, const Parameter &first, const Symbol &theirs, const Parameter &p) {
    std::string text[2];
    auto owners = [&](const Symbol &size, std::string &names) {
      for (const Parameter &each : parameters)
        for (size_t d = 0; d < each.rank(); ++d)
          for (const Symbol &name : size.names())
            if (name.name().text == each.sizeName(d) && names.find("`" + each.name + "`") == std::string::npos)
              names += (names.empty() ? "`" : ", `") + each.name + "`";
    };
    owners(mine, text[0]);
    owners(theirs, text[1]);
    bool own = text[0] == "`" + first.name + "`" && text[1] == "`" + p.name + "`";
    return own || text[0].empty() || text[1].empty() ? "" : ", by the sizes of " + text[0] + " and of " + text[1];
  }
  Value number(int64_t value) { return b.constant(Literal(value), DType::I64); }
  Value product(const std::vector<Value> &values) {
    Value total = number(1);
    for (const Value &each : values)
      total = b.binary(BinaryOp::Mul, total, each);
    return total;
  }
  Value value(const Symbol &size) {
    Symbol simple = simplify(size);
    auto [known, isNew] = counts.try_emplace(simple.str());
    if (isNew)
      known->second = emitCount(b, simple, environment);
    return known->second;
  }

  void take(const Parameter &p, std::vector<Builder::HostArg>::const_iterator &next) {
    const Builder::HostArg &handle = *next++;
    if (p.isScalar()) {
      passed.push_back(handle.scalar);
      return;
    }
    std::vector<Value> extents;
    for (size_t d = 0; d < p.extents.size(); ++d)
      extents.push_back(b.hostExtent(handle.tensor, d));
    passed.push_back(b.hostPointer(handle.tensor));
    if (std::holds_alternative<std::monostate>(p.tensor.source().other))
      for (size_t d = 0; d < extents.size(); ++d)
        this->extents[passed.size() + d] = &p;
    passed.insert(passed.end(), extents.begin(), extents.end());
    for (size_t d = 0; d < p.strides.size(); ++d)
      if (p.strides[d] != 1)
        passed.push_back(b.hostStride(handle.tensor, d));
    if (p.isJagged()) {
      const TensorArg &offsets = (*next++).tensor;
      Value all = b.hostExtent(offsets, 0);
      Value count = b.binary(BinaryOp::Sub, all, number(1));
      std::optional<Value> lengths;
      if (p.lengths)
        lengths = b.hostPointer((*next++).tensor);
      Value longest = (*next++).scalar;
      passed.insert(passed.end(), {b.hostPointer(offsets), count});
      if (lengths)
        passed.push_back(*lengths);
      passed.push_back(longest);
      extents.insert(extents.begin(), count);
      extents[*p.tensor.source().jagged] = environment[p.longestName()] = longest;
    }
    for (size_t d = 0; d < extents.size(); ++d)
      environment.insert_or_assign(p.sizeName(d), extents[d]);
    for (size_t d = 0; d < p.rank(); ++d)
      if (std::optional<int64_t> size = p.tensor.source().shape[d].constant())
        b.hostCheck(extents[d], number(*size),
                    "argument `" + p.name + "` has size {0} in dimension " + std::to_string(d) +
                        ", its arrangement was made for {1}");
  }

  Builder &b;
  const std::vector<Parameter> &parameters;
  Environment environment;
  std::vector<Value> passed;                   // to the kernel
  std::map<size_t, const Parameter *> extents; // by position among these: of tensors that do not say what lies outside
  std::map<std::string, Value> counts;
};

} // namespace

void buildHost(Builder &builder, const std::string &kernel, const std::string &hostName, const std::vector<Parameter> &parameters,
               size_t first, const std::vector<size_t> &placed, bool sizes, bool innerSizes) {
  Host host(builder, parameters);
  host.begin(hostName);
  const Parameter &grid = parameters[first];
  host.values(grid.tensor.shape());
  for (size_t k : placed)
    host.checkSizesOfOne(parameters[k]);
  for (size_t k : placed)
    if (k != first)
      host.checkGrid(parameters[k], grid);
  if (sizes)
    host.checkSizes(placed);
  if (innerSizes)
    host.checkInnerSizes(kernel);
  host.launch(kernel, grid.tensor);
}

} // namespace tilery::arrange
