"""NineToothed programs that go element by element: tiles of one to four dimensions, numbers, vectors that are repeated."""

from programs.ninetoothed_kernel import FLOATS, OUTS, Kernel
from programs.writer import Value

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
WHOLE = [
    "{x} + {y}",
    "{x} * {y}",
    "{x} ^ {y}",
    "({x} & {y}) | 1",
    "{x} - {y}",
    "ntl.maximum({x}, {y})",
    "ntl.minimum({x}, {y})",
    "({x} << 1) ^ ({y} >> 1)",
    "ntl.where({x} > {y}, {x}, {y} + 1)",
    "{x} // ntl.where({y} == 0, 1, {y})",
    "{x} % ntl.where({y} == 0, 1, {y})",
    "~{x}",
    "ntl.abs({x})",
    "ntl.cast({x}, ntl.int32) * 3",
    "({x} < {y}).to(ntl.int32)",
]


def shape_of(w, rank):
    """Sizes that are small, odd, 1, and now and then 0."""
    most = {1: 300, 2: 50, 3: 12, 4: 7}[rank]
    shape = [w.pick(w.rng.randint(1, most), w.rng.randint(1, most), w.pick(1, 2, 4, 8, 16, 32)) for _ in range(rank)]
    while rank > 2 and shape[0] * shape[1] * shape[2] > 1500:
        shape[w.rng.randrange(3)] //= 2
    if w.chance(0.03):
        shape[w.rng.randrange(rank)] = 0
    return [max(n, 0) for n in shape]


