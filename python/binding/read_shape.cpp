#include "read_shape.h"
#include <nanobind/nanobind.h>

namespace tilery::python {

bool readShape(PyObject *object, Argument &argument, ArgumentOwners &owners) {
  nanobind::object shape = nanobind::steal(PyObject_GetAttrString(object, "shape"));
  PyErr_Clear();
  bool named = shape && PyTuple_Check(shape.ptr());
  nanobind::object strides = nanobind::steal(named ? PyObject_CallMethod(object, "stride", nullptr) : nullptr);
  PyErr_Clear();
  if (!strides || !PyTuple_Check(strides.ptr()) || PyTuple_Size(shape.ptr()) != PyTuple_Size(strides.ptr()))
    return false;
  auto rank = int32_t(PyTuple_Size(shape.ptr()));
  int64_t *numbers = owners.numbers(2 * rank);
  for (int32_t i = 0; i < rank; ++i) {
    numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(shape.ptr(), i));
    numbers[rank + i] = PyLong_AsLongLong(PyTuple_GetItem(strides.ptr(), i));
    if (PyErr_Occurred() || numbers[i] < 0) {
      PyErr_Clear();
      return false;
    }
  }
  argument.tensor.rank = rank, argument.tensor.extents = numbers, argument.tensor.strides = numbers + rank;
  return true;
}

bool masksElements(PyObject *array) {
  nanobind::object mask = nanobind::steal(PyObject_GetAttrString(array, "mask"));
  nanobind::object any = nanobind::steal(mask ? PyObject_CallMethod(mask.ptr(), "any", nullptr) : nullptr);
  PyErr_Clear();
  return any && PyObject_IsTrue(any.ptr()) == 1;
}

} // namespace tilery::python
