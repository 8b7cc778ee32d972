#include "compiler/ir/machine_ops.h"

using namespace mlir;
using namespace tilery::tile;

#define GET_OP_CLASSES
#include "compiler/ir/TileMachineOps.cpp.inc"
