#include "launch_args.h"
#include "dlpack.h"
#include "read_shape.h"
#include "runtime/article.h"
#include "torch_bits.h"
#include "tilery/diagnostic.h"
#include "tilery/gpu_memory.h"
#include "limited_api.h"
#include "type_name.h"
#include <algorithm>
#include <nanobind/nanobind.h>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilery::python {
void failOverflow(const std::string &message) {
  nanobind::module_ errors = nanobind::module_::import_("tilery.errors");
  nanobind::object kind = errors.attr("kind")(nanobind::handle(PyExc_OverflowError), nanobind::handle(PyExc_TypeError));
  nanobind::object error = kind(message.c_str());
  PyErr_SetObject(kind.ptr(), error.ptr());
  throw PythonRaised{};
}

namespace {

[[noreturn]] void failArgument(const char *name, const std::string &rest, std::string hint = "") {
  throw Error({Diagnostic::Kind::Type, "argument '" + std::string(name) + "' " + rest, std::move(hint), {}});
}

struct Reference {
  explicit Reference(PyObject *object) : object(object) {}
  ~Reference() { Py_XDECREF(object); }
  Reference(const Reference &) = delete;
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object; }
  PyObject *object;
};

/// The pending Python exception as text; clears it.
std::string takeException() {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Reference text(value ? PyObject_Str(value) : nullptr);
  const char *utf8 = text ? PyUnicode_AsUTF8(text.object) : nullptr;
  std::string message = utf8 ? utf8 : "unknown";
  message.resize(std::min(message.find('\n'), message.size())); // torch appends a C++ backtrace
  PyErr_Clear();
  Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
  return message;
}

bool isCoded(dlpack::DataType type) {
  return type.code == dlpack::Float8E4M3Fnuz || type.code == dlpack::Float8E5M2Fnuz || type.code == dlpack::Float8E8M0Fnu;
}

std::optional<DType> dtypeOf(dlpack::DataType type) {
  if (type.lanes != 1)
    return {};
  auto byWidth = [&](DType w8, DType w16, DType w32, DType w64) -> std::optional<DType> {
    switch (type.bits) {
    case 8:
      return w8;
    case 16:
      return w16;
    case 32:
      return w32;
    case 64:
      return w64;
    }
    return {};
  };
  switch (type.code) {
  case dlpack::Int:
    return byWidth(DType::I8, DType::I16, DType::I32, DType::I64);
  case dlpack::UInt:
    return byWidth(DType::U8, DType::U16, DType::U32, DType::U64);
  case dlpack::Float:
    return type.bits == 8 ? std::nullopt : byWidth(DType::F16, DType::F16, DType::F32, DType::F64);
  case dlpack::Bfloat:
    return DType::BF16;
  case dlpack::Bool:
    return DType::Bool;
  case dlpack::Float8E4M3Fn:
    return DType::F8E4M3;
  case dlpack::Float8E5M2:
    return DType::F8E5M2;
  case dlpack::Float8E4M3Fnuz:
  case dlpack::Float8E5M2Fnuz:
  case dlpack::Float8E8M0Fnu:
    return DType::U8;
  }
  return {};
}

bool readTensor(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners);

Device placeOf(Device memory) { return gpuInHostMemory && memory.kind == 1 ? Device{2, 0} : memory; }

void readDlpack(const dlpack::Tensor &from, const char *name, Argument &argument, ArgumentOwners &owners) {
  auto dtype = dtypeOf(from.dtype);
  if (!dtype && from.dtype.code == dlpack::Complex)
    failArgument(name, "has complex elements, which tile programs do not know",
                 "pass its real and imaginary parts: torch.view_as_real(" + std::string(name) + ")");
  if (!dtype)
    failArgument(name,
                 "has elements of a type that tile programs do not know (DLPack code " + std::to_string(from.dtype.code) + ", " +
                     std::to_string(from.dtype.bits) + " bits)",
                 "convert them, or pass their bytes: " + std::string(name) + ".view(torch.uint8)");
  argument.coded = isCoded(from.dtype);
  Tensor &tensor = argument.tensor;
  tensor.data = static_cast<char *>(from.data) + from.byteOffset;
  tensor.dtype = *dtype;
  tensor.rank = from.ndim;
  tensor.extents = from.shape;
  tensor.strides = from.strides;
  tensor.device = placeOf({from.device.kind, from.device.index});
  if (!from.strides && from.ndim) {
    int64_t *strides = owners.numbers(from.ndim), dense = 1;
    for (int32_t dim = from.ndim; dim-- > 0; dense *= from.shape[dim])
      strides[dim] = dense;
    tensor.strides = strides;
  }
}

