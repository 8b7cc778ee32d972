"""Triton programs as compilers of graphs write them (torch.compile, and others of its kind): reductions with what is fused into
them.

One operation a line. What is known of rows is a tile of [XBLOCK, 1], of columns [1, RBLOCK]; both mix with whole tiles as they
are, and what is computed of rows alone is computed where it is used, in loops, too. A loop adds up whole tiles under its mask,
which are reduced behind it; later loops load the elements again, with the results of the loops before. Sizes are numbers in the
kernel."""

from programs.frame import Argument
from programs.writer import Value, Writer

UNARY = (
    "-{x}",
    "tl.exp({x})",
    "tl.exp({x})",
    "tl.abs({x})",
    "{x} * {x}",
    "tl.sigmoid({x})",
    "tl.log(tl.abs({x}) + 1.0)",
    "tl.rsqrt(tl.abs({x}) + 1e-05)",
    "tl.sqrt(tl.abs({x}))",
    "tl.erf({x})",
    "tl.exp2({x} * 0.5)",
    "tl.sin({x})",
    "tl.maximum({x}, 0.0)",
    "{x} * 0.0625",
    "{x} + 1e-05",
    "1.0 - {x}",
    "{x}.to(tl.bfloat16).to(tl.float32)",
)
BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "{x} - {y}",
    "{x} * {y}",
    "{x} * {y}",
    "tl.maximum({x}, {y})",
    "tl.minimum({x}, {y})",
    "{x} / (tl.abs({y}) + 1.0)",
    "tl.where({x} > {y}, {x}, {y} * 0.5)",
    "tl.where({y} <= 0.0, {x}, -{x})",
)
STARTS = {"sum": "0", "max": "float('-inf')", "min": "float('inf')"}


