#pragma once
#include "tilery/diagnostic.h"
#include <cstdint>

namespace tilery {

/// The error of a failed assertion of program `pid`; `place` names the kernel as its function.
Diagnostic assertionFailure(const uint32_t grid[3], int64_t pid, const std::string &message, const SourceLocation &place);

} // namespace tilery