std::optional<DType> dtypeOfFormat(const char *format, Py_ssize_t size) {
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  if (format[0] == '\0' || format[1] != '\0')
    return {};
  auto integer = [&](bool isSigned) -> std::optional<DType> {
    switch (size) {
    case 1:
      return isSigned ? DType::I8 : DType::U8;
    case 2:
      return isSigned ? DType::I16 : DType::U16;
    case 4:
      return isSigned ? DType::I32 : DType::U32;
    case 8:
      return isSigned ? DType::I64 : DType::U64;
    }
    return {};
  };
  switch (*format) {
  case '?':
    return DType::Bool;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return integer(true);
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return integer(false);
  case 'e':
    return DType::F16;
  case 'f':
    return DType::F32;
  case 'd':
    return DType::F64;
  }
  return {};
}

/// Extents and strides in bytes as a tensor; strides must be whole elements.
void setLayout(Argument &argument, const char *name, int32_t rank, const Py_ssize_t *shape, const Py_ssize_t *byteStrides,
               ArgumentOwners &owners) {
  int64_t width = byteWidth(argument.tensor.dtype);
  int64_t *numbers = owners.numbers(2 * rank), *strides = numbers + rank;
  int64_t dense = 1;
  for (int32_t dim = rank; dim-- > 0;) {
    numbers[dim] = shape[dim];
    if (byteStrides && byteStrides[dim] % width)
      failArgument(name, "has a stride of " + std::to_string(byteStrides[dim]) + " bytes, which is no whole number of elements");
    strides[dim] = byteStrides ? byteStrides[dim] / width : dense;
    dense *= shape[dim];
  }
  argument.tensor.rank = rank;
  argument.tensor.extents = numbers;
  argument.tensor.strides = strides;
  argument.tensor.device = placeOf({});
}

bool readBuffer(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  auto *view = new Py_buffer;
  if (PyObject_GetBuffer(object, view, PyBUF_STRIDES | PyBUF_FORMAT)) {
    delete view;
    PyErr_Clear(); // a NumPy array of an extension type, for one
    return false;
  }
  owners.adopt(view);
  auto dtype = dtypeOfFormat(view->format ? view->format : "B", view->itemsize);
  if (!dtype) {
    const std::string own(name), format(view->format);
    failArgument(name, "has elements of a type that tile programs do not know (buffer format '" + format + "')",
                 format[0] == 'Z'   ? "pass its real and imaginary parts, " + own + ".view() of their type"
                 : format[0] == '>' ? "pass " + own + ".astype(" + own + ".dtype.newbyteorder('='))"
                                    : "convert them to numbers: " + own + ".astype(numpy.float32), say");
  }
  argument.tensor.data = view->buf;
  argument.tensor.dtype = *dtype;
  argument.readOnly = view->readonly;
  setLayout(argument, name, view->ndim, view->shape, view->strides, owners);
  return true;
}

/// NumPy arrays whose type is an extension (ml_dtypes' bfloat16): the address by __array_interface__, the type by its name.
bool readArrayInterface(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  Reference interface(PyObject_GetAttrString(object, "__array_interface__")), dtype(PyObject_GetAttrString(object, "dtype"));
  PyErr_Clear();
  if (!interface || !dtype || !PyDict_Check(interface.object))
    return false;
  Reference text(PyObject_Str(dtype.object)), strides(PyObject_GetAttrString(object, "strides"));
  PyErr_Clear();
  PyObject *data = PyDict_GetItemString(interface.object, "data"), *shape = PyDict_GetItemString(interface.object, "shape");
  auto element = text ? parseDType(PyUnicode_AsUTF8(text.object)) : std::nullopt;
  if (!element || !data || !PyTuple_Check(data) || PyTuple_GET_SIZE(data) != 2 || !shape || !PyTuple_Check(shape) || !strides ||
      !PyTuple_Check(strides.object))
    return false;
  argument.tensor.dtype = *element;
  argument.tensor.data = PyLong_AsVoidPtr(PyTuple_GET_ITEM(data, 0));
  argument.readOnly = PyObject_IsTrue(PyTuple_GET_ITEM(data, 1)) == 1;
  std::vector<Py_ssize_t> extents, bytes;
  for (Py_ssize_t dim = 0; dim < PyTuple_GET_SIZE(shape); ++dim) {
    extents.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, dim)));
    bytes.push_back(PyLong_AsSsize_t(PyTuple_GET_ITEM(strides.object, dim)));
  }
  setLayout(argument, name, int32_t(extents.size()), extents.data(), bytes.data(), owners);
  return true;
}