def tiles_of(w, shape, most=2048):
    """Sizes of tiles for a shape: they seldom divide it."""
    tiles = [w.pick(1, 2, 4, 8, 16, 32, 64, w.pick(3, 5, 12)) for _ in shape]
    if len(shape) == 1:
        tiles = [w.pick(8, 32, 64, 128, 256, 100)]
    while True:
        size = 1
        for n in tiles:
            size *= n
        programs = 1
        for n, t in zip(shape, tiles):
            programs *= -(-n // t)
        if size <= most and programs <= 400:
            return tiles
        if size > most:
            d = max(range(len(tiles)), key=lambda d: tiles[d])
            tiles[d] = max(1, tiles[d] // 2)
        else:
            d = max(range(len(tiles)), key=lambda d: shape[d] // tiles[d])
            tiles[d] *= 2


def texts(sizes):
    """A tuple's text."""
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


class Elements(Kernel):
    def __init__(self, rng, rank=None):
        super().__init__(rng)
        self.shape = shape_of(self, rank or self.pick(1, 1, 2, 2, 2, 3, 4))
        self.form = self.pick("flat", "flat", "tiled", "tiled", "tiled", "turned", "inner", "squeezed", "windows", "padded")
        self.arrange()

    def arrange(self):
        """The steps of each tensor, and those of a vector along the last dimension that each row gets."""
        shape, rank = self.shape, len(self.shape)
        self.row = None
        self.others = None  # steps that the outputs have instead
        if rank == 1 and self.form in ("turned", "inner", "squeezed", "windows"):
            self.form = "tiled"
        if self.form == "flat":
            total = 1
            for n in shape:
                total *= n
            block = self.size("B", tiles_of(self, [total])[0], ("", "64, 128", "lower_bound=32, upper_bound=32"))
            self.steps = [self.pick(".flatten()", ".flatten()", f".flatten(end_dim={rank})"), f".tile(({block},))"]
            return
        if self.form == "turned":
            order = self.rng.sample(range(rank), rank)
            tiles = [self.size("B", t) for t in tiles_of(self, [shape[d] for d in order])]
            self.steps = [f".permute({self.pick(tuple(order), order)})", f".tile({texts(tiles)})"]
            return
        if self.form == "squeezed":
            block = self.size("B", self.pick(4, 8, 16, 32, 64), ("", "16, 64"))
            ones = ["1"] * (rank - 1)
            self.steps = [
                f".tile({texts([*ones, block])})",
                f"d.squeeze({self.pick(tuple(range(rank - 1)), 0) if rank == 2 else tuple(range(rank - 1))})",
            ]
            if rank == 2:
                self.row = [f".tile(({block},))", ".unsqueeze(0)", ".expand(({first}.shape[0], -1))"]
            return
        if self.form == "windows":
            tiles = [str(self.pick(1, 2, 3)) for _ in shape]
            block = self.size("B", self.pick(4, 16, 32))
            self.steps = [
                f".tile({texts(tiles)})",
                ".ravel()",
                f".flatten(end_dim={rank})",
                ".flatten(start_dim=1)",
                f".tile(({block}, -1))",
            ]
            return
        tiles = tiles_of(self, shape)
        named = [self.size("B", t, ("16, 32",) if rank == 1 else ()) for t in tiles]
        self.steps = [f".tile({texts(named)})"]
        if self.form == "inner":
            self.steps.append(self.pick("d.flatten()", f"d.permute({tuple(reversed(range(rank)))})", "d.unsqueeze(0)"))
        elif self.form == "padded" and self.chance(0.8):
            sides = tuple((self.rng.randint(0, 3), self.rng.randint(0, 3)) for _ in shape)
            self.others = [f".tile({texts(named)})"]
            self.steps = [f".pad({sides})", f".tile({texts(named)})"]
            self.wide = [n + left + right for n, (left, right) in zip(shape, sides)]
        elif rank == 2:
            lead = self.pick("{first}.shape[0]", "{first}.shape[-2]")
            self.row = self.pick(
                [f".tile(({named[1]},))", ".unsqueeze(0)", f".expand(({lead}, -1))"],
                [f".tile(({named[1]},))", ".unsqueeze(0)", f".expand(({lead}, -1))", "d.unsqueeze(0)"],
                [".unsqueeze(0)", ".expand(({source}.shape[0], -1))", f".tile({texts(named)})"],
            )

    def input(self, dtype=None, fill="normal", stem="X", other=None):
        return self.tensor(stem, self.shape, *self.steps, dtype=dtype or self.pick(*FLOATS), fill=fill, other=other)

    def out(self, dtype=None, fill="none", stem="O"):
        shape = self.wide if self.others and self.form == "padded" else self.shape
        return self.tensor(stem, shape, *(self.others or self.steps), dtype=dtype or self.pick(*OUTS), fill=fill)

    def vector(self):
        """A vector along the last dimension; its axes in the tiles."""
        first = self.parameters[0]
        steps = [s.format(first=first.arranged, source=first.name) for s in self.row]
        name = self.tensor("W", self.shape[-1:], *steps, dtype=self.pick(*FLOATS))
        text = name
        if len(self.row) == 3 and self.row[0].startswith(".tile") and self.form != "squeezed":
            text = f"{name}{self.pick('[None, :]', '[None]')}"
        return self.read(text, self.arguments[-1].dtype)


def write_elements(rng):
    w = Elements(rng)
    other = w.pick(None, None, None, "0.5", 'float("-inf")', "-1") if w.form == "padded" or w.chance(0.1) else None
    names = [w.input(other=other) for _ in range(w.pick(1, 1, 2, 3))]
    inplace = w.form != "padded" and w.chance(0.1)
    if inplace:
        w.arguments[0] = w.arguments[0].__class__(names[0], tuple(w.shape), w.arguments[0].dtype)
        w.parameters[0].passed = names[0]
    for name in names:
        dtype = next(a.dtype for a in w.arguments if a.name == name)
        if dtype == "float32" and w.chance(0.3):
            w.bind(name, "r")  # read at each mention
        else:
            w.let("x", w.read(name, dtype), "r")
    if w.row and w.chance(0.4):
        w.let("v", f"{w.vector()} {w.pick('+', '*')} {w.values[0].text}", "r")
    numbers = [w.number("alpha", w.pick("0.5", "2.0", "-1.25", "torch.tensor(0.75)")) for _ in range(w.pick(0, 0, 1, 2))]
    for name in numbers:
        w.bind(name)
    if w.chance(0.2):
        w.constant()
    for _ in range(w.pick(1, 1, 2, 3)):
        statement(w)
    for count in range(w.pick(1, 1, 1, 2)):
        name = names[0] if inplace and not count else w.out()
        w.line(f"{name} = {final(w)}")
        if w.chance(0.1):
            w.line(f"{name} {w.pick('+=', '-=')} {w.of('r', 1)}")
        elif w.chance(0.1):
            w.bind(name, "r")  # what was written is read again, rounded
    w.last()
    return w


def final(w):
    text = w.of("r", 2)
    form = w.rng.random()
    if form < 0.1:
        return f"ntl.cast({text}, ntl.float16)"
    if form < 0.2:
        return f"{text} if {w.number('n', w.pick('0', '3'), w.chance(0.5))} > 2 else {w.of('r', 1)}"
    return text


def statement(w):
    """A local variable: plainly, by a branch, a loop, a tuple or a helper."""
    form = w.rng.random()
    value = w.let("t", w.of("r", 3), "r")
    if form < 0.15:
        flag = w.number("flag", w.pick("True", "False"), constexpr=True)
        branches(w, value, w.pick(flag, f"not {flag}"))
    elif form < 0.3:
        branches(w, value, f"{w.number('n', str(w.rng.randint(0, 4)))} {w.pick('>', '==', '<')} 2")
    elif form < 0.4:
        with w.under(f"for k in range({w.pick('3', w.number('n', str(w.rng.randint(0, 4))))}):"):
            w.line(f"{value.text} = {value.text} * 0.5 + {w.pick('k', w.of('r', 1))}")
    elif form < 0.5:
        other = w.name("t")
        w.line(f"{value.text}, {other} = {w.of('r', 1)}, {w.of('r', 1)}")
        w.values.append(Value(other, "r"))
    elif form < 0.6:
        w.line(f"scaled_into({w.of('r', 1)}, {value.text})")
    elif form < 0.66:
        w.line(f"{value.text} = ntl.where(ntl.max({value.text}) > 1.0, {value.text}, {w.of('r', 1)})")


def branches(w, value, test):
    with w.under(f"if {test}:"):
        w.line(f"{value.text} = {w.of('r', 2)}")
    if w.chance(0.5):
        with w.under("else:"):
            w.line(f"{value.text} = {value.text} {w.pick('+', '*')} 0.75")


def write_integers(rng):
    """Whole numbers and masks."""
    w = Elements(rng)
    dtype = w.pick(*INTEGERS)
    x, y = (w.input(dtype, w.pick("any", "small"), "K") for _ in range(2))
    value = w.pick(*WHOLE).format(x=x, y=y)
    if w.chance(0.3):
        mask = w.input("bool", "any", "M")
        value = f"ntl.where({w.pick(mask, f'{mask} & ({x} > 0)', f'{mask} | ({x} == {y})')}, {value}, {w.pick(x, '0', '1')})"
    if w.chance(0.2):
        w.line(f"{w.out('bool')} = {x} {w.pick('<', '>=', '==')} {y}")
    if w.chance(0.2):
        w.line(f"{w.out('float32')} = ntl.cast({x}, ntl.float32) * 0.5")
    w.line(f"{w.out(w.pick(dtype, 'int32', 'int64'))} = {value}")
    return w


def write_copies(rng):
    """One arrangement is read, another written: transposed, reversed, cut, turned, put together."""
    w = Kernel(rng)
    n, m = w.rng.randint(1, 40), w.rng.randint(1, 40)
    a, b = (w.size("B", w.pick(2, 4, 8, 16, 3)) for _ in range(2))
    dtype = w.pick(*FLOATS, "int32")
    fill = "small" if dtype == "int32" else "normal"
    form = w.pick("transpose", "reverse", "cut", "pick", "stack", "sum", "elements")
    tile = f".tile(({a}, {b}))"
    if form == "transpose":
        x = w.tensor("X", (n, m), ".permute((1, 0))", tile, dtype=dtype, fill=fill)
        y = w.tensor("Y", (m, n), tile, dtype=dtype, fill="none")
    elif form == "reverse":
        items = w.pick("[:, ::-1]", "[::-1]", "[::-1, ::-1]")
        x = w.tensor("X", (n, m), items, tile, dtype=dtype, fill=fill)
        y = w.tensor("Y", (n, m), tile, dtype=dtype, fill="none")
    elif form == "cut":
        first, step = w.rng.randint(0, 3), w.pick(1, 2, 3)
        x = w.tensor("X", (n, first + m * step), f"[:, {first}:{first + m * step}:{step}]", tile, dtype=dtype, fill=fill)
        y = w.tensor("Y", (n, m), tile, dtype=dtype, fill="none")
    elif form == "pick":
        at = w.rng.randrange(n)
        x = w.tensor("X", (n, m), f"[{at}]", f".tile(({b},))", dtype=dtype, fill=fill)
        y = w.tensor("Y", (m,), f".tile(({b},))", dtype=dtype, fill="none")
    elif form == "stack":
        inner = ["d.squeeze(1)", "dd.squeeze(0)"]
        x, x2 = (w.tensor("X", (n, m), ".flatten()", f".tile(({a},))", dtype=dtype, fill=fill) for _ in range(2))
        y = w.tensor(
            "Y", (2, n, m), ".flatten(1)", f".tile((1, {a}))", ".tile((-1, 1))", ".squeeze(0)", *inner, dtype=dtype, fill="none"
        )
        w.line(f"{y}[0] = {x}")
        w.line(f"{y}[1] = {x2} {w.pick('', '+ ' + x)}")
        return w
    elif form == "elements":  # a program for each element
        n, m = min(n, 12), min(m, 12)
        side = w.rng.randint(0, 2)
        x = w.tensor("X", (n, m), f".pad((({side}, {side}), (0, {side})))", dtype=dtype, fill=fill, other=w.pick(None, "1"))
        y = w.tensor("Y", (n + 2 * side, m + side), dtype=dtype, fill="none")
    else:
        x = w.tensor("X", (n, m), tile, dtype=dtype, fill=fill)
        y = w.tensor("Y", (-(-n // w.value(a)), -(-m // w.value(b))), ".tile((1, 1))", dtype="float32", fill="none")
        how = w.pick("sum", "max")
        w.line(f"{y} = ntl.{how}({x}.to(ntl.float32))")
        return w
    w.line(f"{y} = {w.pick(x, x, f'{x} * 2', f'{x} + {x}.offsets(-1)' if form in ('cut', 'reverse') else x)}")
    return w