class Compiled(Writer):
    """A kernel whose programs reduce XBLOCK rows of a matrix of n x m each, by blocks of RBLOCK, or at once."""

    def __init__(self, rng):
        super().__init__(rng)
        self.rows, self.columns = self.pick(1, 2, 4, 8, 8, 16, 32, 64), self.pick(4, 8, 16, 32, 64, 128)
        while self.rows * self.columns > 2048:
            self.rows, self.columns = max(1, self.rows // 2), self.columns // 2
        self.n = self.pick(self.rows, 2 * self.rows, rng.randint(1, 3 * self.rows + 2))
        self.m = self.pick(self.columns, 2 * self.columns, 4 * self.columns, rng.randint(1, 4 * self.columns + 2))
        self.arguments = []
        self.looped = self.m > self.columns or self.chance(0.2)
        self.turned = self.chance(0.3)  # rows lie side by side: reductions of outer dimensions
        self.whole = {"x": self.n % self.rows == 0 and self.chance(0.7), "r": self.m % self.columns == 0 and self.chance(0.7)}
        self.loads = []

    def mask(self, axes):
        """What is there, of these axes; an empty text where everything is."""
        return " & ".join(f"{a}mask" for a in "rx" if a in axes and not self.whole[a])

    def place(self, name, axes):
        if axes != "xr":
            return f"{name} + ({axes}0)"
        return f"{name} + (x0 + ({self.n} * r0))" if self.turned else f"{name} + (r0 + ({self.m} * x0))"

    def argument(self, axes, fill="normal", dtype=None):
        shape = {"x": (self.n,), "r": (self.m,), "xr": (self.n, self.m)}[axes]
        name = f"{'out' if fill == 'none' else 'in'}_ptr{len(self.arguments)}"
        strides = (1, self.n) if self.turned and axes == "xr" else None
        self.arguments.append(
            Argument(name, shape, dtype or self.pick("float32", "float32", "float16", "bfloat16"), fill, strides)
        )
        return name

    def load(self, axes, name=None):
        if name is None:
            again = [(name, a) for name, a in self.loads if a == axes]
            name = self.rng.choice(again)[0] if again and self.chance(0.7) else self.argument(axes)
            self.loads.append((name, axes))
        mask, policy = self.mask(axes), self.pick("", ", eviction_policy='evict_last'", ", eviction_policy='evict_first'")
        other = self.pick(", other=0.0", ", other=0.0", "") if axes != "x" else ""
        other = ", other=0.0" if mask and axes == "xr" else other
        masked = f", {mask}{policy}{other}" if mask else policy
        return self.let("tmp", f"tl.load({self.place(name, axes)}{masked}).to(tl.float32)", axes)

    def store(self, axes, value):
        mask = self.mask(axes)
        self.line(f"tl.store({self.place(self.argument(axes, 'none'), axes)}, {value}{', ' + mask if mask else ''})")

    def operand(self, axes):
        """A value with no other axes; what was computed lately, as a rule."""
        known = [v for v in self.values if set(v.axes) <= set(axes)]
        return self.rng.choice(known[-4:] if self.chance(0.7) else known) if known else Value("0.5")

    def compute(self, axes, steps):
        """Some operations; the last result that has these axes."""
        for _ in range(steps):
            x, y = self.operand(axes), self.operand(axes)
            if not x.axes:
                continue
            if x == y or self.chance(0.4):
                self.let("tmp", self.pick(*UNARY).format(x=x.text), x.axes)
            else:
                both = "".join(a for a in "xr" if a in x.axes + y.axes)
                self.let("tmp", self.pick(*BINARY).format(x=x.text, y=y.text), both)

    def full(self):
        """The latest whole tile, with what was computed of rows or columns since."""
        tile = [v for v in self.values if v.axes == "xr"][-1]
        parts = [v for v in self.values[self.values.index(tile) + 1 :] if v.axes]
        return self.let("tmp", f"{tile.text} {self.pick('*', '-', '+')} {parts[-1].text}", "xr") if parts else tile

    def elements(self):
        """What a walk loads and computes."""
        self.load("xr")
        if self.chance(0.3):
            self.load("xr")
        if self.chance(0.3):
            self.load("r")
        if self.chance(0.2):
            self.load("x")
        if any(v.axes == "x" for v in self.values):
            self.compute("x", self.pick(0, 1, 2, 3))  # rows alone, where it is used
        self.compute("xr", self.pick(1, 2, 3, 4, 6))
        return self.full()

    def walk(self, body):
        """body() in a loop over blocks, or once."""
        if not self.looped:
            before = len(self.values)
            self.numbered("rbase")
            body()
            del self.values[before:]
            return
        head = self.pick(f"range(0, {self.m}, RBLOCK)", "range(0, rnumel, RBLOCK)", "tl.range(0, rnumel, RBLOCK, num_stages=2)")
        with self.under(f"for roffset in {head}:"):
            self.numbered("roffset + rbase")
            body()

    def numbered(self, text):
        self.line(f"rindex = {text}")
        self.line("rmask = rindex < rnumel")
        self.line("r0 = rindex")

    def reduction(self):
        """One reduction or two, of one walk."""
        ways = [(self.pick("sum", "sum", "sum", "max", "min"), self.name("_tmp")) for _ in range(self.pick(1, 1, 2))]
        if self.looped:
            for how, name in ways:
                self.line(f"{name} = tl.full([XBLOCK, RBLOCK], {STARTS[how]}, tl.float32)")

        def body():
            for how, name in ways:
                tile = self.elements().text
                mask = self.mask("xr")
                wide = f"tl.broadcast_to({tile}, [XBLOCK, RBLOCK])"
                if not self.looped:
                    text = f"tl.where({mask}, {wide}, {STARTS[how]})" if mask else wide
                    self.line(f"{name} = {text}")
                    continue
                new = f"{name} + {wide}" if how == "sum" else f"tl.{how}imum({name}, {wide})"
                self.line(f"{name} = tl.where({mask}, {new}, {name})" if mask else f"{name} = {new}")

        self.walk(body)
        for how, name in ways:
            self.let("tmp", f"tl.{how}({name}, 1)[:, None]", "x")
        if self.chance(0.5):
            self.let(
                "tmp",
                self.pick("{x} / {m}", "tl.rsqrt({x} * {x} / {m} + 1e-05)").format(x=self.values[-1].text, m=f"{self.m}.0"),
                "x",
            )
        self.compute("x", self.pick(0, 0, 1, 2))

    def kernel(self):
        self.line(f"xnumel, rnumel = {self.n}, {self.m}")
        self.line("xoffset = tl.program_id(0) * XBLOCK")
        self.line("xindex = xoffset + tl.arange(0, XBLOCK)[:, None]")
        self.line("xmask = xindex < xnumel")
        self.line("rbase = tl.arange(0, RBLOCK)[None, :]")
        self.line("x0 = xindex")
        if self.chance(0.5):
            self.load("x")
        for _ in range(self.pick(1, 1, 2, 2, 3)):
            self.reduction()
        if self.chance(0.7):
            self.walk(lambda: self.store("xr", self.elements().text))
        for value in [v for v in self.values if v.axes == "x"][-self.pick(1, 2) :]:
            self.store("x", value.text)


def write_compiled(rng):
    w = Compiled(rng)
    w.kernel()
    names = ", ".join(a.name for a in w.arguments)
    body = f"@triton.jit\ndef kernel({names}, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):\n{w.text()}"
    options = w.pick("", "", ", num_warps=8", ", num_warps=1")
    return (
        body,
        f"    kernel[({-(-w.n // w.rows)},)]({names}, XBLOCK={w.rows}, RBLOCK={w.columns}{options}, debug=debug)\n",
        w.arguments,
    )
