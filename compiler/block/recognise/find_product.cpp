#include "compiler/block/recognise/find_product.h"
#include "compiler/analysis/search.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/recognise/map_boxes.h"
#include "compiler/ir/hints.h"
#include "compiler/ir/partial_sums.h"
#include "compiler/ir/zero.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;

namespace tilery::block {

/// Nothing of it is a step's number, computed of that, or loaded for a step.
static bool isStill(Operation *product, const IndexPolynomial &place) {
  return place.all([&](Value atom) { return !product->isAncestor(atom.getParentRegion()->getParentOp()); });
}

Value BoxProduct::steps() const {
  auto contract = dyn_cast<tile::ContractOp>(op);
  return contract ? contract.getSteps() : Value();
}
Value BoxProduct::step() const {
  auto contract = dyn_cast<tile::ContractOp>(op);
  return contract ? Value(contract.getBody().getArgument(0)) : Value();
}
bool BoxProduct::movesAcross() const {
  auto moves = [&](const Box &box, unsigned dim) {
    return llvm::any_of(box.dimensions, [&](const BoxDimension &dimension) {
      return dimension.tile == int(dim) && !isStill(op, dimension.start);
    });
  };
  return (steppedA && moves(a, 0)) || (steppedB && moves(b, 1));
}
unsigned BoxProduct::columnUnit() const {
  constexpr unsigned rowsOfSwizzle = 8, bytesOfSwizzle = 128; // at most
  return kMajorB() ? rowsOfSwizzle : std::gcd(n * elementBytes(), bytesOfSwizzle) / elementBytes();
}
tile::Precision BoxProduct::precision() const {
  auto dot = dyn_cast<tile::DotOp>(op);
  return dot ? dot.getPrecision() : cast<tile::ContractOp>(op).getPrecision();
}
bool BoxProduct::isUnsigned() const {
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return dot.getAUnsigned() || dot.getBUnsigned();
  auto contract = cast<tile::ContractOp>(op);
  return contract.getAUnsigned() || contract.getBUnsigned();
}
unsigned BoxProduct::partialSums() const {
  return isa<FloatType>(element) && elementBytes() == 1 ? unsigned(tile::partialSums(op)) : 0;
}
unsigned BoxProduct::stagesHint() const {
  auto contract = dyn_cast<tile::ContractOp>(op);
  if (!contract || !contract.getNumStages())
    return 0;
  tile::heedHint("num_stages");
  return *contract.getNumStages();
}

SmallVector<int> sameButOnes(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int> numbers(from.size(), -1);
  size_t at = 0;
  for (auto [d, size] : llvm::enumerate(from)) {
    if (size == 1)
      continue;
    while (at < to.size() && to[at] == 1)
      ++at;
    if (at == to.size() || to[at] != size)
      return {};
    numbers[d] = int(at++);
  }
  return llvm::all_of(to.drop_front(at), [](int64_t size) { return size == 1; }) ? numbers : SmallVector<int>();
}

namespace {

/// Where the dimensions of the op's operand are in its result, for ops that only name the elements otherwise; else empty.
SmallVector<int> renumbering(Operation *op, ArrayRef<int64_t> shape) {
  SmallVector<int> numbers;
  if (auto permute = dyn_cast_or_null<tile::PermuteOp>(op)) {
    numbers.resize(shape.size());
    for (auto [d, from] : llvm::enumerate(permute.getOrder()))
      numbers[from] = int(d);
  } else if (isa_and_nonnull<tile::ReshapeOp, tile::ExpandDimsOp>(op)) {
    numbers = sameButOnes(tile::shapeOf(op->getOperand(0).getType()), shape);
  } else if (isa_and_nonnull<arith::BitcastOp>(op)) { // of elements of the same size
    numbers.resize(shape.size());
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  return numbers;
}

/// The box that a factor is loaded from, its tile dimensions numbered as the factor's. `live` is of those, too.
/// `before`: its map may be made on the device, in front of that op.
std::optional<Box> loadedBox(Value factor, ArrayRef<Value> live, std::string &why, Operation *before = nullptr) {
  Operation *op = factor.getDefiningOp();
  if (SmallVector<int> numbers = renumbering(op, tile::shapeOf(factor.getType())); !numbers.empty()) {
    SmallVector<Value> inner(numbers.size());
    for (auto [d, number] : llvm::enumerate(numbers))
      inner[d] = number < 0 ? Value() : live[number];
    std::optional<Box> box = loadedBox(op->getOperand(0), inner, why, before);
    if (box)
      box->renumber(numbers);
    return box;
  }
  auto no = [&](const char *reason) -> std::optional<Box> {
    why = reason;
    return std::nullopt;
  };
  auto load = factor.getDefiningOp<tile::LoadOp>();
  if (!load)
    return no("it is computed, not loaded");
  if (load.getIsVolatile())
    return no("its load is volatile");
  if (load.getOther() && !tile::isPlusZero(load.getOther()))
    return no("lanes that do not exist are not 0");
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  return access ? findBox(access, why, live, {before, promisedOf(load), false}) : no("its addresses have no order");
}

/// The box of a loaded factor: where its k coordinate is at `step` * k and nothing else of it moves, of step 0; else `stepped`.
/// `step` is null if there is one step only; `live` is of the other dimension and may be null.
std::optional<Box> factorBox(Operation *product, Value factor, unsigned kDim, int64_t k, Value step, Value live, bool &stepped,
                             std::string &why) {
  SmallVector<Value> lives(2);
  lives[1 - kDim] = live;
  std::optional<Box> box = loadedBox(factor, lives, why, product);
  if (!box || !step)
    return box;
  IndexPolynomial rest;
  bool moves = box->along(kDim).start.coefficient(step, rest).constant() == k;
  stepped = !moves || llvm::any_of(box->dimensions, [&](const BoxDimension &dimension) {
    return !isStill(product, dimension.tile == int(kDim) ? rest : dimension.start);
  });
  if (!stepped)
    box->along(kDim).start = rest;
  if (stepped && box->made) {
    why = "steps do not follow each other along k in a tensor that is known in the kernel only";
    return std::nullopt;
  }
  return box;
}

/// What Hopper's tensor cores can multiply at all.
const char *refusedTypes(const BoxProduct &product, Type b, Type result) {
  Type a = product.element;
  bool isFloat8 = isa<Float8E4M3FNType, Float8E5M2Type>(a);
  if (a != b)
    return "its operands are of two types";
  if (isFloat8 && multipliesByWarps(product.op))
    return "warps do not multiply 8-bit floats";
  if (a.isInteger(8))
    return product.isUnsigned()   ? "its operands are unsigned"
           : result.isInteger(32) ? nullptr
                                  : "8-bit integers are not added in 32 bits";
  if (a.isF32() && product.precision() == tile::Precision::ieee)
    return "f32 operands keep all their bits (precision ieee)";
  if (a.isF32() && product.precision() != tile::Precision::tf32)
    return "f32 operands are split in parts";
  if (!a.isF16() && !a.isBF16() && !a.isF32() && !isFloat8)
    return "the tensor cores do not take the operands' type";
  return result.isF32() ? nullptr : "the products are not added in f32";
}

/// `inSteps`: a slot is a part of a step, as deep as a swizzle's row.
const char *refusedShape(const BoxProduct &product, bool inSteps, unsigned mostColumns = 256) {
  unsigned depth = product.k * product.elementBytes();
  if (product.m % 64 || product.m > (inSteps ? 512 : 256))
    return inSteps ? "neither its rows nor its columns are 64, 128, 192, .. or 512"
                   : "neither its rows nor its columns are 64, 128, 192 or 256";
  if (product.n > mostColumns || product.n % (product.element.isInteger(8) ? 16 : 8))
    return "its columns are not a multiple of 8 (8-bit integers: 16) up to 256";
  if (product.m * product.n > 128 * 256)
    return "its result does not fit the registers";
  if (inSteps ? depth != 32 && depth != 64 && depth % 128 : depth % 32)
    return inSteps ? "its steps of k are not 32, 64 or a multiple of 128 bytes" : "its steps of k are not a multiple of 32 bytes";
  return nullptr;
}

struct Parts {
  Value a, b, acc, step; // step: of a contraction
  OperandRange live;

  /// How many rows of the result, or columns, something reads; null: all.
  Value liveOf(unsigned dim) const { return live.empty() ? Value() : live[dim]; }
};

Parts partsOf(Operation *op) {
  if (auto dot = dyn_cast<tile::DotOp>(op))
    return {dot.getA(), dot.getB(), dot.getAcc(), Value(), dot.getLive()};
  auto contract = cast<tile::ContractOp>(op);
  Block &body = contract.getBody().front();
  Operation *yield = body.getTerminator();
  return {yield->getOperand(0), yield->getOperand(1), contract.getAcc(), body.getArgument(0), contract.getLive()};
}

/// The product but for its boxes, if the tensor cores can make it; `mayTurn`: or its transpose; else two warpgroups may share its columns.
std::optional<BoxProduct> productOf(Operation *op, const Parts &parts, bool mayTurn, std::string &why) {
  auto no = [&](const char *reason) -> std::optional<BoxProduct> {
    why = reason;
    return std::nullopt;
  };
  if (auto dot = dyn_cast<tile::DotOp>(op); dot && dot.getClear() && !analysis::constantOf(dot.getClear()))
    return no("the product may or may not be added");
  auto a = cast<RankedTensorType>(parts.a.getType()), b = cast<RankedTensorType>(parts.b.getType());
  if (a.getRank() != 2)
    return no("it is a batch of products");
  BoxProduct product;
  product.op = op, product.element = a.getElementType();
  product.m = a.getDimSize(0), product.n = b.getDimSize(1), product.k = a.getDimSize(1);
  Type result = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  if (const char *reason = refusedTypes(product, b.getElementType(), result))
    return no(reason);
  const char *reason = refusedShape(product, mayTurn, mayTurn || product.m != 64 ? 256 : 512);
  if (reason && mayTurn) {
    std::swap(product.m, product.n);
    product.swapped = true;
    mayTurn = !refusedShape(product, mayTurn);
  }
  if (reason && !mayTurn)
    return no(reason);
  return product;
}

/// The factor's box, if the copy engine can bring all of it.
std::optional<Box> covered(std::optional<Box> box, Value factor, const BoxProduct &product, std::string &why) {
  if (box && !coverBox(*box, tile::shapeOf(factor.getType()), product.element)) {
    why = "boxes of the copy engine do not cover it";
    box.reset();
  }
  return box;
}

constexpr int narrowestRow = 16; // elements of 16 bits, of a swizzle

/// Factors may lie in either major: warps load what is wider than 16 bits element by element.
bool takesEitherMajor(const BoxProduct &product) {
  return product.elementBytes() == 2 || (product.elementBytes() == 4 && multipliesByWarps(product.op));
}

/// Majors that the tensor cores do not take.
const char *refusedMajors(const BoxProduct &product) {
  if (!takesEitherMajor(product) && !((!product.loadedA || product.inRegisters() || product.kMajorA()) && product.kMajorB()))
    return "k is not contiguous in both operands, as the tensor cores want it for types that are not of 16 bits";
  if (!product.kMajorB() && product.n % narrowestRow)
    return product.swapped ? "the first operand's columns are not a multiple of 16 long"
                           : "the second operand's rows are not a multiple of 16 long";
  return nullptr;
}

/// The dimension of a fetched factor along which its rows lie in shared memory: the cheapest that the tensor cores take.
unsigned lineOfFactor(const BoxProduct &product, Value factor, bool second) {
  unsigned k = second ? 0 : 1, line = shapeOf(factor).line;
  int64_t size = tile::shapeOf(factor.getType())[line];
  bool taken = takesEitherMajor(product) && size % narrowestRow == 0;
  return taken ? line : k;
}

/// The product's transpose in its place.
void turn(BoxProduct &product) {
  std::swap(product.a, product.b);
  std::swap(product.fetchedA, product.fetchedB);
  std::swap(product.steppedA, product.steppedB);
  if (!product.fetchedA)
    product.a.renumber({1, 0});
  if (!product.fetchedB)
    product.b.renumber({1, 0});
  for (std::optional<FetchedFactor> *fetched : {&product.fetchedA, &product.fetchedB})
    if (*fetched)
      (*fetched)->turned = true, (*fetched)->line = 1 - (*fetched)->line;
}

/// The product with what is its `second` factor, or else its first, as the first of the tensor cores'. False: they do not take it so.
bool putFirst(BoxProduct &product, bool second) {
  if (product.swapped == second)
    return true;
  std::swap(product.m, product.n);
  product.swapped = second;
  return !refusedShape(product, /*inSteps=*/true);
}

/// A box of bytes that lie across k goes through registers: it is, or becomes, the first factor. False: the tensor cores do not take the
/// product so.
bool readsFirst(BoxProduct &product, bool second) {
  BoxProduct turned = product;
  if (!putFirst(turned, second))
    return false;
  turned.readA = true;
  product = turned;
  return true;
}

/// The factor finds registers beside the sums, and two steps of what comes find shared memory.
bool fitsRegisters(const BoxProduct &product) {
  constexpr unsigned others = 56,
                     ofThread = 232; // what addresses, and what is unpacked at a time, take; where roles deal them out
  constexpr int64_t ofBlock = 200 << 10;
  unsigned consumers = product.m % 128 ? 1 : 2;
  unsigned words = product.m * product.n / (groupThreads * consumers) +
                   product.m * product.k * product.elementBytes() / (4 * groupThreads * consumers);
  return words + others <= ofThread &&
         2 * (product.unpacked->bytes() + product.n * product.k * product.elementBytes()) <= ofBlock;
}

/// A factor that is computed of boxes is, or becomes, the first, which the threads that multiply compute in registers. False: it is otherwise.
bool unpacksFirst(BoxProduct &product, std::string &why) {
  bool second = product.fetchedB.has_value();
  Value factor = (second ? product.fetchedB : product.fetchedA)->tile;
  auto contract = dyn_cast<tile::ContractOp>(product.op);
  if (!contract || multipliesByWarps(product.op) || product.elementBytes() > 2 || copiedLine(factor))
    return false;
  BoxProduct turned = product;
  turned.unpacked = findUnpacked(contract, factor, why);
  if (!turned.unpacked || !putFirst(turned, second) || !fitsRegisters(turned))
    return false;
  product = turned;
  return true;
}
} // namespace

std::optional<BoxProduct> findProduct(Operation *op, std::string &why) {
  auto no = [&](std::string reason) -> std::optional<BoxProduct> {
    why = std::move(reason);
    return std::nullopt;
  };
  Parts parts = partsOf(op);
  if (!tile::isPlusZero(parts.acc))
    return no("what its sum starts from is not known to be zero");
  std::optional<BoxProduct> found = productOf(op, parts, /*mayTurn=*/true, why);
  if (!found)
    return found;
  BoxProduct &product = *found;
  std::string regrouped;        // why threads cannot fetch a factor, where it may be computed in registers
  std::optional<Box> across[2]; // of factors that threads fetch and turn, where nothing better is found
  auto bring = [&](bool second, Box &box, std::optional<FetchedFactor> &fetched) {
    Value factor = second ? parts.b : parts.a;
    std::string noBox, noFetch;
    std::optional<Box> found = covered(factorBox(op, factor, second ? 0 : 1, product.k, parts.step, parts.liveOf(second),
                                                 second ? product.steppedB : product.steppedA, noBox),
                                       factor, product, noBox);
    if (found && !takesEitherMajor(product) && found->dimensions[0].tile != (second ? 0 : 1)) {
      noBox = "k is not contiguous, as the tensor cores want it for types that are not of 16 bits";
      if (product.elementBytes() == 1)
        across[second] = found;
      found.reset(); // threads turn it
    }
    if (found)
      box = *found;
    else if (canBeFetched(factor, noFetch))
      fetched = FetchedFactor{factor, false, lineOfFactor(product, factor, second), noBox};
    else if (std::string ignored; !multipliesByWarps(op) && canBeFetched(factor, ignored, /*regroups=*/true))
      fetched = FetchedFactor{factor, false, second ? 0u : 1u, noBox}, regrouped = noFetch;
    else if (!across[second])
      why = std::string("the ") + (second ? "second" : "first") + " operand is no box of a tensor in memory: " + noBox +
            (noFetch.empty() || noFetch == noBox ? "" : "; nor can threads fetch it: " + noFetch);
    return found || fetched || across[second];
  };
  if (!bring(false, product.a, product.fetchedA) || !bring(true, product.b, product.fetchedB))
    return std::nullopt;
  if (across[0].has_value() != across[1].has_value() && !(across[0] ? product.fetchedB : product.fetchedA) &&
      readsFirst(product, across[1].has_value())) {
    (across[1] ? product.b : product.a) = across[1] ? *across[1] : *across[0];
    (across[1] ? product.fetchedB : product.fetchedA).reset();
  } else if ((across[0] && !product.fetchedA) || (across[1] && !product.fetchedB)) {
    return no("k is not contiguous in both operands, as the tensor cores want it for types that are not of 16 bits");
  }
  std::string noBoxes;
  bool isOne = product.fetchedA.has_value() != product.fetchedB.has_value() && !across[0] && !across[1];
  if (!(isOne && unpacksFirst(product, noBoxes)) && !regrouped.empty())
    return no("threads cannot fetch a factor: " + regrouped +
              (noBoxes.empty() ? "" : "; nor is it computed of boxes: " + noBoxes));
  if (product.swapped)
    turn(product);
  if (const char *reason = refusedMajors(product))
    return no(reason);
  return product;
}

tile::LoadOp loadOf(Value factor) {
  while (isa_and_nonnull<tile::PermuteOp, tile::ReshapeOp, tile::ExpandDimsOp, arith::BitcastOp>(factor.getDefiningOp()))
    factor = factor.getDefiningOp()->getOperand(0);
  return factor.getDefiningOp<tile::LoadOp>();
}

bool startsFresh(tile::DotOp dot) {
  return tile::isPlusZero(dot.getAcc()) || (dot.getClear() && analysis::constantOf(dot.getClear()).value_or(0) != 0);
}

/// Threads that run ahead can compute the value: it comes of numbers that loops carry or count, and of loads of such places.
static bool isKnownAhead(Value value) {
  for (analysis::Search<Value> values(value); Value each = values.next();) {
    Operation *op = each.getDefiningOp();
    if (!op && isa<RankedTensorType>(each.getType()))
      return false;
    if (!op)
      continue;
    auto load = dyn_cast<tile::LoadOp>(op);
    SmallVector<tile::LoadOp> inside;
    bool isFlow = op->getNumRegions() && isOfNumbers(op, inside);
    if ((op->getNumRegions() && !isFlow) || isa<tile::DotOp>(op) ||
        !(load ? !load.getIsVolatile() : isFlow || isMemoryEffectFree(op)))
      return false;
    op->walk([&](Operation *part) { values.addAll(part->getOperands()); });
  }
  return true;
}

/// A factor at places which are no box, 16 bytes at a time. (A first one that stays for all steps the threads that multiply load themselves.)
static std::optional<FetchedFactor> copiedFactor(Value factor, bool second, std::string &why) {
  unsigned line = 0;
  bool exchanged = false;
  Value tile = factor;
  while (isa_and_nonnull<tile::PermuteOp, arith::BitcastOp>(tile.getDefiningOp())) {
    exchanged ^= isa<tile::PermuteOp>(tile.getDefiningOp());
    tile = tile.getDefiningOp()->getOperand(0);
  }
  auto load = tile.getDefiningOp<tile::LoadOp>();
  std::optional<unsigned> copied = load ? copiedLine(tile) : std::nullopt;
  bool isBrought = load && (second || isa<scf::ForOp, scf::IfOp>(load->getParentOp()) || multipliesByWarps(load));
  if (!copied || !isBrought || !isKnownAhead(load.getPlace()))
    return std::nullopt;
  line = exchanged ? 1 - *copied : *copied;
  return FetchedFactor{tile, exchanged, line, why};
}

Value computedFactor(const BoxProduct &product, bool second) {
  auto dot = cast<tile::DotOp>(product.op);
  Value factor = second ? dot.getB() : dot.getA();
  return (second ? product.turnedB : product.turnedA) ? factor.getDefiningOp<tile::PermuteOp>().getValue() : factor;
}

std::optional<BoxProduct> findDot(tile::DotOp dot, std::string &why) {
  auto no = [&](std::string reason) -> std::optional<BoxProduct> {
    why = std::move(reason);
    return std::nullopt;
  };
  Parts parts = partsOf(dot);
  std::optional<BoxProduct> product = productOf(dot, parts, /*mayTurn=*/false, why);
  if (!product)
    return product;
  std::string reason;
  auto bring = [&](bool second, Box &box, std::optional<FetchedFactor> &fetched) {
    Value factor = second ? parts.b : parts.a;
    SmallVector<Value, 2> lives{second ? Value() : parts.liveOf(0), second ? parts.liveOf(1) : Value()};
    std::optional<Box> found = covered(loadedBox(factor, lives, reason), factor, *product, reason);
    if (found)
      box = *found;
    else
      fetched = copiedFactor(factor, second, reason);
    return found || fetched;
  };
  product->loadedB = bool(loadOf(parts.b));
  product->turnedB = !product->loadedB && parts.b.getDefiningOp<tile::PermuteOp>();
  bool isWide = product->elementBytes() == 4 && !multipliesByWarps(dot); // threads write it along k
  if (!product->loadedB && !takesEitherMajor(*product) && !(isWide && product->turnedB))
    return no("the second operand is computed, of a type that is not of 16 bits");
  if (product->loadedB && !bring(true, product->b, product->fetchedB))
    return no("the second operand is no box of a tensor in memory: " + reason);
  tile::LoadOp load = loadOf(parts.a);
  product->loadedA = bool(load);
  product->turnedA = !load && !isWide && parts.a.getDefiningOp<tile::PermuteOp>(); // else registers hold it as it is wanted
  if (product->turnedA && !takesEitherMajor(*product))
    return no("its first operand is computed, and turned");
  if (load && !bring(false, product->a, product->fetchedA)) {
    if (!isa<tile::KernelOp>(parts.a.getDefiningOp()->getParentOp()) || load.getIsVolatile())
      return no("the first operand is no box of a tensor in memory: " + reason);
    product->loadedA = false;
    product->writtenA = true;
  }
  if (const char *majors = refusedMajors(*product))
    return no(majors);
  return product;
}

} // namespace tilery::block
