"""Triton programs over vectors and flat indices: scans, sorts, gathers, histograms, atomics, windows, integers."""

from programs.frame import Argument
from programs.triton_expressions import expression
from programs.writer import Value, Writer

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint32")


class Vectors(Writer):
    """A kernel whose programs own a block of `B` elements of vectors of n."""

    def __init__(self, rng):
        super().__init__(rng)
        self.block = self.pick(4, 16, 32, 64, 128, 256)
        self.extent = self.pick(self.block, rng.randint(1, 3 * self.block), 2 * self.block, rng.randint(1, 40))
        self.arguments = []

    def argument(self, stem, shape, dtype="float32", fill="normal"):
        name = self.name(stem)
        self.arguments.append(Argument(name, shape, dtype, fill))
        return name

    def read(self, stem="x", dtype=None, fill="normal", other="0"):
        dtype = dtype or self.pick("float32", "float32", "float16", "bfloat16")
        name = self.argument(stem.upper(), (self.extent,), dtype, fill)
        text = f"tl.load({name} + i, mask=i < n, other={other})"
        return text if "int" in dtype else text + ".to(tl.float32)"

    def out(self, value, dtype="float32"):
        name = self.argument("O", (self.extent,), dtype, "none")
        self.line(f"tl.store({name} + i, {value}, mask=i < n)")

    # -- phases
    def elementwise(self):
        self.let("x", self.read(), "c")
        if self.chance(0.5):
            self.let("y", self.read(), "c")
        for _ in range(self.pick(1, 2, 3)):
            value = expression(self, "c", 3)
            self.let("t", value.text if value.axes else f"{self.values[-1].text} * {value.text}", "c")
        self.out(self.values[-1].text, self.pick("float32", "float16", "bfloat16"))

    def scans(self):
        x = self.let("x", self.read(), "c")
        form = self.rng.randrange(4)
        if form == 0:
            self.out(f"tl.cumsum({x.text}, axis=0{self.pick('', ', reverse=True')})")
        elif form == 1:
            self.out(f"tl.associative_scan({x.text}, 0, larger)")
        elif form == 2:
            gate = self.let("g", f"tl.sigmoid({self.read()})", "c")
            pair = self.name("h")
            self.line(f"_, {pair} = tl.associative_scan(({gate.text}, {x.text}), 0, linear)")
            self.out(pair)
        else:
            self.out(f"tl.cumprod(1.0 + 0.01 * {x.text}, axis=0)")

    def sorts(self):
        x = self.let("x", self.read(other="float('inf')"), "c")
        form = self.rng.randrange(3)
        if form == 0:
            self.out(f"tl.sort({x.text}{self.pick('', ', descending=True')})")
        elif form == 1 and self.block >= 4:
            name = self.argument("T", (4,), "float32", "none")
            self.line(f"top = tl.topk(tl.where(i < n, {x.text}, float('-inf')), 4)")
            self.line(f"if tl.program_id(0) == 0: tl.store({name} + tl.arange(0, 4), top)")
        else:
            self.out(f"tl.flip({x.text}) * 0.5" if self.extent % self.block == 0 else f"tl.sort({x.text})")

    def gathers(self):
        x = self.let("x", self.read(), "c")
        at = self.let("at", self.read("idx", "int32", f"below:{self.block}"), "c", "i")
        self.out(f"tl.gather({x.text}, {at.text}, 0)")
        if self.chance(0.5):
            table = self.argument("Table", (self.block,), self.pick("float32", "float16"))
            self.out(f"tl.load({table} + {at.text}, mask=i < n, other=0.0) + {x.text}")

    def histograms(self):
        at = self.read("idx", "int32", "below:8")
        name = self.argument("H", (8,), "int32", "small")
        self.line(f"h = tl.histogram({at}, 8, mask=i < n)")
        self.line(f"tl.atomic_add({name} + tl.arange(0, 8), h)")

    def atomics(self):
        at = self.let("at", self.read("idx", "int32", "below:7"), "c", "i")
        x = self.let("x", self.read(), "c")
        form = self.pick("add", "max", "min")
        if form == "add":
            name = self.argument("S", (7,), "float32", "small")
            self.line(f"tl.atomic_add({name} + {at.text}, {x.text}, mask=i < n)")
        else:
            name = self.argument("S", (7,), "int32", "small")
            self.line(f"tl.atomic_{form}({name} + {at.text}, {at.text} - 3, mask=i < n)")

    def flat(self):
        """Rows of a flattened matrix: quotients and remainders."""
        width = self.pick(3, 5, 8, 16, 17)
        rows = -(-self.extent // width)
        name = self.argument("F", (rows, width + 2), self.pick("float32", "float16"))
        self.line(f"row, col = i // {width}, i % {width}")
        self.let("f", f"tl.load({name} + row * {width + 2} + col, mask=i < n, other=0.0).to(tl.float32)", "c")
        if self.chance(0.5):
            bias = self.argument("Cb", (width,), "float32")
            self.let("cb", f"tl.load({bias} + col)", "c")
        turned = self.argument("Ot", (width, rows), "float32", "none")
        value = expression(self, "c", 2)
        self.line(f"tl.store({turned} + col * {rows} + row, {value.text if value.axes else self.values[-1].text}, mask=i < n)")

    def window(self):
        """Neighbours, with reflection or clamping at the ends."""
        name = self.argument("N", (self.extent,), "float32")
        total = self.name("w")
        self.line(f"{total} = tl.zeros((B,), tl.float32)")
        form = self.rng.randrange(3)
        with self.under(f"for k in {self.pick('range(3)', 'tl.static_range(3)')}:"):
            self.line("j = i + k - 1")
            if form == 0:
                self.line(f"{total} += tl.load({name} + j, mask=(j >= 0) & (j < n), other=0.0)")
            elif form == 1:
                self.line(f"{total} += tl.load({name} + tl.minimum(tl.maximum(j, 0), n - 1)) * (k + 1)")
            else:
                self.line("j = tl.where(j < 0, -j, j)")
                self.line("j = tl.where(j >= n, 2 * n - 2 - j, j)")
                self.line(f"{total} += tl.load({name} + tl.minimum(tl.maximum(j, 0), n - 1), mask=i < n, other=0.0)")
        self.out(total)

    def integers(self):
        dtype = self.pick(*INTEGERS)
        x, y = (self.let("k", self.read("k", dtype, self.pick("any", "small")), "c", "i") for _ in range(2))
        text = self.pick(
            "{x} + {y}",
            "{x} * {y}",
            "{x} ^ {y}",
            "({x} & {y}) | 1",
            "{x} - {y}",
            "tl.maximum({x}, {y})",
            "({x} << 1) ^ ({y} >> 1)",
            "tl.where({x} > {y}, {x}, {y} + 1)",
            "{x} // tl.where({y} == 0, 1, {y})",
            "{x} % tl.where({y} == 0, 1, {y})",
            "~{x}",
            "({x} < {y}).to(tl.int32)",
            "tl.abs({x})",
        )
        self.out(text.format(x=x.text, y=y.text), dtype)

    def loop_until(self):
        """A `while` that data ends."""
        x = self.let("x", self.read(fill="positive"), "c")
        self.line("rounds = 0")
        self.line(f"v = {x.text}")
        with self.under(f"while (tl.max(v, axis=0) > 0.05) & (rounds < {self.pick(3, 9)}):"):
            self.line(f"v = v * {self.pick('0.5', '0.25')}")
            self.line("rounds += 1")
        self.out("v + rounds")

    def search(self):
        """Binary search in a sorted table."""
        size = self.pick(8, 13, 32)
        name = self.argument("Sorted", (size,), "int32", "small")
        x = self.let("x", self.read("k", "int32", "below:20"), "c", "i")
        self.line("lo = tl.zeros((B,), tl.int32)")
        self.line(f"hi = tl.full((B,), {size}, tl.int32)")
        with self.under("for _ in range(6):"):
            self.line("mid = (lo + hi) // 2")
            self.line(f"less = tl.load({name} + tl.minimum(mid, {size - 1})) < {x.text}")
            self.line("lo = tl.where(less & (lo < hi), mid + 1, lo)")
            self.line("hi = tl.where(less, hi, mid)")
        self.out("lo", "int32")

    def reductions(self):
        x = self.let("x", self.read(), "c")
        form = self.rng.randrange(4)
        name = self.argument("R", (-(-self.extent // self.block),), "float32", "none")
        inner = f"tl.where(i < n, {x.text}, 0.0)"
        if form == 0:
            text = f"tl.sum({inner}, axis=0) / n"
        elif form == 1:
            text = f"tl.reduce({inner}, 0, larger)"
        elif form == 2:
            text = f"tl.sum({inner} * {inner}) * 0.5 + tl.max({inner})"
        else:
            self.line(f"a, b = both({inner})")
            text = "a - b"
        self.line(f"tl.store({name} + tl.program_id(0), {text})")

    def halves(self):
        """Pairs that lie side by side, taken apart and put together."""
        if self.block < 4:
            return self.elementwise()
        x = self.let("x", self.read(), "c")
        self.line(f"a, b = tl.split(tl.reshape({x.text}, (B // 2, 2)))")
        self.line(f"z = tl.reshape(tl.join({self.pick('b, a', 'a + b, a - b', 'a * 0.5, -b')}), (B,))")
        return self.out("z")


EXTRA = {
    "larger": "def larger(a, b):\n    return tl.maximum(a, b)\n",
    "linear": "def linear(ga, xa, gb, xb):\n    return ga * gb, gb * xa + xb\n",
    "both": "def both(x):\n    return tl.sum(x, axis=0), tl.max(x, axis=0)\n",
}


def write_vectors(rng):
    w = Vectors(rng)
    w.line(w.pick("i = tl.program_id(0) * B + tl.arange(0, B)", "i = tl.program_id(axis=0).to(tl.int64) * B + tl.arange(0, B)"))
    w.values.append(Value("i", "c", "i"))
    phases = [
        w.elementwise,
        w.scans,
        w.sorts,
        w.gathers,
        w.histograms,
        w.atomics,
        w.flat,
        w.window,
        w.integers,
        w.loop_until,
        w.search,
        w.reductions,
        w.halves,
    ]
    for _ in range(w.pick(1, 1, 2, 3)):
        w.pick(*phases)()
    text = w.text()
    extra = "".join(f"@triton.jit\n{code}\n\n" for name, code in EXTRA.items() if name in text)
    names = ", ".join(a.name for a in w.arguments)
    body = f"{extra}@triton.jit\ndef kernel({names}, n, B: tl.constexpr):\n{text}"
    return body, f"    kernel[({-(-w.extent // w.block)},)]({names}, {w.extent}, B={w.block}, debug=debug)\n", w.arguments
