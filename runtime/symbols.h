#pragma once
// What generated code may call.
#include <string>

namespace tilery {
/// Address of a runtime function (tilery_rt_*) or of a symbol of the process (libm, libc); null if there is none.
void *resolveSymbol(const std::string &name);
} // namespace tilery
