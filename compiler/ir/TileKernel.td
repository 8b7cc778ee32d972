#ifndef TILE_KERNEL_TD
#define TILE_KERNEL_TD
include "compiler/ir/TileTypes.td"

def Tile_KernelOp : Tile_Op<"kernel", [IsolatedFromAbove, FunctionOpInterface, OpAsmOpInterface]> {
  let summary = "one program of a launch grid";
  let description = [{
    Executed once for each point of a grid of up to three axes; instances run in no order and may run side by side.
    Arguments are scalars and pointers. Argument attributes: `tile.name` (string), `tile.divisibility` (i64).
  }];
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
def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, ReturnLike, ParentOneOf<["KernelOp", "HostOp"]>]> {
  let summary = "ends a kernel (no operands) or a host function (its outputs)";
  let description = "The last op of the body. A host function returns tensors and scalars of its result types.";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "attr-dict ($operands^ `:` type($operands))?";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}
def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "coordinate of this program on a grid axis, 0 <= result < num_programs";
  let description = "Axis 0 runs fastest in the linear order of programs.";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
}
def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "extent of a grid axis, at least 1";
  let description = "The extent that the launch gave; 1 for axes that it left out.";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
}
#endif
