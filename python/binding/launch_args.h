#pragma once
// What a launch is called with, read from Python objects.
#include "tilery/runtime.h"
#include <Python.h>
#include <string>

namespace tilery::python {

/// One bound argument. Plain data: an array of them is made on the stack for each launch.
struct Argument {
  enum Kind : uint8_t { Tensor, Int, Float, Bool, None, Constant };
  Kind kind;
  bool unsignedWide;     ///< Int: above 2^63 - 1, `integer` holds the bits
  bool readOnly;         ///< Tensor
  bool coded;            ///< Tensor: its bytes stand for 8-bit floats that no arithmetic is made for
  tilery::Tensor tensor; ///< Tensor: extents and strides live as long as the ArgumentOwners
  int64_t integer;       ///< Int, Bool
  double number;         ///< Float
  PyObject *object;      ///< borrowed
};

/// Keeps alive what arguments borrow from (buffers, DLPack capsules, converted strides). Empty for torch tensors.
class ArgumentOwners {
public:
  ArgumentOwners() = default;
  ArgumentOwners(const ArgumentOwners &) = delete;
  ~ArgumentOwners();
  void adopt(Py_buffer *buffer);
  void adopt(PyObject *reference);
  int64_t *numbers(int32_t count);

private:
  struct Node;
  Node *first = nullptr;
};

/// Reads `object` (a tensor, an int, float, bool or None; `name` is for messages) into `argument`; false: it consists of several values (a
/// tuple), or is known when a kernel is compiled (its type has an attribute `__tile_structure__`). Throws Error, or PythonRaised when a
/// Python exception is set.
struct PythonRaised {};
bool readArgument(PyObject *object, const char *name, Argument &argument, ArgumentOwners &owners);

/// A tensor of 8-bit floats that kernels hold as bytes with a meaning (e4m3fnuz, e5m2fnuz, e8m0): readArgument takes it for such a structure.
bool isCodedTensor(PyObject *object);

/// The CUDA stream that the launch's work belongs on: the current one of the framework that owns `tensor`, else torch's if it is
/// there, else the default one (null).
void *currentStream(PyObject *tensor, int device);

/// An integer that its type does not hold: programs catch an OverflowError there, or a TypeError.
[[noreturn]] void failOverflow(const std::string &message);
/// An integer for an integer parameter `name` of this type must be one that it holds. Throws PythonRaised (OverflowError).
void checkRange(const Argument &argument, DType type, const std::string &name, const std::string &program);

/// How messages call an argument's value: "a float32 tensor of shape (3, 4)", "the int 3", "a str".
std::string describe(const Argument &argument);

/// Of DLPack's kinds of devices.
inline bool isGpu(const Device &device) { return device.kind == 2; }
inline bool isCpu(const Device &device) { return device.kind == 1 || device.kind == 3; } // 3: host memory pinned for CUDA
/// How messages call a device: "cuda:0", "the CPU".
std::string deviceName(const Device &device);

} // namespace tilery::python
