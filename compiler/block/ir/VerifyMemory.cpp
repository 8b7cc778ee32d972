// Verifiers of the ops in BlockMemory.td.
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/ir/uses.h"
#include "compiler/block/forms/transfer.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

// ---- maps

static LogicalResult checkMap(Operation *op, MapType map, tile::PtrType base, OperandRange extents, OperandRange strides) {
  if (base.getPointee() != map.getElementType())
    return op->emitOpError() << "maps elements of type " << map.getElementType() << " at a pointer to " << base.getPointee();
  size_t rank = map.getRank();
  if (extents.size() != rank || strides.size() != rank - 1)
    return op->emitOpError() << "needs " << rank << " extents, and a stride for each dimension but the innermost";
  for (Value stride : strides)
    if (std::optional<int64_t> number = analysis::constantOf(stride)) {
      int64_t bytes = *number * tile::elementBytes(map.getElementType());
      if (*number < 0 || bytes % 16 || bytes >= int64_t(1) << 40)
        return op->emitOpError() << "a stride is a multiple of 16 bytes below 2^40, not " << bytes;
    }
  return success();
}

/// Of what the host knows: the kernel's arguments and its grid.
static bool isHostPolynomial(Value value) {
  return analysis::polynomialOf(value, analysis::Wrapping::address).all([](Value atom) {
    auto argument = dyn_cast<BlockArgument>(atom);
    return argument ? isa<tile::KernelOp>(argument.getOwner()->getParentOp()) : isa<tile::NumProgramsOp>(atom.getDefiningOp());
  });
}

LogicalResult MapOp::verify() {
  if (!isa<tile::KernelOp>((*this)->getParentOp()))
    return emitOpError("stands in the kernel's entry block: the host makes it");
  for (Value operand : getOperands()) {
    Value number = operand;
    while (auto cast = number.getDefiningOp<tile::PtrCastOp>()) // the same address
      number = cast.getPtr();
    if (!isHostPolynomial(number))
      return emitOpError("is made of polynomials of the kernel's arguments and grid: the host cannot compute ") << operand;
  }
  return checkMap(*this, getType(), getBase().getType(), getExtents(), getStrides());
}

LogicalResult RequireOp::verify() {
  if (isa<tile::KernelOp>((*this)->getParentOp()) && isHostPolynomial(getNumber()))
    return success();
  return emitOpError("stands in the kernel's entry block and asks for a polynomial of the kernel's arguments and grid");
}

LogicalResult RemapOp::verify() {
  auto role = (*this)->getParentOfType<RoleOp>();
  for (Value value : flowOf(getResult()))
    for (Operation *user : value.getUsers()) {
      bool isCarried = isa<scf::ForOp, scf::YieldOp, ProgramsOp, YieldOp>(user);
      bool isUse = isCarried || isa<RemapOp, CopyOp, StoreBoxOp>(user);
      if (!isUse || user->getParentOfType<RoleOp>() != role)
        return emitOpError("makes a map for copies and stores of the same role, not for ") << user->getName();
    }
  return checkMap(*this, getType(), getBase().getType(), getExtents(), getStrides());
}

// ---- shared memory

static int64_t rounded(int64_t bytes) { return llvm::alignTo(bytes, slotAlignment); }
static int64_t bytesOf(Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    auto role = op->getParentOfType<RoleOp>();
    return alloc.getOver() ? 0 : rounded(alloc.getType().getBytes()) * (role ? role.instanceCount() : 1);
  }
  auto ring = dyn_cast<RingOp>(op);
  return ring ? ring.tileOffsets(slotAlignment).back() * ring.getType().getCount() : 0;
}
int64_t block::sharedBytes(tile::KernelOp kernel, Operation *last) {
  int64_t bytes = 0;
  kernel.walk([&](Operation *op) {
    bytes += bytesOf(op);
    return op == last ? WalkResult::interrupt() : WalkResult::advance();
  });
  return bytes;
}

LogicalResult AllocOp::verify() {
  if (auto ring = getOver() ? getOver().getDefiningOp<RingOp>() : RingOp(); ring && bytesOf(ring) < getType().getBytes())
    return emitOpError() << "needs " << getType().getBytes() << " bytes, the slots of its ring have " << bytesOf(ring);
  auto kernel = (*this)->getParentOfType<tile::KernelOp>();
  int64_t bytes = kernel ? sharedBytes(kernel, *this) : 0;
  if (bytes > sharedLimit)
    return emitOpError() << "asks for more shared memory than a block has: " << bytes << " bytes so far, of " << sharedLimit;
  return success();
}

