#ifndef TILE_TYPES_TD
#define TILE_TYPES_TD
include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilery::tile";
  let summary = "Tile programs: values, accesses, loops; no layouts, no threads, no memory spaces.";
  let description = [{
    Tile values are builtin ranked tensors of static shape; 0-d values are scalars (builtin scalar types).
    Integers are signless, signedness is in the op; booleans are i1 in values and i8 in memory.
    Every op is total: see docs/reference/ir.md.
  }];
  let useDefaultTypePrinterParser = 1;

}

class Tile_Type<string name, string mnem> : TypeDef<Tile_Dialect, name> { let mnemonic = mnem; }

def Tile_Ptr : Tile_Type<"Ptr", "ptr"> {
  let summary = "address of an element of global memory";
  let description = "`!tile.ptr<f32>` or `!tile.ptr<f32, const>`; a store through a const pointer does not verify.";
  let parameters = (ins "::mlir::Type":$pointee, DefaultValuedParameter<"bool", "false">:$isConst);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointee), [{
    return $_get(pointee.getContext(), pointee, false); }]>];
}

class Tile_ShapedType<string name, string mnem> : Tile_Type<name, mnem> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), shape, elementType); }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// The tile read or written through this access: a ranked tensor, or the element type itself when the rank is 0.
    ::mlir::Type getTileType() const;
  }];
}
def Tile_Access : Tile_ShapedType<"Access", "access"> {
  let summary = "where the lanes of a tile live in global memory, and which lanes exist";
}
def Tile_View : Tile_ShapedType<"View", "view"> {
  let summary = "a window of a root whose extents are known; lanes outside the root do not exist";
}
def Tile_Root : Tile_Type<"Root", "root"> {
  let summary = "a strided tensor in global memory with run-time extents";
  let description = "`!tile.root<2xf32>`: rank and element type.";
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "int64_t":$rank, "::mlir::Type":$elementType), [{
    return $_get(elementType.getContext(), rank, elementType); }]>];
}

def Tile_SpaceShared : I32EnumAttrCase<"shared", 0>;
def Tile_SpaceFragment : I32EnumAttrCase<"fragment", 1>;
def Tile_SpaceLocal : I32EnumAttrCase<"local", 2>;
def Tile_SpaceGlobal : I32EnumAttrCase<"global", 3>;
def Tile_Space : I32EnumAttr<"Space", "space hint of a buffer", [Tile_SpaceShared, Tile_SpaceFragment, Tile_SpaceLocal, Tile_SpaceGlobal]> {
  let cppNamespace = "::tilery::tile";
}
def Tile_Buffer : Tile_Type<"Buffer", "buffer"> {
  let summary = "explicit memory of one program instance; the space is a hint, never semantics";
  let description = "`!tile.buffer<128x64xf16, shared>`.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, EnumParameter<Tile_Space>:$space);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType, "Space":$space), [{
    return $_get(elementType.getContext(), shape, elementType, space); }]>];
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    ::mlir::Type getTileType() const;
  }];
}
def Tile_Barrier : Tile_Type<"Barrier", "barrier"> {
  let summary = "a ring of phase barriers shared by the roles and threads of one program instance";
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
}
def Tile_TensorArg : Tile_Type<"TensorArg", "tensor_arg"> {
  let summary = "a tensor as the host function receives it: data, extents, strides, device";
  let description = "`!tile.tensor_arg<2xf32>`.";
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
}

// Scalar or tile of a kind of element.
def Tile_AnyPtr : Type<CPred<"::llvm::isa<::tilery::tile::PtrType>(::mlir::getElementTypeOrSelf($_self))">, "pointer or tile of pointers">;
def Tile_AnyInt : Type<CPred<"::mlir::getElementTypeOrSelf($_self).isSignlessInteger()">, "integer or tile of integers">;
def Tile_AnyFloat : Type<CPred<"::llvm::isa<::mlir::FloatType>(::mlir::getElementTypeOrSelf($_self))">, "float or tile of floats">;
def Tile_AnyBool : Type<CPred<"::mlir::getElementTypeOrSelf($_self).isSignlessInteger(1)">, "boolean or tile of booleans">;
def Tile_Value : Type<CPred<"::tilery::tile::isTileValue($_self)">, "tile value: scalar, pointer or static ranked tensor of those">;
def Tile_Tile : Type<CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) && ::tilery::tile::isTileValue($_self)">, "tile of rank 1 or more">;
def Tile_Scalar : Type<CPred<"!::llvm::isa<::mlir::RankedTensorType>($_self) && ::tilery::tile::isTileValue($_self)">, "scalar">;
def Tile_Place : Type<Or<[Tile_Access.predicate, Tile_View.predicate]>, "access or view">;

def Tile_Precision : I32EnumAttr<"Precision", "the least precision of an f32 product",
    [I32EnumAttrCase<"ieee", 0>, I32EnumAttrCase<"tf32", 1>, I32EnumAttrCase<"tf32x3", 2>, I32EnumAttrCase<"bf16x3", 3>, I32EnumAttrCase<"bf16x6", 4>]> {
  let cppNamespace = "::tilery::tile";
}

class Tile_Resource<string name> : Resource<!strconcat("::tilery::tile::", name)>;
def GlobalMemory : Tile_Resource<"GlobalMemory">;
def BufferMemory : Tile_Resource<"BufferMemory">;
def Synchronisation : Tile_Resource<"Synchronisation">;
def InputOutput : Tile_Resource<"InputOutput">;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;
#endif
