#pragma once
// What torch keeps of a tensor beside its memory.
#include <Python.h>
#include <cstdint>

namespace tilery::python {

/// Is it torch's type of tensors, or a subclass?
bool isTorchTensor(PyTypeObject *type);

/// How a tensor of torch sees memory.
struct TorchView {
  uintptr_t begin; ///< of its storage; 0: there is none (fake tensors, wrappers, what was freed)
  int64_t bytes;   ///< of its storage; negative: torch does not know
  bool negated;    ///< it holds the negatives of its memory (`is_neg()`)
};

TorchView viewOf(PyObject *tensor);

} // namespace tilery::python
