#include "compiler/targets/cuda/mma/warp_product.h"
#include "compiler/block/forms/memory.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"

namespace tilery::cuda {
using layout::Layout;

struct WarpProduct::Factor {
  bool isA, inMatrices, transposed;
  unsigned rows;      // (columns) that a load of matrices brings, or the elements of one tile
  unsigned each;      // places of these
  unsigned width;     // elements of one place
  Layout units;       // Register, Warp -> which rows (columns) of the sum these are, in units of so many
  SplitPlaces places; // Register (of `each`, of `units`, of the steps of k), Lane, Warp -> elements from the factor's beginning
  Value *address;

  unsigned unitCount() const { return unsigned(units.extent(layout::Register)); }
};

/// The element whose 16 bytes each lane names for the matrices of 8 x 8 of one load; coordinates: rows of a (columns of b), k. Matrices of a:
/// rows, the next 8 rows, both 16 bytes of k further on; of b: columns, the same 16 bytes of k further on, both for the next 8 columns, if
/// there are any.
static Layout matricesOf(const MmaForm &form, bool isA, int64_t rows, bool kMajor) {
  int64_t half = form.depth() / 2;
  Layout lanes({{layout::dim(0), rows}, {layout::dim(1), 2 * half}});
  lanes.add(layout::Lane, 8, kMajor ? Layout::Vector{1, 0} : Layout::Vector{0, 1});
  Layout::Vector along{rows > 8 ? 8 : 0, 0}, deep{0, half};
  return lanes.add(layout::Lane, 2, isA ? along : deep).add(layout::Lane, 2, isA ? deep : along);
}

/// The elements that a lane takes of a tile, one by one: of tensor cores those of four k (and of the next four), of threads those of all k.
static Layout elementsOf(const MmaForm &form, bool isA) {
  int64_t depth = form.depth();
  Layout result({{layout::dim(0), isA ? 16 : 8}, {layout::dim(1), depth}});
  if (form.fused()) {
    result.add(layout::Register, depth, {0, 1}).add(layout::Register, 2, {isA ? 8 : 1, 0});
    return result.add(layout::Lane, 4, {isA ? 0 : 2, 0}).add(layout::Lane, 8, {isA ? 1 : 0, 0});
  }
  if (isA)
    result.add(layout::Register, 2, {8, 0});
  return result.add(layout::Register, depth / 4, {0, 4}).add(layout::Lane, 4, {0, 1}).add(layout::Lane, 8, {1, 0});
}

bool WarpProduct::read(bool isA, const Layout &memory, Value *address) {
  unsigned bytes = form.elementBytes(), rows = isA ? 16 : 8;
  bool kMajor = layout::contiguous(memory, layout::dim(1)) * bytes >= 16;
  bool inMatrices = !form.fused() && bytes <= 4 && (kMajor || bytes == 2);
  if (inMatrices ? !kMajor && layout::contiguous(memory, layout::dim(0)) < 8 : bytes < 4)
    return false;
  Layout units = layout::slice(tiles, isA ? 1 : 0);
  if (Layout pair = Layout({{layout::dim(0), 2}}).add(layout::Register, 2, {1}); inMatrices && !isA)
    if (std::optional<Layout> pairs = layout::divide(units, pair))
      units = *pairs, rows = 16;
  int64_t steps = memory.extent(layout::dim(1)) / form.depth();
  Layout loads({{layout::dim(0), units.outputs()[0].extent}, {layout::dim(1), steps}});
  for (const Layout::Input &input : units.inputs())
    for (const Layout::Digit &digit : input.digits)
      loads.add(input.axis, digit.extent, {digit.step[0], 0});
  loads.add(layout::Register, steps, {0, 1});
  Layout lanes = inMatrices ? matricesOf(form, isA, rows, kMajor) : elementsOf(form, isA);
  std::optional<Layout> places = layout::compose(memory, layout::product(lanes, loads));
  if (!places)
    return false;
  unsigned each = unsigned(lanes.extent(layout::Register)), width = inMatrices ? 1 : layout::widestVector(*places, bytes);
  (isA ? a : b) = std::make_shared<Factor>(
      Factor{isA, inMatrices, !kMajor, rows, each, std::min(width, each), units, SplitPlaces(*places), address});
  return true;
}

WarpProduct::Words WarpProduct::load(const Factor &factor, unsigned step) {
  llvm::IRBuilder<> &b = e.b;
  llvm::Type *type = form.kind == MmaForm::F64        ? b.getDoubleTy()
                     : form.kind == MmaForm::FusedF32 ? b.getFloatTy()
                     : form.elementBytes() == 8       ? static_cast<llvm::Type *>(b.getInt64Ty())
                                                      : b.getInt32Ty();
  auto placeOf = [&](unsigned number) -> std::pair<Value *, unsigned> { // and bytes behind it
    auto at = emitLayout(b, factor.places.varying,
                         {{layout::Register, b.getInt32(number)}, {layout::Lane, lane}, {layout::Warp, warp}});
    Value *bytes = b.CreateMul(at[0], b.getInt32(form.elementBytes()));
    bool pointer = factor.address->getType()->isPointerTy();
    return {pointer ? b.CreateGEP(b.getInt8Ty(), factor.address, bytes) : b.CreateAdd(factor.address, bytes),
            unsigned(factor.places.constant(number)) * form.elementBytes()};
  };
  auto loadOf = [&](llvm::Type *type, Value *place, unsigned offset) -> Value * {
    if (!place->getType()->isPointerTy())
      return machine.loadShared(e, type, b.CreateAdd(place, b.getInt32(offset)), /*peer=*/false);
    llvm::Align align(factor.width * form.elementBytes());
    return b.CreateAlignedLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), place, offset), align);
  };
  Words words;
  for (unsigned unit = 0; unit < factor.unitCount(); ++unit) {
    auto &own = words.emplace_back();
    unsigned first = factor.each * (unit + factor.unitCount() * step);
    if (factor.inMatrices) {
      auto [place, offset] = placeOf(first);
      own.append(machine.loadMatrices(e, place, factor.rows / 4, factor.transposed, offset));
    } else {
      for (unsigned i = 0; i < factor.each; i += factor.width) {
        auto [place, offset] = placeOf(first + i);
        Value *elements = loadOf(e.vectorOf(type, factor.width), place, offset);
        for (unsigned k = 0; k < factor.width; ++k)
          own.push_back(factor.width == 1 ? elements : b.CreateExtractElement(elements, uint64_t(k)));
      }
    }
    if (form.kind == MmaForm::TF32)
      for (Value *&word : own)
        word = machine.roundTF32(e, word);
  }
  return words;
}