/// How tensors of a Python type are read; found once a type.
struct TypeReader {
  const dlpack::ExchangeApi *exchange = nullptr;
  bool torch = false;
  bool subclass = false; ///< of torch's tensors: objects may have no memory, and torch warns about who asks for its address
  /// NumPy scalars offer buffers, as 0-d arrays do, but are numbers: they have no __dlpack__.
  bool number = false;
  bool index = false;     ///< number: it is an integer
  bool flag = false;      ///< number: it is True or False
  bool structure = false; ///< see readArgument
  bool masks = false;     ///< NumPy's arrays with a mask
};

PyTypeObject *lastType = nullptr; // the type that was last looked up, and what was found
const TypeReader *lastReader = nullptr;

const TypeReader &readerOf(PyTypeObject *type) {
  if (type == lastType)
    return *lastReader;
  static auto &readers = *new std::unordered_map<PyTypeObject *, TypeReader>;
  auto [entry, isNew] = readers.try_emplace(type);
  if (isNew) {
    Py_INCREF(reinterpret_cast<PyObject *>(type)); // its address must stay its own
    Reference capsule(PyObject_GetAttrString(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__"));
    PyErr_Clear();
    if (capsule && PyCapsule_IsValid(capsule.object, "dlpack_exchange_api")) {
      auto *api = static_cast<const dlpack::ExchangeApi *>(PyCapsule_GetPointer(capsule.object, "dlpack_exchange_api"));
      if (api->header.version.major == 1 && api->tensorFromObject)
        entry->second.exchange = api;
    }
    entry->second.torch = isTorchTensor(type);
    entry->second.subclass = entry->second.torch && isTorchTensor(static_cast<PyTypeObject *>(PyType_GetSlot(type, Py_tp_base)));
    entry->second.index = PyType_GetSlot(type, Py_nb_index);
    entry->second.number = !entry->second.exchange && (entry->second.index || PyType_GetSlot(type, Py_nb_float)) &&
                           !PyObject_HasAttrString(reinterpret_cast<PyObject *>(type), "__dlpack__");
    entry->second.flag = fullTypeName(type).starts_with("numpy.bool"); // bool_ before NumPy 2; neither is an integer
    entry->second.masks = PyObject_HasAttrString(reinterpret_cast<PyObject *>(type), "shrink_mask");
    entry->second.structure =
        PyType_IsSubtype(type, &PyTuple_Type) || PyObject_HasAttrString(reinterpret_cast<PyObject *>(type), "__tile_structure__");
  }
  lastType = type;
  lastReader = &entry->second;
  return entry->second;
}

[[noreturn]] void failNoMemory(PyObject *object, const char *name) {
  failArgument(name, "has no memory: it is " + withArticle(typeName(object)) + " whose elements were never made, or were freed",
               "pass a tensor with elements; under torch.compile or torch.func let the kernel be called through torch.library");
}

/// Does an object of such a type have elements and no memory?
bool isWithoutMemory(PyObject *object, const TypeReader &reader) {
  if (!reader.subclass || viewOf(object).begin)
    return false;
  Reference count(PyObject_CallMethod(object, "numel", nullptr));
  bool empty = count && PyObject_IsTrue(count.object) == 0;
  PyErr_Clear();
  return !empty;
}

/// Refuses torch's fake tensors, wrappers without a storage, and what was freed or negated lazily; storages may be made smaller under
/// the tensors in them, too.
void requireElements(PyObject *object, const char *name, const Tensor &tensor, bool torch) {
  Span bytes = byteSpan(tensor);
  if (bytes.first == bytes.last)
    return;
  TorchView view = torch ? viewOf(object) : TorchView{reinterpret_cast<uintptr_t>(tensor.data), -1, false};
  if (!tensor.data || !view.begin)
    failNoMemory(object, name);
  uint64_t needed = bytes.last - view.begin;
  bool negated = view.negated && isFloat(tensor.dtype), shrunken = view.bytes >= 0 && needed > uint64_t(view.bytes);
  if (!negated && !shrunken)
    return;
  std::string is = "a tensor that torch has negated without touching its memory (is_neg())", hint = ".resolve_neg()";
  if (shrunken) {
    is = "a tensor that needs " + std::to_string(needed) + " bytes of its storage, which was made smaller and holds " +
         std::to_string(view.bytes);
    hint = " after " + std::string(name) + ".untyped_storage().resize_(" + std::to_string(needed) + ")";
  }
  throw Error({Diagnostic::Kind::Value, "argument '" + std::string(name) + "' is " + is, "pass " + std::string(name) + hint, {}});
}

/// Says why DLPack could not read a tensor; the reason is a pending exception.
[[noreturn]] void failUnreadable(PyObject *object, const char *name) {
  const std::string why = takeException(), own(name);
  const struct {
    const char *attribute, *rest;
    std::string hint;
  } kinds[] = {
      {"is_meta", "has no memory: it is a tensor on the meta device", "pass a tensor on a device that has some"},
      {"is_sparse", "is a sparse tensor", "pass " + own + ".to_dense(), or its indices and values"},
      {"is_sparse_csr", "is a sparse tensor", "pass " + own + ".to_dense(), or its indices and values"},
      {"is_nested", "is a nested tensor", "pass " + own + ".to_padded_tensor(0.0), or its parts"},
      {"is_mkldnn", "is a tensor in a layout of oneDNN's own", "pass " + own + ".to_dense()"},
      {"is_quantized", "is a quantized tensor", "pass " + own + ".int_repr(), or " + own + ".dequantize()"},
  };
  for (const auto &kind : kinds) {
    Reference is(PyObject_GetAttrString(object, kind.attribute));
    PyErr_Clear();
    if (is.object == Py_True)
      failArgument(name, kind.rest, kind.hint);
  }
  failArgument(name, "cannot be read: " + why,
               "convert its elements to a type of numbers that kernels take, or pass their bytes: " + own + ".view() of uint8");
}

bool readDlpackObject(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
  if (!method) {
    PyErr_Clear();
    return false;
  }
  PyObject *capsule = PyObject_CallNoArgs(method);
  Py_DECREF(method);
  if (!capsule)
    failUnreadable(object, name);
  owners.adopt(capsule);                       // not marked as used: the capsule itself frees the export
  if (!PyCapsule_IsValid(capsule, "dltensor")) // what stands for a tensor while a program is traced answers anything
    return false;
  auto *managed = static_cast<dlpack::ManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  readDlpack(managed->tensor, name, argument, owners);
  requireElements(object, name, argument.tensor, readerOf(Py_TYPE(object)).torch);
  return true;
}

/// The type that an object's `dtype` names: one of tl's, or of a name that parseDType knows, after the last dot (torch.float32).
std::optional<DType> dtypeNamed(PyObject *object) {
  Reference dtype(PyObject_GetAttrString(object, "dtype"));
  Reference own(dtype ? PyObject_GetAttrString(dtype.object, "__tile_dtype__") : nullptr);
  PyErr_Clear();
  Reference text(own && PyUnicode_Check(own.object) ? Py_NewRef(own.object) : dtype ? PyObject_Str(dtype.object) : nullptr);
  PyErr_Clear();
  if (!text)
    return {};
  std::string_view name = PyUnicode_AsUTF8(text.object);
  return parseDType(std::string(name.substr(name.rfind('.') + 1)));
}

void setRow(Argument &argument, int64_t extent, ArgumentOwners &owners) {
  int64_t *numbers = owners.numbers(2);
  numbers[0] = extent;
  numbers[1] = 1;
  argument.tensor.rank = 1, argument.tensor.extents = numbers, argument.tensor.strides = numbers + 1;
}

/// Anything with `data_ptr()` and `dtype`. One with a tensor as `base` lies where that does; others may say their shape. Those that do not
/// may overlap with whatever lies behind their address. Without a `base` they lie on the GPU, where there is one.
bool readPointerObject(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  Reference address(PyObject_CallMethod(object, "data_ptr", nullptr));
  PyErr_Clear();
  if (!address || !PyLong_Check(address.object))
    return false;
  auto dtype = dtypeNamed(object);
  if (!dtype)
    failArgument(name, "has elements of a type that tile programs do not know");
  Tensor &tensor = argument.tensor;
  Reference base(PyObject_GetAttrString(object, "base"));
  PyErr_Clear();
  if (base && PyObject_HasAttrString(base.object, "__dlpack__")) {
    PyObject *inner = base.release();
    owners.adopt(inner);
    if (!readTensor(inner, name, argument, owners))
      return false;
    if (byteWidth(tensor.dtype) != byteWidth(*dtype)) { // one row that covers the same bytes
      Span bytes = byteSpan(tensor);
      setRow(argument, int64_t((bytes.last - bytes.first) / byteWidth(*dtype)), owners);
    }
  } else {
    if (!readShape(object, argument, owners))
      setRow(argument, int64_t(1) << 40, owners);
    tensor.device = {gpuCount() > 0 ? 2 : 1, 0};
  }
  argument.coded = false; // whatever the base is: it is seen as another type
  tensor.data = PyLong_AsVoidPtr(address.object);
  tensor.dtype = *dtype;
  return true;
}

bool readTensor(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  const TypeReader &reader = readerOf(Py_TYPE(object));
  if (reader.masks && masksElements(object))
    failArgument(name, "is a masked array, and kernels know no masks of NumPy",
                 "pass " + (name + std::string(".filled(0), or ") + name) + ".data and its mask as another argument");
  argument.readOnly = argument.coded = false;
  if (isWithoutMemory(object, reader))
    failNoMemory(object, name);
  if (reader.exchange) {
    dlpack::Tensor tensor;
    if (reader.exchange->tensorFromObject(object, &tensor))
      failUnreadable(object, name);
    readDlpack(tensor, name, argument, owners);
    requireElements(object, name, argument.tensor, reader.torch);
    return true;
  }
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && readBuffer(object, name, argument, owners))
    return true;
  return readArrayInterface(object, name, argument, owners) || readDlpackObject(object, name, argument, owners) ||
         readPointerObject(object, name, argument, owners);
}

void readInteger(PyObject *object, const char *name, Argument &argument) {
  argument.kind = Argument::Int;
  argument.unsignedWide = false;
  int overflow = 0;
  argument.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow > 0) {
    argument.unsignedWide = true;
    argument.integer = int64_t(PyLong_AsUnsignedLongLong(object));
    overflow = PyErr_Occurred() != nullptr;
    PyErr_Clear();
  }
  if (overflow)
    failOverflow("argument '" + std::string(name) + "' is an int that does not fit into 64 bits");
}

