// The block dialect: one file per op family.
#ifndef BLOCK_TD
#define BLOCK_TD
include "compiler/block/ir/BlockTypes.td"
include "compiler/block/ir/BlockMemory.td"
include "compiler/block/ir/BlockCopy.td"
include "compiler/block/ir/BlockRing.td"
include "compiler/block/ir/BlockProduct.td"
include "compiler/block/ir/BlockRole.td"
#endif
