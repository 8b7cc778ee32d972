#include "type_name.h"
#include "limited_api.h"

namespace tilery::python {
namespace {
std::string attribute(PyTypeObject *type, const char *name) {
  PyObject *text = PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), name);
  const char *utf8 = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : nullptr;
  std::string result = utf8 ? utf8 : "?";
  PyErr_Clear();
  Py_XDECREF(text);
  return result;
}
} // namespace

std::string typeName(PyObject *object) { return attribute(Py_TYPE(object), "__name__"); }

std::string fullTypeName(PyTypeObject *type) { return attribute(type, "__module__") + "." + attribute(type, "__qualname__"); }

} // namespace tilery::python
