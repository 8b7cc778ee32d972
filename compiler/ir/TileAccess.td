#ifndef TILE_ACCESS_TD
#define TILE_ACCESS_TD
include "compiler/ir/TileTypes.td"

def Tile_AddPtrOp : Tile_Op<"add_ptr", [Pure, AllTypesMatch<["ptr", "result"]>, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "pointer plus a signed number of elements";
  let description = "Address arithmetic does not wrap. Pointer and offset have the same shape.";
  let arguments = (ins Tile_AnyPtr:$ptr, Tile_AnyInt:$offset);
  let results = (outs Tile_AnyPtr:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$offset), "build($_builder, $_state, ptr.getType(), ptr, offset);">];
}
def Tile_PtrCastOp : Tile_Op<"ptr_cast", [Pure, SameOperandsAndResultShape, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "the same address with another pointee";
  let description = "Addresses are kept; a const pointer may not become one that can be written.";
  let arguments = (ins Tile_AnyPtr:$ptr);
  let results = (outs Tile_AnyPtr:$result);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_PtrToIntOp : Tile_Op<"ptr_to_int", [Pure, SameOperandsAndResultShape, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "address as i64, in bytes";
  let description = "result[i...] = the address of ptr[i...].";
  let arguments = (ins Tile_AnyPtr:$ptr);
  let results = (outs Tile_AnyInt:$result);
  let assemblyFormat = "$ptr attr-dict `:` type($ptr) `->` type($result)";
}
def Tile_IntToPtrOp : Tile_Op<"int_to_ptr", [Pure, SameOperandsAndResultShape, Elementwise, Scalarizable, Vectorizable, Tensorizable]> {
  let summary = "i64 address in bytes as a pointer";
  let description = "result[i...] = the pointer with address value[i...].";
  let arguments = (ins Tile_AnyInt:$value);
  let results = (outs Tile_AnyPtr:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}

def Tile_PointerAccessOp : Tile_Op<"pointer_access", [Pure]> {
  let summary = "one address a lane: the form pointer programs write, raised to `access` by a pass";
  let description = "Lane i lives at ptrs[i]; it exists where mask[i] (everywhere without a mask).";
  let arguments = (ins Tile_AnyPtr:$ptrs, Optional<Tile_AnyBool>:$mask);
  let results = (outs Tile_Access:$result);
  let assemblyFormat = "$ptrs (`mask` $mask^ `:` type($mask))? attr-dict `:` type($ptrs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AccessOp : Tile_Op<"access", [Pure, AttrSizedOperandSegments]> {
  let summary = "separable access: sum of one-dimensional terms";
  let description = [{
    Lane (i_0, ..., i_{r-1}) lives at base + offset + sum_d term_d(i_d) elements, where term_d is `i_d * steps[d]`
    for an i64 step and `steps[d][i_d]` for a tensor<N_d x i64>.
    It exists if for every d the bound of d holds and `residual` (scalar or full tile of i1) is true. bound_kinds[d]:
    0 none; 1 interval, two i64 in `bounds`, lo <= i_d < hi; 2 lanes, one tensor<N_d x i1> in `bounds`.
  }];
  let arguments = (ins Tile_Ptr:$base, I64:$offset, Variadic<AnyType>:$steps,
                   Variadic<AnyType>:$bounds, Optional<Tile_AnyBool>:$residual, DenseI32ArrayAttr:$bound_kinds);
  let results = (outs Tile_Access:$result);
  let assemblyFormat = [{ $base `,` $offset `steps` `(` $steps `)` `bounds` $bound_kinds `(` $bounds `)`
     (`residual` $residual^ `:` type($residual))? attr-dict `:` type($base) `,` custom<Types>(type($steps)) `,` custom<Types>(type($bounds)) `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool isStrided(unsigned dim) { return getSteps()[dim].getType().isInteger(64); }
    /// The operands that bound `dim`: none, {lo, hi}, or {lanes}.
    ::mlir::OperandRange getBound(unsigned dim);
  }];
}

def Tile_RootOp : Tile_Op<"root", [Pure, AttrSizedOperandSegments]> {
  let summary = "a strided tensor: extents and strides in elements, outermost first";
  let description = "Element (e_0, ...) lives at base + sum of e_k * strides[k] elements and exists if 0 <= e_k < extents[k]. Strides may be 0 or negative.";
  let arguments = (ins Tile_Ptr:$base, Variadic<I64>:$extents, Variadic<I64>:$strides);
  let results = (outs Tile_Root:$result);
  let assemblyFormat = "$base `[` $extents `]` `strides` `[` $strides `]` attr-dict `:` type($base) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ViewOp : Tile_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "a window of a root";
  let description = [{
    Lane (i_0, ..., i_{r-1}) is root element e with e_k = starts[k] + sum of `dilation[d] * i_d` over the tile dimensions d with dims[d] = k
    (-1 in dims: the tile dimension repeats the same elements). It exists if 0 <= e_k < extent_k for every k,
    and `lane bounds` hold: i_d < limits[d] where a limit is given (limits is empty or has one i64 per tile dimension),
    and `residual` (scalar or full tile of i1) is true.
  }];
  let arguments = (ins Tile_Root:$root, Variadic<I64>:$starts, Variadic<I64>:$dilations, Variadic<I64>:$limits,
                   Optional<Tile_AnyBool>:$residual, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_View:$result);
  let assemblyFormat = [{ $root `[` $starts `]` `dims` $dims `dilations` `[` $dilations `]` `limits` `[` $limits `]`
     (`residual` $residual^ `:` type($residual))? attr-dict `:` type($root) `->` type($result) }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$root, "::mlir::ValueRange":$starts, "::mlir::ValueRange":$dilations,
                                 "::mlir::ValueRange":$limits, "::llvm::ArrayRef<int64_t>":$dims), [{
    build($_builder, $_state, result, root, starts, dilations, limits, ::mlir::Value(), dims); }]>];
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "reads the lanes that exist; the others hold `other`, or 0";
  let description = "result[i...] = memory at the place of lane i... where it exists, else other[i...] (a scalar `other` stands for all lanes), else 0. Lanes that do not exist are not touched. A boolean is true if its byte is not 0. All lanes are read before a later op writes.";
  let arguments = (ins Tile_Place:$place, Optional<Tile_Value>:$other, UnitAttr:$is_volatile, OptionalAttr<StrAttr>:$cache, OptionalAttr<StrAttr>:$eviction);
  let results = (outs Tile_Value:$result);
  let assemblyFormat = "$place (`other` $other^ `:` type($other))? attr-dict `:` type($place) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "writes the lanes that exist, in lane order when two share an address";
  let description = "Lanes that do not exist are not touched. A boolean is written as the byte 0 or 1. `is_volatile` keeps its order with every other effect.";
  let arguments = (ins Tile_Place:$place, Tile_Value:$value, UnitAttr:$is_volatile, OptionalAttr<StrAttr>:$cache, OptionalAttr<StrAttr>:$eviction);
  let assemblyFormat = "$place `,` $value attr-dict `:` type($place) `,` type($value)";
  let hasVerifier = 1;
}
#endif
