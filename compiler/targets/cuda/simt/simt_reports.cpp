// Prints and assertions: records in memory that the host reads when the launch has ended.
#include "compiler/targets/cuda/simt/simt.h"
#include "compiler/ir/dtype_of.h"
#include "compiler/lower/debug_info.h"
#include "tilery/abi.h"

using namespace mlir;

namespace tilery::cuda {

llvm::Value *SimtEmitter::newReport(uint64_t bytes) {
  auto &b = e.b;
  auto take = [&]() -> llvm::Value * {
    return b.CreateAtomicRMW(llvm::AtomicRMWInst::Add,
                             b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), reports, offsetof(TileryReports, used)), e.i64(bytes),
                             llvm::MaybeAlign(8), llvm::AtomicOrdering::Monotonic);
  };
  if (perThread)
    return take();
  llvm::Value *slot = exchange(0, e.i64(0));
  barrier();
  when(b.CreateICmpEQ(thread, e.i64(0)), [&] { b.CreateStore(take(), slot); });
  barrier();
  llvm::Value *offset = b.CreateLoad(b.getInt64Ty(), slot);
  barrier();
  return offset;
}

void SimtEmitter::printOp(tile::PrintOp op) {
  auto &b = e.b;
  ReportSite site;
  site.text = op.getPrefix().str();
  site.hex = op.getHex();
  uint64_t bytes = sizeof(TileryReport);
  SmallVector<uint64_t> starts;
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    Type element = lower::elementOf(value);
    bool isSigned = i >= op.getIsSigned().size() || op.getIsSigned()[i];
    ArrayRef<int64_t> shape = tile::shapeOf(value.getType());
    site.values.push_back(
        {{shape.begin(), shape.end()}, isa<tile::PtrType>(element) ? TILERY_POINTER : uint32_t(*dtypeOf(element, isSigned))});
    starts.push_back(bytes);
    bytes = llvm::alignTo(bytes + uint64_t(ShapedType::getNumElements(shape)) * lower::elementBytes(element), 8);
  }
  uint32_t number = sites.size();
  sites.push_back(std::move(site));

  llvm::Value *offset = b.CreateAdd(newReport(bytes), e.i64(sizeof(TileryReports)));
  llvm::Value *record = b.CreateGEP(b.getInt8Ty(), reports, offset);
  auto at = [&](uint64_t bytes) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), record, bytes); };
  lower::Evaluator::Region region(evaluator);
  when(b.CreateICmpSLE(offset, e.i64(int64_t(TILERY_REPORT_BYTES) - int64_t(bytes))), [&] {
    when(perThread ? nullptr : b.CreateICmpEQ(thread, e.i64(0)), [&] {
      b.CreateStore(programId, at(offsetof(TileryReport, program)));
      b.CreateStore(b.getInt32(number), at(offsetof(TileryReport, site)));
      b.CreateStore(b.getInt32(bytes), at(offsetof(TileryReport, bytes)));
    });
    for (auto [value, start] : llvm::zip(op.getValues(), starts)) {
      ArrayRef<int64_t> shape = tile::shapeOf(value.getType());
      lower::Address where;
      where.element = lower::elementOf(value);
      where.alignment = lower::elementBytes(where.element);
      forEach(shape, [&](Indices point) {
        llvm::Value *index = e.i64(0);
        for (auto [position, size] : llvm::zip(point, shape))
          index = b.CreateAdd(b.CreateMul(index, e.i64(size)), position.base);
        where.pointer = b.CreateGEP(e.memoryType(where.element), at(start), index);
        evaluator.memory.store(where, evaluator.value(value, point));
      });
    }
  });
}

void SimtEmitter::reportFailure(unsigned site) {
  auto &b = e.b;
  b.CreateAtomicRMW(llvm::AtomicRMWInst::UMin,
                    b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), reports, offsetof(TileryReports, failure)),
                    b.CreateOr(b.CreateShl(programId, 16), e.i64(site)), llvm::MaybeAlign(8), llvm::AtomicOrdering::Monotonic);
  b.CreateRetVoid();
  b.SetInsertPoint(newBlock()); // nothing comes here
}

void SimtEmitter::assertOp(tile::AssertOp op) {
  auto &b = e.b;
  ReportSite site;
  site.assertion = true;
  site.text = op.getMessage().str();
  if (FileLineColLoc line = lower::sourceLine(op.getLoc())) {
    site.file = line.getFilename().str();
    site.line = line.getLine();
    site.column = line.getColumn();
  }
  unsigned number = sites.size();
  sites.push_back(std::move(site));

  llvm::Value *slot = exchange(0, e.i64(0));
  if (!perThread) {
    barrier();
    when(b.CreateICmpEQ(thread, e.i64(0)), [&] { b.CreateStore(b.getInt32(0), slot); });
  }
  forEach(tile::shapeOf(op.getCondition().getType()), [&](Indices point) {
    llvm::Value *fails = b.CreateNot(evaluator.value(op.getCondition(), point));
    if (op.getMask())
      fails = b.CreateAnd(fails, evaluator.value(op.getMask(), point));
    when(fails, [&] {
      if (perThread)
        reportFailure(number);
      else
        b.CreateAtomicRMW(llvm::AtomicRMWInst::Or, slot, b.getInt32(1), llvm::MaybeAlign(4), llvm::AtomicOrdering::Monotonic);
    });
  });
  if (perThread)
    return;
  llvm::Value *failed = b.CreateICmpNE(b.CreateLoad(b.getInt32Ty(), slot), b.getInt32(0));
  barrier();
  when(failed, [&] { // in all threads: nobody is left behind at a barrier
    reportFailure(number);
  });
}

} // namespace tilery::cuda
