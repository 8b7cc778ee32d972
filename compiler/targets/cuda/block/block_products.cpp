// Products of warpgroups: each multiplies its rows (or columns) of the sum.
#include "compiler/ir/partial_sums.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"

using namespace mlir;

namespace tilery::cuda {
namespace {

/// How an operand lies in shared memory, (m or n) x k, as the tensor cores are told of it.
struct OperandPlan {
  layout::MatrixDescriptor descriptor;
  unsigned elementBytes;
  int64_t rows; // of m or n

  /// Bytes from row 0 to a row that is a multiple of 8. (The tensor cores swizzle addresses: where m or n is contiguous, rows may begin
  /// within a swizzle's row of elements.)
  unsigned rowOffset(int64_t row) const {
    unsigned width = unsigned(descriptor.swizzle), perLine = width / elementBytes;
    return descriptor.kMajor ? row * width : row / perLine * descriptor.leading + row % perLine * elementBytes;
  }
  /// Bytes from the first instruction's k to that of instruction `step`, each of which takes 32 bytes (16 rows) of k.
  unsigned stepOffset(unsigned step) const {
    if (!descriptor.kMajor)
      return step * descriptor.kStep;
    unsigned perRow = unsigned(descriptor.swizzle) / 32; // boxes of a swizzle's row of k lie one after the other
    return step / perRow * rows * unsigned(descriptor.swizzle) + step % perRow * descriptor.kStep;
  }
};

std::optional<OperandPlan> planOf(block::SharedType type, bool isB) {
  if (!type.getLayout())
    return std::nullopt;
  layout::Layout memory = type.getLayout().getLayout();
  if (isB)
    memory = memory.transposed();
  unsigned bytes = tile::elementBytes(type.getElementType());
  int64_t rows = memory.outputs()[0].extent;
  if (auto swizzle = layout::swizzleOf(memory, bytes); swizzle && *swizzle != layout::Swizzle::None)
    memory = layout::copyBox(rows, int64_t(*swizzle) / bytes, bytes, *swizzle); // of several along k, the first
  std::optional<layout::MatrixDescriptor> descriptor = layout::matrixDescriptor(memory, bytes);
  if (!descriptor)
    return std::nullopt;
  return OperandPlan{*descriptor, bytes, rows};
}

/// How the warps of a role share a sum: tiles of 64 x n, in units of which `outer` counts (Register: those of a warpgroup).
struct SumPlan {
  unsigned n;
  layout::Layout outer;
  layout::Rows rows = layout::Rows::InOrder;
};

/// registers: of a thread, as a launch gives them, which the assembler takes for all that there are for one instruction (C7602).
std::optional<SumPlan> shareOf(const layout::Layout &sums, unsigned registers) {
  constexpr unsigned others = 32; // of one factor and of places
  int64_t columns = sums.outputs()[1].extent, most = registers > others ? 2 * (registers - others) : 8;
  for (int64_t n = std::min<int64_t>({columns, 256, std::max<int64_t>(most, 8)}) / 8 * 8; n > 0; n -= 8) {
    for (layout::Rows rows : {layout::Rows::InOrder, layout::Rows::Paired}) {
      std::optional<layout::Layout> outer =
          columns % n ? std::nullopt : layout::divide(sums, layout::wgmmaAccumulator(unsigned(n), rows));
      if (outer && outer->extent(layout::Lane) == 1)
        return SumPlan{unsigned(n), *outer, rows};
    }
  }
  return std::nullopt;
}
} // namespace

namespace {
constexpr unsigned never = ~0u; // of no product: there is nothing to wait for

/// Products that `block` starts between two of its ops, at least: loops may run no step.
unsigned startsBetween(Block *block, Operation *from, Operation *to) {
  unsigned count = 0;
  for (Operation &op : *block) {
    if (&op == to)
      break;
    if (!from || from->isBeforeInBlock(&op))
      count += isa<block::MmaStartOp>(op);
  }
  return count;
}

unsigned since(Operation *at, Value product, unsigned depth);

/// Of what a loop carries: it was there before, or the step before has left it.
unsigned sinceCarried(scf::ForOp loop, unsigned number, unsigned depth) {
  Operation *yield = loop.getBody()->getTerminator();
  Value carried = yield->getOperand(number);
  unsigned entered = since(loop, loop.getInitArgs()[number], depth + 1);
  return carried == loop.getRegionIterArg(number) ? entered : std::min(entered, since(yield, carried, depth + 1));
}

unsigned since(Operation *at, Value product, unsigned depth) {
  if (depth > 8)
    return 0;
  unsigned before;
  Operation *from = nullptr;
  Block *block = product.getParentBlock();
  if (auto argument = dyn_cast<BlockArgument>(product)) {
    auto loop = dyn_cast<scf::ForOp>(block->getParentOp());
    before = loop ? sinceCarried(loop, argument.getArgNumber() - 1, depth) : 0;
  } else {
    from = product.getDefiningOp();
    auto loop = dyn_cast<scf::ForOp>(from);
    bool isNone = isa<block::NoneOp>(from);
    before = loop ? sinceCarried(loop, cast<OpResult>(product).getResultNumber(), depth) : isNone ? never : 0;
  }
  Operation *holder = block->findAncestorOpInBlock(*at);
  return before == never || !holder ? before : before + startsBetween(block, from, holder);
}
} // namespace

unsigned startedSince(Operation *wait, Value product) {
  unsigned count = since(wait, product, 0);
  return count == never ? 0 : count;
}

std::optional<HeldFactor> HeldFactor::find(Value factor, const layout::ProductForm &form, layout::Rows rows) {
  block::LayoutAttr layout = block::layoutOf(factor.getType());
  unsigned bits = getElementTypeOrSelf(factor.getType()).getIntOrFloatBitWidth();
  std::optional<layout::Layout> units = layout ? layout::divide(layout.getLayout(), form.factor(bits, rows)) : std::nullopt;
  return units ? std::optional(HeldFactor{*units}) : std::nullopt;
}

MutableArrayRef<llvm::Value *> HeldFactor::words(MutableArrayRef<llvm::Value *> all, int64_t rows, int64_t step) const {
  for (unsigned number = 0; number < units.extent(layout::Register); ++number)
    if (auto at = units.at({{layout::Register, number}}); at[0] == rows && at[1] == step)
      return all.slice(4 * number, 4);
  return {};
}

void BlockEmitter::failProduct(block::MmaStartOp start, const llvm::Twine &what) {
  fail(start, what);
  remember(start, partsOf(start.getC())); // loops around it carry as many
}

/// A product on its way to the tensor cores. Its factors: shared memory by descriptors, or registers that belong to the tensor cores until
/// the product is waited for.
class BlockEmitter::ProductStart {
public:
  ProductStart(BlockEmitter &block, block::MmaStartOp start) : in(block), b(block.b), start(start) {}
  /// How its factors and sums lie; false: otherwise than the tensor cores take them.
  bool plan();
  void emit();

private:
  BlockEmitter &in;
  llvm::IRBuilder<> &b;
  block::MmaStartOp start;
  std::optional<SumPlan> share;
  WgmmaForm form{};
  std::optional<OperandPlan> inA, inB;
  std::optional<HeldFactor> held; // A, where it is not in shared memory
  Parts sums, factor;             // factor: the registers of A
  bool fresh = false, turns = false;
  llvm::Value *addressA = nullptr, *addressB = nullptr;
  unsigned tiles = 0, steps = 0; // of the sums, along k

