// Products of warps (mma.sync): each warp multiplies tiles of 16 x 8 of the sum, with factors that it reads from shared memory on the way.
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/block/emit_layout.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
using layout::Layout;

constexpr unsigned bytesOfStep = 32; // of k, that an instruction takes

/// What multiplies the types; nothing if warps do not.
std::optional<MmaForm> formOf(Type element, bool unsignedA, bool unsignedB) {
  auto form = [&](MmaForm::Kind kind) { return MmaForm{kind, unsignedA, unsignedB}; };
  if (element.isF16())
    return form(MmaForm::F16);
  if (element.isBF16())
    return form(MmaForm::BF16);
  if (element.isF32())
    return form(MmaForm::TF32);
  return element.isInteger(8) ? std::optional(form(MmaForm::I8)) : std::nullopt;
}

/// The element whose 16 bytes each lane names for the matrices of 8 x 8 of one load; coordinates: rows of a (columns of b), k. Matrices of a:
/// rows, the next 8 rows, both 16 bytes of k further on; of b: columns, the same 16 bytes of k further on, both for the next 8 columns, if there are any.
Layout lanesOf(bool isA, int64_t rows, bool kMajor, unsigned elementBytes) {
  int64_t half = bytesOfStep / 2 / elementBytes;
  Layout lanes({{layout::dim(0), rows}, {layout::dim(1), 2 * half}});
  lanes.add(layout::Lane, 8, kMajor ? Layout::Vector{1, 0} : Layout::Vector{0, 1});
  Layout::Vector along{rows > 8 ? 8 : 0, 0}, deep{0, half};
  return lanes.add(layout::Lane, 2, isA ? along : deep).add(layout::Lane, 2, isA ? deep : along);
}

/// A factor in shared memory.
struct SharedFactor {
  Layout units;       // Register, Warp -> which rows (columns) of the tile one load brings, in units of so many
  SplitPlaces places; // Register (of `units`, then of the steps of k), Lane, Warp -> elements from the tile's beginning
  bool isA, transposed;
  unsigned rows, elementBytes;
  llvm::Value *address;
  llvm::SmallVector<llvm::SmallVector<llvm::Value *, 4>> loaded = {}; // of a step, by unit

  unsigned unitCount() const { return unsigned(units.extent(layout::Register)); }
  /// The words of the tile of the sum that begins at this row of a (column of b).
  llvm::ArrayRef<llvm::Value *> words(int64_t first) const {
    for (unsigned unit = 0; unit < unitCount(); ++unit)
      if (int64_t begin = units.at({{layout::Register, unit}})[0] * rows; first >= begin && first < begin + rows)
        return isA ? llvm::ArrayRef(loaded[unit]) : llvm::ArrayRef(loaded[unit]).slice((first - begin) / 8 * 2, 2);
    llvm_unreachable("a warp loads what it multiplies");
  }
};

/// `sums`: Register, Warp -> tiles of 16 x 8. Nothing if the factor does not lie in rows of 16 bytes that a load takes.
std::optional<SharedFactor> factorIn(block::SharedType type, const Layout &sums, bool isA) {
  if (!type.getLayout())
    return std::nullopt;
  const Layout &lies = type.getLayout().getLayout();
  std::optional<Layout> memory = layout::invert(isA ? lies : lies.transposed()); // (rows of a or columns of b, k)
  if (!memory)
    return std::nullopt;
  unsigned bytes = tile::elementBytes(type.getElementType()), rows = isA ? 16 : 8;
  bool kMajor = layout::contiguous(*memory, layout::dim(1)) * bytes >= bytesOfStep / 2;
  if (!kMajor && (bytes != 2 || layout::contiguous(*memory, layout::dim(0)) < 8))
    return std::nullopt;
  Layout units = layout::slice(sums, isA ? 1 : 0);
  if (Layout pair = Layout({{layout::dim(0), 2}}).add(layout::Register, 2, {1}); !isA)
    if (std::optional<Layout> pairs = layout::divide(units, pair))
      units = *pairs, rows = 16;
  int64_t steps = type.getShape()[isA ? 1 : 0] * bytes / bytesOfStep;
  Layout tiles({{layout::dim(0), units.outputs()[0].extent}, {layout::dim(1), steps}});
  for (const Layout::Input &input : units.inputs())
    for (const Layout::Digit &digit : input.digits)
      tiles.add(input.axis, digit.extent, {digit.step[0], 0});
  tiles.add(layout::Register, steps, {0, 1});
  std::optional<Layout> places = layout::compose(*memory, layout::product(lanesOf(isA, rows, kMajor, bytes), tiles));
  return places ? std::optional(SharedFactor{units, SplitPlaces(*places), isA, !kMajor, rows, bytes, nullptr}) : std::nullopt;
}

