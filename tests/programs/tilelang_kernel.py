"""What all kinds of TileLang programs share: parameters, sizes, buffers, loops over elements."""

from contextlib import contextmanager

from programs.frame import Argument, Program
from programs.tilelang_expressions import macros
from programs.writer import Value, Writer

HEAD = "import tilelang\nimport tilelang.language as T\n\n\n"
FLOATS = ("float32", "float32", "float32", "float16", "bfloat16")


class Kernel(Writer):
    """A kernel with named sizes. Its text is made of `lines`, which stand in `with T.Kernel(...)`."""

    def __init__(self, rng):
        super().__init__(rng)
        self.depth = 3
        self.arguments = []
        self.sizes = {}  # name: value of what is known when the kernel is made
        self.dynamic = self.chance(0.25)
        self.shapes = {}  # name of a tensor: its shape as text
        self.shared = {}  # name of a buffer: (shape as text, type)
        self.prologue = []  # allocations
        self.functions = []  # macros of this program
        self.threads = self.pick(32, 64, 128, 128, 128, 256)

    # -- parameters
    def size(self, name, value):
        self.sizes[name] = value
        return name

    def tensor(self, name, shape, dtype=None, fill="normal"):
        """A tensor parameter; shape: names of sizes or numbers."""
        if name in self.shapes:
            return
        numbers = tuple(self.sizes.get(n, n) for n in shape)
        strides = None
        if len(numbers) == 2 and not self.dynamic and self.chance(0.15):
            strides = (numbers[1] + self.pick(1, 3, 8), 1)
        argument = Argument(name, numbers, dtype or self.pick(*FLOATS), fill, strides)
        self.arguments.append(argument)
        self.shapes[name] = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"

    def dtype(self, name):
        return next(a.dtype for a in self.arguments if a.name == name)

    # -- buffers
    def alloc(self, stem, shape, dtype="float32", scope=None, form=None):
        """A buffer; `form`: how its elements are named in a loop, "[i, j]"."""
        scope = scope or self.pick("fragment", "fragment", "shared")
        name = self.name(stem)
        shape = f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
        self.prologue.append(f"{name} = T.alloc_{scope}({shape}, {dtype_text(self, dtype)})")
        self.shared[name] = (shape, dtype)
        return name

    # -- loops over elements
    @contextmanager
    def parallel(self, *extents, names=("i", "j"), values=True):
        """A loop over elements; how it is nested is a matter of taste."""
        names = names[: len(extents)]
        form = self.rng.random()
        if len(extents) == 2 and form < 0.08:
            with (
                self.under(f"for {names[0]} in T.Parallel({extents[0]}):"),
                self.under(f"for {names[1]} in T.Parallel({extents[1]}):"),
            ):
                yield
        elif len(extents) == 2 and form < 0.13:
            with (
                self.under(f"for {names[0]} in T.serial({extents[0]}):"),
                self.under(f"for {names[1]} in T.Parallel({extents[1]}):"),
            ):
                yield
        elif form < 0.16:
            with self.under(f"for {', '.join(names)} in T.grid({', '.join(map(str, extents))}):"):
                yield
        else:
            with self.under(f"for {', '.join(names)} in T.Parallel({', '.join(map(str, extents))}):"):
                yield

    # -- the program
    def program(self, seed, grid, names, constants):
        """grid: the extents of T.Kernel; names: of the blocks; constants: sizes of blocks, known when the kernel is made."""
        argument_names = [a.name for a in self.arguments]
        types = [
            f"{a.name}: T.StridedTensor({self.shapes[a.name]}, {a.strides}, {dtype_text(self, a.dtype)})"
            if a.strides
            else f"{a.name}: {self.pick('T.Tensor', 'T.Tensor', 'T.Buffer')}({self.shapes[a.name]}, {dtype_text(self, a.dtype)})"
            for a in self.arguments
        ]
        shaped = {n for n in self.sizes if any(n in self.shapes[a.name] for a in self.arguments)}
        dynamic = sorted(shaped) if self.dynamic else []
        parameters = {**{n: v for n, v in self.sizes.items() if n not in dynamic}, **constants}
        bound = ", ".join(names)
        bound = bound if len(names) == 1 else f"({bound})"
        body = "".join("            " + line + "\n" for line in self.prologue) + self.text()
        opened = f"with T.Kernel({', '.join([*map(str, grid), f'threads={self.threads}'])}) as {bound}:\n"
        passed = ", ".join(argument_names)
        functions = macros(self, body + "".join(self.functions)) + "".join(self.functions)
        if not self.dynamic and shaped and self.chance(0.2):  # the function is the kernel
            for name in shaped:
                parameters.pop(name, None)
            names = ", ".join(sorted(shaped))
            text = f"def kernel({', '.join([*argument_names, *parameters])}):\n"
            text += f'    {names} = T.const("{names}")\n' + "".join(f"    {t}\n" for t in types)
            text += f"    {opened}" + "".join(line[4:] for line in body.splitlines(keepends=True))
            given = "".join(f", {n}={v!r}" for n, v in parameters.items())
            run = f"kernel.compile({passed}{given})"
        else:
            text = f"def kernel({', '.join(parameters)}):\n"
            if dynamic:
                names = ", ".join(dynamic)
                text += f'    {names} = T.dynamic("{names}")\n'
            text += f"\n    @T.prim_func\n    def main({', '.join(types)}):\n        {opened}{body}\n    return main\n"
            run = f"kernel({', '.join(f'{n}={v!r}' for n, v in parameters.items())})"
        launch = f"\n\ndef launch(debug, {passed}):\n    {run}({passed}, debug=debug)\n"
        return Program("tilelang", seed, f"{HEAD}{functions}@tilelang.jit\n{text}{launch}", tuple(self.arguments))


def dtype_text(w, dtype):
    return w.pick(f'"{dtype}"', f"T.{dtype}")


def value(text, axes="", kind="f"):
    return Value(text, axes, kind)
