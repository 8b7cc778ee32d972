#ifndef BLOCK_RING_TD
#define BLOCK_RING_TD
include "compiler/block/ir/BlockTypes.td"

defvar Block_Waits = MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>]>;

def Block_RingOp : Block_Op<"ring", [MemoryEffects<[MemAlloc<BufferMemory>]>]> {
  let summary = "shared memory with slots that are filled and freed in turn";
  let description = [{
    Position p, an i32 from 0 on, uses slot p mod N. One role acquires, fills and publishes each position once and in order; others take
    and release it. A slot is free again after `takers` arrivals: a role that only multiplies with the slots arrives once a warpgroup, one that reads
    them once a warp. Tiles from number `instead` on lie in the memory of those before, from the slot's beginning: a position fills the
    ones or the others.
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntPositive]>:$takers, OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$instead);
  let results = (outs Block_Ring:$result);
  let assemblyFormat = "`takers` $takers (`instead` $instead^)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "unsigned":$takers, CArg<"unsigned", "0">:$instead), [{
    build($_builder, $_state, type, $_builder.getI32IntegerAttr(takers), instead ? $_builder.getI32IntegerAttr(instead) : ::mlir::IntegerAttr());
  }]>];
  let extraClassDeclaration = [{
    /// Bytes from a slot's beginning to each of its tiles, and then to the next slot, all multiples of `alignment`.
    ::llvm::SmallVector<int64_t> tileOffsets(int64_t alignment);
  }];
  let hasVerifier = 1;
}
def Block_AcquireOp : Block_Op<"acquire", [Block_Waits, Block_Inferring]> {
  let summary = "waits until the slot of a position is free";
  let description = "Until all takers have released position - N. The slot's contents are then undefined.";
  let arguments = (ins Block_Ring:$ring, I32:$position);
  let results = (outs Block_Slot:$result);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}
def Block_PublishOp : Block_Op<"publish", [Block_Waits]> {
  let summary = "lets the slot be taken as soon as all copies, fetches and writes into it are done";
  let description = "Does not wait. Once a position; nothing is filled in afterwards.";
  let arguments = (ins Block_Slot:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
}
def Block_TakeOp : Block_Op<"take", [Block_Waits, Block_Inferring]> {
  let summary = "waits until the slot of a position is full";
  let description = "A position may be taken any number of times before its release.";
  let arguments = (ins Block_Ring:$ring, I32:$position);
  let results = (outs Block_Slot:$result);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}
def Block_ReleaseOp : Block_Op<"release", [Block_Waits]> {
  let summary = "this role is done with the slot";
  let description = "Does not wait. Once a position and taker; products that read the slot have been settled or waited for. `none` may be released: nothing happens.";
  let arguments = (ins Block_Slot:$slot);
  let assemblyFormat = "$slot attr-dict `:` type($slot)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}
def Block_NoneOp : Block_Op<"none", [Pure]> {
  let summary = "no slot, or no product";
  let description = "To release none does nothing; the result of no product is zero.";
  let results = (outs AnyTypeOf<[Block_Slot, Block_Pending]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
#endif