/// The registers of a first factor that this thread holds: words of those at (16 rows, step of k).
struct HeldFactor {
  Layout outer;
  unsigned each; // words

  std::optional<unsigned> first(int64_t rows, int64_t step) const {
    for (unsigned number = 0; number < outer.extent(layout::Register); ++number)
      if (auto at = outer.at({{layout::Register, number}}); at[0] == rows && at[1] == step)
        return number * each;
    return std::nullopt;
  }
};

std::optional<HeldFactor> heldIn(Value factor) {
  block::LayoutAttr layout = block::layoutOf(factor.getType());
  unsigned bits = getElementTypeOrSelf(factor.getType()).getIntOrFloatBitWidth();
  std::optional<Layout> outer = layout ? layout::divide(layout.getLayout(), layout::mmaOperandA(bits)) : std::nullopt;
  return outer ? std::optional(HeldFactor{*outer, 4}) : std::nullopt;
}
} // namespace

void BlockEmitter::emitWarpProduct(block::MmaStartOp start) {
  auto sharedA = dyn_cast<block::SharedType>(start.getA().getType());
  block::LayoutAttr layout = block::layoutOf(start.getType().getTile());
  std::optional<Layout> tiles = layout ? layout::divide(layout.getLayout(), layout::mmaAccumulator()) : std::nullopt;
  std::optional<MmaForm> form = formOf(start.getB().getType().getElementType(), start.getAUnsigned(), start.getBUnsigned());
  std::optional<SharedFactor> inA, inB;
  std::optional<HeldFactor> held = tiles && !sharedA ? heldIn(start.getA()) : std::nullopt;
  if (tiles && sharedA)
    inA = factorIn(sharedA, *tiles, true);
  if (tiles)
    inB = factorIn(start.getB().getType(), *tiles, false);
  if (!form || !inB || !(inA || held) || start.getType().getTile().getElementType().isF16())
    return failProduct(start, "has no code in a block: its factors or sums lie otherwise than warps take them");

  Parts sums = partsOf(start.getC());
  if (start.getClear()) {
    llvm::Value *clear = scalar(start.getClear());
    for (llvm::Value *&sum : sums)
      sum = b.CreateSelect(clear, llvm::Constant::getNullValue(sum->getType()), sum);
  }
  Parts factor = held ? packed(start.getA()) : Parts();
  if (inA)
    inA->address = partsOf(start.getA())[0];
  inB->address = partsOf(start.getB())[0];
  const Where &place = here();
  auto load = [&](SharedFactor &factor, unsigned step) {
    factor.loaded.clear();
    for (unsigned unit = 0; unit < factor.unitCount(); ++unit) {
      unsigned number = unit + factor.unitCount() * step;
      auto at = emitLayout(b, factor.places.varying,
                           {{layout::Register, i32(number)}, {layout::Lane, place.lane}, {layout::Warp, place.warp}});
      llvm::Value *row = b.CreateAdd(factor.address, b.CreateMul(at[0], i32(factor.elementBytes)));
      unsigned offset = unsigned(factor.places.constant(number)) * factor.elementBytes;
      auto &words = factor.loaded.emplace_back(machine.loadMatrices(e, row, factor.rows / 4, factor.transposed, offset));
      if (form->kind == MmaForm::TF32)
        for (llvm::Value *&word : words)
          word = machine.roundTF32(e, word);
    }
  };
  unsigned steps = start.getB().getType().getShape()[0] * inB->elementBytes / bytesOfStep;
  auto loadAll = [&](unsigned step) {
    if (inA)
      load(*inA, step);
    load(*inB, step);
  };
  loadAll(0);
  for (unsigned step = 0; step < steps; ++step) {
    std::optional<SharedFactor> a = inA, second = inB; // of this step
    if (step + 1 < steps)
      loadAll(step + 1); // under the products
    for (unsigned number = 0; number < tiles->extent(layout::Register); ++number) {
      auto at = tiles->at({{layout::Register, number}});
      std::optional<unsigned> first = held ? held->first(at[0], step) : std::nullopt;
      if (held && !first)
        return failProduct(start, "takes rows of its first factor that other warps hold");
      llvm::ArrayRef<llvm::Value *> words = held ? llvm::ArrayRef(factor).slice(*first, held->each) : a->words(16 * at[0]);
      machine.multiply(e, *form, llvm::MutableArrayRef(sums).slice(4 * number, 4), words, second->words(8 * at[1]));
    }
  }
  remember(start, std::move(sums));
}

} // namespace tilery::cuda
