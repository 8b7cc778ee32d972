#ifndef BLOCK_PRODUCT_TD
#define BLOCK_PRODUCT_TD
include "compiler/block/ir/BlockTypes.td"

def Block_MmaStartOp : Block_Op<"mma_start", [MemoryEffects<[MemRead<BufferMemory>, MemWrite<Synchronisation>]>]> {
  let summary = "starts c + a * b; with `clear` true, a * b";
  let description = [{
    The sum is that of `tile.dot`. a: M x K in shared memory or registers, b: K x N in shared memory. c is a tile, or a product that this one
    continues. The products of a role end in the order of their starts. Until `mma_settle` or `mma_wait` operands may still be read.
  }];
  let arguments = (ins AnyTypeOf<[Tile_Tile, Block_Pending]>:$c, Block_Operand:$a, Block_Shared:$b, Optional<I1>:$clear,
                   DefaultValuedAttr<Tile_Precision, "::tilery::tile::Precision::ieee">:$precision, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs Block_Pending:$result);
  let assemblyFormat = "$c `,` $a `,` $b (`clear` $clear^)? attr-dict `:` type($c) `,` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}
def Block_MmaSettleOp : Block_Op<"mma_settle", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>]>]> {
  let summary = "waits until a product, and all started before it, have read their operands";
  let description = "The product goes on to be one; of none: nothing.";
  let arguments = (ins Block_Pending:$product);
  let assemblyFormat = "$product attr-dict `:` type($product)";
  let hasCanonicalizeMethod = 1;
}
def Block_MmaWaitOp : Block_Op<"mma_wait", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>]>]> {
  let summary = "the result of a product";
  let description = "Waits until it, and all started before it, are done. Of none: zeros.";
  let arguments = (ins Block_Pending:$product);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$product attr-dict `:` type($product) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}
def Block_MmaOp : Block_Op<"mma", [AllTypesMatch<["c", "result"]>, MemoryEffects<[MemRead<BufferMemory>]>]> {
  let summary = "c + a * b at once; with `clear` true, a * b";
  let description = "The sum is that of `tile.dot`; operands in shared memory or registers.";
  let arguments = (ins Tile_Tile:$c, Block_Operand:$a, Block_Operand:$b, Optional<I1>:$clear,
                   DefaultValuedAttr<Tile_Precision, "::tilery::tile::Precision::ieee">:$precision, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$c `,` $a `,` $b (`clear` $clear^)? attr-dict `:` type($c) `,` type($a) `,` type($b)";
  let hasVerifier = 1;
}
#endif
