#include "compiler/block/find_kernel.h"
#include "compiler/analysis/divisor.h"
#include "compiler/block/ir/layouts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// True if the op can be done on tiles that lie as a product's sums do.
bool followsSums(Operation *op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  if (llvm::none_of(op->getResultTypes(), isTile) && llvm::none_of(op->getOperandTypes(), isTile))
    return true;
  if (OpTrait::hasElementwiseMappableTraits(op) || takesAnyLayout(op))
    return !isa<tile::ExtractOp, tile::PrintOp, tile::AssertOp>(op);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return !sameButOnes(tile::shapeOf(reshape.getValue().getType()), tile::shapeOf(reshape.getType())).empty();
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op);
}

/// The argument that an access reads or writes.
Value rootOf(tile::AccessOp access) {
  Value base = access.getBase();
  while (isa_and_nonnull<tile::AddPtrOp, tile::PtrCastOp>(base.getDefiningOp()))
    base = base.getDefiningOp()->getOperand(0);
  return base;
}

/// True if the store may change what the load still reads: threads load what they need piece by piece, between stores of others.
bool mayClash(tile::LoadOp load, tile::StoreOp store) {
  auto from = load.getPlace().getDefiningOp<tile::AccessOp>(), to = store.getPlace().getDefiningOp<tile::AccessOp>();
  if (!from || !to || from == to)
    return !from || !to;
  bool same = OperationEquivalence::isEquivalentTo(from, to, OperationEquivalence::IgnoreLocations);
  return rootOf(from) == rootOf(to) && !same;
}

/// True if only the product, a dot, reads what is loaded.
bool isFactor(tile::LoadOp load, Operation *product) {
  SmallVector<Operation *> users(load->user_begin(), load->user_end());
  for (size_t i = 0; i < users.size(); ++i)
    if (isa<tile::PermuteOp, tile::ReshapeOp, tile::ExpandDimsOp, arith::BitcastOp>(users[i]))
      users.append(users[i]->user_begin(), users[i]->user_end());
    else if (users[i] != product)
      return false;
  return true;
}

/// What the kernel does besides loading, computing and storing; null: nothing.
const char *otherWork(ProductKernel &found) {
  bool before = true; // the product
  SmallVector<tile::LoadOp> loads;
  for (Operation &op : found.kernel.getBody().front()) {
    if (&op == found.product.op) {
      before = false;
    } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
      if (store.getIsVolatile())
        return "its store is volatile";
      if (before)
        return "it stores before it multiplies";
      found.stores.push_back(store);
    } else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op)) {
      return "it has control flow around its product";
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (!found.stores.empty())
        return "it loads after it has stored";
      if (!isFactor(load, found.product.op))
        loads.push_back(load);
    } else if (!isa<tile::ReturnOp>(op) && !isMemoryEffectFree(&op)) {
      return "it has effects besides its loads and its stores";
    } else if (!followsSums(&op)) {
      return "its work on the result is not elementwise";
    }
  }
  if (found.stores.empty())
    return "it stores nothing";
  for (tile::LoadOp load : loads)
    for (tile::StoreOp store : found.stores)
      if (mayClash(load, store))
        return "it loads other elements of what it stores";
  return nullptr;
}
} // namespace

std::optional<ProductKernel> findKernel(tile::KernelOp kernel, std::string &why) {
  why.clear();
  Operation *product = nullptr;
  for (Operation &op : kernel.getBody().front())
    if (isa<tile::ContractOp, tile::DotOp>(op)) {
      if (product) {
        why = "it has two products";
        return std::nullopt;
      }
      product = &op;
    }
  if (!product)
    return std::nullopt; // nothing to explain
  std::optional<BoxProduct> boxes = findProduct(product, why);
  if (!boxes)
    return std::nullopt;
  ProductKernel found{kernel, *boxes, {}};
  if (const char *reason = otherWork(found)) {
    why = reason;
    return std::nullopt;
  }
  return found;
}

std::optional<MappedTile> mapStored(tile::StoreOp store, const BoxProduct &product, std::string &why) {
  if (!product.swapped)
    return mapStored(store, product.m, product.n, why);
  why = "its columns lie in registers where other products' rows do";
  return std::nullopt;
}

std::optional<MappedTile> mapStored(tile::StoreOp store, unsigned m, unsigned n, std::string &why) {
  auto no = [&](const char *reason) -> std::optional<MappedTile> {
    why = reason;
    return std::nullopt;
  };
  auto stored = dyn_cast<RankedTensorType>(store.getValue().getType());
  SmallVector<int> numbers = stored ? sameButOnes(stored.getShape(), {m, n}) : SmallVector<int>();
  if (numbers.empty())
    return no("it has not the product's shape");
  auto place = store.getPlace().getDefiningOp<tile::AccessOp>();
  if (!place)
    return no("its addresses have no order");
  unsigned bytes = stored.getElementType().isIntOrFloat() ? stored.getElementType().getIntOrFloatBitWidth() / 8 : 0;
  if (!(bytes == 2 || bytes == 4) || n % (128 / bytes))
    return no("its rows are no multiples of 128 bytes of 2 or 4 an element");
  std::optional<Box> box = findBox(place, why);
  if (!box)
    return std::nullopt;
  box->renumber(numbers);
  if (box->dimensions[0].tile != 1)
    return no("the elements of its rows are no neighbours in memory");
  // The copy engine writes 16 bytes or none: what lies behind rows that end between would be overwritten (measured on an H200).
  const IndexPolynomial &columns = box->dimensions[0].extent;
  int64_t whole = 16 / bytes;
  if (columns.constant().value_or(0) % whole)
    return no("its rows end between multiples of 16 bytes");
  if (analysis::divisorOf(columns) % whole)
    box->conditions.push_back({columns, whole});
  std::optional<MappedTile> tile = coverBox(*box, {64, 128 / bytes}, stored.getElementType());
  return tile ? tile : no("boxes of the copy engine do not cover it");
}

} // namespace tilery::block
