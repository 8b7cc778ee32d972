// Loops with several products, as attention and its backward have them: factors that stay and factors that a step loads, products of what is
// computed from products, sums that loops carry, rows of numbers, stores between the loops and in their steps, second factors that are computed,
// steps that a table leaves out.
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

/// Sizes and arrays that the loops of a kernel share.
struct Generator::Chain {
  int64_t m, step, width; // rows of a program, of a step; columns of all factors
  int64_t steps;
  Type element;
  Value row, limit, stepSize; // i64, i32, i32
};

Value Generator::chainTile(const Array &array, ArrayRef<int64_t> shape, Value row, Type element) {
  return tile::LoadOp::create(b, loc, RankedTensorType::get(shape, element),
                              alignedPlace(array, shape, {row, integer(0, 64)}, element), Value(), false, StringAttr(),
                              StringAttr());
}

/// One number a row of a step, for each of the program's rows.
Value Generator::chainLine(const Chain &chain, Value at) {
  auto line = RankedTensorType::get({chain.step}, b.getF32Type());
  Array array = makeArray({chain.steps * chain.step}, b.getF32Type(), false, true);
  aligned.push_back(program.args.size() - 1);
  Value place = tile::AccessOp::create(b, loc, tile::AccessType::get({chain.step}, b.getF32Type()), array.pointer, at,
                                       ValueRange{integer(1, 64)}, ValueRange(), Value(), SmallVector<int32_t>{0});
  Value loaded = tile::LoadOp::create(b, loc, line, place, Value(), false, StringAttr(), StringAttr());
  Value one = tile::ExpandDimsOp::create(b, loc, RankedTensorType::get({1, chain.step}, b.getF32Type()), loaded, 0);
  return tile::BroadcastOp::create(b, loc, RankedTensorType::get({chain.m, chain.step}, b.getF32Type()), one);
}

/// Whether the step of that number is one that a table of numbers takes.
Value Generator::chainTakes(const Chain &chain, Value number) {
  Type element = b.getI32Type();
  Array table = makeArray({chain.steps}, element, false, true);
  Value place = tile::AccessOp::create(b, loc, tile::AccessType::get({}, element), table.pointer, number, ValueRange(),
                                       ValueRange(), Value(), SmallVector<int32_t>());
  Value kind = tile::LoadOp::create(b, loc, element, place, Value(), false, StringAttr(), StringAttr());
  Value bit = arith::AndIOp::create(b, loc, kind, integer(1, 32));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, integer(0, 32));
}

