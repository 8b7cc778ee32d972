#pragma once
// What CPython's stable ABI lacks of its C interface, by functions that it has: for the module that serves all versions from 3.12 on.
#include <Python.h>

#ifdef Py_LIMITED_API
inline PyObject *PyTuple_GET_ITEM(PyObject *tuple, Py_ssize_t index) { return PyTuple_GetItem(tuple, index); }
inline void PyTuple_SET_ITEM(PyObject *tuple, Py_ssize_t index, PyObject *item) { PyTuple_SetItem(tuple, index, item); }
inline Py_ssize_t PyTuple_GET_SIZE(PyObject *tuple) { return PyTuple_Size(tuple); }
inline PyObject *PyList_GET_ITEM(PyObject *list, Py_ssize_t index) { return PyList_GetItem(list, index); }
inline Py_ssize_t PyList_GET_SIZE(PyObject *list) { return PyList_Size(list); }
inline Py_ssize_t PyDict_GET_SIZE(PyObject *dict) { return PyDict_Size(dict); }
inline double PyFloat_AS_DOUBLE(PyObject *number) { return PyFloat_AsDouble(number); }
inline const char *PyUnicode_AsUTF8(PyObject *text) { return PyUnicode_AsUTF8AndSize(text, nullptr); }
inline PyObject *PyObject_CallOneArg(PyObject *function, PyObject *argument) {
  return PyObject_Vectorcall(function, &argument, 1, nullptr);
}
inline PyObject *PyDict_SetDefault(PyObject *dict, PyObject *key, PyObject *value) {
  PyObject *found = PyDict_GetItemWithError(dict, key);
  return found || PyErr_Occurred() || PyDict_SetItem(dict, key, value) ? found : value;
}
#endif
