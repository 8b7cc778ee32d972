#pragma once
// Reductions of a nest while its chunks are walked.
#include "compiler/targets/cuda/simt/simt.h"

namespace tilery::cuda {

struct SimtEmitter::Sum {
  const lower::Sink *sink;
  tile::ReduceOp reduce;
  ThreadMap::Lines lines;                                // of the dimension that goes; of rows by their chunks alone
  bool alongRows;                                        // of the last dimension
  std::vector<llvm::SmallVector<lower::Lanes>> partials; // by the thread's line, a value an operand
};

struct SimtEmitter::RowSums {
  const ThreadMap &map;
  ThreadMap::Rows rows;
  llvm::Value *lastExists;
  std::vector<Sum> sums;
};

} // namespace tilery::cuda
