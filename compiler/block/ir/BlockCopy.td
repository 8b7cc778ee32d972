#ifndef BLOCK_COPY_TD
#define BLOCK_COPY_TD
include "compiler/block/ir/BlockTypes.td"

def Block_CopyOp : Block_Op<"copy", [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<BufferMemory>]>]> {
  let summary = "the copy engine moves a tile into a slot";
  let description = [{
    to[i...] = the map's element at coords + i, where the tile's dimensions are those of the box that are not 1, in order. As many boxes as
    cover the tile. Done some time between this op and the end of a `take` of the slot's position.
  }];
  let arguments = (ins Block_Map:$map, Variadic<I32>:$coords, Block_Shared:$to);
  let assemblyFormat = "$map `[` $coords `]` `->` $to attr-dict `:` type($map) `,` type($to)";
  let hasVerifier = 1;
}
def Block_CopyFlatOp : Block_Op<"copy_flat", [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<BufferMemory>]>]> {
  let summary = "the copy engine moves neighbouring bytes into a slot";
  let description = "The first `bytes` of `to`, a tile of rank 1, from `base` on; a multiple of 16, as is the address. The rest of the tile stays undefined. Done as `copy` is.";
  let arguments = (ins Tile_Ptr:$base, I32:$bytes, Block_Shared:$to);
  let assemblyFormat = "$base `,` $bytes `->` $to attr-dict `:` type($base) `,` type($to)";
  let hasVerifier = 1;
}
def Block_FetchOp : Block_Op<"fetch", [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<BufferMemory>]>]> {
  let summary = "threads move the lanes of an access into a slot";
  let description = [{
    to[i...] = memory at the place of lane i... where it exists, else 0. Done as `copy` is. `layout`: which lanes each thread of the role
    moves; absent until one is assigned.
  }];
  let arguments = (ins Tile_Place:$place, Block_Shared:$to, OptionalAttr<Block_Layout>:$layout);
  let assemblyFormat = "$place `->` $to (`by` $layout^)? attr-dict `:` type($place) `,` type($to)";
  let builders = [OpBuilder<(ins "::mlir::Value":$place, "::mlir::Value":$to),
                            [{ build($_builder, $_state, place, to, ::tilery::block::LayoutAttr()); }]>];
  let hasVerifier = 1;
}
def Block_StoreBoxOp : Block_Op<"store_box", [MemoryEffects<[MemRead<BufferMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "the copy engine moves a shared tile into a tensor, or adds it there";
  let description = [{
    The map's element at coords + i becomes shared[i...] (with `add`: plus that, each indivisibly). Shared memory may be written again after
    `store_wait read`, the tensor has changed after `store_wait`; each op is one group of these. Of several warpgroups of a role, each stores
    its part of the boxes along the tile's first dimension, where they can be dealt out so.
  }];
  let arguments = (ins Block_Shared:$shared, Block_Map:$map, Variadic<I32>:$coords, UnitAttr:$add);
  let assemblyFormat = "$shared `->` $map `[` $coords `]` (`add` $add^)? attr-dict `:` type($shared) `,` type($map)";
  let hasVerifier = 1;
}
def Block_StoreWaitOp : Block_Op<"store_wait", [MemoryEffects<[MemRead<Synchronisation>, MemWrite<Synchronisation>, MemWrite<BufferMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "waits until at most `groups` of the role's last stores are under way";
  let description = "With `read`: until the others have read their shared memory; without it, until what they store is visible.";
  let arguments = (ins UnitAttr:$read, ConfinedAttr<I32Attr, [IntNonNegative]>:$groups);
  let assemblyFormat = "(`read` $read^)? $groups attr-dict";
}
#endif
