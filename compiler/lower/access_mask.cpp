// Which lanes of a place exist.
#include "compiler/analysis/divisor.h"
#include "compiler/lower/access_address.h"

using namespace mlir;

namespace tilery::lower {

void AccessAddress::restrict(Value mask, ArrayRef<Index> point) {
  RowCondition whole;
  Lanes own = zeros ? ev.segment.withinRow(mask, point, whole) : ev.value(mask, point);
  if (whole.exists) {
    ev.segment.add(row, whole.exists, whole.level);
    mayBeZeros = true;
  }
  if (own == b.getTrue())
    return;
  ev.segment.add(row, own, levelOf(point));
  where.exists = e.band(where.exists, own);
}

void AccessAddress::addBounds(tile::AccessOp access) {
  SmallVector<unsigned> uniformFirst;
  for (bool uniform : {true, false})
    for (unsigned d = 0; d < point.size(); ++d)
      if ((ev.threads || point[d].uniform()) == uniform)
        uniformFirst.push_back(d);
  for (unsigned d : uniformFirst) {
    OperandRange bound = access.getBound(d);
    if (int(d) == tabled)
      continue;
    if (bound.size() == 1)
      restrict(bound[0], point[d]);
    if (bound.size() != 2)
      continue;
    bool sure = ev.assumes(point) && llvm::any_of(ev.known().bounds, [&](const KnownBound &k) {
                  return k.lo == bound[0] && k.hi == bound[1] && k.loop == point[d].loop;
                });
    if (sure)
      continue;
    bool apart = ev.threads || point[d].uniform();
    Lanes own = within(point[d], bound[0], bound[1], apart ? nullptr : where.exists);
    if (apart)
      ev.segment.add(row, own, point[d].level);
    where.exists = apart ? e.band(where.exists, own) : own;
  }
  if (access.getResidual())
    restrict(access.getResidual(), point);
}

// low <= index < high and `exists` (null: yes) as a mask.
Lanes AccessAddress::within(const Index &index, Value low, Value high, Lanes exists) {
  llvm::Value *lo, *hi;
  {
    AtLevel at(ev.levels, 0);
    lo = ev.wide(low);
    hi = ev.wide(high);
  }
  auto *fixed = llvm::dyn_cast_or_null<llvm::ConstantInt>(lo);
  if (fixed && !fixed->getValue().isStrictlyPositive())
    lo = nullptr; // indices are never negative
  Lanes result = exists;
  // Bounds that lie between vectors: all lanes exist or none.
  auto between = [&](Value bound) { return analysis::divisorOf(bound) % ev.width() == 0; };
  bool whole = ev.threads && index.step == 1 && !index.lanes && llvm::isPowerOf2_32(ev.width()) &&
               index.multiple % ev.width() == 0 && (!lo || between(low)) && between(high);
  if (index.uniform() || whole) {
    Lanes own = nullptr;
    {
      AtLevel at(ev.levels, index.level);
      if (lo)
        own = b.CreateICmpSGE(index.base, lo);
      own = e.band(own, b.CreateICmpSLT(index.base, hi));
    }
    return e.band(exists, own);
  }
  if (index.lanes || index.step != 1) {
    llvm::Value *position = ev.indices.vectorOf(index);
    if (lo)
      result = e.band(result, b.CreateICmpSGE(position, e.splat(lo, ev.width())));
    return e.band(result, b.CreateICmpSLT(position, e.splat(hi, ev.width())));
  }
  // In a width that makes the mask fit the data.
  llvm::Type *narrow = elementBytes(where.element) > 4 ? b.getInt64Ty() : b.getInt32Ty();
  if (!ev.threads) { // positions are the same for all accesses, bounds for all vectors
    constexpr int64_t beyond = 1 << 30;
    auto bounded = [&](llvm::Value *bound) {
      AtLevel at(ev.levels, 0);
      bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, bound, e.i64(0));
      bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, e.i64(beyond));
      return e.splat(b.CreateTrunc(bound, narrow), ev.width());
    };
    llvm::Value *base = index.base;
    if (exists && e.lanesOf(exists) == 1) { // as a mask of its own it would be widened to lanes, one by one
      base = b.CreateSelect(exists, base, e.i64(beyond));
      result = nullptr;
    }
    llvm::Value *position = b.CreateAdd(e.splat(b.CreateTrunc(base, narrow), ev.width()), e.iota(narrow, ev.width()));
    if (lo)
      result = e.band(result, b.CreateICmpSGE(position, bounded(lo)));
    return e.band(result, b.CreateICmpSLT(position, bounded(hi)));
  }
  // As lane numbers.
  auto laneNumber = [&](llvm::Value *bound) {
    llvm::Value *n = b.CreateSub(bound, index.base);
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, e.i64(0));
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, e.i64(ev.width()));
    return e.splat(b.CreateTrunc(n, narrow), ev.width());
  };
  if (lo)
    result = e.band(result, b.CreateICmpSGE(e.iota(narrow, ev.width()), laneNumber(lo)));
  return e.band(result, b.CreateICmpSLT(e.iota(narrow, ev.width()), laneNumber(hi)));
}

llvm::Value *AccessAddress::zerosAround(int64_t before, int64_t behind) {
  auto *type = llvm::ArrayType::get(e.memoryType(where.element), before + behind);
  std::string name = "zeros" + std::to_string((before + behind) * elementBytes(where.element));
  llvm::GlobalVariable *zeros = e.module.getNamedGlobal(name);
  if (!zeros) { // no constant, which would lie in the object
    auto *none = llvm::ConstantAggregateZero::get(type);
    zeros = new llvm::GlobalVariable(e.module, type, false, llvm::GlobalValue::InternalLinkage, none, name);
    zeros->setAlignment(llvm::Align(64));
  }
  return b.CreateConstGEP1_64(e.memoryType(where.element), zeros, before);
}

} // namespace tilery::lower
