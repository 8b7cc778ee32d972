"""NineToothed programs with levels of two dimensions between the program and its tile: nested loops, neighbours, branches on what
was read, `while`."""

from programs.ninetoothed_kernel import FLOATS, OUTS, Kernel
from programs.writer import Value


class Levels(Kernel):
    def __init__(self, rng):
        super().__init__(rng)
        self.block = [self.pick(1, 2, 4, 8, 16), self.pick(2, 4, 8, 16)]
        self.inner = [self.pick(1, 2, 3, -1), self.pick(1, 2, 4, -1)]
        self.shape = [self.rng.randint(1, 4 * b + 3) for b in self.block]
        self.texts = [self.size(s, b) for s, b in zip(("BR", "BC"), self.block)]
        self.nested = self.chance(0.2)  # the two dimensions are levels of their own
        self.x = self.data("X", self.pick(*FLOATS), other=self.pick(None, None, "1.0"))
        self.i, self.j = "i", "j"

    def steps(self):
        tile, (p, q) = f".tile(({', '.join(self.texts)}))", self.inner
        return [tile, f".tile(({p}, 1))", f".tile((1, {q}))"] if self.nested else [tile, f".tile(({p}, {q}))"]

    def data(self, stem, dtype, fill="normal", other=None):
        return self.tensor(stem, self.shape, *self.steps(), dtype=dtype, fill=fill, other=other)

    def at(self, name, i="i", j="j"):
        return f"{name}[0, {j}, {i}, 0]" if self.nested else f"{name}[{i}, {j}]"

    def count(self, d):
        if not self.nested:
            return f"{self.x}.shape[{d - 2 if self.chance(0.2) else d}]"
        return f"{self.x}.shape[1]" if d else f"{self.x}.dtype.shape[0]"

    def tile(self):
        """What is read within the loops."""
        dtype = self.arguments[0].dtype
        self.let("x", self.read(self.at(self.x), dtype), "rc")
        form = self.rng.random()
        if form < 0.3:  # tiles that do not exist have no elements
            i, j = self.pick(("i - 1", "j"), ("i", "j + 1"), ("i + 1", "j - 1"))
            self.let("near", self.read(self.at(self.x, i, j), dtype), "rc")
        elif form < 0.5:
            y = self.data("Y", self.pick(*FLOATS))
            self.let("y", self.read(self.at(y), self.arguments[-1].dtype), "rc")
        for _ in range(self.pick(0, 1, 1, 2)):
            self.let("t", self.of("rc", 2), "rc")
        value = self.values[-1]
        if self.chance(0.25):
            first = self.values[0].text
            test = self.pick(f"ntl.max({first}) > 0.5", f"ntl.sum({first}) < 0.0", "i > j", "(i + j) % 2 == 0")
            with self.under(f"if {test}:"):
                self.line(f"{value.text} = {self.of('rc', 1)}")
            if self.chance(0.4):
                with self.under("else:"):
                    self.line(f"{value.text} = {value.text} * 0.5")
        return value

    def each(self):
        """Every tile is written."""
        y = self.data("O", self.pick(*OUTS), "none")
        with self.under(f"for i in range({self.count(0)}):"):
            with self.under(f"for j in range({self.count(1)}):"):
                self.tile()
                self.line(f"{self.at(y)} = {self.of('rc', 2)}")
                if self.chance(0.2):
                    self.line(f"{self.at(y)} += {self.of('rc', 1)}")

    def row_by_row(self):
        """A statistic of each row of tiles, then a pass that uses it."""
        y = self.data("O", self.pick(*OUTS), "none")
        shape = f"({self.x}{'.dtype.dtype' if self.nested else '.dtype'}.shape[0],)"
        how = self.pick("sum", "max")
        with self.under(f"for i in range({self.count(0)}):"):
            self.line(f"total = ntl.full({shape}, {'0.0' if how == 'sum' else '-1e30'}, dtype=ntl.float32)")
            with self.under(f"for j in range({self.count(1)}):"):
                value = self.tile().text
                part = f"ntl.{how}({value}, axis=1)"
                self.line(f"total += {part}" if how == "sum" else f"total = ntl.maximum(total, {part})")
            self.values.append(Value("total", "r"))
            with self.under(f"for j in range({self.count(1)}):"):
                self.tile()
                self.line(f"{self.at(y)} = {self.of('rc', 2)}")

    def all_together(self):
        """A tile that adds up over both loops, and what it comes to."""
        deep = ".dtype.dtype" if self.nested else ".dtype"
        y = self.tensor("O", self.grid(), ".tile((1, 1))", dtype="float32", fill="none")
        self.line(f"total = ntl.zeros({self.x}{deep}.shape, dtype=ntl.float32)")
        with self.under(f"for i in range({self.count(0)}):"):
            with self.under(f"for j in range({self.count(1)}):"):
                self.line(f"total += {self.tile().text}")
        self.line(f"{y} = ntl.{self.pick('sum', 'max')}(total)")

    def grid(self):
        """Programs along each dimension."""
        result = []
        for n, b, p in zip(self.shape, self.block, self.inner):
            tiles = -(-n // b)
            result.append(1 if p == -1 else -(-tiles // p))
        return result

    def until(self):
        """A `while` that numbers and what was read end."""
        y = self.data("O", self.pick(*OUTS), "none")
        with self.under(f"for i in range({self.count(0)}):"):
            self.line("j = 0")
            with self.under(f"while j < {self.count(1)}:"):
                value = self.tile().text
                self.line("rounds = 0")
                self.line(f"v = {value}")
                with self.under(f"while (ntl.max(ntl.abs(v)) > 0.25) & (rounds < {self.pick(2, 5)}):"):
                    self.line("v = v * 0.5")
                    self.line("rounds += 1")
                self.line(f"{self.at(y)} = v + rounds")
                self.line("j += 1")


def write_levels(rng):
    w = Levels(rng)
    w.pick(w.each, w.each, w.row_by_row, w.all_together, w.until)()
    return w
