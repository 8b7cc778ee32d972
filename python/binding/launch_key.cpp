#include "launch_key.h"
#include "runtime/article.h"
#include "tilery/diagnostic.h"
#include "limited_api.h"
#include "type_name.h"
#include <cstring>

namespace tilery::python {
namespace {

constexpr uint8_t noParameter = 255; // a launcher has at most 255

int64_t alignmentOf(const Tensor &tensor) { return reinterpret_cast<uintptr_t>(tensor.data) % 16 == 0 ? 16 : 1; }
/// 1: it is one; 16: divides by 16; 0: anything else.
int64_t classOf(int64_t value) { return value == 1 ? 1 : value % 16 == 0 ? 16 : 0; }
/// The same; those that repeat or go back are of class 0, since no copy engine takes them.
int64_t strideClass(int64_t stride) { return stride > 0 ? classOf(stride) : 0; }
bool isConstantOne(const Argument &argument, const Parameter &parameter) {
  return argument.kind == Argument::Int && parameter.kind == Parameter::Runtime && argument.integer == 1 &&
         !argument.unsignedWide;
}
const char *integerType(const Argument &argument) {
  if (argument.unsignedWide)
    return "uint64";
  return argument.integer >= INT32_MIN && argument.integer <= INT32_MAX ? "int32" : "int64";
}
// Less than 0, which may be strides, too, have none. 0 divides by everything.
int64_t divisibility(const Argument &argument, const Parameter &parameter) {
  if (parameter.kind != Parameter::Runtime || (argument.integer < 0 && !argument.unsignedWide))
    return 1;
  return argument.integer == 0 ? 0 : argument.integer % 16 == 0 ? 16 : 1;
}
} // namespace

void appendFacts(const Argument &argument, std::vector<uint64_t> &facts) {
  facts.push_back(argument.kind);
  switch (argument.kind) {
  case Argument::Tensor: {
    const Tensor &tensor = argument.tensor;
    facts.push_back(reinterpret_cast<uint64_t>(tensor.data));
    facts.push_back(uint64_t(tensor.dtype) | uint64_t(tensor.rank) << 8 | uint64_t(argument.readOnly) << 16 |
                    uint64_t(tensor.device.kind) << 32 | uint64_t(tensor.device.index) << 48);
    for (int32_t dim = 0; dim < tensor.rank; ++dim) {
      facts.push_back(uint64_t(tensor.extents[dim]));
      facts.push_back(uint64_t(tensor.strides[dim]));
    }
    break;
  }
  case Argument::Int:
    facts.push_back(uint64_t(argument.integer));
    facts.push_back(argument.unsignedWide);
    break;
  case Argument::Float:
  case Argument::Bool:
  case Argument::None:
  case Argument::Constant:
    break; // their values reach the kernel only
  }
}

void appendConstant(PyObject *object, size_t parameter, std::vector<uint64_t> &facts) {
  static uint64_t unlike = uint64_t(1) << 63; // a fact that no launch before had
  int overflow = 0;
  bool exact = PyLong_CheckExact(object); // programs compute their tile sizes anew for each launch
  if (!exact && isChangeable(object))
    return facts.push_back(++unlike); // what it holds is looked at for each launch
  int64_t integer = exact ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
  bool byValue = exact && !overflow;
  facts.push_back(uint64_t(Argument::Constant) | uint64_t(byValue) << 4 | uint64_t(parameter) << 8);
  facts.push_back(byValue ? uint64_t(integer) : reinterpret_cast<uint64_t>(object));
}

std::vector<AliasPair> aliasPairs(const Argument *arguments, size_t count) {
  std::vector<AliasPair> pairs;
  for (size_t i = 0; i < count; ++i)
    for (size_t j = i + 1; j < count; ++j)
      if (arguments[i].kind == Argument::Tensor && arguments[j].kind == Argument::Tensor)
        if (Alias alias = classify(arguments[i].tensor, arguments[j].tensor); alias != Alias::Disjoint)
          pairs.push_back({uint8_t(i), uint8_t(j), alias});
  return pairs;
}

ConstantTable::ConstantTable() : ids(PyDict_New()) {}
ConstantTable::~ConstantTable() { Py_XDECREF(ids); }

uint32_t ConstantTable::number(PyObject *value, const char *name) {
  if (PyObject_HasAttrString(reinterpret_cast<PyObject *>(Py_TYPE(value)), "__dlpack__")) // it may hold another number next time
    throw Error(
        {Diagnostic::Kind::Type,
         "compile-time argument '" + std::string(name) + "' is " + withArticle(typeName(value)) + "; a number is expected",
         "pass " + std::string(name) + ".item()",
         {}});
  // 1 == True == 1.0, so the type belongs to the key; floats count as the bits they are (0.0 == -0.0, nan != nan).
  PyObject *identity = value;
  if (PyFloat_CheckExact(value)) {
    double number = PyFloat_AS_DOUBLE(value);
    uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    identity = PyLong_FromUnsignedLongLong(bits);
  } else if (isChangeable(value)) {
    identity = PyObject_Repr(value); // it has no hash: what it holds now, as text
  } else {
    Py_INCREF(identity);
  }
  PyObject *key = identity ? PyTuple_Pack(2, Py_TYPE(value), identity) : nullptr;
  Py_XDECREF(identity);
  PyObject *fresh = key ? PyLong_FromSsize_t(PyDict_GET_SIZE(ids)) : nullptr;
  PyObject *id = fresh ? PyDict_SetDefault(ids, key, fresh) : nullptr;
  Py_XDECREF(key);
  Py_XDECREF(fresh);
  if (!id) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
      throw PythonRaised{};
    PyErr_Clear();
    throw Error({Diagnostic::Kind::Type,
                 "compile-time argument '" + std::string(name) + "' is " + withArticle(typeName(value)) +
                     ", which cannot be compared with later values (it has no hash)",
                 "pass an object with __hash__ and __eq__",
                 {}});
  }
  return uint32_t(PyLong_AsUnsignedLong(id));
}

