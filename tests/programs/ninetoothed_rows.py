"""Tensors whose programs own rows or columns and go through their tiles: how they are arranged, indexed, masked and reduced."""

from programs.ninetoothed_elements import texts
from programs.ninetoothed_kernel import FLOATS, KNOWN, OUTS, Kernel

START = {"sum": "0.0", "max": "float('-inf')", "min": "float('inf')"}


class Rows(Kernel):
    """`form`: row (one index of the other dimensions, tiles of one dimension), wide and tall (tiles of two dimensions, along the
    rows or the columns), and the same without a loop: vector, line (one row as a tile), lines (several)."""

    def __init__(self, rng):
        super().__init__(rng)
        self.form = self.pick("row", "row", "wide", "wide", "tall", "tall", "vector", "line", "lines")
        self.whole = self.form in ("vector", "line", "lines")
        self.own, self.loop = {"wide": ("r", "c"), "lines": ("r", "c"), "tall": ("c", "r")}.get(self.form, ("", "c"))
        self.axes = "rc" if self.own else "c"
        self.ones = self.chance(0.5)  # statistics that are one number are blocks of one
        self.known = {}  # the tensors that phases share
        self.softmax = self.chance(0.25)
        self.other = 'float("-inf")' if self.softmax else self.pick(None, None, "0.0", "1.0")
        self.options = KNOWN if self.chance(0.2) else ""
        self.index = None
        self.sizes()
        self.data("X")

    def sizes(self):
        rng = self.rng
        block = {a: self.pick(2, 4, 8, 16, 32, 64) for a in "rc"}
        while block["r"] * block["c"] > 1024:
            block = {a: self.pick(1, 2, 4, 8, 16, 32) for a in "rc"}
        self.extent = {a: self.pick(block[a], 2 * block[a], rng.randint(1, 3 * block[a] + 2), rng.randint(1, 60)) for a in "rc"}
        if self.chance(0.15):
            self.extent["c"] = rng.randint(60, 300)
        self.nothing = self.chance(0.02) and self.pick("r", "c")
        if self.nothing:
            self.extent[self.nothing] = 0
        if self.form == "row":
            self.rank = self.pick(1, 2, 2, 3)
            self.dims = tuple(sorted(rng.sample(range(self.rank), self.pick(1, 1, min(2, self.rank)))))
            size = self.extent["c"] if len(self.dims) == 1 else max(1, self.extent["c"] // 4)
            self.shape = [size if d in self.dims else rng.randint(1, 5) for d in range(self.rank)]
        else:
            self.shape = [self.extent["r"], self.extent["c"]]
            if self.form in ("vector", "line"):
                self.shape[0] = min(self.shape[0], 8)
            self.rank, self.dims = 2, (0,) if self.form == "tall" else (1,)
        least = block["c"]
        if self.form == "line":
            least = max(1, self.shape[1]) + self.pick(0, 0, rng.randint(0, 9))
        bounds = ("16, 16", "32, 64") if self.form in ("row", "wide", "tall") else ()
        self.rows = self.size("BR", block["r"], bounds)
        self.columns = self.size("BC", least, bounds)
        self.loose = self.form in ("wide", "tall") and self.chance(0.2)  # a dimension of the tiles' level that is 1 stays

    # -- memory
    def steps(self):
        """How a tensor of the whole shape is arranged."""
        if self.form == "row":
            others = [d for d in range(self.rank) if d not in self.dims]
            count, ones = len(others), ["1"] * len(others)
            order = (*others, *self.dims)
            gone = [f"squeeze({tuple(range(count))})"] if count else []
            steps = [f".permute({order})"] if order != tuple(sorted(order)) or self.chance(0.2) else []
            steps += [f".flatten(start_dim={count})"] if len(self.dims) > 1 or self.chance(0.2) else []
            steps += [f".tile({texts([*ones, self.columns])})", *(f"d.{g}" for g in gone)]
            return steps + [f".tile({texts([*ones, '-1'])})", *(f"d.{g}" for g in gone), f".squeeze({count})"]
        if self.form == "vector":
            return [".tile((1, -1))", ".squeeze(1)", "d.squeeze(0)"]
        if self.form == "line":
            return [f".tile((1, {self.columns}))"]
        if self.form == "lines":
            return [f".tile(({self.rows}, -1))"]
        again, gone = ("(1, -1)", 0) if self.form == "wide" else ("(-1, 1)", 1)
        return [f".tile(({self.rows}, {self.columns}))", f".tile({again})", *([] if self.loose else [f"d.squeeze({gone})"])]

    def data(self, name, fill="normal"):
        """A tensor of the whole shape; its name."""
        if name not in self.known:
            dtype = self.pick(*(OUTS if fill == "none" else FLOATS))
            other = self.other if fill != "none" else None
            self.known[name] = self.tensor(
                name, self.shape, *self.steps(), dtype=dtype, fill=fill, other=other, options=self.options
            )
        return self.known[name]

    def along_loop(self, name):
        """A vector that every program reads (None where the form has no plain one)."""
        if self.form == "row" and (self.rank == 1 or self.dims != (self.rank - 1,)):
            return None
        if name not in self.known:
            first = self.parameters[0]
            if not self.own:
                made = self.tensor(name, self.shape[-1:], plain=True, dtype=self.pick(*FLOATS))
                self.parameters[-1] = type(first)(
                    made, f"Tensor({self.rank})", f"{made}.expand({tuple(self.shape)})", self.steps()
                )
            else:
                d = 1 - "rc".index(self.loop)
                block = self.columns if self.loop == "c" else self.rows
                steps = [".tile((-1,))"] if self.whole else [f".tile(({block},))", ".tile((-1,))"]
                sizes = f"({first.arranged}.shape[0], -1)" if d == 0 else f"(-1, {first.arranged}.shape[1])"
                steps += [f".unsqueeze({d})", f".expand({sizes})"]
                made = self.tensor(name, [self.shape[1 - d]], *steps, dtype=self.pick(*FLOATS))
            self.known[name] = made
        return self.known[name]

    def along_own(self, name, fill="normal", dtype=None):
        """A number for each row or column that programs own."""
        if name not in self.known:
            dtype = dtype or self.pick(*(OUTS if fill == "none" else FLOATS))
            if self.own:
                d = "rc".index(self.own)
                block = self.rows if self.own == "r" else self.columns
                shape, steps = [self.shape[d]], [f".tile(({block},))", f".unsqueeze({1 - d})"]
            else:
                shape = [n for d, n in enumerate(self.shape) if d not in self.dims]
                steps = [f".tile({texts(['1'] * len(shape))})"]
                if self.form == "line":
                    steps.append(".unsqueeze(1)")
                if not shape:
                    shape, steps = [1], [".tile((1,))", ".squeeze(0)"]
            self.known[name] = self.tensor(name, shape, *steps, dtype=dtype, fill=fill)
        return self.known[name]

    def at(self, name):
        if self.whole:
            return name
        if not self.loose:
            return f"{name}[{self.index}]"
        return f"{name}[0, {self.index}]" if self.form == "wide" else f"{name}[{self.index}, 0]"

    def load(self, name):
        return self.read(self.at(name), self.dtype(name))

    def dtype(self, name):
        return next(a.dtype for a in self.arguments if a.name == name)

    def inside(self, own=False):
        """A condition: the elements that the tensor has along the loop (`own`: and across it); "" where none is plain."""
        x = self.known["X"]
        if len(self.dims) > 1:
            return ""
        d = self.dims[0] - (self.rank if self.chance(0.5) else 0)
        place = f"{self.at(x)}.offsets({d})"
        if self.form in ("row", "vector") and d in (-1, self.rank - 1) and self.chance(0.3):
            width = f"{x}.dtype.shape[0]" if self.form == "row" else f"{x}.shape[0]"
            place = f"ntl.arange(0, {width})" + (f" + {self.index} * {width}" if self.form == "row" else "")
        text = f"{place} < {x}.source.shape[{d}]"
        if not self.own:
            return text
        text = f"({text}){'[None, :]' if self.loop == 'c' else '[:, None]'}"
        if own:
            e = 1 - self.dims[0]
            text += f" & ({self.at(x)}.offsets({e}) < {x}.source.shape[{e}]){'[:, None]' if self.loop == 'c' else '[None, :]'}"
        return text

    def masked(self, text, start):
        mask = self.inside()
        return f"ntl.where({mask}, {text}, {start})" if mask and self.chance(0.75) else text

    # -- shapes
    def tile_shape(self):
        x = self.known["X"]
        return f"{x}.shape" if self.whole else f"{x}.dtype.shape"

    def axis(self):
        return {"row": 0, "vector": 0, "tall": 0}.get(self.form, 1)

    def reduced(self, how, text):
        """What a tile comes to, for each row or column that the program owns."""
        if not self.own and self.chance(0.6) or self.form == "line":
            return f"ntl.{how}({text})"
        axis = self.axis()
        if self.own and self.chance(0.15):
            if self.chance(0.5):
                return f"ntl.{how}(ntl.trans({text}), axis={1 - axis})"
            return f"ntl.reshape(ntl.{how}({text}, axis={axis}, keep_dims=True), ({self.tile_shape()}[{1 - axis}],))"
        return self.pick(
            f"ntl.{how}({text}, {axis})", f"ntl.{how}({text}, axis={axis})", f"ntl.{how}({text}, axis={axis - self.axes_count()})"
        )

    def axes_count(self):
        return 1 if self.form in ("row", "vector") else 2

    def start(self, value):
        """The statistic before the loop."""
        if not self.own:
            zero = value == "0.0"
            if self.ones:
                return self.pick(f"ntl.full((1,), {value}, dtype=ntl.float32)", *["ntl.zeros((1,), dtype=ntl.float32)"] * zero)
            return self.pick(f"ntl.cast({value}, ntl.float32)", value)
        shape = f"({self.tile_shape()}[{'rc'.index(self.own)}],)"
        if value == "0.0" and self.chance(0.7):
            return f"ntl.zeros({shape}, dtype=ntl.float32)"
        return f"ntl.full({shape}, {value}, dtype=ntl.float32)"

    # -- loops
    def tiles(self, body, backwards=False):
        """A loop over the tiles with what is read of each, and what `body()` writes."""
        x = self.known["X"]
        before = len(self.values)
        if self.whole:
            self.tile(x, body)
            del self.values[before:]
            return
        self.index = self.name("i")
        count = f"{x}.shape[{1 if self.loose and self.form == 'wide' else 0}]"
        head = self.pick(f"range({count})", f"range({count})", f"range(0, {count})", f"range(0, {count}, 1)")
        if backwards and self.chance(0.15):
            head = f"range({count} - 1, -1, -1)"
        with self.under(f"for {self.index} in {head}:"):
            self.tile(x, body)
        self.index = None

    def floats(self):
        """What is known of the tile at hand, what was loaded first."""
        return [v for v in self.values if v.axes == self.axes and v.kind == "f"]

    def tile(self, x, body):
        if self.dtype(x) == "float32" and self.chance(0.2):
            self.bind(self.at(x), self.axes)
        else:
            self.let("x", self.load(x), self.axes)
        if self.chance(0.35):
            self.let("y", self.load(self.data("Y")), self.axes)
        if self.chance(0.25):
            name = self.along_loop("W")
            if name:
                text = f"{name}[{self.index}]" if not self.whole else name
                self.let("w", self.read(text, self.dtype(name)), self.loop)
        if self.chance(0.3) and self.inside():
            axes = self.axes if self.own else "c"
            self.let("mask", self.inside(own=True), axes, "b")
        for _ in range(self.pick(0, 0, 1, 2)):
            self.let("t", self.of(self.axes, 2), self.axes)
        if not self.whole and self.chance(0.1):
            with self.under(f"if {self.index} {self.pick('> 0', '== 0', '% 2 == 0')}:"):
                value = self.floats()[-1]
                if value.text.isidentifier():
                    self.line(f"{value.text} = {self.of(self.axes, 1)}")
                else:
                    self.line("pass")
        body()
