#pragma once
// What the two binding files of arrangements share.
#include "tilery/arrange.h"
#include <nanobind/nanobind.h>

namespace tilery::python {

/// A Symbol, an integer, or anything whose text is an integer expression.
arrange::Symbol toSymbol(nanobind::handle value);

/// What Python holds: `t.dtype` remembers the tensor it was taken from, so that `t.dtype.dtype = ...` reaches t.
struct TensorHandle {
  arrange::Tensor tensor;
  std::shared_ptr<TensorHandle> parent;

  void replace(const arrange::Tensor &changed) {
    const bool fresh = parent && parent->tensor.view() == tensor.view();
    tensor = changed;
    if (!fresh)
      return;
    arrange::Tensor outer = parent->tensor;
    outer.setInner(changed);
    parent->replace(outer);
  }
};

/// Tensors as plain values, for copies and pickle.
void bindTensorState(nanobind::class_<TensorHandle> &tensor);
void bindArrangeIr(nanobind::module_ &m);

} // namespace tilery::python
