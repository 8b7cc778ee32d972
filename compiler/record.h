#pragma once
// What was compiled, kept as text: the corpus of `./run replay`.
#include "compiler/ir/Tile.h"

namespace tilery {
/// What decides the code besides the module and the target: fields of CompileOptions.
struct RecordedOptions {
  bool disjoint = false, fpContract = true, passes = true;
};

/// Where TILERY_RECORD names a folder: writes `module` there as HASH.mlir, with its options on the first line.
/// Equal modules give one file; processes may record into one folder at the same time. A file that cannot be written is left out.
void record(mlir::ModuleOp module, const RecordedOptions &options);

/// The options on the first line of such a file; the defaults where it has none.
RecordedOptions recordedOptions(llvm::StringRef text);
} // namespace tilery
