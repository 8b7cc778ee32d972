"""A vector of floats on a GPU that no framework owns: DLPack by hand."""

import ctypes


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_make = ctypes.pythonapi.PyCapsule_New
_make.restype, _make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Vector:
    """`count` floats of `bits` bits at `address` of GPU number `device`."""

    def __init__(self, address, count, device=0, bits=32):
        self._shape, self._strides = (ctypes.c_int64 * 1)(count), (ctypes.c_int64 * 1)(1)
        self._managed = _Managed(_Tensor(address, _Device(2, device), 1, _DataType(2, bits, 1), self._shape, self._strides, 0))

    def __dlpack__(self, **_):
        return _make(ctypes.addressof(self._managed), b"dltensor", None)

    def __dlpack_device__(self):
        return 2, self._managed.tensor.device.index
