#ifndef BLOCK_TYPES_TD
#define BLOCK_TYPES_TD
include "compiler/ir/TileTypes.td"
include "compiler/block/ir/BlockEnums.td"
include "mlir/IR/TensorEncoding.td"

def Block_Dialect : Dialect {
  let name = "block";
  let cppNamespace = "::tilery::block";
  let summary = "What a block of a GPU does with a tile program: tiles in registers, rings in shared memory, asynchronous copies and products.";
  let description = [{
    Stands beside tile, arith, math and scf. A tile in registers is a tensor with a `#block.layout` as its encoding; encodings never change
    what is computed, and only `block.convert` gives a tile another one.
  }];
  let dependentDialects = ["::tilery::tile::TileDialect"];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

def Block_Layout : AttrDef<Block_Dialect, "Layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let attrName = "block.layout"; // without a mnemonic: its text is read as a whole, not by tokens
  let summary = "a layout::Layout in canonical form: which element of a tile a register of a lane of a warp holds, or which a place of memory";
  let description = "`#block.layout<register: 2*(0,1) 2*(8,0); lane: 4*(0,2) 8*(1,0) -> 16x8>`: the form of Layout::print.";
  let parameters = (ins AttrParameter<"::tilery::layout::Layout", "canonical", "const ::tilery::layout::Layout &">:$layout);
  let builders = [AttrBuilder<(ins "const ::tilery::layout::Layout &":$layout), [{ return $_get($_ctxt, layout.canonical()); }]>];
  let skipDefaultBuilders = 1;
}

class Block_Type<string name, string mnem> : TypeDef<Block_Dialect, name> { let mnemonic = mnem; }

def Block_Map : Block_Type<"Map", "map"> {
  let summary = "a tensor as the copy engine knows it: the box it moves at a time, and how its rows of bytes are swizzled in shared memory";
  let description = "`!block.map<1x128x64xbf16, 128>`: box, outermost dimension first; 32, 64 or 128 bytes of swizzle, 16 for none.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType, "unsigned":$swizzle);
  let assemblyFormat = "`<` custom<Shape>($box, $elementType) `,` $swizzle `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{ int64_t getRank() const { return getBox().size(); } }];
}
def Block_Shared : Block_Type<"Shared", "shared"> {
  let summary = "a tile in shared memory; its layout is absent until one is assigned";
  let description = "`!block.shared<128x64xbf16, #sw>`; `#sw` maps offsets, in elements, to the tile.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, OptionalParameter<"::tilery::block::LayoutAttr">:$layout);
  let assemblyFormat = "`<` custom<Shape>($shape, $elementType) (`,` $layout^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    /// Of memory that it takes.
    int64_t getBytes() const;
    /// The tile as a value, without an encoding.
    ::mlir::RankedTensorType getTileType() const;
  }];
}
def Block_Ring : Block_Type<"Ring", "ring"> {
  let summary = "slots of one or more shared tiles, filled and freed in turn";
  let description = "`!block.ring<4, [128x64xbf16 #sw, 64x256xbf16 #sw]>`.";
  let parameters = (ins "int64_t":$count, ArrayRefParameter<"::tilery::block::SharedType">:$tiles);
  let assemblyFormat = "`<` $count `,` custom<Tiles>($tiles) `>`";
  let genVerifyDecl = 1;
}
def Block_Slot : Block_Type<"Slot", "slot"> {
  let summary = "one use of a slot of a ring, or none";
  let description = "`!block.slot<[128x64xbf16 #sw, 64x256xbf16 #sw]>`.";
  let parameters = (ins ArrayRefParameter<"::tilery::block::SharedType">:$tiles);
  let assemblyFormat = "`<` custom<Tiles>($tiles) `>`";
}
def Block_Pending : Block_Type<"Pending", "pending"> {
  let summary = "a product under way, or none";
  let description = "`!block.pending<tensor<128x256xf32, #acc>>`.";
  let parameters = (ins "::mlir::RankedTensorType":$tile);
  let assemblyFormat = "`<` $tile `>`";
}
def Block_Baton : Block_Type<"Baton", "baton"> {
  let summary = "what instances or warpgroups hand on to take turns";
}

def Block_Operand : AnyTypeOf<[Block_Shared, Tile_Tile], "shared or register tile">;

class Block_Op<string mnemonic, list<Trait> traits = []> : Op<Block_Dialect, mnemonic, traits>;
def Block_Inferring : DeclareOpInterfaceMethods<InferTypeOpInterface>;
#endif
