#include "launch_apart.h"
#include "launch_args.h"
#include "limited_api.h"
#include "type_name.h"
#include <cstring>
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tilery::python {
namespace {

/// A text that is made once, in `made`.
PyObject *word(PyObject *&made, const char *text) {
  if (!made)
    made = PyUnicode_InternFromString(text);
  return made;
}

/// Arguments taken apart as `take_apart` in structured.py does, with equal descriptions.
struct TakingApart {
  PyObject *wholeTypes; ///< a set of types whose values stay whole
  PyObject *descriptor; ///< the type of tensor descriptors
  std::vector<nb::object> &leaves;
  PyTypeObject *lastWhole = nullptr; ///< one of them

  nb::object whole(PyObject *value) {
    leaves.push_back(nb::borrow(value));
    return nb::none();
  }

  /// Invalid: of another kind, or with an exception set.
  nb::object description(PyObject *value) {
    PyTypeObject *type = Py_TYPE(value);
    if (type == lastWhole)
      return whole(value);
    if (type == &PyTuple_Type)
      return ofTuple(value);
    if (reinterpret_cast<PyObject *>(type) == descriptor)
      return ofDescriptor(value);
    if (PySet_Contains(wholeTypes, reinterpret_cast<PyObject *>(type)) == 1) {
      lastWhole = type;
      return whole(value);
    }
    static PyTypeObject *torchSize;
    if (!torchSize && fullTypeName(type) == "torch.Size")
      torchSize = type;
    return type == torchSize ? ofTuple(value) : nb::object();
  }

private:
  nb::object ofTuple(PyObject *value) {
    static PyObject *kind;
    Py_ssize_t size = PyTuple_GET_SIZE(value);
    nb::object made = nb::steal(PyTuple_New(size + 2));
    PyTuple_SET_ITEM(made.ptr(), 0, Py_NewRef(word(kind, "tuple")));
    PyTuple_SET_ITEM(made.ptr(), 1, Py_NewRef(reinterpret_cast<PyObject *>(&PyTuple_Type)));
    for (Py_ssize_t i = 0; i < size; ++i) {
      nb::object part = description(PyTuple_GET_ITEM(value, i));
      if (!part.is_valid())
        return {};
      PyTuple_SET_ITEM(made.ptr(), i + 2, part.release().ptr());
    }
    return made;
  }

  nb::object ofDescriptor(PyObject *value) {
    static PyObject *names[5], *kind;
    auto field = [&](int i, const char *name) { return nb::steal(PyObject_GetAttr(value, word(names[i], name))); };
    nb::object base = field(0, "base"), shape = field(1, "shape"), strides = field(2, "strides"), block = field(3, "block_shape"),
               padding = field(4, "padding");
    if (!base.is_valid() || !shape.is_valid() || !strides.is_valid() || !block.is_valid() || !padding.is_valid())
      return {};
    leaves.push_back(std::move(base));
    Py_ssize_t rank = append(shape, 0);
    if (rank < 0 || append(strides, 1) < 0) // the last stride is 1
      return {};
    nb::object sizes = nb::steal(PySequence_Fast(block.ptr(), "block_shape is no sequence"));
    if (!sizes.is_valid())
      return {};
    Py_ssize_t count = PySequence_Fast_GET_SIZE(sizes.ptr());
    nb::object made = nb::steal(PyTuple_New(count + 3));
    PyTuple_SET_ITEM(made.ptr(), 0, Py_NewRef(word(kind, "descriptor")));
    PyTuple_SET_ITEM(made.ptr(), 1, PyLong_FromSsize_t(rank));
    PyTuple_SET_ITEM(made.ptr(), 2, padding.release().ptr());
    for (Py_ssize_t i = 0; i < count; ++i)
      PyTuple_SET_ITEM(made.ptr(), i + 3, Py_NewRef(PySequence_Fast_GET_ITEM(sizes.ptr(), i)));
    return made;
  }

  /// Appends the elements of a sequence but the last `without`; returns their number, negative with an exception set.
  Py_ssize_t append(nb::handle sequence, Py_ssize_t without) {
    nb::object items = nb::steal(PySequence_Fast(sequence.ptr(), "shape and strides are sequences"));
    if (!items.is_valid())
      return -1;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
    for (Py_ssize_t i = 0; i + without < count; ++i)
      leaves.push_back(nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i)));
    return count;
  }
};

/// The launcher for the arguments' structure; null: none yet, or an argument of another kind, maybe with an exception set.
PyObject *flatLauncher(PyObject *launchers, const BoundCall &call, TakingApart &taking) {
  nb::object key = nb::steal(PyTuple_New(Py_ssize_t(call.leading)));
  for (size_t i = 0; i < call.leading; ++i) {
    PyObject *value = call.values[i];
    nb::object description = call.parameters[i].compileTime() ? taking.whole(value) : taking.description(value);
    if (!description.is_valid())
      return nullptr;
    PyTuple_SET_ITEM(key.ptr(), Py_ssize_t(i), description.release().ptr());
  }
  return PyDict_GetItemWithError(launchers, key.ptr());
}
} // namespace

nb::object structuresMet(PyObject *launcher) {
  nb::object method = nb::steal(PyObject_GetAttrString(launcher, "launch_structured"));
  nb::object met = method.is_valid() ? nb::steal(PyObject_GetAttrString(method.ptr(), "met")) : nb::object();
  PyErr_Clear();
  return met.is_valid() && PyTuple_CheckExact(met.ptr()) && PyTuple_GET_SIZE(met.ptr()) == 3 ? met : nb::none();
}

bool takeApart(nb::handle met, const BoundCall &call, Apart &apart) {
  if (met.is_none())
    return false;
  apart.leaves.reserve(32); // few calls have more
  TakingApart taking{PyTuple_GET_ITEM(met.ptr(), 1), PyTuple_GET_ITEM(met.ptr(), 2), apart.leaves};
  apart.launcher = flatLauncher(PyTuple_GET_ITEM(met.ptr(), 0), call, taking);
  PyErr_Clear(); // the general way meets it again
  return apart.launcher != nullptr;
}

} // namespace tilery::python