void readScalarLike(PyObject *object, const TypeReader &reader, const char *name, Argument &argument) {
  if (reader.flag) {
    argument.kind = Argument::Bool;
    argument.integer = PyObject_IsTrue(object) == 1;
    return;
  }
  Reference value(reader.index ? PyNumber_Index(object) : PyNumber_Float(object));
  if (!value)
    throw PythonRaised{};
  if (reader.index) {
    readInteger(value.object, name, argument);
  } else {
    argument.kind = Argument::Float;
    argument.number = PyFloat_AS_DOUBLE(value.object);
  }
}
} // namespace

struct ArgumentOwners::Node {
  Node *next;
  Py_buffer *buffer = nullptr;
  PyObject *reference = nullptr;
  int64_t *numbers = nullptr;
};

ArgumentOwners::~ArgumentOwners() {
  while (first) {
    Node *node = std::exchange(first, first->next);
    if (node->buffer) {
      PyBuffer_Release(node->buffer);
      delete node->buffer;
    }
    Py_XDECREF(node->reference);
    delete[] node->numbers;
    delete node;
  }
}
void ArgumentOwners::adopt(Py_buffer *buffer) { first = new Node{first, buffer}; }
void ArgumentOwners::adopt(PyObject *reference) { first = new Node{first, nullptr, reference}; }
int64_t *ArgumentOwners::numbers(int32_t count) {
  first = new Node{first, nullptr, nullptr, new int64_t[count]};
  return first->numbers;
}

