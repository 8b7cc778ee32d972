// Where buffers and stored tiles lie, and what all addresses are made of.
#include "compiler/analysis/interval.h"
#include "compiler/lower/access_address.h"
#include "llvm/IR/Constants.h"

using namespace mlir;

namespace tilery::lower {

void Address::addOffsets(llvm::IRBuilder<> &b, llvm::Value *more) {
  offsets = offsets ? b.CreateAdd(offsets, more) : more;
  apart = nullptr;
}

void Address::annotate(llvm::Instruction *instruction) const {
  if (!scope)
    return;
  instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, scope);
  instruction->setMetadata(llvm::LLVMContext::MD_noalias, noalias);
}

Addresses::Addresses(Evaluator &ev) : ev(ev), e(ev.e) {}

Address Addresses::ofPlace(Value place, ArrayRef<Index> point, bool zeros) {
  return AccessAddress(ev, cast<tile::AccessType>(place.getType()), point, zeros).of(place);
}

void Addresses::addTerm(Address &address, const Index &index, llvm::Value *step) {
  auto &b = e.b;
  llvm::Type *element = e.memoryType(address.element);
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(step);
  if (fixed && fixed->isZero())
    return;
  if (std::optional<Spread> spread = index.lanes && fixed ? ev.indices.spreadOf(index) : std::nullopt) {
    SmallVector<llvm::Constant *> distances;
    for (int64_t lane : spread->lanes)
      distances.push_back(llvm::ConstantInt::getSigned(b.getInt64Ty(), lane * fixed->getSExtValue()));
    address.addOffsets(b, llvm::ConstantVector::get(distances));
    address.level = std::max(address.level, index.level);
    AtLevel at(ev.levels, address.level);
    address.pointer = b.CreateGEP(element, address.pointer, b.CreateMul(spread->base, step));
    return;
  }
  if (index.lanes) {
    return address.addOffsets(b, b.CreateMul(index.lanes, e.splat(step, ev.width())));
  }
  {
    address.level = std::max(address.level, index.level);
    AtLevel at(ev.levels, address.level);
    address.pointer = b.CreateGEP(element, address.pointer, b.CreateMul(index.base, step));
  }
  if (index.step == 0)
    return;
  if (fixed) {
    address.step += index.step * fixed->getSExtValue();
    return;
  }
  llvm::Value *apart = address.offsets ? nullptr : b.CreateMul(step, e.i64(index.step));
  address.addOffsets(b, b.CreateMul(b.CreateMul(e.iota(b.getInt64Ty(), ev.width()), e.splat(e.i64(index.step), ev.width())),
                                    e.splat(step, ev.width())));
  address.apart = apart;
}

void Addresses::addLinear(Address &address, const Linear &l) {
  auto &b = e.b;
  address.level = std::max(address.level, l.level);
  AtLevel at(ev.levels, address.level);
  address.pointer = b.CreateGEP(e.memoryType(address.element), address.pointer, l.base);
  address.step += l.step;
  if (l.lanes)
    address.addOffsets(b, l.lanes);
}

void Addresses::setScope(Address &address, Value pointer) const {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tile::AddPtrOp, tile::PtrCastOp, tile::SplatOp>(op))
      return;
    pointer = op->getOperand(0);
  }
  if (auto found = aliasScopes.find(pointer.getAsOpaquePointer()); found != aliasScopes.end())
    std::tie(address.scope, address.noalias) = found->second;
}

Lanes Addresses::limitAt(ArrayRef<Index> point) const {
  return llvm::any_of(point, [](const Index &index) { return !index.uniform() || index.owned; }) ? ev.known().limit : nullptr;
}

llvm::Value *Addresses::scratchPointer(int buffer) {
  AtLevel at(ev.levels, 0);
  return e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), ev.plan.buffers[buffer].outside ? ev.memory.workspace : ev.memory.arena,
                                        ev.plan.buffers[buffer].offset);
}

Index Addresses::exchanged(const Exchange &exchange, ArrayRef<Index> point) {
  auto &b = e.b;
  const Index &row = point[exchange.dim], &last = point.back();
  auto inUnit = [&](const Index &index) { // all lanes are in one unit
    return index.uniform() || (index.step == 1 && !index.lanes && llvm::isPowerOf2_32(ev.width()) &&
                               ev.width() <= exchange.unit && index.multiple % ev.width() == 0);
  };
  Index result = last;
  result.level = std::max(row.level, last.level);
  AtLevel at(ev.levels, result.level);
  bool rowInUnit = inUnit(row);
  auto number = [&](int64_t n, llvm::Type *type) { return llvm::ConstantInt::get(type, n); };
  llvm::Value *key = rowInUnit ? row.base : ev.indices.vectorOf(row);
  key = b.CreateMul(b.CreateAnd(b.CreateLShr(key, number(llvm::Log2_64(exchange.unit), key->getType())),
                                number(exchange.units - 1, key->getType())),
                    number(exchange.unit, key->getType()));
  if (rowInUnit && inUnit(last)) {
    result.base = b.CreateXor(last.base, key);
    result.multiple = std::min(last.multiple ? last.multiple & -last.multiple : exchange.unit, exchange.unit);
    return result;
  }
  result.lanes = b.CreateXor(e.splat(ev.indices.vectorOf(last), ev.width()), e.splat(key, ev.width()));
  result.base = nullptr;
  result.step = 0;
  return result;
}

