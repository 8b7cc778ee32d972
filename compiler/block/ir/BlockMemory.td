#ifndef BLOCK_MEMORY_TD
#define BLOCK_MEMORY_TD
include "compiler/block/ir/BlockTypes.td"

def Block_MapOp : Block_Op<"map", [Pure, AttrSizedOperandSegments]> {
  let summary = "a tensor for the copy engine";
  let description = [{
    Element (e_0, ...) lives at base + sum of e_k * strides[k] elements, outermost dimension first; the innermost stride is 1 and not
    given. Elements with e_k outside [0, extents[k]) read 0, and writes to them vanish. Made by the host: in the entry block, of polynomials
    of the kernel's arguments and grid. Strides are multiples of 16 bytes below 2^40 (what depends on arguments is checked at the launch).
  }];
  let arguments = (ins Tile_Ptr:$base, Variadic<I64>:$extents, Variadic<I64>:$strides);
  let results = (outs Block_Map:$result);
  let assemblyFormat = "$base `,` `[` $extents `]` `,` `[` $strides `]` attr-dict `:` type($base) `->` type($result)";
  let hasVerifier = 1;
}
def Block_RemapOp : Block_Op<"remap", [AttrSizedOperandSegments, AllTypesMatch<["map", "result"]>, MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "the map of another tensor, made on the device";
  let description = [{
    Box and swizzle of `map` over the given base, extents and strides, which are those of `block.map` but that any scalar may be one. For
    copies, or for stores, of the same role. Base and strides are multiples of 16 bytes, strides not negative.
  }];
  let arguments = (ins Block_Map:$map, Tile_Ptr:$base, Variadic<I64>:$extents, Variadic<I64>:$strides);
  let results = (outs Block_Map:$result);
  let assemblyFormat = "$map `,` $base `,` `[` $extents `]` `,` `[` $strides `]` attr-dict `:` type($map) `,` type($base)";
  let hasVerifier = 1;
}
def Block_RequireOp : Block_Op<"require", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>]>]> {
  let summary = "what the kernel takes for granted of a launch: the number is not negative, or `divisor` divides it";
  let description = "Asked by the host before the launch, of a polynomial of arguments and grid; launches that break it run other code.";
  let arguments = (ins I64:$number, OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$divisor);
  let assemblyFormat = "$number (`divides_by` $divisor^)? attr-dict";
  let hasVerifier = 1;
}
def Block_AllocOp : Block_Op<"alloc", [MemoryEffects<[MemAlloc<BufferMemory>]>]> {
  let summary = "shared memory of the block; its contents start undefined";
  let description = [{
    Lives as long as the block. `over` a ring: in the memory of its slots, once all of them have been taken and none is acquired any more;
    the blocks that run such a kernel run one program each.
  }];
  let arguments = (ins Optional<Block_Ring>:$over);
  let results = (outs Block_Shared:$result);
  let assemblyFormat = "(`over` $over^ `:` type($over))? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type), [{ build($_builder, $_state, type, ::mlir::Value()); }]>];
  let hasVerifier = 1;
}
def Block_PartOp : Block_Op<"part", [Pure, Block_Inferring]> {
  let summary = "one tile of a slot";
  let description = "The `index`-th tile of the slot, for as long as it is this use's.";
  let arguments = (ins Block_Slot:$slot, ConfinedAttr<I32Attr, [IntNonNegative]>:$index);
  let results = (outs Block_Shared:$result);
  let assemblyFormat = "$slot `[` $index `]` attr-dict `:` type($slot)";
}
def Block_TransposeOp : Block_Op<"transpose", [Pure, Block_Inferring]> {
  let summary = "the same memory with its two dimensions exchanged";
  let description = "result[i, j] = shared[j, i]; no instruction.";
  let arguments = (ins Block_Shared:$shared);
  let results = (outs Block_Shared:$result);
  let assemblyFormat = "$shared attr-dict `:` type($shared)";
}
def Block_PeerOp : Block_Op<"peer", [Pure, AllTypesMatch<["shared", "result"]>]> {
  let summary = "the same tile in the shared memory of another block of the cluster";
  let description = "0 <= rank < the kernel's `block.cluster`. Written before and read after a `cluster_sync`.";
  let arguments = (ins Block_Shared:$shared, I32:$rank);
  let results = (outs Block_Shared:$result);
  let assemblyFormat = "$shared `[` $rank `]` attr-dict `:` type($shared)";
  let hasVerifier = 1;
}
def Block_ReadOp : Block_Op<"read", [MemoryEffects<[MemRead<BufferMemory>]>]> {
  let summary = "a shared tile into registers";
  let description = "result[i...] = shared[i...]. `passes`: of one warp through the banks, where they are more than the bytes need.";
  let arguments = (ins Block_Shared:$shared, OptionalAttr<I64Attr>:$passes);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$shared (`passes` $passes^)? attr-dict `:` type($shared) `->` type($result)";
  let hasVerifier = 1;
}
def Block_WriteOp : Block_Op<"write", [MemoryEffects<[MemWrite<BufferMemory>]>]> {
  let summary = "registers into a shared tile";
  let description = [{
    shared[i...] = value[i...], or with `at` a piece of a larger value: shared[i...] = value[at + i...], where `at` is a multiple of the
    piece. `passes` as in `read`.
  }];
  let arguments = (ins Block_Shared:$shared, Tile_Tile:$value, OptionalAttr<DenseI64ArrayAttr>:$at, OptionalAttr<I64Attr>:$passes);
  let assemblyFormat = "$shared `,` $value (`at` $at^)? (`passes` $passes^)? attr-dict `:` type($shared) `,` type($value)";
  let builders = [OpBuilder<(ins "::mlir::Value":$shared, "::mlir::Value":$value),
                            [{ build($_builder, $_state, shared, value, ::mlir::DenseI64ArrayAttr(), ::mlir::IntegerAttr()); }]>];
  let hasVerifier = 1;
}
def Block_JoinOp : Block_Op<"join", [Pure]> {
  let summary = "tiles in registers side by side";
  let description = "result[.., j] = tiles[j / n][.., j % n], where n is the last extent of each. No instruction: each thread holds the same elements of both.";
  let arguments = (ins Variadic<Tile_Tile>:$tiles);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$tiles attr-dict `:` type($tiles) `->` type($result)";
  let hasVerifier = 1;
}
def Block_ConvertOp : Block_Op<"convert", [Pure]> {
  let summary = "the same tile in another layout";
  let description = "result[i...] = value[i...]. By nothing, other registers, shuffles or shared memory, whatever costs least.";
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
#endif
