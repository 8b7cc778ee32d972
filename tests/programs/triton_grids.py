"""Triton programs on grids of two or three dimensions: elements, transposes, in place, batches, flags, blocks of blocks."""

from programs.frame import Argument
from programs.triton_expressions import condition, expression, whole
from programs.writer import Value, Writer

TYPES = ("float32", "float16", "bfloat16", "float32")


class Grids(Writer):
    """Programs of a block of BR x BC of each of `b` matrices of n x m."""

    def __init__(self, rng):
        super().__init__(rng)
        self.block = {"r": self.pick(1, 2, 4, 8, 16, 32), "c": self.pick(2, 8, 16, 32, 64)}
        self.n, self.m = (
            self.pick(0, 1, k, 2 * k, rng.randint(1, 3 * k + 1)) if self.chance(0.9) else 1 for k in self.block.values()
        )
        self.b = self.pick(1, 1, 2, 3)
        self.arguments = []
        self.flags = []

    def matrix(self, stem, fill="normal", dtype=None):
        """A tensor and the text of its block's place."""
        name = self.name(stem)
        n, m = self.n, self.m
        strides = self.pick(None, None, (n * (m + 5), m + 5, 1), (n * m, 1, n), (0, m, 1) if fill != "none" else None)
        if strides and strides[0] == 0 and fill == "small":
            strides = None
        self.arguments.append(Argument(name, (self.b, n, m), dtype or self.pick(*TYPES), fill, strides))
        s = self.arguments[-1].steps()
        return name, f"{name} + pb * {s[0]} + r[:, None] * {s[1]} + c[None, :] * {s[2]}", s

    def read(self, stem="X"):
        name, place, steps = self.matrix(stem)
        form = self.rng.randrange(5)
        if form == 0 and steps[2] == 1:
            self.line(
                f"bp = tl.make_block_ptr({name} + pb * {steps[0]}, (n, m), ({steps[1]}, 1), (pr * BR, pc * BC), (BR, BC), (1, 0))"
            )
            text = 'tl.load(bp, boundary_check=(0, 1), padding_option="zero")'
        elif form == 1:
            row = self.name("base")
            self.line(f"{row} = {name} + pb * {steps[0]} + r * {steps[1]}")
            text = f"tl.load({row}[:, None] + c[None, :] * {steps[2]}, mask=inside, other=0.0)"
        else:
            text = f"tl.load({place}, mask=inside{self.pick(', other=0.0', ', other=1.0')})"
        return self.let("x", text + ".to(tl.float32)", "rc")

    def write(self, text, axes="rc"):
        if axes == "rc" and self.chance(0.25):  # transposed: columns of the result are rows of the block
            name = self.name("T")
            self.arguments.append(Argument(name, (self.b, self.m, self.n), self.pick(*TYPES), "none"))
            if self.chance(0.5):
                self.line(f"tl.store({name} + pb * n * m + c[:, None] * n + r[None, :], tl.trans({text}), mask=tl.trans(inside))")
            else:
                self.line(f"tl.store({name} + pb * n * m + c[None, :] * n + r[:, None], {text}, mask=inside)")
            return
        name, place, _ = self.matrix("O", "none")
        self.line(f"tl.store({place}, {text}, mask=inside)")

    def in_place(self):
        name = self.name("Z")
        self.arguments.append(Argument(name, (self.b, self.n, self.m), self.pick(*TYPES), "normal"))
        place = f"{name} + pb * n * m + r[:, None] * m + c[None, :]"
        self.let("z", f"tl.load({place}, mask=inside, other=0.0).to(tl.float32)", "rc")
        self.line(f"tl.store({place}, {whole(self, 'rc', 2)}, mask=inside)")

    def flag(self):
        name = self.name("FLAG")
        self.flags.append((name, self.pick("True", "False")))
        x = self.values[-1].text
        with self.under(f"if {name}:"):
            self.line(f"{x} = {whole(self, 'rc', 2)}")
        if self.chance(0.5):
            with self.under("else:"):
                self.line(f"{x} = {x} * 0.5")

    def inner(self):
        """A loop within a loop, over a carried tile."""
        total = self.name("acc")
        self.line(f"{total} = tl.zeros((BR, BC), tl.float32)")
        with self.under(f"for i in range({self.pick(1, 2, 3)}):"):
            with self.under(f"for j in range({self.pick('i + 1', '2', 'pb + 1')}):"):
                self.line(f"{total} += {whole(self, 'rc', 2)} * (i - j + 1)")
            if self.chance(0.5):
                self.line(f"{total} = {total} * 0.5 + i")
        self.values.append(Value(total, "rc"))

    def three(self):
        """Blocks of three dimensions: broadcast, reduced, permuted."""
        k = self.pick(2, 4)
        name = self.name("K")
        self.arguments.append(Argument(name, (k,), "float32"))
        self.line(f"q = tl.load({name} + tl.arange(0, {k}))")
        x = [v for v in self.values if v.axes == "rc" and v.kind == "f"][-1].text
        form = self.rng.randrange(4)
        if form == 0:
            self.let("y", f"tl.sum({x}[:, None, :] * q[None, :, None], axis=1)", "rc")
        elif form == 1:
            self.let("y", f"tl.max({x}[None, :, :] + q[:, None, None], axis=0)", "rc")
        elif form == 2:
            self.let("y", f"tl.sum(tl.permute({x}[:, :, None] * q[None, None, :], (2, 0, 1)), 0)", "rc")
        else:
            self.let("y", f"tl.sum(tl.reshape(tl.broadcast_to({x}[:, None, :], (BR, {k}, BC)), (BR, {k}, BC)), axis=1)", "rc")

    def joins(self):
        """Halves of the columns, taken apart and put together."""
        x = [v for v in self.values if v.axes == "rc" and v.kind == "f"][-1].text
        self.line(f"lo, hi = tl.split(tl.reshape({x}, (BR, BC // 2, 2)))")
        self.let("y", f"tl.reshape(tl.join({self.pick('hi, lo', 'lo - hi, lo + hi', 'lo * 0.5, hi')}), (BR, BC))", "rc")

    def across(self):
        """A statistic of the block's rows or columns."""
        x = [v for v in self.values if v.axes == "rc" and v.kind == "f"][-1].text
        how, axis = self.pick("sum", "max", "min"), self.pick(0, 1)
        other = {"sum": "0.0", "max": "float('-inf')", "min": "float('inf')"}[how]
        text = f"tl.{how}(tl.where(inside, {x}, {other}), axis={axis}{self.pick('', ', keep_dims=True')})"
        if "keep_dims" in text:
            stat = self.name("stat")
            self.line(f"{stat} = {text}")
            self.let("y", f"tl.where(inside, {x} - {stat}, 0.0)", "rc")
        else:
            self.let("stat", text, "r" if axis else "c")

    def random(self):
        self.let("u", f"tl.rand({self.rng.randint(0, 99)}, r[:, None] * m + c[None, :])", "rc")

    def kernel(self):
        order = ["pr", "pc", "pb"] if self.chance(0.6) else ["pc", "pb", "pr"]
        for axis, name in enumerate(order):
            self.line(f"{name} = tl.program_id({axis})")
        self.order = order
        self.line("r = pr * BR + tl.arange(0, BR)")
        self.line("c = pc * BC + tl.arange(0, BC)")
        self.line(self.pick("inside = (r[:, None] < n) & (c[None, :] < m)", "inside = (r < n)[:, None] & (c < m)[None, :]"))
        self.values += [Value("r", "r", "i"), Value("c", "c", "i"), Value("inside", "rc", "b")]
        self.read()
        parts = [self.read, self.in_place, self.flag, self.inner, self.three, self.joins, self.across, self.random]
        for _ in range(self.pick(0, 1, 2, 3)):
            self.pick(*parts)()
            if self.chance(0.3):
                self.let(
                    "t", f"tl.where({condition(self, 'rc').text}, {whole(self, 'rc', 1)}, {expression(self, 'rc', 1).text})", "rc"
                )
        for _ in range(self.pick(1, 1, 2)):
            self.write(whole(self, "rc", 3))


def write_grids(rng):
    w = Grids(rng)
    w.kernel()
    names = ", ".join(a.name for a in w.arguments)
    flags = "".join(f", {name}: tl.constexpr" for name, _ in w.flags)
    sizes = w.pick("n, m", "n: tl.constexpr, m: tl.constexpr")
    body = f"@triton.jit\ndef kernel({names}, {sizes}, BR: tl.constexpr, BC: tl.constexpr{flags}):\n{w.text()}"
    extents = {"pr": -(-w.n // w.block["r"]), "pc": -(-w.m // w.block["c"]), "pb": w.b}
    grid = ", ".join(str(extents[name]) for name in w.order)
    chosen = "".join(f", {name}={value}" for name, value in w.flags)
    return (
        body,
        f"    kernel[({grid})]({names}, {w.n}, {w.m}, BR={w.block['r']}, BC={w.block['c']}{chosen}, debug=debug)\n",
        w.arguments,
    )
