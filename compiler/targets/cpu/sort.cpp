// Sorts: each row is put together in scratch memory, sorted there by the runtime, and brought to its place.
#include "compiler/explain/findings.h"
#include "compiler/ir/dtype_of.h"
#include "compiler/targets/cpu/kernel.h"

using namespace mlir;

namespace tilery::cpu {
using namespace lower;

void CpuKernel::sortOp(tile::SortOp op) {
  auto &b = e.b;
  explain::oneByOne(op, "rows are sorted by comparisons");
  ArrayRef<int64_t> shape = tile::shapeOf(op.getType());
  Type element = getElementTypeOrSelf(op.getType());
  uint64_t axis = op.getAxis();
  int64_t count = tile::shapeOf(op.getValue().getType())[axis], kept = shape[axis];
  int result = plan.storage.lookup(op.getResult());
  int row = plan.temporaries.lookup(op)[0], spare = plan.temporaries.lookup(op)[1];
  unsigned vector = std::max<unsigned>(1, e.options.target.machine.vectorBits / 8 / std::max<unsigned>(4, elementBytes(element)));
  // copy(i, lanes) for all i below `size`, some lanes at once as long as there are enough.
  auto each = [&](int64_t size, llvm::function_ref<void(Index)> copy) {
    int64_t whole = size / vector * vector;
    for (auto [from, to, lanes] : {std::tuple(int64_t(0), whole, vector), std::tuple(whole, size, 1u)})
      if (from < to)
        nests.loop(e.i64(from), e.i64(to), lanes, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
          Evaluator::Vector scope(evaluator, lanes);
          copy(Index{i, lanes == 1 ? 0 : 1, nullptr, evaluator.levels.current(), int64_t(lanes)});
          return SmallVector<Lanes>();
        });
  };
  llvm::Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  auto sort = e.module.getOrInsertFunction("tilery_rt_sort",
                                           llvm::FunctionType::get(b.getVoidTy(), {ptr, ptr, i64, i64, i32, i32}, false));
  uint32_t dtype = uint32_t(*dtypeOf(element, !op.getIsUnsigned()));
  bool descending = op.getDescending() != (element.isInteger(1) && !op.getIsUnsigned()); // a bit with a sign is 0 or -1
  SmallVector<int64_t> others(shape);
  others[axis] = 1;
  forEach(others, [&](ArrayRef<Index> outer) {
    Point point(outer);
    each(count, [&](Index i) {
      point[axis] = i;
      evaluator.memory.store(evaluator.addresses.ofStored(row, {count}, {i}), evaluator.value(op.getValue(), point));
    });
    b.CreateCall(sort, {evaluator.addresses.scratchPointer(row), evaluator.addresses.scratchPointer(spare), e.i64(count),
                        e.i64(kept), b.getInt32(dtype), b.getInt32(descending)});
    each(kept, [&](Index i) {
      point[axis] = i;
      evaluator.memory.store(evaluator.addresses.ofStored(result, shape, point),
                             evaluator.memory.load(evaluator.addresses.ofStored(row, {count}, {i})));
    });
  });
}

} // namespace tilery::cpu