bool isCodedTensor(PyObject *object) {
  const TypeReader &reader = readerOf(Py_TYPE(object));
  dlpack::Tensor tensor;
  if (!reader.exchange || isWithoutMemory(object, reader) || reader.exchange->tensorFromObject(object, &tensor)) {
    PyErr_Clear();
    return false;
  }
  return isCoded(tensor.dtype);
}

/// readArgument of what can only be a tensor.
static bool readTensorArgument(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  argument.kind = Argument::Tensor;
  if (!readTensor(object, name, argument, owners))
    failArgument(name, "is " + withArticle(typeName(object)) + "; a tensor, int, float, bool or None is expected",
                 PyList_Check(object) ? "pass torch.tensor(" + std::string(name) + ") or a NumPy array" : "");
  return !argument.coded;
}

bool readArgument(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners) {
  argument.object = object;
  if (Py_TYPE(object) == lastType && lastReader->exchange && !lastReader->structure) // most arguments
    return readTensorArgument(object, name, argument, owners);
  if (object == Py_None) {
    argument.kind = Argument::None;
  } else if (PyBool_Check(object)) {
    argument.kind = Argument::Bool;
    argument.integer = object == Py_True;
  } else if (PyLong_CheckExact(object)) {
    readInteger(object, name, argument);
  } else if (PyFloat_CheckExact(object)) {
    argument.kind = Argument::Float;
    argument.number = PyFloat_AS_DOUBLE(object);
  } else if (PyLong_Check(object)) {
    readInteger(object, name, argument);
  } else if (PyFloat_Check(object)) {
    argument.kind = Argument::Float;
    argument.number = PyFloat_AS_DOUBLE(object);
  } else if (const TypeReader &reader = readerOf(Py_TYPE(object)); reader.structure) {
    return false;
  } else if (reader.number) {
    readScalarLike(object, reader, name, argument);
  } else {
    return readTensorArgument(object, name, argument, owners);
  }
  return true;
}