int64_t block::clusterSize(Operation *op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  auto size = kernel ? kernel->getAttrOfType<IntegerAttr>("block.cluster") : IntegerAttr();
  return size ? size.getInt() : 1;
}
LogicalResult PeerOp::verify() {
  if (clusterSize(*this) < 2)
    return emitOpError("needs a kernel with `block.cluster` of 2 or more");
  return success();
}

// ---- registers

static LogicalResult checkTile(Operation *op, SharedType shared, Type tile) {
  auto tensor = cast<RankedTensorType>(tile);
  if (shared.getShape() == tensor.getShape() && shared.getElementType() == tensor.getElementType())
    return success();
  return op->emitOpError() << "moves " << shared.getTileType() << ", not " << tile;
}

static LogicalResult checkTransfer(Operation *op, SharedType shared, Type tile, std::optional<int64_t> stated) {
  LayoutAttr registers = layoutOf(tile), memory = shared.getLayout();
  if (failed(checkTile(op, shared, tile)) || !registers || !memory)
    return checkTile(op, shared, tile);
  std::optional<layout::Layout> places = invert(memory.getLayout());
  unsigned bytes = tile::elementBytes(shared.getElementType());
  auto transfer = places ? layout::cheapestTransfer(registers.getLayout(), *places, bytes) : std::nullopt;
  if (!transfer)
    return op->emitOpError() << "cannot move between these layouts: " << registers << " and " << memory;
  if (stated && *stated != transfer->passes)
    return op->emitOpError() << "takes " << transfer->passes << " passes through the banks, not " << *stated;
  if (!stated && transfer->passes > transfer->least)
    return op->emitOpError() << "takes " << transfer->passes << " passes through the banks where " << transfer->least
                             << " would do: choose other layouts, or state them as `passes`";
  return success();
}

LogicalResult ReadOp::verify() { return checkTransfer(*this, getShared().getType(), getType(), getPasses()); }

/// The type of the piece that is written.
static FailureOr<RankedTensorType> pieceOf(WriteOp op) {
  auto whole = cast<RankedTensorType>(op.getValue().getType());
  ArrayRef<int64_t> at = *op.getAt(), shape = op.getShared().getType().getShape();
  bool fits = at.size() == size_t(whole.getRank()) && shape.size() == at.size();
  for (size_t d = 0; fits && d < at.size(); ++d)
    fits = at[d] >= 0 && at[d] % shape[d] == 0 && at[d] + shape[d] <= whole.getDimSize(d);
  if (!fits)
    return op.emitOpError() << "writes a piece of " << op.getShared().getType().getTileType() << " that does not lie in "
                            << RankedTensorType::get(whole.getShape(), whole.getElementType()) << " at a multiple of its extents";
  LayoutAttr layout = layoutOf(whole);
  if (!layout)
    return RankedTensorType::get(shape, whole.getElementType());
  std::optional<layout::Layout> piece = layout::piece(layout.getLayout(), shape);
  if (!piece)
    return op.emitOpError() << "writes a piece of which some threads have nothing: " << layout;
  return RankedTensorType::get(shape, whole.getElementType(), LayoutAttr::get(op.getContext(), *piece));
}

LogicalResult WriteOp::verify() {
  if (!getAt())
    return checkTransfer(*this, getShared().getType(), getValue().getType(), getPasses());
  FailureOr<RankedTensorType> piece = pieceOf(*this);
  return failed(piece) ? failure() : checkTransfer(*this, getShared().getType(), *piece, getPasses());
}

LogicalResult JoinOp::verify() {
  auto whole = cast<RankedTensorType>(getType());
  SmallVector<int64_t> shape(whole.getShape());
  int64_t count = getTiles().size();
  if (!count || shape.back() % count)
    return emitOpError("needs tiles of equal shapes, as wide as the result together");
  shape.back() /= count;
  LayoutAttr layout = layoutOf(whole), part;
  if (auto piece = layout ? layout::piece(layout.getLayout(), shape) : std::nullopt)
    part = LayoutAttr::get(getContext(), *piece);
  auto wanted = RankedTensorType::get(shape, whole.getElementType(), part);
  for (Value tile : getTiles())
    if (tile.getType() != wanted || bool(layout) != bool(part))
      return emitOpError() << "joins " << tile.getType() << " where " << wanted << " is a part of the result";
  return success();
}

LogicalResult ConvertOp::verify() {
  auto from = cast<RankedTensorType>(getValue().getType()), to = cast<RankedTensorType>(getType());
  if (from.getShape() != to.getShape() || from.getElementType() != to.getElementType())
    return emitOpError("gives the shape and the elements of its operand");
  return success();
}
