// The tile dialect: one file per op family.
#ifndef TILE_TD
#define TILE_TD
include "compiler/ir/TileTypes.td"
include "compiler/ir/TileKernel.td"
include "compiler/ir/TileShape.td"
include "compiler/ir/TileArith.td"
include "compiler/ir/TileAccess.td"
include "compiler/ir/TileBuffer.td"
include "compiler/ir/TileReduce.td"
include "compiler/ir/TileDot.td"
include "compiler/ir/TileAtomic.td"
include "compiler/ir/TileRegion.td"
include "compiler/ir/TileHost.td"
include "compiler/ir/TileDebug.td"
#endif
