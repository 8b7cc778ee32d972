#ifndef TILE_MACHINE_TD
#define TILE_MACHINE_TD
include "compiler/ir/TileTypes.td"

def Tile_ClockOp : Tile_Op<"clock", [MemoryEffects<[MemRead<InputOutput>, MemWrite<InputOutput>]>]> {
  let summary = "nanoseconds of a clock that never goes back";
  let description = "One reading for the whole program, which neither moves past what the program stores, prints or waits for nor is shared. Its zero is the machine's own affair.";
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}
def Tile_ProcessorOp : Tile_Op<"processor", [MemoryEffects<[MemRead<InputOutput>]>]> {
  let summary = "number of the processor that runs this program";
  let description = "Of a GPU's multiprocessor, or of the thread on a CPU: 0 for those that launch, from 1 for those of the pool.";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
#endif
