#ifndef TILE_REDUCE_TD
#define TILE_REDUCE_TD
include "compiler/ir/TileTypes.td"

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region of a tile op";
  let description = "Its operands are what the region gives; none where the region gives nothing.";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}
def Tile_ReduceOp : Tile_Op<"reduce", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "combines the lanes along `axis` with an associative region of scalars";
  let description = [{
    n tiles of one shape, n results of that shape without `axis` (scalars for rank 1). The region takes n scalars of the left
    partial and n of the right, and yields n. Order: partial j (0 <= j < 64) combines, in increasing index, the lanes with index = j mod 64;
    then for s = 32, 16, 8, 4, 2, 1: partial[j] = combine(partial[j], partial[j + s]) for j < s where partial j + s exists.
    The order holds for the last axis; along any other axis lanes are combined in increasing index.
  }];
  let arguments = (ins Variadic<Tile_Tile>:$operands, I64Attr:$axis);
  let results = (outs Variadic<Tile_Value>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$operands `axis` $axis $combine attr-dict `:` type($operands) `->` type($results)";
  let hasVerifier = 1;
}
def Tile_ScanOp : Tile_Op<"scan", [RecursiveMemoryEffects, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "inclusive scan along `axis`, in increasing index (decreasing with `reverse`)";
  let description = "result[.., i, ..] = combine(result[.., i-1, ..], operand[.., i, ..]), the first = operand; with `reverse` from the other end. The region is that of `reduce`.";
  let arguments = (ins Variadic<Tile_Tile>:$operands, I64Attr:$axis, UnitAttr:$reverse);
  let results = (outs Variadic<Tile_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let assemblyFormat = "$operands `axis` $axis $combine attr-dict `:` type($operands) `->` type($results)";
  let hasVerifier = 1;
}
def Tile_HistogramOp : Tile_Op<"histogram", [Pure]> {
  let summary = "result[b] = number of lanes with value b (and mask true); other values are not counted";
  let description = "Values are signed; 0 <= b < size of the result. Counts wrap.";
  let arguments = (ins Tile_Tile:$value, Optional<Tile_Tile>:$mask);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value (`mask` $mask^ `:` type($mask))? attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
#endif