/// A loop that adds to one or two sums; their values behind it.
SmallVector<Value> Generator::chainLoop(const Chain &chain, unsigned sums) {
  Shape own{chain.m, chain.width}, part{chain.step, chain.width};
  auto scores = RankedTensorType::get({chain.m, chain.step}, b.getF32Type());
  auto sumType = RankedTensorType::get(own, b.getF32Type());
  auto zero = [&](RankedTensorType type) { return Value(arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type))); };
  auto dot = [&](Value x, Value y, Value sum) {
    return Value(
        tile::DotOp::create(b, loc, sum.getType(), x, y, sum, Value(), tile::Precision::tf32, false, false, ValueRange()));
  };
  auto stays = [&] {
    return chainTile(alignedArray({chain.m * program.grid[0], chain.width}, false, chain.element, false), own, chain.row,
                     chain.element);
  };
  bool two = random.chance(0.6); // products of loaded factors
  Value x = stays(), x2 = two ? stays() : Value();
  SmallVector<Array> arrays;
  for (unsigned i = 0; i < 2; ++i)
    arrays.push_back(alignedArray({chain.steps * chain.step, chain.width}, false, chain.element, false));
  SmallVector<Value> starts(sums, zero(sumType));
  auto loop = scf::ForOp::create(b, loc, integer(0, 32), chain.limit, chain.stepSize, starts);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = arith::ExtSIOp::create(b, loc, b.getI64Type(), loop.getInductionVar());
  Value number = tile::DivOp::create(b, loc, at, integer(chain.step, 64), tile::IntDivMode::trunc);
  auto ofStep = [&](int64_t rows) { return Value(arith::MulIOp::create(b, loc, number, integer(rows, 64))); };
  if (random.chance(0.25)) { // what the sums are before the step
    Array array = alignedArray({chain.m * program.grid[0] * chain.steps, chain.width}, false, chain.element, true);
    Value row = arith::MulIOp::create(b, loc, chain.row, integer(chain.steps, 64));
    row = arith::AddIOp::create(b, loc, row, ofStep(chain.m));
    tile::StoreOp::create(b, loc, alignedPlace(array, own, {row, integer(0, 64)}, chain.element),
                          convert(loop.getRegionIterArg(0), chain.element), false, StringAttr(), StringAttr());
  }
  scf::IfOp branch;
  if (random.chance(0.25)) {
    branch = scf::IfOp::create(b, loc, loop.getResultTypes(), chainTakes(chain, number), /*withElse=*/true);
    scf::YieldOp::create(b, loc, branch.getResults()); // of the loop
    OpBuilder idle = OpBuilder::atBlockEnd(branch.elseBlock());
    scf::YieldOp::create(idle, loc, loop.getRegionIterArgs());
    b.setInsertionPointToStart(branch.thenBlock());
  }
  auto turned = [&](Value y) {
    return Value(tile::PermuteOp::create(b, loc, RankedTensorType::get({chain.width, chain.step}, chain.element), y,
                                         ArrayRef<int64_t>{1, 0}));
  };
  Value y = chainTile(arrays[0], part, at, chain.element);
  Value s = dot(x, turned(y), zero(scores));
  bool goesOn = random.chance(0.3); // products in each other's sums
  if (!goesOn && random.chance(0.5))
    s = arith::SubFOp::create(b, loc, s, chainLine(chain, at));
  if (!goesOn && random.chance(0.5))
    s = arith::MaximumFOp::create(b, loc, s, zero(scores));
  Value y2 = chainTile(arrays[1], part, at, chain.element), s2 = s;
  if (two && goesOn)
    s2 = s = dot(x2, turned(y2), s);
  else if (two)
    s2 = arith::MulFOp::create(b, loc, s, dot(x2, turned(y2), zero(scores)));
  SmallVector<Value> ends;
  for (unsigned i = 0; i < sums; ++i) {
    Value factor = convert(i ? s : s2, chain.element), other = i ? y2 : y, sum = loop.getRegionIterArg(i);
    if (random.chance(0.3)) // carried sums that are computed with, and added to
      sum = arith::NegFOp::create(b, loc, sum);
    ends.push_back(random.chance(0.5) ? dot(factor, other, sum)
                                      : Value(arith::AddFOp::create(b, loc, sum, dot(factor, other, zero(sumType)))));
    for (int64_t more = goesOn ? random.below(3) : 0; more > 0; --more) {
      Array array = alignedArray({chain.steps * chain.step, chain.width}, false, chain.element, false);
      ends.back() = dot(factor, chainTile(array, part, at, chain.element), ends.back());
    }
  }
  if (random.chance(0.3)) { // a second factor that is computed: of the sums before, or of what is loaded
    bool ofSums = chain.m == chain.width && random.chance(0.5);
    Shape shape{chain.width, chain.width};
    Value row = ofStep(chain.width), second = loop.getRegionIterArg(0);
    if (!ofSums)
      second =
          arith::NegFOp::create(b, loc,
                                chainTile(alignedArray({chain.steps * chain.width, chain.width}, false, chain.element, false),
                                          shape, row, chain.element));
    Array array = alignedArray({chain.steps * chain.m, chain.width}, false, chain.element, false);
    Value first = chainTile(array, {chain.m, chain.width}, ofStep(chain.m), chain.element);
    ends[0] = dot(first, ofSums ? convert(second, chain.element) : second, ends[0]);
  }
  scf::YieldOp::create(b, loc, ends);
  return SmallVector<Value>(loop.getResults());
}

void Generator::chainKernel() {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  program.grid[1] = 1;
  Chain chain;
  chain.m = random.chance(0.7) ? 64 : 128;
  chain.step = random.of(std::vector<int64_t>{16, 32, 32, 64});
  chain.width = 64;
  chain.steps = random.below(4);
  chain.element = random.chance(0.5) ? Type(b.getF16Type()) : Type(b.getBF16Type());
  Value id = tile::ProgramIdOp::create(b, loc, b.getI32IntegerAttr(0));
  chain.row = arith::MulIOp::create(b, loc, arith::ExtSIOp::create(b, loc, b.getI64Type(), id), integer(chain.m, 64), nsw);
  int64_t steps = std::max<int64_t>(chain.steps, 1);
  chain.limit = random.chance(0.5) ? scalarArgument(b.getI32Type(), uint64_t(chain.steps * chain.step))
                                   : integer(chain.steps * chain.step, 32);
  chain.steps = steps;
  chain.stepSize = integer(chain.step, 32);
  for (int64_t loops = 1 + random.below(2); loops > 0; --loops)
    for (Value sum : chainLoop(chain, 1 + unsigned(random.below(2)))) {
      Type output = random.chance(0.7) ? chain.element : Type(b.getF32Type());
      Array out = alignedArray({chain.m * program.grid[0], chain.width}, false, output, true);
      tile::StoreOp::create(b, loc, alignedPlace(out, {chain.m, chain.width}, {chain.row, integer(0, 64)}, output),
                            convert(sum, output), false, StringAttr(), StringAttr());
    }
}

} // namespace tilery::fuzz
