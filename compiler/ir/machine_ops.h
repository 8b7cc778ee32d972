#pragma once
// Ops that ask the machine: TileMachine.td.
#include "compiler/ir/Tile.h"

#define GET_OP_CLASSES
#include "compiler/ir/TileMachineOps.h.inc"
