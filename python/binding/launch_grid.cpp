#include "launch_grid.h"
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include "limited_api.h"
#include "type_name.h"
#include "tilery/counted.h"
#include <algorithm>

namespace tilery::python {

static int64_t gridExtent(const std::string &kernel, PyObject *object, int axis) {
  int64_t extent = PyLong_CheckExact(object) ? PyLong_AsLongLong(object) : -1;
  if (!PyLong_CheckExact(object)) {
    PyObject *index = PyIndex_Check(object) ? PyNumber_Index(object) : nullptr;
    if (!index) {
      PyErr_Clear();
      throw Error({Diagnostic::Kind::Type,
                   "the grid of " + kernel + " has " + withArticle(typeName(object)) + " as extent of axis " +
                       std::to_string(axis) + "; an int is expected",
                   PyFloat_Check(object) ? "divide with // or cdiv" : "",
                   {}});
    }
    extent = PyLong_AsLongLong(index);
    Py_DECREF(index);
  }
  if (extent == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    extent = INT64_MAX; // refused by the launch
  }
  if (extent < 0)
    throw Error(
        {Diagnostic::Kind::Value,
         "the grid of " + kernel + " has the negative extent " + std::to_string(extent) + " on axis " + std::to_string(axis),
         "",
         {}});
  return extent;
}

void readGrid(const std::string &kernel, PyObject *grid, int64_t extents[3]) {
  extents[0] = extents[1] = extents[2] = 1;
  bool isTuple = PyTuple_Check(grid);
  if (!isTuple && !PyList_Check(grid)) {
    extents[0] = gridExtent(kernel, grid, 0);
    return;
  }
  Py_ssize_t rank = Py_SIZE(grid);
  auto extentAt = [&](Py_ssize_t axis) {
    return gridExtent(kernel, isTuple ? PyTuple_GET_ITEM(grid, axis) : PyList_GET_ITEM(grid, axis), int(axis));
  };
  auto isLonger = [&] { // by more than extents of 1, which upstream does not look at
    for (Py_ssize_t axis = 3; axis < rank; ++axis)
      if (extentAt(axis) != 1)
        return true;
    return false;
  };
  if (rank < 1 || isLonger())
    throw Error({Diagnostic::Kind::Value,
                 "the grid of " + kernel + " has " + counted(rank, "extent") + "; one to three are expected",
                 "",
                 {}});
  for (Py_ssize_t axis = 0; axis < std::min<Py_ssize_t>(rank, 3); ++axis)
    extents[axis] = extentAt(axis);
}

} // namespace tilery::python
