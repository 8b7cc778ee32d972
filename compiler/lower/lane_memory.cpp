// How the lanes at an address are read and written.
#include "compiler/explain/findings.h"
#include "compiler/lower/atomics.h"
#include "compiler/lower/lane_memory.h"
#include "compiler/lower/every_second.h"
#include "compiler/lower/prefetch.h"

using namespace mlir;

namespace tilery::lower {

llvm::Value *LaneMemory::lanePointers(const Address &address) {
  auto &b = e.b;
  llvm::Value *offsets = address.offsets;
  if (address.step) {
    llvm::Value *steps = b.CreateMul(e.iota(b.getInt64Ty(), width), e.splat(e.i64(address.step), width));
    offsets = offsets ? b.CreateAdd(offsets, steps) : steps;
  }
  if (!offsets)
    return e.splat(address.pointer, width);
  return b.CreateGEP(e.memoryType(address.element), address.pointer, offsets);
}

// Vectors where lanes are neighbours that exist or not as one, else lane by lane.
Lanes LaneMemory::loadThroughPort(const Address &address, Lanes other) {
  auto &b = e.b;
  MemoryPort &port = threads->memory();
  llvm::Type *element = e.memoryType(address.element);
  bool single = !address.offsets && address.step == 0, oneQuestion = !address.exists || e.lanesOf(address.exists) == 1;
  llvm::Value *bits = other ? e.toMemory(other, address.element) : llvm::Constant::getNullValue(element);
  if (single && !oneQuestion) { // one element for the lanes that exist
    llvm::Value *read = port.load(e, address, element, b.CreateOrReduce(address.exists), llvm::Constant::getNullValue(element));
    return e.fromMemory(b.CreateSelect(address.exists, e.splat(read, width), e.splat(bits, width)), address.element);
  }
  if (oneQuestion && (width == 1 || single) && e.lanesOf(bits) == 1)
    return e.fromMemory(port.load(e, address, element, address.exists, bits), address.element);
  llvm::Type *type = e.vectorOf(element, width);
  bits = e.splat(bits, width);
  if (single) {
    llvm::Value *read = e.splat(port.load(e, address, element, address.exists, llvm::Constant::getNullValue(element)), width);
    return e.fromMemory(address.exists ? b.CreateSelect(address.exists, read, bits) : read, address.element);
  }
  if (oneQuestion && !address.offsets && address.step == 1)
    return e.fromMemory(port.load(e, address, type, address.exists, bits), address.element);
  explain::lanesApart();
  llvm::Value *pointers = lanePointers(address), *result = llvm::PoisonValue::get(type);
  llvm::Value *exists = address.exists ? e.splat(address.exists, width) : nullptr;
  Address lane = address;
  lane.alignment = elementBytes(address.element);
  for (uint64_t i = 0; i < width; ++i) {
    lane.pointer = b.CreateExtractElement(pointers, i);
    result = b.CreateInsertElement(
        result,
        port.load(e, lane, element, exists ? b.CreateExtractElement(exists, i) : nullptr, b.CreateExtractElement(bits, i)), i);
  }
  return e.fromMemory(result, address.element);
}

void LaneMemory::storeThroughPort(const Address &address, llvm::Value *bits) {
  auto &b = e.b;
  MemoryPort &port = threads->memory();
  bool oneQuestion = !address.exists || e.lanesOf(address.exists) == 1;
  if (oneQuestion && (width == 1 || (!address.offsets && address.step == 1)))
    return port.store(e, address, bits, address.exists);
  explain::lanesApart();
  llvm::Value *pointers = lanePointers(address), *exists = address.exists ? e.splat(address.exists, width) : nullptr;
  Address lane = address;
  lane.alignment = elementBytes(address.element);
  for (uint64_t i = 0; i < width; ++i) {
    lane.pointer = b.CreateExtractElement(pointers, i);
    port.store(e, lane, b.CreateExtractElement(bits, i), exists ? b.CreateExtractElement(exists, i) : nullptr);
  }
}

Lanes LaneMemory::load(const Address &address, Lanes other) {
  if (threads && address.global)
    return loadThroughPort(address, other);
  auto &b = e.b;
  llvm::Type *element = e.memoryType(address.element);
  llvm::Align align(address.alignment);
  bool single = !address.offsets && (address.step == 0 || (threads && address.step == 1));
  // Neighbours that exist or not as one.
  bool row = !threads && !address.offsets && address.step == 1 && address.exists &&
             elementBytes(address.element) * width <= plan.arenaBytes;
  if ((single || row) && (!address.exists || e.lanesOf(address.exists) == 1)) {
    // Where the element may not exist, something that surely does is read in its place.
    llvm::Value *from = address.exists ? b.CreateSelect(address.exists, address.pointer, arena) : address.pointer;
    llvm::Type *type = e.vectorOf(element, address.step ? width : 1);
    auto *read = b.CreateAlignedLoad(type, from, align, address.isVolatile);
    if (acquires(address, type))
      read->setAtomic(llvm::AtomicOrdering::Acquire);
    if (!address.exists)
      address.annotate(read);
    Lanes result = e.fromMemory(read, address.element);
    if (address.global && width > 1)
      explain::way(address.step ? "contiguous" : "one for all lanes");
    if (!address.exists)
      return result;
    Lanes parts[] = {address.exists, result, other ? other : llvm::Constant::getNullValue(result->getType())};
    e.unify(parts);
    return b.CreateSelect(parts[0], parts[1], parts[2]);
  }
  llvm::Type *type = e.vectorOf(element, width);
  llvm::Value *passthru = llvm::Constant::getNullValue(type);
  if (other)
    passthru = e.toMemory(e.splat(other, width), address.element);
  llvm::Value *exists = address.exists ? e.splat(address.exists, width) : nullptr;
  if (!threads && single) { // one element for the lanes that exist
    llvm::Value *from = b.CreateSelect(b.CreateOrReduce(exists), address.pointer, arena);
    llvm::Value *one = b.CreateAlignedLoad(element, from, align, address.isVolatile);
    return e.fromMemory(b.CreateSelect(exists, e.splat(one, width), passthru), address.element);
  }
  llvm::Instruction *read;
  auto moved = [&](const char *how) {
    if (address.global && width > 1)
      explain::way(how);
  };
  if (!address.runs.empty()) {
    moved("in runs");
    for (auto [mask, offset] : address.runs) {
      llvm::Value *from = b.CreateGEP(element, address.pointer, offset);
      passthru = b.CreateMaskedLoad(type, from, llvm::Align(elementBytes(address.element)),
                                    exists ? b.CreateAnd(mask, exists) : mask, passthru);
      address.annotate(llvm::cast<llvm::Instruction>(passthru));
    }
    return e.fromMemory(passthru, address.element);
  }
  if (!address.offsets && address.step == 1) {
    moved("contiguous");
    if (fetchAhead.bytes && address.global && !exists)
      emitPrefetch(b, b.CreateGEP(b.getInt8Ty(), address.pointer, fetchAhead.bytes), false, fetchAhead.near);
    read = exists ? (llvm::Instruction *)b.CreateMaskedLoad(type, address.pointer, align, exists, passthru)
                  : b.CreateAlignedLoad(type, address.pointer, align);
  } else if (Lanes near = exists ? nullptr : loadNear(address)) {
    return e.fromMemory(near, address.element);
  } else if (llvm::Value *repeated = threads ? nullptr : loadRepeated(e, address, width, exists, passthru)) {
    moved("shared by lanes");
    return e.fromMemory(repeated, address.element);
  } else if (llvm::Value *second = threads ? nullptr : loadEverySecond(e, address, width, exists, passthru)) {
    moved("every second");
    return e.fromMemory(second, address.element);
  } else if (llvm::Value *each = threads || exists ? nullptr : loadEach(e, address, width)) {
    moved("one by one");
    explain::lanesApart();
    return e.fromMemory(each, address.element);
  } else {
    if (!exists)
      exists = llvm::Constant::getAllOnesValue(e.vectorOf(b.getInt1Ty(), width));
    moved("gathered");
    if (address.global && width > 1)
      explain::lanesApart();
    read = b.CreateMaskedGather(type, lanePointers(address), llvm::Align(elementBytes(address.element)), exists, passthru);
  }
  address.annotate(read);
  return e.fromMemory(read, address.element);
}

// Masked stores of processors without mask registers take ten times as long as others.
llvm::Value *LaneMemory::unread(llvm::Type *type) {
  llvm::IRBuilderBase::InsertPointGuard guard(e.b);
  llvm::BasicBlock &entry = e.b.GetInsertBlock()->getParent()->getEntryBlock();
  e.b.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  return e.b.CreateAlloca(type);
}

void LaneMemory::store(const Address &address, Lanes value, bool streaming) {
  auto &b = e.b;
  llvm::Align align(address.alignment);
  llvm::Value *bits = e.toMemory(e.splat(value, width), address.element);
  if (threads && address.global)
    return storeThroughPort(address, bits);
  llvm::Instruction *write;
  if (width == 1) {
    if (!address.exists) {
      write = b.CreateAlignedStore(bits, address.pointer, align, address.isVolatile);
    } else {
      auto vector = [&](llvm::Value *v) {
        return b.CreateInsertElement(llvm::PoisonValue::get(llvm::FixedVectorType::get(v->getType(), 1)), v, uint64_t(0));
      };
      write = b.CreateMaskedStore(vector(bits), address.pointer, align, vector(address.exists));
    }
  } else {
    bool neighbours = address.runs.empty() && !address.offsets && address.step == 1;
    if (neighbours && address.exists && !threads && e.lanesOf(address.exists) == 1) {
      llvm::Value *to = b.CreateSelect(address.exists, address.pointer, unread(bits->getType()));
      return address.annotate(b.CreateAlignedStore(bits, to, llvm::Align(elementBytes(address.element))));
    }
    llvm::Value *exists = address.exists ? e.splat(address.exists, width) : nullptr;
    if (address.global)
      explain::way(!address.runs.empty() ? "in runs" : !address.offsets && address.step == 1 ? "contiguous" : "scattered");
    if (!address.runs.empty()) {
      for (auto [mask, offset] : address.runs)
        address.annotate(b.CreateMaskedStore(bits, b.CreateGEP(e.memoryType(address.element), address.pointer, offset),
                                             llvm::Align(elementBytes(address.element)),
                                             exists ? b.CreateAnd(mask, exists) : mask));
      return;
    }
    if (neighbours) {
      if (exists) {
        write = b.CreateMaskedStore(bits, address.pointer, align, exists);
      } else if (streaming) {
        write = b.CreateAlignedStore(bits, address.pointer, llvm::Align(width * elementBytes(address.element)));
        write->setMetadata(llvm::LLVMContext::MD_nontemporal,
                           llvm::MDNode::get(e.context(), llvm::ConstantAsMetadata::get(b.getInt32(1))));
      } else {
        write = b.CreateAlignedStore(bits, address.pointer, align);
      }
    } else {
      if (!exists)
        exists = llvm::Constant::getAllOnesValue(e.vectorOf(b.getInt1Ty(), width));
      if (address.global)
        explain::lanesApart();
      write = b.CreateMaskedScatter(bits, lanePointers(address), llvm::Align(elementBytes(address.element)), exists);
    }
  }
  address.annotate(write);
}

} // namespace tilery::lower