namespace {
/// torch's, for tensors whose own framework does not say.
void *torchStream(int device) {
  static PyObject *ask = nullptr; // never freed: the interpreter may be gone by then
  if (!ask) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *torch = modules ? PyDict_GetItemString(modules, "torch._C") : nullptr;
    ask = torch ? PyObject_GetAttrString(torch, "_cuda_getCurrentRawStream") : nullptr;
  }
  Reference number(ask ? PyLong_FromLong(device) : nullptr);
  Reference stream(number ? PyObject_CallOneArg(ask, number.object) : nullptr);
  PyErr_Clear();
  return stream ? PyLong_AsVoidPtr(stream.object) : nullptr;
}
} // namespace

void *currentStream(PyObject *tensor, int device) {
  const dlpack::ExchangeApi *exchange = tensor ? readerOf(Py_TYPE(tensor)).exchange : nullptr;
  void *stream = nullptr;
  if (exchange && exchange->currentWorkStream && exchange->currentWorkStream(2, device, &stream) == 0)
    return stream;
  PyErr_Clear();
  return torchStream(device);
}

std::string deviceName(const Device &device) {
  return isGpu(device)   ? "cuda:" + std::to_string(device.index)
         : isCpu(device) ? "the CPU"
                         : "a device of DLPack kind " + std::to_string(device.kind);
}

std::string describe(const Argument &argument) {
  switch (argument.kind) {
  case Argument::Tensor: {
    std::string shape;
    for (int32_t dim = 0; dim < argument.tensor.rank; ++dim)
      shape += (dim ? ", " : "") + std::to_string(argument.tensor.extents[dim]);
    return withArticle(dtypeName(argument.tensor.dtype)) + " tensor of shape (" + shape +
           (argument.tensor.rank == 1 ? ",)" : ")");
  }
  case Argument::Int:
    return "the int " + (argument.unsignedWide ? std::to_string(uint64_t(argument.integer)) : std::to_string(argument.integer));
  case Argument::Float:
    return "the float " + std::to_string(argument.number);
  case Argument::Bool:
    return argument.integer ? "True" : "False";
  case Argument::None:
    return "None";
  case Argument::Constant:
    break;
  }
  return withArticle(typeName(argument.object));
}
} // namespace tilery::python
