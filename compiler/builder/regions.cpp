// Loops, branches, scratch traces, bodies of reductions and parallel regions.
#include "compiler/builder/impl.h"

namespace tilery {
using mlir::cast;

void Builder::Impl::openRegion(mlir::Operation *op, mlir::Region &region) {
  frames.push_back({op, b.saveInsertionPoint(), nullptr, {}, {}});
  b.setInsertionPointToEnd(&region.front());
}

static std::vector<Value> likeAll(Builder::Impl &impl, mlir::ValueRange values, const std::vector<Type> &types) {
  std::vector<Value> result;
  for (auto [value, type] : llvm::zip(values, types))
    result.push_back(impl.like(value, type));
  return result;
}
static std::vector<Type> typesOf(const std::vector<Value> &values) {
  std::vector<Type> types;
  for (const Value &value : values)
    types.push_back(value.type);
  return types;
}
static void requireTypes(Builder &self, const std::vector<Value> &values, mlir::TypeRange expected, const char *where) {
  if (values.size() != expected.size())
    self.fail(Diagnostic::Kind::Runtime, std::string(where) + " yields " + std::to_string(values.size()) + " values, " +
                                             std::to_string(expected.size()) + " are carried");
  for (auto [value, type] : llvm::zip(values, expected))
    if (toMlir(value.handle).getType() != type)
      self.fail(Diagnostic::Kind::Type, std::string(where) + " changes the type of a carried variable to " + value.type.str());
}

Builder::ForArgs Builder::beginFor(Value lower, Value upper, Value step, const std::vector<Value> &init, const Hints &hints) {
  for (const Value &bound : {lower, upper, step})
    requireNumbers(bound, "a bound of a loop");
  auto inits = impl->raw(init);
  auto loop = impl->create<mlir::scf::ForOp>(impl->raw(lower), impl->raw(upper), impl->raw(step), inits);
  for (const auto &[name, value] : hints)
    impl->addHint(loop, name, value);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  impl->openRegion(loop, loop.getRegion());
  return {impl->wrap(loop.getInductionVar(), lower.dtype()), likeAll(*impl, loop.getRegionIterArgs(), typesOf(init))};
}
std::vector<Value> Builder::endFor(const std::vector<Value> &yields) {
  auto loop = cast<mlir::scf::ForOp>(impl->top("for").op);
  requireTypes(*this, yields, loop.getResultTypes(), "the loop");
  impl->create<mlir::scf::YieldOp>(impl->raw(yields));
  impl->b.restoreInsertionPoint(impl->frames.back().after);
  impl->frames.pop_back();
  return likeAll(*impl, loop.getResults(), typesOf(yields));
}

void Builder::beginIf(Value condition) {
  if (condition.type != Type{DType::Bool, {}})
    fail(Diagnostic::Kind::Type, "a run-time condition must be a bool scalar, this one is " + condition.type.str());
  auto branch =
      impl->create<mlir::scf::IfOp>(mlir::TypeRange(), impl->raw(condition), /*addThenBlock=*/true, /*addElseBlock=*/true);
  impl->openRegion(branch, branch.getThenRegion());
}
void Builder::beginElse() {
  auto branch = cast<mlir::scf::IfOp>(impl->top("if").op);
  impl->b.setInsertionPointToEnd(&branch.getElseRegion().front());
}
/// Whether these are signed integers of one shape, the second wider: where branches yield both, the result is the wider one.
static bool isNarrower(const Type &type, const Type &other) {
  return !type.pointer && !other.pointer && type.shape == other.shape && isSigned(type.element) && isSigned(other.element) &&
         type.element < other.element;
}
static mlir::Value anything(Builder::Impl &impl, const Type &type) { return impl.create<mlir::ub::PoisonOp>(impl.lower(type)); }
std::vector<Value> Builder::endIf(const std::vector<Value> &thenYields, const std::vector<Value> &elseYields) {
  auto branch = cast<mlir::scf::IfOp>(impl->top("if").op);
  if (thenYields.size() != elseYields.size())
    fail(Diagnostic::Kind::Runtime, "the branches of an if yield different numbers of values");
  std::vector<Type> types;
  for (auto [x, y] : llvm::zip(thenYields, elseYields)) {
    bool widens = x && y && (isNarrower(x.type, y.type) || isNarrower(y.type, x.type));
    if (x && y && !widens && toMlir(x.handle).getType() != toMlir(y.handle).getType())
      fail(Diagnostic::Kind::Type,
           "a variable has type " + x.type.str() + " in one branch and " + y.type.str() + " in the other");
    types.push_back(!x || (y && isNarrower(x.type, y.type)) ? y.type : x.type);
  }
  auto yield = [&](mlir::Region &region, const std::vector<Value> &values) {
    impl->b.setInsertionPointToEnd(&region.front());
    std::vector<mlir::Value> raw;
    for (auto [value, type] : llvm::zip(values, types))
      raw.push_back(!value ? anything(*impl, type) : impl->raw(isNarrower(value.type, type) ? convert(value, type) : value));
    return raw;
  };
  auto thens = yield(branch.getThenRegion(), thenYields), elses = yield(branch.getElseRegion(), elseYields);
  impl->b.restoreInsertionPoint(impl->frames.back().after);
  impl->frames.pop_back();
  llvm::SmallVector<mlir::Type> lowered;
  for (const Type &type : types)
    lowered.push_back(impl->lower(type));
  // Result types are known only now: the bodies move into an op that has them.
  auto result = mlir::scf::IfOp::create(impl->b, branch.getLoc(), lowered, branch.getCondition(), /*addThenBlock=*/false,
                                        /*addElseBlock=*/false);
  result.getThenRegion().takeBody(branch.getThenRegion());
  result.getElseRegion().takeBody(branch.getElseRegion());
  branch.erase();
  mlir::OpBuilder::InsertionGuard guard(impl->b);
  for (auto [region, yields] : {std::pair{&result.getThenRegion(), &thens}, {&result.getElseRegion(), &elses}}) {
    impl->b.setInsertionPointToEnd(&region->front());
    mlir::scf::YieldOp::create(impl->b, result.getLoc(), *yields);
  }
  return likeAll(*impl, result.getResults(), types);
}

std::vector<Value> Builder::beginWhile(const std::vector<Value> &init) {
  auto inits = impl->raw(init);
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<mlir::Location> locations;
  for (mlir::Value value : inits) {
    types.push_back(value.getType());
    locations.push_back(value.getLoc());
  }
  auto loop = impl->create<mlir::scf::WhileOp>(types, inits);
  loop.getBefore().emplaceBlock().addArguments(types, locations);
  loop.getAfter().emplaceBlock().addArguments(types, locations);
  impl->openRegion(loop, loop.getBefore());
  impl->frames.back().types = typesOf(init);
  return likeAll(*impl, loop.getBefore().getArguments(), typesOf(init));
}
std::vector<Value> Builder::whileBody(Value condition) {
  auto loop = cast<mlir::scf::WhileOp>(impl->top("while").op);
  if (condition.type != Type{DType::Bool, {}})
    fail(Diagnostic::Kind::Type, "a run-time condition must be a bool scalar, this one is " + condition.type.str());
  impl->create<mlir::scf::ConditionOp>(impl->raw(condition), loop.getBefore().getArguments());
  impl->b.setInsertionPointToEnd(&loop.getAfter().front());
  return likeAll(*impl, loop.getAfter().getArguments(), impl->frames.back().types);
}
std::vector<Value> Builder::endWhile(const std::vector<Value> &yields) {
  auto loop = cast<mlir::scf::WhileOp>(impl->top("while").op);
  requireTypes(*this, yields, loop.getResultTypes(), "the loop");
  impl->create<mlir::scf::YieldOp>(impl->raw(yields));
  impl->b.restoreInsertionPoint(impl->frames.back().after);
  impl->frames.pop_back();
  return likeAll(*impl, loop.getResults(), typesOf(yields));
}

void Builder::beginScratch() {
  mlir::Block *block = impl->b.getInsertionBlock();
  Impl::Frame frame;
  frame.after = impl->b.saveInsertionPoint();
  frame.last = block->empty() ? nullptr : &block->back();
  impl->frames.push_back(frame);
}
void Builder::discardScratch() {
  while (!impl->frames.empty() && impl->frames.back().op)
    impl->frames.pop_back();
  if (impl->frames.empty())
    fail(Diagnostic::Kind::Runtime, "there is no open scratch");
  Impl::Frame frame = impl->frames.back();
  impl->frames.pop_back();
  mlir::Block *block = frame.after.getBlock();
  while (!block->empty() && &block->back() != frame.last) {
    mlir::Operation *op = &block->back();
    op->dropAllReferences();
    op->dropAllDefinedValueUses();
    op->erase();
  }
  impl->b.setInsertionPointToEnd(block);
}
Value Builder::placeholder(const Value &value) { return impl->like(anything(*impl, value.type), value.type); }

template <typename Op> static std::vector<Value> beginCombine(Builder::Impl &impl, const std::vector<Value> &tiles, Op op) {
  mlir::Block &block = op.getCombine().emplaceBlock();
  for (int side = 0; side < 2; ++side)
    for (const Value &tile : tiles)
      block.addArgument(impl.elementType(tile.dtype()), op.getLoc());
  impl.openRegion(op, op.getCombine());
  std::vector<Value> args;
  for (size_t i = 0; i < 2 * tiles.size(); ++i)
    args.push_back(impl.wrap(block.getArgument(i), tiles[i % tiles.size()].dtype()));
  for (const Value &tile : tiles)
    impl.frames.back().dtypes.push_back(tile.dtype());
  return args;
}
static std::vector<Value> endCombine(Builder &self, Builder::Impl &impl, const std::vector<Value> &yields) {
  auto &frame = impl.top("combine region");
  for (size_t i = 0; i < yields.size(); ++i)
    if (i >= frame.dtypes.size() || yields[i].dtype() != frame.dtypes[i] || !yields[i].shape().empty())
      self.fail(Diagnostic::Kind::Type,
                "a combine function must return scalars of the types it combines, got " + yields[i].type.str());
  if (yields.size() != frame.dtypes.size())
    self.fail(Diagnostic::Kind::Type,
              "a combine function of " + std::to_string(frame.dtypes.size()) + " tiles must return as many values");
  mlir::Operation *op = frame.op;
  auto dtypes = frame.dtypes;
  impl.create<tile::YieldOp>(impl.raw(yields));
  impl.b.restoreInsertionPoint(frame.after);
  impl.frames.pop_back();
  std::vector<Value> results;
  for (auto [result, dtype] : llvm::zip(op->getResults(), dtypes))
    results.push_back(impl.wrap(result, dtype));
  return results;
}
static int64_t checkAxis(Builder &self, const std::vector<Value> &tiles, int64_t axis) {
  for (const Value &tile : tiles)
    self.requireNumbers(tile, "a reduction or scan");
  if (tiles.empty() || tiles[0].shape().empty())
    self.fail(Diagnostic::Kind::Value, "a reduction or scan needs a tile of rank 1 or more");
  int64_t rank = tiles[0].shape().size();
  if (axis < -rank || axis >= rank)
    self.fail(Diagnostic::Kind::Value, "axis " + std::to_string(axis) + " is outside a tile of rank " + std::to_string(rank));
  for (const Value &tile : tiles)
    if (tile.shape() != tiles[0].shape())
      self.fail(Diagnostic::Kind::Value, "tiles reduced together must have one shape, got " + shapeText(tiles[0].shape()) +
                                             " and " + shapeText(tile.shape()));
  return axis < 0 ? axis + rank : axis;
}
std::vector<Value> Builder::beginReduce(const std::vector<Value> &tiles, int64_t axis) {
  axis = checkAxis(*this, tiles, axis);
  llvm::SmallVector<mlir::Type> types;
  for (const Value &tile : tiles) {
    Shape shape = tile.shape();
    shape.erase(shape.begin() + axis);
    types.push_back(tile::tileOf(shape, impl->elementType(tile.dtype())));
  }
  return beginCombine(*impl, tiles, impl->create<tile::ReduceOp>(types, impl->raw(tiles), axis));
}
std::vector<Value> Builder::endReduce(const std::vector<Value> &yields) { return endCombine(*this, *impl, yields); }
std::vector<Value> Builder::beginScan(const std::vector<Value> &tiles, int64_t axis, bool reverse) {
  axis = checkAxis(*this, tiles, axis);
  llvm::SmallVector<mlir::Type> types;
  for (const Value &tile : tiles)
    types.push_back(impl->lower(tile.type));
  return beginCombine(*impl, tiles, impl->create<tile::ScanOp>(types, impl->raw(tiles), axis, reverse));
}
std::vector<Value> Builder::endScan(const std::vector<Value> &yields) { return endCombine(*this, *impl, yields); }

std::vector<Value> Builder::beginParallel(const std::vector<Value> &extents) {
  if (impl->runsThreads()) { // they share its iterations
    beginTogether();
    impl->parallelTogether = impl->frames.back().op;
  }
  auto op = impl->create<tile::ParallelOp>(impl->raw(extents));
  mlir::Block &block = op.getBody().emplaceBlock();
  std::vector<Value> ivs;
  for (const Value &extent : extents)
    ivs.push_back(impl->wrap(block.addArgument(toMlir(extent.handle).getType(), op.getLoc()), extent.dtype()));
  impl->openRegion(op, op.getBody());
  return ivs;
}
std::vector<Value> Builder::extendParallel(const std::vector<Operand> &extents) {
  auto op = mlir::dyn_cast<tile::ParallelOp>(impl->top("parallel region").op);
  if (!op)
    fail(Diagnostic::Kind::Runtime, "no parallel loop is open");
  std::vector<Value> ivs;
  for (const Operand &extent : extents) {
    mlir::OpBuilder::InsertionGuard guard(impl->b);
    impl->b.setInsertionPoint(op);
    Value size = std::holds_alternative<Literal>(extent) ? materialize(extent) : std::get<Value>(extent);
    mlir::Value raw = toMlir(size.handle);
    if (op->isAncestor(raw.getParentRegion()->getParentOp()))
      fail(Diagnostic::Kind::Value, "the extent of a parallel loop in another one must not depend on the outer loop",
           "give all extents to one T.Parallel");
    op.getExtentsMutable().append(raw);
    ivs.push_back(impl->wrap(op.getBody().front().addArgument(raw.getType(), op.getLoc()), size.dtype()));
  }
  return ivs;
}
int64_t Builder::effects() const {
  return llvm::count_if(*impl->b.getInsertionBlock(), [](mlir::Operation &op) { return !mlir::isPure(&op); });
}
void Builder::Impl::endBody(const char *what, mlir::ValueRange yields) {
  top(what);
  create<tile::YieldOp>(yields);
  b.restoreInsertionPoint(frames.back().after);
  frames.pop_back();
}

} // namespace tilery
