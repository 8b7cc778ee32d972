#ifndef TILE_ARITH_TD
#define TILE_ARITH_TD
include "compiler/ir/TileTypes.td"

// What arith leaves undefined, made total. Everything else is arith and math on tensors or scalars.
def Tile_Rounding : I32EnumAttr<"IntDivMode", "how integer division treats sign",
    [I32EnumAttrCase<"trunc", 0>, I32EnumAttrCase<"floor", 1>, I32EnumAttrCase<"unsigned_", 2, "unsigned">]> {
  let cppNamespace = "::tilery::tile";
}
class Tile_BinaryInt<string mnemonic> : Tile_Op<mnemonic, [Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let arguments = (ins Tile_AnyInt:$lhs, Tile_AnyInt:$rhs, Tile_Rounding:$mode);
  let results = (outs Tile_AnyInt:$result);
  let assemblyFormat = "$mode $lhs `,` $rhs attr-dict `:` type($result)";
}
def Tile_DivOp : Tile_BinaryInt<"div"> {
  let summary = "integer division; x / 0 = 0, INT_MIN / -1 = INT_MIN";
  let description = "result[i...] = lhs / rhs, for rhs = 0: 0. trunc: rounded towards zero (C). floor: rounded down (Python). unsigned: both operands unsigned. A result that does not fit is taken modulo 2^width.";
}
def Tile_RemOp : Tile_BinaryInt<"rem"> {
  let summary = "remainder that matches div: lhs - (lhs div rhs) * rhs; x rem 0 = 0, INT_MIN rem -1 = 0";
  let description = "result[i...] = lhs - (lhs / rhs) * rhs with the quotient of `div` in the same mode, for rhs = 0: 0. trunc: sign of lhs (C). floor: sign of rhs (Python). unsigned: both operands unsigned.";
}
def Tile_ShiftMode : I32EnumAttr<"ShiftMode", "direction and fill", 
    [I32EnumAttrCase<"left", 0>, I32EnumAttrCase<"right_signed", 1>, I32EnumAttrCase<"right_unsigned", 2>]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_ShiftOp : Tile_Op<"shift", [Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "shift; the amount is unsigned, an amount >= the width gives 0 (right_signed: the sign)";
  let description = "left: lhs * 2^rhs modulo 2^width. right_signed: floor(lhs / 2^rhs). right_unsigned: the same of the unsigned lhs. rhs is unsigned.";
  let arguments = (ins Tile_AnyInt:$lhs, Tile_AnyInt:$rhs, Tile_ShiftMode:$mode);
  let results = (outs Tile_AnyInt:$result);
  let assemblyFormat = "$mode $lhs `,` $rhs attr-dict `:` type($result)";
}
def Tile_FpToIntOp : Tile_Op<"fp_to_int", [Pure, SameOperandsAndResultShape, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "float to integer, towards zero, saturating; NaN gives 0";
  let description = "The truncated value, clamped to the range of the (signed, or with `is_unsigned` unsigned) result type.";
  let arguments = (ins Tile_AnyFloat:$value, UnitAttr:$is_unsigned);
  let results = (outs Tile_AnyInt:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}
def Tile_MulHighOp : Tile_Op<"mul_high", [Pure, SameOperandsAndResultType, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "upper half of the double-width product";
  let description = "floor(lhs * rhs / 2^width) of signed (with `is_unsigned` unsigned) operands.";
  let arguments = (ins Tile_AnyInt:$lhs, Tile_AnyInt:$rhs, UnitAttr:$is_unsigned);
  let results = (outs Tile_AnyInt:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}
#endif