Address Addresses::ofStored(int buffer, ArrayRef<int64_t> shape, ArrayRef<Index> indices) {
  Point point(indices);
  if (const Exchange &exchange = ev.plan.buffers[buffer].exchange; exchange.units > 1)
    point.back() = exchanged(exchange, indices);
  Address where;
  where.element = ev.plan.buffers[buffer].element;
  where.alignment = elementBytes(where.element);
  where.pointer = scratchPointer(buffer);
  if (auto found = aliasScopes.find(nullptr); found != aliasScopes.end())
    std::tie(where.scope, where.noalias) = found->second;
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  SmallVector<unsigned> byLevel;
  for (unsigned d = 0; d < point.size(); ++d)
    byLevel.push_back(d);
  llvm::sort(byLevel, [&](unsigned x, unsigned y) { return std::pair(point[x].level, x) < std::pair(point[y].level, y); });
  int64_t elements = 64 / where.alignment; // a power of two that divides the element's number
  for (unsigned d : byLevel) {
    if (shape[d] == 1)
      continue;
    addTerm(where, point[d], e.i64(strides[d]));
    int64_t multiple = point[d].lanes ? 1 : point[d].multiple * strides[d];
    elements = multiple ? std::min(elements, multiple & -multiple) : elements;
  }
  if (ev.threads)
    where.alignment *= elements;
  where.exists = limitAt(indices);
  return where;
}

Address Addresses::ofView(tile::SubviewOp view, ArrayRef<Index> point) {
  ArrayRef<int64_t> shape = cast<tile::BufferType>(view.getBuffer().getType()).getShape();
  Point parent;
  Lanes exists = nullptr;
  for (auto [k, size] : llvm::enumerate(shape)) {
    Index index;
    {
      AtLevel at(ev.levels, 0);
      index.base = ev.wide(view.getOffsets()[k]);
    }
    auto walked = llvm::find(view.getDims(), int64_t(k));
    auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(index.base);
    int64_t width = 1;
    if (walked != view.getDims().end()) {
      unsigned d = walked - view.getDims().begin();
      width = view.getType().getShape()[d];
      index = ev.indices.plus(index, point[d]);
    }
    parent.push_back(index);
    auto offset = analysis::intervalOf(view.getOffsets()[k]);
    bool inside = fixed && fixed->getSExtValue() >= 0 && fixed->getSExtValue() + width <= size;
    if (inside || (offset && offset->least >= 0 && offset->greatest + width <= size))
      continue;
    // Outside the buffer nothing exists; the comparison is unsigned, so that one covers both sides.
    llvm::Value *position = ev.indices.vectorOf(index);
    exists = e.band(exists, e.b.CreateICmpULT(position, llvm::ConstantInt::get(position->getType(), size)));
  }
  Address where = ofBuffer(view.getBuffer(), parent);
  where.exists = e.band(where.exists, exists);
  return where;
}

Address Addresses::ofBuffer(Value buffer, ArrayRef<Index> point) {
  auto type = cast<tile::BufferType>(buffer.getType());
  Operation *op = buffer.getDefiningOp();
  if (auto view = dyn_cast_or_null<tile::SubviewOp>(op))
    return ofView(view, point);
  Address where;
  if (auto cast = dyn_cast_or_null<tile::ReinterpretOp>(op)) {
    Point start(mlir::cast<tile::BufferType>(cast.getBuffer().getType()).getRank(), ev.indices.constant(0));
    where = ofBuffer(cast.getBuffer(), start); // of whole buffers and leading windows: contiguous
    where.row = nullptr;                       // the rows are others
  } else {
    assert(op && "buffers come from allocations of their kernel");
    llvm::Value *own = ev.threads ? ev.threads->privateBuffer(op) : nullptr;
    where.pointer = own ? own : scratchPointer(ev.plan.temporaries.find(op)->second[0]);
    if (auto found = aliasScopes.find(nullptr); found != aliasScopes.end())
      std::tie(where.scope, where.noalias) = found->second;
  }
  where.element = type.getElementType();
  where.alignment = elementBytes(where.element);
  int64_t stride = 1;
  SmallVector<std::pair<unsigned, int64_t>> terms;
  for (int d = int(type.getRank()) - 1; d >= 0; --d) {
    terms.push_back({unsigned(d), stride});
    stride *= type.getShape()[d];
  }
  llvm::sort(terms,
             [&](auto x, auto y) { return std::pair(point[x.first].level, y.first) < std::pair(point[y.first].level, x.first); });
  unsigned last = type.getRank() - 1;
  auto *place = ev.threads || !point[last].uniform() ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(point[last].base);
  for (auto [d, step] : terms)
    if (type.getShape()[d] != 1 && !(place && d == last))
      addTerm(where, point[d], e.i64(step));
  if (place && type.getShape()[last] != 1) {
    where.row = where.pointer;
    where.place = place->getSExtValue();
    addTerm(where, point[last], e.i64(1));
  }
  where.exists = e.band(where.exists, limitAt(point));
  return where;
}

} // namespace tilery::lower
