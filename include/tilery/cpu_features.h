#pragma once
// What this processor lets this process do.

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

/// Whether it has AMX's tiles of bf16 and int8 and the system lets this process use them, which it is asked for at the first call.
bool tilesAllowed();

} // namespace tilery
#pragma GCC visibility pop
