#ifndef TILE_BUFFER_TD
#define TILE_BUFFER_TD
include "compiler/ir/TileTypes.td"

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc<BufferMemory>]>]> {
  let summary = "memory of this program instance; its contents start undefined (debug mode reports such reads)";
  let description = "One buffer for each execution, alive until the program ends. Elements lie row-major.";
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def Tile_SubviewOp : Tile_Op<"subview", [Pure]> {
  let summary = "a window of a buffer: run-time offsets, static sizes; size-1 dimensions may be dropped";
  let description = [{
    `dims[d]` is the buffer dimension that result dimension d walks, in increasing order; other dimensions are fixed at their offset.
    Elements outside the buffer do not exist: they read 0 and writes are dropped.
  }];
  let arguments = (ins Tile_Buffer:$buffer, Variadic<AnySignlessInteger>:$offsets, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "$buffer `[` $offsets `]` `dims` $dims attr-dict `:` type($buffer) `,` type($offsets) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ReinterpretOp : Tile_Op<"reinterpret", [Pure]> {
  let summary = "the same bytes under another shape and element type; total bits are equal";
  let description = "The buffer is contiguous. Element bytes are little-endian; a boolean takes one byte.";
  let arguments = (ins Tile_Buffer:$buffer);
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_BufferLoadOp : Tile_Op<"buffer_load", [MemoryEffects<[MemRead<BufferMemory>]>]> {
  let summary = "the whole buffer as a tile";
  let description = "result[i...] = buffer[i...]; elements that do not exist (outside a subview's buffer) read 0.";
  let arguments = (ins Tile_Buffer:$buffer);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_BufferStoreOp : Tile_Op<"buffer_store", [MemoryEffects<[MemWrite<BufferMemory>]>]> {
  let summary = "overwrites the whole buffer; with a mask, the lanes where it is true";
  let description = "buffer[i...] = value[i...] where mask[i...] (everywhere without one); elements that do not exist are dropped.";
  let arguments = (ins Tile_Buffer:$buffer, Tile_Value:$value, Optional<Tile_AnyBool>:$mask);
  let assemblyFormat = "$buffer `,` $value (`mask` $mask^ `:` type($mask))? attr-dict `:` type($buffer) `,` type($value)";
  let hasVerifier = 1;
}
def Tile_ElementLoadOp : Tile_Op<"element_load", [MemoryEffects<[MemRead<BufferMemory>]>]> {
  let summary = "one element of a buffer; outside the buffer: 0";
  let description = "result = buffer[indices...]; indices are signed. Debug mode reports an index outside.";
  let arguments = (ins Tile_Buffer:$buffer, Variadic<AnySignlessInteger>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$buffer `[` $indices `]` attr-dict `:` type($buffer) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ElementStoreOp : Tile_Op<"element_store", [MemoryEffects<[MemWrite<BufferMemory>]>]> {
  let summary = "writes one element of a buffer; outside the buffer: nothing";
  let description = "buffer[indices...] = value. Debug mode reports an index outside.";
  let arguments = (ins Tile_Buffer:$buffer, Variadic<AnySignlessInteger>:$indices, Tile_Scalar:$value);
  let assemblyFormat = "$buffer `[` $indices `]` `,` $value attr-dict `:` type($buffer) `,` `(` type($indices) `)` `,` type($value)";
  let hasVerifier = 1;
}
#endif
