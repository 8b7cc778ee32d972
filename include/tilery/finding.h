#pragma once
// What a compilation says of the code that it made.
#include "tilery/diagnostic.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// What holds a kernel back, as the code generator did it: "gather", "scatter", "transpose", "division", "conversion", "atomics", "scalar",
/// "ragged", "spill", "product", "sum", "small"; of what a launch's numbers say: "function", "grid".
struct Finding {
  std::string fault, message, hint;
  std::vector<SourceLocation> chain; ///< as of a Diagnostic
};

} // namespace tilery
#pragma GCC visibility pop