llvm::ArrayRef<llvm::Value *> WarpProduct::wordsOf(const Factor &factor, const Words &words, int64_t tile) {
  unsigned tilesOfUnit = factor.isA ? 1 : factor.rows / 8;
  for (unsigned unit = 0; unit < factor.unitCount(); ++unit)
    if (int64_t first = factor.units.at({{layout::Register, unit}})[0] * tilesOfUnit; tile >= first && tile < first + tilesOfUnit)
      return llvm::ArrayRef(words[unit]).slice((tile - first) * 2, words[unit].size() / tilesOfUnit);
  llvm_unreachable("a warp loads what it multiplies");
}

// Threads' own multiply-adds: of one k.
void WarpProduct::multiply(ThreadMachine::Tied sums, llvm::ArrayRef<Value *> a, llvm::ArrayRef<Value *> b, unsigned k) {
  for (unsigned r = 0; r < 4; ++r) {
    Value *x = a[r / 2 * form.depth() + k], *y = b[r % 2 * form.depth() + k];
    sums[r] = x->getType()->isIntegerTy() ? e.b.CreateAdd(sums[r], e.b.CreateMul(x, y))
                                          : e.intrinsic(llvm::Intrinsic::fma, {x, y, sums[r]}, {x->getType()});
  }
}

bool WarpProduct::emit(unsigned steps, ThreadMachine::Tied sums) {
  Words nextA, nextB;
  auto loadAll = [&](unsigned step) {
    nextA = a ? load(*a, step) : Words();
    nextB = load(*b, step);
  };
  loadAll(0);
  for (unsigned step = 0; step < steps; ++step) {
    Words wordsA = std::move(nextA), wordsB = std::move(nextB);
    bool last = step + 1 == steps;
    if (!last && !form.fused())
      loadAll(step + 1); // under the products
    for (unsigned k = 0; k < (form.fused() ? form.depth() : 1); ++k)
      for (unsigned number = 0; number < tiles.extent(layout::Register); ++number) {
        auto at = tiles.at({{layout::Register, number}});
        llvm::ArrayRef<Value *> first = a ? wordsOf(*a, wordsA, at[0]) : held(at[0], step);
        llvm::ArrayRef<Value *> second = wordsOf(*b, wordsB, at[1]);
        if (first.empty())
          return false;
        if (form.fused())
          multiply(sums.slice(4 * number, 4), first, second, k);
        else
          machine.multiply(e, form, sums.slice(4 * number, 4), first, second);
      }
    if (!last && form.fused())
      loadAll(step + 1);
  }
  return true;
}

} // namespace tilery::cuda
