#pragma once
// What a GPU or its driver refuses, so that callers can tell the cases apart.
#include "tilery/diagnostic.h"

#pragma GCC visibility push(default) // what libtilery.so exports
namespace tilery {

class GpuError : public Error {
public:
  enum class Fault {
    Other,
    OutOfMemory,
    IllegalAddress, ///< a kernel, this one or one before it, left its tensors; the process's GPU context is lost
    Unsupported,    ///< the GPU, or its driver, cannot run this code
  };
  GpuError(Fault fault, Diagnostic diagnostic) : Error(std::move(diagnostic)), fault_(fault) {}
  Fault fault() const { return fault_; }

private:
  Fault fault_;
};

} // namespace tilery
#pragma GCC visibility pop
