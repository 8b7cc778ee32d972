"""From a kernel's arguments to machine code: specialisation, compilation, grids."""
from .language import types
from ..errors import error


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
