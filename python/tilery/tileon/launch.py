"""From a kernel's arguments to machine code: specialisation, compilation, grids."""
from .language import types
from .tracer import trace
from ..errors import error

_INT32, _INT64, _UINT64 = 1 << 31, 1 << 63, 1 << 64
# What an element type is called by torch, NumPy and ml_dtypes beside our own names.
_NAMES = {"half": "float16", "float": "float32", "double": "float64", "float8_e4m3fn": "float8_e4m3fn", "float8_e5m2": "float8_e5m2"}
_ELEMENTS = frozenset(t.__tile_dtype__ for t in vars(types).values() if isinstance(t, types.dtype) and getattr(t, "__tile_dtype__", None))


def element_type(argument, name):
    """The element type of a tensor-like argument."""
    dtype = argument.dtype
    if isinstance(dtype, types.dtype):
        return dtype.__tile_dtype__
    text = str(dtype).rpartition(".")[2]
    text = _NAMES.get(text, text)
    if text not in _ELEMENTS:
        raise error(TypeError, f"argument `{name}` has elements of type {text}, which kernels do not know",
                    hint="known: " + ", ".join(sorted(_ELEMENTS)))
    return text


def address(argument):
    """Address of a tensor's first element."""
    if hasattr(argument, "data_ptr"):
        return argument.data_ptr()
    return argument.__array_interface__["data"][0]


def classify(parameter, value):
    """What a specialisation knows of an argument: ("constant", value), or (element type, is it a pointer, divisibility, is it const)."""
    value = types.unwrap(value)
    if parameter.is_constexpr or value is None:
        return ("constant", value)
    kind = type(value)
    if kind is bool:
        return ("bool", False, 1, False)
    if kind is int:
        if value == 1 and parameter.specialised:
            return ("constant", 1)
        if not -_INT64 <= value < _UINT64:
            raise error(ValueError, f"argument `{parameter.name}` is {value}, which does not fit in 64 bits")
        dtype = "int32" if -_INT32 <= value < _INT32 else "int64" if value < _INT64 else "uint64"
        return (dtype, False, 16 if parameter.aligned and value % 16 == 0 else 1, False)
    if kind is float:
        return (parameter.float_type, False, 1, False)
    if hasattr(value, "dtype") and (hasattr(value, "data_ptr") or hasattr(value, "__array_interface__")):
        dtype = element_type(value, parameter.name)
        return (dtype, True, 16 if parameter.aligned and address(value) % 16 == 0 else 1, parameter.is_const)
    if isinstance(value, (types.dtype, tuple)) or callable(value):
        return ("constant", value)
    if hasattr(value, "__index__"):
        return classify(parameter, value.__index__())
    if hasattr(value, "__float__"):
        return classify(parameter, float(value))
    raise error(TypeError, f"argument `{parameter.name}` must be a tensor or a number, got {kind.__name__}",
                hint=f"annotate it with tl.constexpr if it is a compile-time value: `{parameter.name}: tl.constexpr`")


def key_of(kinds):
    """Makes a specialisation hashable; constants of one value but of two types are told apart."""
    return tuple((k[0], type(k[1]), _hashable(k[1])) if k[0] == "constant" else k for k in kinds)


def _hashable(value):
    if isinstance(value, (list, tuple)):
        return tuple(_hashable(v) for v in value)
    return repr(value) if isinstance(value, (dict, float)) else value


def build(kernel, kinds, debug):
    """Traces a kernel for a specialisation."""
    from tilery import _native
    parameters = []
    for p, kind in zip(kernel.params, kinds):
        if kind[0] == "constant":
            parameters.append((p.name, None, 1, kind[1]))
        else:
            dtype, pointer, divisibility, const = kind
            parameters.append((p.name, _native.Type(dtype, (), pointer, const), divisibility, None))
    return trace(kernel.fn, kernel.fn.__name__, parameters, debug)


def specialise(kernel, values, debug):
    """(the compiled kernel for these arguments, the values of its run-time arguments)."""
    kinds = [classify(p, v) for p, v in zip(kernel.params, values)]
    key = (key_of(kinds), debug)
    found = kernel.kernels.get(key)
    if found is None:
        found = kernel.kernels[key] = Kernel(kernel, *build(kernel, kinds, debug))
    return found, [v for v, k in zip(values, kinds) if k[0] != "constant"]


class Kernel:
    """A kernel compiled for one specialisation."""

    def __init__(self, kernel, module, reads):
        self.name, self.module, self.reads = kernel.fn.__name__, module, reads


class MockTensor:
    """Stands for a tensor of an element type where only a compilation is wanted."""

    def __init__(self, dtype):
        self.dtype = dtype

    @staticmethod
    def data_ptr():
        return 0


class TensorWrapper:
    """A tensor whose elements are seen as another type."""

    def __init__(self, base, dtype):
        self.base, self.dtype = base, dtype

    def data_ptr(self):
        return self.base.data_ptr()

    @property
    def device(self):
        return self.base.device

    def stride(self, *dims):
        return self.base.stride(*dims)


def reinterpret(tensor, dtype):
    """The tensor's memory as elements of another type."""
    if isinstance(tensor, TensorWrapper):
        return reinterpret(tensor.base, dtype)
    return TensorWrapper(tensor, dtype)


def extents(kernel, grid, values):
    """The grid as three ints."""
    name = kernel.fn.__name__
    if callable(grid):
        grid = grid(dict(zip(kernel.arg_names, values)))
    if not isinstance(grid, (tuple, list)) or not 1 <= len(grid) <= 3:
        raise error(TypeError, f"the grid of kernel `{name}` must be a tuple or list of one to three ints, got {grid!r}",
                    hint="write (n,), or a function of the arguments that returns such a tuple")
    out = []
    for size in grid:
        size = types.unwrap(size)
        if isinstance(size, bool) or not hasattr(size, "__index__"):
            raise error(TypeError, f"the grid of kernel `{name}` must be made of ints, got {size!r}",
                        hint="divide with triton.cdiv(n, BLOCK) or //")
        size = size.__index__()
        if size < 0:
            raise error(ValueError, f"the grid of kernel `{name}` has the negative extent {size}")
        out.append(size)
    return out + [1] * (3 - len(out))
