"""TileLang programs over flat indices: element by element with conditions, gathers, scatters, transposes, integers, casts."""

from programs.tilelang_expressions import condition, expression
from programs.tilelang_kernel import FLOATS, Kernel, dtype_text, value

OPERATIONS = ("({x} + {y})", "({x} - {y})", "({x} * {y})", "T.max({x}, {y})", "T.min({x}, {y})")
OPERATIONS += ("({x} & {y})", "({x} ^ {y})", "({x} | {y})")
OTHERS = ("({x} // {n})", "({x} % {n})", "({x} >> 1)", "({x} << 1)", "-{x}", "T.abs({x})", "T.if_then_else({x} > {n}, {x}, {y})")
INTEGERS = ("int8", "int16", "int32", "int32", "int64", "uint8")


class Flat(Kernel):
    def __init__(self, rng):
        super().__init__(rng)
        self.block = self.pick(8, 16, 32, 64, 128, 256)
        self.size("N", self.pick(self.block, 2 * self.block, self.rng.randint(1, 3 * self.block)))

    def vector(self, name, dtype=None, fill="normal", extent="N"):
        self.tensor(name, [extent], dtype, fill)
        return name

    def number(self, depth, at):
        """An integer of what is there."""
        known = [v.text for v in self.values if v.kind == "n"] or [at]
        if depth <= 0:
            return self.rng.choice([*known, *known, str(self.pick(1, 2, 3, 5, 7))])
        x = self.number(depth - 1, at)
        form = self.rng.random()
        if form < 0.6:
            y = self.number(depth - 1, at)
            return self.pick(*OPERATIONS).format(x=x, y=y)
        return self.pick(*OTHERS).format(x=x, n=self.pick(2, 3, 4, 7), y=self.number(0, at))

    def guard(self, at, body):
        """The statement, where the index is inside; upstream guards what is not."""
        if self.chance(0.75):
            with self.under(f"if {at} < N:"):
                body()
        else:
            body()

    def elementwise(self):
        self.vector("X")
        if self.chance(0.5):
            self.vector("Y")
        self.vector("O", None, "none")
        with self.parallel("B", names=("i",)):
            at = "bx * B + i"
            if self.chance(0.5):
                self.line(f"at = {at}")
                at = "at"

            def body():
                self.values += [value(f"{name}[{at}]") for name in ("X", "Y") if name in self.shapes]
                self.values.append(value(at, "", "i"))
                form = self.rng.random()
                if form < 0.4:
                    self.line(f"O[{at}] = {expression(self, '', 3).text}")
                elif form < 0.75:
                    with self.under(f"if {condition(self, '').text}:"):
                        self.line(f"O[{at}] = {expression(self, '', 2).text}")
                    if self.chance(0.4):
                        with self.under(f"elif {condition(self, '').text}:"):
                            self.line(f"O[{at}] = {expression(self, '', 1).text}")
                    if self.chance(0.6):
                        with self.under("else:"):
                            self.line(f"O[{at}] = {expression(self, '', 2).text}")
                else:
                    found = self.let("v", expression(self, "", 2).text)
                    self.line(f"O[{at}] = {found.text} {self.pick('+', '*')} {expression(self, '', 1).text}")

            self.guard(at, body)

    def integers(self):
        self.vector("A", self.pick(*INTEGERS), self.pick("small", "below:100"))
        if self.chance(0.5):
            self.vector("Q", self.pick(*INTEGERS), "small")
        self.vector("O", self.pick("int32", "int64", "float32"), "none")
        with self.parallel("B", names=("i",)):

            def body():
                wide = f"T.cast({{}}, {dtype_text(self, 'int32')})"
                for name in ("A", "Q"):
                    if name in self.shapes:
                        text = f"{name}[bx * B + i]"
                        self.values.append(value(wide.format(text) if self.dtype(name) != "int32" else text, "", "n"))
                self.values.append(value("i", "", "n"))
                self.line(f"O[bx * B + i] = {self.number(3, 'i')}")

            self.guard("bx * B + i", body)

    def gather(self):
        self.size("S", self.rng.randint(1, 60))
        self.vector("X", None, "normal", "S")
        self.vector("Ids", self.pick("int32", "int64"), f"below:{self.sizes['S']}")
        self.vector("O", None, "none")
        with self.parallel("B", names=("i",)):
            with self.under("if bx * B + i < N:"):
                text = "X[Ids[bx * B + i]]"
                if self.chance(0.4):
                    self.values.append(value(text))
                    text = expression(self, "", 2).text
                self.line(f"O[bx * B + i] = {text}")

    def scatter(self):
        self.size("S", self.rng.randint(1, 40))
        self.vector("Ids", "int32", f"below:{self.sizes['S']}")
        kind = self.pick("add", "add", "max", "min")
        dtype = self.pick("float32", "int32") if kind == "add" else "int32"
        self.vector("X", dtype, "small" if dtype == "int32" else "normal")
        self.vector("O", dtype, "small", "S")
        with self.parallel("B", names=("i",)):
            with self.under("if bx * B + i < N:"):
                self.line(f"T.atomic_{kind}(O[Ids[bx * B + i]], X[bx * B + i])")

    def rearrange(self):
        """A matrix read by flat indices, turned, or in other shapes."""
        rows, columns = self.rng.randint(1, 40), self.rng.randint(1, 40)
        self.sizes = {"R": rows, "Cn": columns}
        self.tensor("X", ["R", "Cn"])
        form = self.pick("flat", "turned", "tile")
        if form == "flat":
            self.tensor("O", ["Cn", "R"], None, "none")
            with self.parallel("B", names=("i",)):
                self.line("at = bx * B + i")
                with self.under("if at < R * Cn:"):
                    turns = ("O[at % Cn, at // Cn] = X[at // Cn, at % Cn]", "O[at // R, at % R] = X[at % R, at // R] * 2")
                    self.line(self.pick(*turns))
            return ["T.ceildiv(R * Cn, B)"], ["bx"], {"B": self.block}
        self.tensor("O", ["Cn", "R"], None, "none")
        size = self.pick(8, 16, 32)
        tile = self.alloc("tile", ["B", "B"], self.dtype("X"), "shared")
        self.line(f"T.copy(X[by * B, bx * B], {tile})")
        other = self.alloc("turned", ["B", "B"], self.pick(self.dtype("X"), "float32"), "shared")
        if form == "turned":
            self.line(f"T.transpose({tile}, {other})" if self.shared[other] == self.shared[tile] else f"T.copy({tile}, {other})")
            if self.shared[other] != self.shared[tile]:
                other = self.turned(other)
        else:
            with self.parallel("B", "B"):
                self.line(f"{other}[i, j] = {tile}[j, i]")
        self.line(f"T.copy({other}, O[bx * B, by * B])")
        return ["T.ceildiv(Cn, B)", "T.ceildiv(R, B)"], ["bx", "by"], {"B": size}

    def turned(self, buffer):
        other = self.alloc("back", ["B", "B"], "float32", "shared")
        with self.parallel("B", "B"):
            self.line(f"{other}[i, j] = {buffer}[j, i]")
        return other

    def casts(self):
        """Values through narrow types and back."""
        self.vector("X", self.pick(*FLOATS))
        kinds = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32")
        self.vector("O", self.pick(*kinds), "none")
        tile = self.alloc("t", ["B"], self.pick(*kinds))
        self.line(f"T.copy(X[bx * B], {tile})")
        if self.chance(0.6):
            with self.parallel("B", names=("i",)):
                text = f"T.cast({tile}[i], 'float32') * {self.pick('0.5', '3.0')}"
                self.line(f"{tile}[i] = {self.pick(text, f'T.clamp({text}, -4.0, 4.0)')}")
        self.line(f"T.copy({tile}, O[bx * B])")


def write_flat(rng, seed):
    w = Flat(rng)
    kind = w.pick("elementwise", "elementwise", "integers", "gather", "scatter", "rearrange", "casts")
    found = getattr(w, kind)()
    grid, names, constants = found or (["T.ceildiv(N, B)"], ["bx"], {"B": w.block})
    return w.program(seed, grid, names, constants)
