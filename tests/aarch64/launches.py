"""Launches on another machine: what programs launch on the CPU is compiled as a bundle for AArch64, and called there."""

from contextlib import contextmanager

from aarch64.machine import Machine, Tensor

from tilery import _native, aot
from tilery.aot.bundle import packed
from tilery.core import arrays, compile, oracle


def memory_of(value, width):
    """(its first byte, its bytes): all of the storage that the tensor lies in, with what is beside it."""
    tensor = value if hasattr(value, "untyped_storage") else getattr(value, "base", None)  # one that is seen as another type
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
        return storage.data_ptr(), storage.nbytes()
    _, first, count = arrays.span(value, width)
    return first, count


class Launch:
    """A launch plan: `plain` is the interpreter's, which knows the parameters and what a launch returns."""

    def __init__(self, machine, compiled, plain, target):
        self.machine, self.plain = machine, plain
        variant = aot.image_for(compiled, target)
        entry = aot.entry_of("program", variant.image, target)
        self.names = [p.name for p in entry.parameters]
        self.bundle = packed([aot.Entry("program", entry.parameters, [variant], entry.takes_grid)])

    def __call__(self, grid, arguments):
        given = {}
        has_shapes = isinstance(self.plain, oracle.OracleHostLaunch)  # ranks, else whether it is a pointer
        for name, dtype, kind in self.plain.parameters:
            value = arguments[name]
            if kind >= 0 if has_shapes else kind:
                address = arrays.span(value, _native.byte_width(dtype))[0]
                layout = arrays.layout(value) if has_shapes else ((), ())
                given[name] = Tensor(*memory_of(value, _native.byte_width(dtype)), address, *layout)
            else:
                given[name] = oracle._bits(value, dtype)
        if grid is None or min(grid) > 0:
            self.machine.call(self.bundle, [given[name] for name in self.names], grid)
        return getattr(self.plain, "result", None)


@contextmanager
def there(target="aarch64-neon"):
    """Launches within it run on the emulated machine, those by the interpreter excepted, and kinds that ran here before."""
    before = compile.CompiledKernel.plan

    def plan(self, debug=False):
        if compile.interpreted(debug):
            return before(self, debug)
        self.answer()
        return Launch(machine, self, self.interpret(False), target)

    with Machine() as machine:
        compile.CompiledKernel.plan = plan
        try:
            yield machine
        finally:
            compile.CompiledKernel.plan = before
