#ifndef BLOCK_ENUMS_TD
#define BLOCK_ENUMS_TD
include "mlir/IR/EnumAttr.td"

def Block_Order : I32EnumAttr<"Order", "which programs a block runs, and when",
    [I32EnumAttrCase<"grid", 0>, I32EnumAttrCase<"grouped", 1>, I32EnumAttrCase<"longest", 2>]> {
  let cppNamespace = "::tilery::block";
}
#endif
