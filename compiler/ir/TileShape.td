#ifndef TILE_SHAPE_TD
#define TILE_SHAPE_TD
include "compiler/ir/TileTypes.td"

def Tile_RangeOp : Tile_Op<"range", [Pure]> {
  let summary = "[start, start+1, ..., end-1]";
  let description = "result[i] = start + i, 0 <= i < end - start. One dimension of any size >= 1, element type i32.";
  let arguments = (ins I64Attr:$start, I64Attr:$end);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "one scalar in every lane";
  let description = "result[i...] = value.";
  let arguments = (ins Tile_Scalar:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ExpandDimsOp : Tile_Op<"expand_dims", [Pure]> {
  let summary = "inserts a dimension of size 1 before `axis`";
  let description = "result[.., i_{axis-1}, 0, i_axis, ..] = value[.., i_{axis-1}, i_axis, ..]; 0 <= axis <= rank.";
  let arguments = (ins Tile_Tile:$value, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value `axis` $axis attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "repeats dimensions of size 1";
  let description = "Same rank; result[i...] = value[j...], j_d = 0 where value has size 1, else i_d.";
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same lanes in row-major order under another shape; a scalar counts as shape ()";
  let description = "result lane n = value lane n, counted row-major; the sizes have one product.";
  let arguments = (ins Tile_Value:$value);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "reorders dimensions";
  let description = "result dimension d is value dimension order[d].";
  let arguments = (ins Tile_Tile:$value, DenseI64ArrayAttr:$order);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value $order attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_JoinOp : Tile_Op<"join", [Pure]> {
  let summary = "two tiles (or scalars) of one type side by side in a new last dimension of size 2";
  let description = "result[i..., 0] = lhs[i...], result[i..., 1] = rhs[i...].";
  let arguments = (ins Tile_Value:$lhs, Tile_Value:$rhs);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_SplitOp : Tile_Op<"split", [Pure]> {
  let summary = "inverse of join: the two lanes of a last dimension of size 2";
  let description = "lhs[i...] = value[i..., 0], rhs[i...] = value[i..., 1].";
  let arguments = (ins Tile_Tile:$value);
  let results = (outs Tile_Value:$lhs, Tile_Value:$rhs);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($lhs) `,` type($rhs)";
  let hasVerifier = 1;
}
def Tile_CatOp : Tile_Op<"cat", [Pure]> {
  let summary = "concatenation along `axis`";
  let description = "result[.., i_axis, ..] = lhs[.., i_axis, ..] for i_axis < n, rhs[.., i_axis - n, ..] else, where n is lhs's size along `axis`; other sizes are equal.";
  let arguments = (ins Tile_Tile:$lhs, Tile_Tile:$rhs, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `axis` $axis attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "gather within a tile: result[.., i_axis, ..] = value[.., indices[..], ..]";
  let description = "indices has the rank of value and its sizes except along `axis`. An index outside [0, size) gives 0.";
  let arguments = (ins Tile_Tile:$value, Tile_Tile:$indices, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value `,` $indices `axis` $axis attr-dict `:` type($value) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "one lane as a scalar; an index outside the tile gives 0";
  let description = "result = value[indices...]; indices are signed.";
  let arguments = (ins Tile_Tile:$value, Variadic<AnySignlessInteger>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$value `[` $indices `]` attr-dict `:` type($value) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_SortOp : Tile_Op<"sort", [Pure]> {
  let summary = "sort along `axis`, or its first lanes; NaN sorts last";
  let description = "Increasing (decreasing with `descending`), where -0 is below 0; NaNs come last in both. Integers are signed unless `is_unsigned`. A result that is shorter along `axis` has the first lanes of that order.";
  let arguments = (ins Tile_Tile:$value, I64Attr:$axis, UnitAttr:$descending, UnitAttr:$is_unsigned);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$value `axis` $axis attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}
#endif
