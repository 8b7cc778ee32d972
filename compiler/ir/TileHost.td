#ifndef TILE_HOST_TD
#define TILE_HOST_TD
include "compiler/ir/TileTypes.td"

def Tile_HostOp : Tile_Op<"host", [IsolatedFromAbove, FunctionOpInterface, OpAsmOpInterface]> {
  let summary = "what a call does: checks, symbol binding, allocation, grids, launches";
  let description = "Arguments are `tensor_arg`s and scalars; argument attribute `tile.name`. Straight-line: ops run once, in order. Interpreted by the runtime.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                   OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::FunctionType":$type)>];
  let skipDefaultBuilders = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
  let hasVerifier = 1;
}
def Tile_HostExtentOp : Tile_Op<"host_extent", [Pure]> {
  let summary = "extent of a dimension of a tensor argument";
  let description = "0 <= dim < rank.";
  let arguments = (ins Tile_TensorArg:$tensor, I64Attr:$dim);
  let results = (outs I64:$result);
  let assemblyFormat = "$tensor `,` $dim attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Tile_HostStrideOp : Tile_Op<"host_stride", [Pure]> {
  let summary = "stride of a dimension of a tensor argument, in elements";
  let description = "0 <= dim < rank; may be 0 or negative.";
  let arguments = (ins Tile_TensorArg:$tensor, I64Attr:$dim);
  let results = (outs I64:$result);
  let assemblyFormat = "$tensor `,` $dim attr-dict `:` type($tensor)";
  let hasVerifier = 1;
}
def Tile_HostPointerOp : Tile_Op<"host_pointer", [Pure]> {
  let summary = "address of element 0 of a tensor argument";
  let description = "The element type is that of the tensor.";
  let arguments = (ins Tile_TensorArg:$tensor);
  let results = (outs Tile_Ptr:$result);
  let assemblyFormat = "$tensor attr-dict `:` type($tensor) `->` type($result)";
}
def Tile_HostCheckOp : Tile_Op<"host_check", [MemoryEffects<[MemWrite<InputOutput>]>]> {
  let summary = "refuses the call unless lhs == rhs; `{0}` and `{1}` in the message stand for their values";
  let description = "The message is the user's: it names the argument, what was expected and what came. `assumption`: what the program assumes about them, whose breach is an error of the run, not of a value.";
  let arguments = (ins I64:$lhs, I64:$rhs, StrAttr:$message, UnitAttr:$assumption);
  let assemblyFormat = "$lhs `equals` $rhs `,` $message attr-dict";
}
def Tile_HostEmptyOp : Tile_Op<"host_empty", [MemoryEffects<[MemAlloc<GlobalMemory>]>]> {
  let summary = "a new row-major tensor on the device of the call; `workspace` ones live until the call's work is done";
  let description = "Contents are undefined. An extent of 0 gives an empty tensor.";
  let arguments = (ins Variadic<I64>:$extents, UnitAttr:$workspace);
  let results = (outs Tile_TensorArg:$result);
  let assemblyFormat = "`[` $extents `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tile_LaunchOp : Tile_Op<"launch", [AttrSizedOperandSegments, MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "runs a kernel over a grid of one to three extents; an extent < 1 launches nothing";
  let description = "Arguments have the kernel's types; launches happen in order.";
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<I64>:$grid, Variadic<AnyType>:$args);
  let assemblyFormat = "$kernel `grid` `(` $grid `)` `args` `(` $args `)` attr-dict `:` type($args)";
  let hasVerifier = 1;
}
#endif
