#pragma once
// Where the functions of NVIDIA's driver come from. The tests' emulated GPU has them in its own library.cpp, in place of this folder's.

namespace tilery::cuda {

/// The driver's library; null: there is none, or, unless it is to be `loaded`, nobody in this process uses it.
void *driverLibrary(bool loaded);
/// Null if it has no such function.
void *driverFunction(void *library, const char *name);

} // namespace tilery::cuda
