#ifndef TILE_ATOMIC_TD
#define TILE_ATOMIC_TD
include "compiler/ir/TileTypes.td"

def Tile_RmwKind : I32EnumAttr<"RmwKind", "what a read-modify-write does", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"fadd", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"umax", 4>,
    I32EnumAttrCase<"umin", 5>, I32EnumAttrCase<"fmax", 6>, I32EnumAttrCase<"fmin", 7>, I32EnumAttrCase<"and_", 8, "and">,
    I32EnumAttrCase<"or_", 9, "or">, I32EnumAttrCase<"xor_", 10, "xor">, I32EnumAttrCase<"exchange", 11>]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_Order : I32EnumAttr<"MemoryOrder", "memory order", [
    I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>, I32EnumAttrCase<"acq_rel", 3>, I32EnumAttrCase<"seq_cst", 4>]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_Scope : I32EnumAttr<"SyncScope", "who sees the order", [
    I32EnumAttrCase<"cta", 0>, I32EnumAttrCase<"gpu", 1>, I32EnumAttrCase<"sys", 2>]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>, MemWrite<Synchronisation>]>]> {
  let summary = "each lane that exists is updated by one indivisible step; the result holds the old values, 0 in lanes that do not exist";
  let description = "old = memory; memory = kind(old, value). add wraps; max, min are signed, umax, umin unsigned; in fmax, fmin NaN loses; exchange takes any type. Lanes are updated in lane order, each indivisibly.";
  let arguments = (ins Tile_RmwKind:$kind, Tile_Place:$place, Tile_Value:$value, DefaultValuedAttr<Tile_Order, "MemoryOrder::acq_rel">:$order,
                   DefaultValuedAttr<Tile_Scope, "SyncScope::gpu">:$scope);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$kind $place `,` $value attr-dict `:` type($place) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [AllTypesMatch<["expected", "desired"]>, MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>, MemWrite<Synchronisation>]>]> {
  let summary = "compare bits with `expected`, store `desired` if equal; the result holds the old values";
  let description = "old = memory; if its bits equal `expected`, memory = desired. Floats compare as bits.";
  let arguments = (ins Tile_Place:$place, Tile_Value:$expected, Tile_Value:$desired, DefaultValuedAttr<Tile_Order, "MemoryOrder::acq_rel">:$order,
                   DefaultValuedAttr<Tile_Scope, "SyncScope::gpu">:$scope);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$place `,` $expected `,` $desired attr-dict `:` type($place) `,` type($expected) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ElementUpdateOp : Tile_Op<"element_update", [AllTypesMatch<["value", "result"]>, MemoryEffects<[MemRead<BufferMemory>, MemWrite<BufferMemory>]>]> {
  let summary = "one element of a buffer is updated by one indivisible step; gives the old value; outside the buffer: 0, and nothing is written";
  let description = "old = buffer[indices...]; buffer[indices...] = kind(old, value), as atomic_rmw does. Iterations of a tile.parallel may update one element; sums of floats then come in any order.";
  let arguments = (ins Tile_RmwKind:$kind, Tile_Buffer:$buffer, Tile_Scalar:$value, Variadic<AnySignlessInteger>:$indices);
  let results = (outs Tile_Scalar:$result);
  let assemblyFormat = "$kind $buffer `[` $indices `]` `,` $value attr-dict `:` type($buffer) `,` `(` type($indices) `)` `,` type($value)";
  let hasVerifier = 1;
}
#endif