  llvm::Value *descriptor(llvm::Value *address, uint64_t rest);
  void placeFactors();
  SmallVector<llvm::Value *> turn(unsigned step);
  BlockMachine::WgmmaStep stepOf(unsigned tile, unsigned column, unsigned step, unsigned sums);
  void multiply(llvm::Value *scale);
  void multiplyApart(int64_t depth);
};

bool BlockEmitter::ProductStart::plan() {
  RankedTensorType tile = start.getType().getTile();
  auto sharedA = dyn_cast<block::SharedType>(start.getA().getType());
  block::LayoutAttr sumLayout = block::layoutOf(tile);
  share = sumLayout ? shareOf(sumLayout.getLayout(), in.registersOfLaunch()) : std::nullopt;
  if (!share || tile.getElementType().isF16())
    return false;
  if (sharedA)
    inA = planOf(sharedA, false);
  else
    held = HeldFactor::find(start.getA(), block::formOf(start), share->rows);
  inB = planOf(start.getB().getType(), true);
  auto typeA =
      WgmmaForm::typeOf(sharedA ? sharedA.getElementType() : getElementTypeOrSelf(start.getA().getType()), start.getAUnsigned());
  auto typeB = WgmmaForm::typeOf(start.getB().getType().getElementType(), start.getBUnsigned());
  if (!(inA || held) || !inB || !typeA || !typeB)
    return false;
  form = {share->n, *typeA, *typeB, inA && !inA->descriptor.kMajor, !inB->descriptor.kMajor};
  tiles = share->outer.extent(layout::Register);
  steps = start.getB().getType().getShape()[0] / form.k();
  return true;
}

/// The factor is made in front of the loop.
static bool staysFor(Operation *loop, Value factor) { return loop && !loop->isAncestor(factor.getParentBlock()->getParentOp()); }

static Operation *loopAround(Operation *op) {
  do
    op = op->getParentOp();
  while (op && !isa<scf::ForOp, scf::WhileOp>(op));
  return op;
}

/// Another product of the loop takes a first factor from registers that is made in the loop.
static bool meetsOtherFactor(Operation *loop, block::MmaStartOp start) {
  auto isOther = [&](block::MmaStartOp other) {
    bool isMade = other != start && !isa<block::SharedType>(other.getA().getType()) && !staysFor(loop, other.getA());
    return isMade ? WalkResult::interrupt() : WalkResult::advance();
  };
  return loop->walk(isOther).wasInterrupted();
}

void BlockEmitter::ProductStart::emit() {
  sums = in.partsOf(start.getC());
  Parts factors = in.reading.lookup(start.getC());
  auto isZero = [](llvm::Value *sum) { return isa<llvm::Constant>(sum) && cast<llvm::Constant>(sum)->isNullValue(); };
  fresh = llvm::all_of(sums, isZero);
  turns = held && in.unturned.contains(start.getA());
  if (held)
    factor = turns ? in.unturned.lookup(start.getA()) : in.packed(start.getA());
  // The assembler (13.0) may give registers that a factor keeps for a loop to the first factor of another product, which is made in the loop,
  // and multiplies with that from the second turn on.
  if (Operation *loop = loopAround(start); held && !turns && staysFor(loop, start.getA()) && meetsOtherFactor(loop, start))
    in.machine.copyRegisters(in.e, factor);
  llvm::Value *scale = in.i32(fresh ? 0 : 1);
  if (start.getClear() && !fresh)
    scale = b.CreateZExt(b.CreateNot(in.scalar(start.getClear())), b.getInt32Ty());
  placeFactors();
  if (int64_t depth = tile::partialSums(start)) {
    multiplyApart(depth);
    return in.remember(start, std::move(sums));
  }
  multiply(scale);
  in.remember(start, std::move(sums));
  llvm::append_range(factors, factor);
  if (!factors.empty())
    in.reading[start] = std::move(factors);
}

/// A descriptor takes 18 bits of the address; in clusters, more are set.
llvm::Value *BlockEmitter::ProductStart::descriptor(llvm::Value *address, uint64_t rest) {
  llvm::Value *units = b.CreateAnd(b.CreateLShr(address, 4), in.i32(0x3fff));
  return b.CreateOr(b.CreateZExt(units, b.getInt64Ty()), b.getInt64(rest));
}

void BlockEmitter::ProductStart::placeFactors() {
  auto own = emitLayout(b, share->outer, {{layout::Warp, in.warpgroup}}); // of the warpgroup, in tiles
  addressB = in.partsOf(start.getB())[0];
  if (inA)
    addressA = b.CreateAdd(in.partsOf(start.getA())[0], b.CreateMul(own[0], in.i32(inA->rowOffset(64))));
  addressB = b.CreateAdd(addressB, b.CreateMul(own[1], in.i32(inB->rowOffset(share->n))));
  // Of several products that fill the registers, descriptors of what stays in shared memory for the loop would take more of them.
  constexpr int64_t many = 3;
  auto loop = start->getParentOfType<scf::ForOp>();
  bool isFull = loop && llvm::range_size(loop.getBody()->getOps<block::MmaStartOp>()) >= many;
  if (inA && isFull && staysFor(loop, start.getA()))
    addressA = in.machine.here(in.e, addressA);
  if (isFull && staysFor(loop, start.getB()))
    addressB = in.machine.here(in.e, addressB);
}

SmallVector<llvm::Value *> BlockEmitter::ProductStart::turn(unsigned step) {
  SmallVector<llvm::Value *> turned;
  for (unsigned t = 0; turns && t < tiles; ++t) {
    auto words = held->words(factor, share->outer.at({{layout::Register, t}})[0], step);
    in.turnWords(words);
    llvm::append_range(turned, words);
  }
  return turned;
}

/// Of a tile of the sums, or its columns from `column` on, which begin at `sums` among those of a statement.
BlockMachine::WgmmaStep BlockEmitter::ProductStart::stepOf(unsigned tile, unsigned column, unsigned number, unsigned sums) {
  auto at = share->outer.at({{layout::Register, tile}});
  BlockMachine::WgmmaStep step;
  step.sums = sums;
  if (held) {
    llvm::append_range(step.a, held->words(factor, at[0], number));
    if (step.a.empty())
      in.fail(start, "takes rows of its first factor that other warpgroups hold");
  } else {
    llvm::Value *first = descriptor(b.CreateAdd(addressA, in.i32(inA->rowOffset(64 * at[0]))), inA->descriptor.bits());
    step.a.push_back(b.CreateAdd(first, b.getInt64(inA->stepOffset(number) / 16)));
  }
  llvm::Value *rows = b.CreateAdd(addressB, in.i32(inB->rowOffset(share->n * at[1] + column)));
  step.b = b.CreateAdd(descriptor(rows, inB->descriptor.bits()), b.getInt64(inB->stepOffset(number) / 16));
  return step;
}

/// One statement; where A is turned in registers, one a step: what a step takes is turned while the one before it is multiplied.
void BlockEmitter::ProductStart::multiply(llvm::Value *scale) {
  BlockMachine &machine = in.machine;
  MutableArrayRef<llvm::Value *> none;
  if (!turns)
    machine.wgmmaFence(in.e, fresh ? none : sums, factor);
  SmallVector<BlockMachine::WgmmaStep> products;
  for (unsigned step = 0; step < steps; ++step) {
    if (turns)
      machine.wgmmaFence(in.e, fresh || step ? none : sums, turn(step));
    for (unsigned t = 0; t < tiles; ++t)
      products.push_back(stepOf(t, 0, step, t * form.sums()));
    if (turns || step + 1 == steps) {
      machine.wgmma(in.e, form, sums, products, products.size() == (step + 1) * tiles ? scale : in.i32(1));
      products.clear();
    }
  }
  machine.wgmmaCommit(in.e);
}

/// Sums over `depth` of k, apart from the others and waited for, are added to these with all their bits.
void BlockEmitter::ProductStart::multiplyApart(int64_t depth) {
  BlockMachine &machine = in.machine;
  WgmmaForm narrow = form;
  if (auto columns = start->getAttrOfType<IntegerAttr>("block.columns"))
    narrow.n = unsigned(columns.getInt());
  unsigned together = std::max<unsigned>(depth / form.k(), 1);
  for (unsigned first = 0; first < steps; first += together) {
    unsigned end = std::min(first + together, steps);
    for (unsigned step = first; step < end; ++step)
      turn(step);
    for (unsigned t = 0; t < tiles; ++t)
      for (unsigned column = 0; column < form.n; column += narrow.n) {
        Parts apart(narrow.sums(), llvm::Constant::getNullValue(sums[0]->getType()));
        machine.wgmmaFence(in.e, {}, factor);
        SmallVector<BlockMachine::WgmmaStep> products;
        for (unsigned step = first; step < end; ++step)
          products.push_back(stepOf(t, column, step, 0));
        machine.wgmma(in.e, narrow, apart, products, in.i32(0));
        machine.wgmmaCommit(in.e);
        machine.wgmmaWait(in.e, 0, apart, factor);
        for (auto [i, sum] : llvm::enumerate(apart)) {
          llvm::Value *&all = sums[t * form.sums() + column / narrow.n * narrow.sums() + i];
          all = b.CreateFAdd(all, sum);
        }
      }
  }
}

void BlockEmitter::emitStart(block::MmaStartOp start) {
  if (byWarps)
    return emitWarpProduct(start);
  ProductStart product(*this, start);
  if (!product.plan())
    return failProduct(start, "has no code in a block: its factors or sums lie otherwise than the tensor cores take them");
  product.emit();
}

BlockEmitter::Parts BlockEmitter::packed(Value tile) {
  Parts elements = partsOf(tile), words;
  for (llvm::Value *&element : elements) // a factor: others are of 16 bits at most
    if (getElementTypeOrSelf(tile.getType()).isF32())
      element = roundedTF32(element);
  unsigned each = 32 / getElementTypeOrSelf(tile.getType()).getIntOrFloatBitWidth();
  for (unsigned first = 0; first < elements.size(); first += each) {
    llvm::Value *vector = llvm::PoisonValue::get(llvm::FixedVectorType::get(elements[first]->getType(), each));
    for (unsigned i = 0; i < each; ++i)
      vector = b.CreateInsertElement(vector, elements[first + i], uint64_t(i));
    words.push_back(b.CreateBitCast(vector, b.getInt32Ty()));
  }
  return words;
}

void BlockEmitter::emitSettle(block::MmaSettleOp settle) {
  if (byWarps)
    return;
  unsigned later = startedSince(settle, settle.getProduct());
  for (Operation *op = settle->getPrevNode(); op && !isa<block::MmaStartOp>(op); op = op->getPrevNode())
    if (auto wait = dyn_cast<block::MmaWaitOp>(op); wait && startedSince(wait, wait.getProduct()) <= later) {
      reading.erase(settle.getProduct()); // a later one was waited for: to say less again would serialise products (C7514)
      return;
    }
  machine.wgmmaWait(e, later, {}, reading.lookup(settle.getProduct()));
  reading.erase(settle.getProduct());
}

// Divisions by the grid's extents are many cycles: here, not where stores wait for them.
void BlockEmitter::computeMeanwhile(Operation *wait) {
  for (Operation *op = wait->getNextNode(); op; op = op->getNextNode())
    if (auto store = dyn_cast<block::StoreBoxOp>(op))
      for (Value coordinate : store.getCoords()) {
        auto sum = coordinate.getDefiningOp<arith::AddIOp>();
        Value start = sum && sum.getRhs().getDefiningOp<arith::ConstantOp>() ? sum.getLhs() : coordinate;
        if (!start.getType().isInteger(32) || evaluator.scalars.contains(start))
          continue;
        llvm::Value *early = scalar(start);
        if (!isa<llvm::Constant>(early))
          evaluator.scalars[start] = machine.here(e, early);
      }
}

namespace {
/// Ops that are computed where something takes their results, and cost nothing before.
bool isNamed(Operation *op) {
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp, arith::TruncFOp>(op);
}

/// True if something behind `wait`, in its block, takes the result.
bool isTakenBehind(Operation *op, Operation *wait) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    Operation *holder = wait->getBlock()->findAncestorOpInBlock(*user);
    return holder && (wait->isBeforeInBlock(holder) || (holder == user && isNamed(user) && isTakenBehind(user, wait)));
  });
}

