#ifndef TILE_DOT_TD
#define TILE_DOT_TD
include "compiler/ir/TileTypes.td"

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>, AttrSizedOperandSegments]> {
  let summary = "acc + a * b; with `clear` true, a * b";
  let description = [{
    a: (B x) M x K, b: (B x) K x N, acc and result: (B x) M x N. Floats are converted to the accumulator's type
    (integers: extended by their signedness), and each element adds its products in increasing k to acc (or to 0).
    `precision` is a floor: CPU and oracle compute in the accumulator's type, f16 accumulators in f32 with one rounding at the end.
    `live` (rows, columns): elements of the result whose row or column is not below it hold anything; without it, all elements are live.
  }];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$acc, Optional<I1>:$clear,
                   DefaultValuedAttr<Tile_Precision, "Precision::ieee">:$precision, UnitAttr:$a_unsigned, UnitAttr:$b_unsigned,
                   Variadic<I64>:$live);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $acc (`clear` $clear^)? (`live` `[` $live^ `]`)? attr-dict `:` type($a) `,` type($b) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ContractOp : Tile_Op<"contract", [RecursiveMemoryEffects, AllTypesMatch<["acc", "result"]>, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "for s in [0, steps): acc = dot(a(s), b(s), acc)";
  let description = [{
    The region takes the step s (i64) and yields the operands a(s) and b(s). It only reads global memory. Made by contract-loops
    from a loop whose only effects are its loads; targets see all of K at once. `live` is that of `dot`.
  }];
  let arguments = (ins I64:$steps, Tile_Tile:$acc, DefaultValuedAttr<Tile_Precision, "Precision::ieee">:$precision,
                   UnitAttr:$a_unsigned, UnitAttr:$b_unsigned, OptionalAttr<I64Attr>:$num_stages,                   Variadic<I64>:$live);
  let results = (outs Tile_Tile:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$steps `,` $acc (`live` `[` $live^ `]`)? $body attr-dict `:` type($result)";
  let hasVerifier = 1;
}
#endif