std::string specialisationKey(std::span<const Argument> arguments, const std::vector<Parameter> &parameters,
                              const std::vector<AliasPair> &aliases, bool layout, ConstantTable &constants) {
  std::string key;
  auto put = [&](auto... bytes) { (key.push_back(char(bytes)), ...); };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    if (parameters[i].kind == Parameter::Option) {
      if (argument.object == parameters[i].defaultValue)
        continue; // most are
      put(i);
    }
    put(argument.kind);
    switch (argument.kind) {
    case Argument::Tensor: {
      const Tensor &tensor = argument.tensor;
      put(tensor.dtype, alignmentOf(tensor), tensor.device.kind);
      if (layout) {
        put(tensor.rank);
        for (int32_t dim = 0; dim < tensor.rank; ++dim)
          put(classOf(tensor.extents[dim]), strideClass(tensor.strides[dim]));
      }
      break;
    }
    case Argument::Int:
      if (isConstantOne(argument, parameters[i]))
        put('1');
      else
        put(integerType(argument)[0], integerType(argument)[3], divisibility(argument, parameters[i]));
      break;
    case Argument::Constant: {
      uint32_t number = constants.number(argument.object, parameters[i].text);
      put(number, number >> 8, number >> 16, number >> 24);
      break;
    }
    case Argument::Float:
    case Argument::Bool:
    case Argument::None:
      break;
    }
  }
  put(noParameter);
  for (const AliasPair &pair : aliases)
    put(pair.first, pair.second, pair.alias);
  return key;
}

PyObject *signatureParams(const Argument *arguments, const std::vector<Parameter> &parameters, bool layout) {
  PyObject *params = PyTuple_New(Py_ssize_t(parameters.size()));
  for (size_t i = 0; params && i < parameters.size(); ++i) {
    const Argument &argument = arguments[i];
    PyObject *item = nullptr;
    switch (argument.kind) {
    case Argument::Tensor: {
      const Tensor &tensor = argument.tensor;
      if (!layout) {
        item = Py_BuildValue("(ssL)", "pointer", dtypeName(tensor.dtype), (long long)alignmentOf(tensor));
        break;
      }
      PyObject *extents = PyTuple_New(tensor.rank), *strides = PyTuple_New(tensor.rank);
      for (int32_t dim = 0; dim < tensor.rank; ++dim) {
        PyTuple_SET_ITEM(extents, dim, PyLong_FromLongLong(classOf(tensor.extents[dim])));
        PyTuple_SET_ITEM(strides, dim, PyLong_FromLongLong(strideClass(tensor.strides[dim])));
      }
      item = Py_BuildValue("(ssLNN)", "tensor", dtypeName(tensor.dtype), (long long)alignmentOf(tensor), extents, strides);
      break;
    }
    case Argument::Int:
      item = isConstantOne(argument, parameters[i])
                 ? Py_BuildValue("(si)", "const", 1)
                 : Py_BuildValue("(ssL)", "int", integerType(argument), (long long)divisibility(argument, parameters[i]));
      break;
    case Argument::Float:
      item = Py_BuildValue("(s)", "float");
      break;
    case Argument::Bool:
      item = Py_BuildValue("(s)", "bool");
      break;
    case Argument::None:
      item = Py_BuildValue("(sO)", "const", Py_None);
      break;
    case Argument::Constant:
      item = Py_BuildValue("(sO)", "const", argument.object);
      break;
    }
    if (!item) {
      Py_DECREF(params);
      throw PythonRaised{};
    }
    PyTuple_SET_ITEM(params, Py_ssize_t(i), item);
  }
  return params;
}

PyObject *signatureAliases(const std::vector<AliasPair> &aliases) {
  PyObject *tuple = PyTuple_New(Py_ssize_t(aliases.size()));
  for (size_t i = 0; tuple && i < aliases.size(); ++i)
    PyTuple_SET_ITEM(tuple, Py_ssize_t(i),
                     Py_BuildValue("(iis)", int(aliases[i].first), int(aliases[i].second),
                                   aliases[i].alias == Alias::Identical ? "identical" : "overlapping"));
  return tuple;
}
} // namespace tilery::python