/// True if the op is computed from a product's result that its block has waited for.
bool comesOfProduct(Operation *op, Block *block, llvm::SmallPtrSetImpl<Operation *> &seen) {
  if (!op || op->getBlock() != block || !seen.insert(op).second)
    return false;
  return isa<block::MmaWaitOp>(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) { return comesOfProduct(operand.getDefiningOp(), block, seen); });
}
} // namespace

// What a step has got of earlier products is computed while this one runs: elementwise work that is taken behind it, not only then.
void BlockEmitter::computeBefore(block::MmaWaitOp wait) {
  for (Operation &op : *wait->getBlock()) {
    if (&op == wait)
      return;
    bool isElementwise = OpTrait::hasElementwiseMappableTraits(&op) && !isNamed(&op) && op.getNumResults() == 1;
    if (llvm::SmallPtrSet<Operation *, 32> seen; isElementwise && isa<RankedTensorType>(op.getResult(0).getType()) &&
                                                 isTakenBehind(&op, wait) && comesOfProduct(&op, wait->getBlock(), seen))
      partsOf(op.getResult(0));
  }
}

void BlockEmitter::emitWait(block::MmaWaitOp wait) {
  bool isOfSteps =
      bool(wait.getProduct().getDefiningOp<scf::ForOp>()); // that are over: a loop around it goes over programs' tiles
  if (wait->getParentOfType<scf::ForOp>() && !isOfSteps)
    computeBefore(wait);
  else
    computeMeanwhile(wait);
  Parts sums = partsOf(wait.getProduct());
  if (!byWarps)
    machine.wgmmaWait(e, startedSince(wait, wait.getProduct()), sums, reading.lookup(wait.getProduct()));
  remember(wait, std::move(sums));
  finishScales(wait);
}

} // namespace tilery::cuda
