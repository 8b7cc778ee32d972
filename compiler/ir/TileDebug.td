#ifndef TILE_DEBUG_TD
#define TILE_DEBUG_TD
include "compiler/ir/TileTypes.td"

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite<InputOutput>]>]> {
  let summary = "prints a prefix and the values of this program";
  let description = "One line a lane: `pid (x, y, z) idx (i, ...) prefix value`; without values one line a program. is_signed has an entry a value.";
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_Value>:$values, UnitAttr:$hex, DenseBoolArrayAttr:$is_signed);
  let assemblyFormat = "$prefix (`,` $values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}
def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite<InputOutput>]>]> {
  let summary = "stops the launch with `message` and the source line if a lane of `condition` (and `mask`) is false";
  let description = "Lanes where the mask is false are not looked at.";
  let arguments = (ins Tile_AnyBool:$condition, Optional<Tile_AnyBool>:$mask, StrAttr:$message);
  let assemblyFormat = "$condition (`mask` $mask^ `:` type($mask))? `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}
#endif
