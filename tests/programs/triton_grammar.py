"""Triton programs as their users write them.

A program owns some rows (or columns) of a matrix and walks the other dimension in blocks: sums, maxima, online rescaling, passes
that write, statistics that later passes take up (triton_statistics.py). Others are such as compilers of graphs write
(triton_compiled.py), multiply, work on vectors and flat indices, or on grids (triton_products.py, _vectors.py, _grids.py)."""

from programs.frame import Argument, Program
from programs.triton_compiled import write_compiled
from programs.triton_expressions import expression, helpers, spread, whole
from programs.triton_grids import write_grids
from programs.triton_products import write_product
from programs.triton_statistics import norm, scaled, softmax
from programs.triton_vectors import write_vectors
from programs.writer import Value, Writer

HEAD = "import torch, triton, triton.language as tl\n\n\n"
FLOATS = ("float32", "float32", "float32", "float16", "bfloat16")


def write(rng, seed):
    kind = rng.random()
    shares = ((0.42, write_blocks), (0.54, write_compiled), (0.67, write_product), (0.84, write_vectors), (1.0, write_grids))
    body, launch, arguments = next(writer for end, writer in shares if kind < end)(rng)
    names = ", ".join(a.name for a in arguments)
    source = f"{HEAD}{helpers(body)}{body}\n\ndef launch(debug, {names}):\n{launch}"
    return Program("triton", seed, source, tuple(arguments))


class Blocks(Writer):
    """A kernel whose programs own `BO` rows or columns, and walk the other dimension by blocks of `BL`."""

    def __init__(self, rng):
        super().__init__(rng)
        self.byRows = self.chance(0.6)
        self.own, self.loop = ("r", "c") if self.byRows else ("c", "r")
        sizes = [1, 2, 4, 8, 16, 32, 64]
        self.block = {a: self.pick(*sizes[1:]) for a in "rc"}
        while self.block["r"] * self.block["c"] > 2048:
            self.block = {a: self.pick(*sizes) for a in "rc"}
        self.extent = {a: self.size(self.block[a]) for a in "rc"}
        self.limit = {"r": "n", "c": "m"}
        self.arguments = []
        self.names = {}
        self.persistent = self.chance(0.1)
        self.options = {a: self.pick("runtime", "runtime", "constexpr") for a in "rc"}
        # Windows, as those of sliding attention and of sequences in one tensor: {axis: where the first one begins}.
        self.first = {a: self.rng.randint(0, self.extent[a] + 2) for a in "rc" if self.chance(0.12)}

    def size(self, block):
        return self.pick(
            block, 2 * block, self.rng.randint(1, 3 * block + 2), self.rng.randint(1, block + 1), self.rng.randint(1, 80)
        )

    # -- memory
    def matrix(self, name, fill="normal", dtype=None):
        """A tensor of n x m; `at` is where its elements are in the kernel."""
        if name in self.names:
            return
        n, m = self.extent["r"], self.extent["c"]
        strides = self.pick(None, None, (m + self.rng.randint(0, 7), 1), (2 * m, 2), (1, n + self.rng.randint(0, 3)))
        argument = Argument(name, (n, m), dtype or self.pick(*FLOATS), fill, strides)
        self.arguments.append(argument)
        plain = argument.steps() == (m, 1)
        spell = "plain" if plain and self.chance(0.7) else "strides"
        self.names[name] = (argument, spell)

    def vector(self, name, axis, fill="normal", dtype=None):
        if name not in self.names:
            argument = Argument(name, (self.extent[axis],), dtype or self.pick(*FLOATS), fill)
            self.arguments.append(argument)
            self.names[name] = (argument, "vector")

    def parameters(self):
        """(parameters of the kernel, what the launch passes for them)."""
        given = [(a.name, a.name) for a in self.arguments]
        for name, (argument, spell) in self.names.items():
            if spell == "strides":
                given += [(f"{name.lower()}_s{d}", f"{name}.stride({d})") for d in range(2)]
        const = []
        for axis, limit in self.limit.items():
            (const if self.options[axis] == "constexpr" else given).append((limit, str(self.extent[axis])))
        given += [(f"first_{axis}", str(first)) for axis, first in self.first.items()]
        text = (
            [name for name, _ in given]
            + [f"{name}: tl.constexpr" for name, _ in const]
            + ["BR: tl.constexpr", "BC: tl.constexpr"]
        )
        passed = [value for _, value in given] + [f"{name}={value}" for name, value in const]
        return ", ".join(text), ", ".join(passed + [f"BR={self.block['r']}", f"BC={self.block['c']}"])

    def offsets(self, name, rows, columns):
        argument, spell = self.names[name]
        if spell == "vector":
            return rows or columns
        low = name.lower()
        if spell == "plain":
            return self.pick(
                f"{rows}[:, None] * m + {columns}[None, :]",
                f"({rows}[:, None] * m + {columns}[None, :])",
                f"({columns}[None, :] + m * {rows}[:, None])",
            )
        return f"{rows}[:, None] * {low}_s0 + {columns}[None, :] * {low}_s1"

    def inside(self, rows, columns):
        """The mask of a block; where blocks divide the extent, a side may be left out."""
        parts = []
        for axis, index, form in (("r", rows, "[:, None]"), ("c", columns, "[None, :]")):
            if not index:
                continue
            form = form if rows and columns else ""
            if axis in self.first and self.chance(0.8):
                parts.append(f"(({index} >= first_{axis}) & ({index} < {self.limit[axis]})){form}")
            elif self.extent[axis] % self.block[axis] or self.chance(0.7):
                parts.append(f"({index} < {self.limit[axis]}){form}")
        return " & ".join(parts)

    def load(self, name, rows, columns, other=None):
        mask = self.inside(rows, columns)
        text = f"{name} + {self.offsets(name, rows, columns)}"
        if mask:
            text += f", mask={mask}"
            other = (
                other
                if other is not None
                else self.pick("0.0", "0.0", "0", "1.0", "float('-inf')" if self.chance(0.2) else "0.0")
            )
            text += f", other={other}"
        text = f"tl.load({text})"
        return text if self.names[name][0].dtype == "float32" and self.chance(0.7) else text + ".to(tl.float32)"

    def store(self, name, rows, columns, value):
        mask = self.inside(rows, columns)
        self.line(f"tl.store({name} + {self.offsets(name, rows, columns)}, {value}{', mask=' + mask if mask else ''})")

    # -- loops
    def ordered(self, own, loop):
        return (own, loop) if self.byRows else (loop, own)

    def walk(self, once=False):
        """The head of a loop over blocks and the line that numbers its rows or columns."""
        limit, block = self.limit[self.loop], "BC" if self.byRows else "BR"
        start, index = self.name("st"), self.name("c" if self.byRows else "r")
        form = self.rng.randrange(5)
        if form == 0:
            head, first = f"for {start} in range(0, {limit}, {block}):", start
        elif form == 1:
            head, first = f"for {start} in range(tl.cdiv({limit}, {block})):", f"{start} * {block}"
        elif form == 2:
            head, first = f"for {start} in tl.range(0, {limit}, {block}, num_stages=2):", start
        elif form == 3 and self.options[self.loop] == "constexpr" and self.extent[self.loop] <= 4 * self.block[self.loop]:
            head, first = f"for {start} in tl.static_range(0, {limit}, {block}):", start
        else:
            self.line(f"{start} = 0")
            head, first = f"while {start} < {limit}:", start
        return head, start, f"{index} = {first} + tl.arange(0, {block})", index

    def blocks(self, body, loads=True):
        """A loop over blocks with the loads of X (and Y), and what `body(rows, columns)` writes."""
        head, start, numbered, index = self.walk()
        with self.under(head):
            self.line(numbered)
            self.values.append(Value(index, self.loop, "i"))
            rows, columns = self.ordered(self.index, index)
            if loads:
                self.matrix("X")
                self.let("x", self.load("X", rows, columns, self.filler), "rc")
                if self.chance(0.35):
                    self.matrix("Y")
                    self.let("y", self.load("Y", rows, columns), "rc")
                if self.chance(0.25):
                    self.vector("W", self.loop)
                    self.let("w", self.load("W", *self.ordered("", index)), self.loop)
                if self.chance(0.3):
                    mask = self.inside(rows, columns)
                    if mask:
                        self.let("mask", mask, "rc" if "None" in mask and "&" in mask else "", "b") if "&" in mask else None
                for _ in range(self.pick(0, 0, 1, 2)):
                    self.let("t", whole(self, "rc", 2), "rc")
            body(rows, columns)
            if head.startswith("while"):
                self.line(f"{start} += {'BC' if self.byRows else 'BR'}")

    # -- phases
    def axis(self):
        return 1 if self.byRows else 0

    def wide(self):
        return "(BR, BC)" if self.chance(0.7) else "[BR, BC]"

    def long(self):
        return f"({'BR' if self.byRows else 'BC'},)"

    def reduced(self, how, text):
        form = self.rng.randrange(4)
        if form == 0:
            return f"tl.{how}({text}, {self.axis()})"
        if form == 1:
            return f"tl.{how}({text}, axis={self.axis()}, keep_dims=True).reshape({'BR' if self.byRows else 'BC'})"
        return f"tl.{how}({text}, axis={self.axis()})"

    def masked(self, text, rows, columns, other):
        mask = self.inside(rows, columns)
        return f"tl.where({mask}, {text}, {other})" if mask and self.chance(0.8) else text

    def tile_sum(self):
        """A tile that adds up over blocks, reduced behind the loop."""
        how = self.pick("sum", "sum", "max", "min")
        start = {"sum": "0.0", "max": "float('-inf')", "min": "float('inf')"}[how]
        many = self.name("acc")
        self.line(
            f"{many} = "
            + (
                f"tl.zeros({self.wide()}, tl.float32)"
                if how == "sum" and self.chance(0.7)
                else f"tl.full({self.wide()}, {start}, tl.float32)"
            )
        )

        def body(rows, columns):
            text = self.masked(whole(self, "rc", 3), rows, columns, start)
            if how == "sum":
                self.line(self.pick(f"{many} += {text}", f"{many} = {many} + {text}"))
            else:
                self.line(f"{many} = tl.{how}imum({many}, {text})")

        self.blocks(body)
        self.let("q", self.reduced(how, many), self.own)

    def vector_sum(self):
        """A vector that adds up what each block reduces to."""
        how = self.pick("sum", "sum", "max", "min")
        start = {"sum": "0.0", "max": "float('-inf')", "min": "float('inf')"}[how]
        total = self.name("s")
        self.line(
            f"{total} = "
            + (f"tl.zeros({self.long()}, tl.float32)" if how == "sum" else f"tl.full({self.long()}, {start}, tl.float32)")
        )

        def body(rows, columns):
            part = self.reduced(how, self.masked(whole(self, "rc", 3), rows, columns, start))
            self.line(f"{total} += {part}" if how == "sum" else f"{total} = tl.{how}imum({total}, {part})")

        self.blocks(body)
        self.values.append(Value(total, self.own))

    def online(self):
        """A running maximum, and the sum under it."""
        top, total = self.name("top"), self.name("s")
        self.line(f"{top} = tl.full({self.long()}, float('-inf'), tl.float32)")
        self.line(f"{total} = tl.zeros({self.long()}, tl.float32)")
        more = self.chance(0.4) and self.name("acc")
        if more:
            self.line(f"{more} = tl.zeros({self.long()}, tl.float32)")
        guard = self.chance(0.5)

        def body(rows, columns):
            scores = self.let("z", self.masked(whole(self, "rc", 2), rows, columns, "float('-inf')"), "rc")
            new = self.name("new")
            self.line(f"{new} = tl.maximum({top}, {self.reduced('max', scores.text)})")
            if guard:
                self.line(f"{new} = tl.maximum({new}, -1e30)")
            weights = self.let("p", f"tl.exp({scores.text} - {spread(Value(new, self.own), 'rc')})", "rc")
            scale = f"tl.exp({top} - {new})"
            self.line(f"{total} = {total} * {scale} + {self.reduced('sum', weights.text)}")
            if more:
                self.line(
                    f"{more} = {more} * {scale} + {self.reduced('sum', f'{weights.text} * x_')}".replace("x_", scores_input(self))
                )
            self.line(f"{top} = {new}")

        self.filler = "float('-inf')" if self.chance(0.5) else None
        self.blocks(body)
        self.filler = None
        self.values.append(Value(total, self.own))
        self.values.append(Value(top, self.own))
        if more:
            self.let("mean", f"{more} / ({total} + 1.0)", self.own)

    def first_block(self):
        """A statistic of the first block, without a loop."""
        index, block = self.name("c" if self.byRows else "r"), "BC" if self.byRows else "BR"
        self.line(f"{index} = tl.arange(0, {block})")
        self.matrix("X")
        rows, columns = self.ordered(self.index, index)
        how = self.pick("sum", "max", "min")
        start = {"sum": "0.0", "max": "float('-inf')", "min": "float('inf')"}[how]
        before = len(self.values)
        self.let("x", self.load("X", rows, columns, start), "rc")
        text = self.reduced(
            how, self.values[-1].text if self.chance(0.6) else self.masked(whole(self, "rc", 1), rows, columns, start)
        )
        del self.values[before:]
        self.let("first", text, self.own)

    def scan(self):
        """A running sum along the walk, written as it goes."""
        carry, name = self.name("run"), self.fresh("S", "matrix")
        self.line(f"{carry} = tl.zeros({self.long()}, tl.float32)")

        def body(rows, columns):
            value = self.let("v", self.masked(whole(self, "rc", 1), rows, columns, "0.0"), "rc")
            self.store(
                name, rows, columns, f"tl.cumsum({value.text}, axis={self.axis()}) + {spread(Value(carry, self.own), 'rc')}"
            )
            self.line(f"{carry} += tl.sum({value.text}, axis={self.axis()})")

        self.blocks(body)
        self.values.append(Value(carry, self.own))

    def welford(self):
        """Mean and variance, block by block."""
        mean, square, count = (self.name(stem) for stem in ("mean", "m2_", "cnt"))
        for each in (mean, square, count):
            self.line(f"{each} = tl.zeros({self.long()}, tl.float32)")

        def body(rows, columns):
            ones = self.let(
                "one", f"tl.where({self.inside(rows, columns) or 'True'}, 1.0, 0.0) + tl.zeros((BR, BC), tl.float32)", "rc"
            )
            value = self.let("v", whole(self, "rc", 1), "rc")
            delta = self.let("d", f"{value.text} - {spread(Value(mean, self.own), 'rc')}", "rc")
            self.line(f"{count} += tl.sum({ones.text}, axis={self.axis()})")
            self.line(f"{mean} += tl.sum({delta.text} * {ones.text}, axis={self.axis()}) / tl.maximum({count}, 1.0)")
            self.line(f"{square} += tl.sum({delta.text} * {delta.text} * {ones.text}, axis={self.axis()})")

        self.blocks(body)
        self.values.append(Value(mean, self.own))
        self.let("var", f"{square} / tl.maximum({count}, 1.0)", self.own)

    def crosswise(self):
        """Sums along the other axis, of each block: stored apart or added to memory."""
        name = self.name("G")
        add = self.chance(0.7)
        programs = -(-self.extent[self.own] // self.block[self.own])
        if add:
            self.arguments.append(Argument(name, (self.extent[self.loop],), "float32", "small"))
            self.names[name] = (self.arguments[-1], "vector")
        else:
            self.arguments.append(Argument(name, (programs, self.extent[self.loop]), "float32", "none"))
            self.names[name] = (self.arguments[-1], "parts")

        def body(rows, columns):
            index = columns if self.byRows else rows
            part = f"tl.sum({self.masked(whole(self, 'rc', 2), rows, columns, '0.0')}, axis={1 - self.axis()})"
            mask = f", mask={index} < {self.limit[self.loop]}"
            if add:
                self.line(f"tl.atomic_add({name} + {index}, {part}{mask})")
            else:
                self.line(f"tl.store({name} + block * {self.limit[self.loop]} + {index}, {part}{mask})")

        self.blocks(body)

    def write_pass(self):
        """A pass that writes what it makes of each block and the statistics."""
        name = self.fresh("O", "matrix")
        self.blocks(lambda rows, columns: self.store(name, rows, columns, whole(self, "rc", 3)))

    def position(self):
        """Where the maximum is."""
        best, where = self.name("best"), self.name("at")
        self.line(f"{best} = tl.full({self.long()}, float('-inf'), tl.float32)")
        self.line(f"{where} = tl.zeros({self.long()}, tl.int32)")

        def body(rows, columns):
            index = columns if self.byRows else rows
            self.let("v", self.masked("x_".replace("x_", scores_input(self)), rows, columns, "float('-inf')"), "rc")
            value = self.values[-1].text
            self.line(f"m_ = tl.max({value}, axis={self.axis()})")
            self.line(f"i_ = tl.argmax({value}, axis={self.axis()})")
            self.line(f"{where} = tl.where(m_ > {best}, i_ + tl.min({index}, axis=0), {where})")
            self.line(f"{best} = tl.maximum({best}, m_)")

        self.blocks(body)
        name = self.name("A")
        self.arguments.append(Argument(name, (self.extent[self.own],), "int32", "none"))
        self.names[name] = (self.arguments[-1], "vector")
        self.store(name, *self.ordered(self.index, ""), where)
        self.values.append(Value(best, self.own))

    def branch(self):
        """An `if` on a number that is loaded, or on the program's."""
        self.vector("V", self.own)
        cond = self.pick("block > 0", "block % 2 == 0", "n > m", "tl.load(V) > 0.0", "tl.load(V + block) * 2.0 < 1.0")
        value = self.let("sel", whole_vector(self, 1), self.own)
        with self.under(f"if {cond}:"):
            if self.chance(0.4):
                inner = self.name("u")
                self.line(f"{inner} = tl.zeros({self.long()}, tl.float32)")
                self.blocks(lambda rows, columns: self.line(f"{inner} += tl.sum({whole(self, 'rc', 1)}, axis={self.axis()})"))
                self.line(f"{value.text} = {inner} * 0.5")
            else:
                self.line(f"{value.text} = {whole_vector(self, 2)}")
        if self.chance(0.4):
            self.line("else:")
            self.depth += 1
            self.line(f"{value.text} = {value.text} + 1.0")
            self.depth -= 1

    def fresh(self, stem, kind):
        name = self.name(stem)
        self.matrix(name, "none")
        return name

    # -- the kernel
    def kernel(self):
        self.filler = None
        limit, block = self.limit[self.own], "BR" if self.byRows else "BC"
        self.index = "r0" if self.byRows else "c0"
        if self.persistent:
            self.line(f"for block in range(tl.program_id(0), tl.cdiv({limit}, {block}), tl.num_programs(0)):")
            self.depth += 1
        else:
            self.line("block = tl.program_id(0)")
        if not self.persistent and self.chance(0.1):
            self.line(f"if block * {block} >= {limit}:")
            self.line("    return")
        self.line(f"{self.index} = block * {block} + tl.arange(0, {block})")
        self.values.append(Value(self.index, self.own, "i"))
        if self.chance(0.4):
            self.vector("V", self.own)
            self.let("vec", self.load("V", *self.ordered(self.index, "")), self.own)
        phases = [
            self.tile_sum,
            self.tile_sum,
            self.vector_sum,
            self.online,
            self.online,
            self.first_block,
            self.scan,
            self.welford,
            self.crosswise,
            self.write_pass,
            self.position,
            self.branch,
            *(lambda how=how: how(self) for how in (softmax, softmax, softmax, norm, norm, scaled)),
        ]
        for _ in range(self.pick(1, 2, 2, 3, 4)):
            self.pick(*phases)()
            if self.chance(0.2) and any(v.axes == self.own and v.kind == "f" for v in self.values):
                self.let("e", whole_vector(self, 2), self.own)
        results = [v for v in self.values if v.axes == self.own and v.kind == "f"]
        if results:
            name = self.name("P")
            self.vector(name, self.own, "none")
            self.store(name, *self.ordered(self.index, ""), " + ".join(v.text for v in results[-self.pick(1, 2, 3) :]))
        if not results or self.chance(0.5):
            self.write_pass()


def scores_input(w):
    return [v for v in w.values if v.axes == "rc" and v.kind == "f"][0].text


def whole_vector(w, depth):
    """An expression with the axis that programs own."""
    known = [v for v in w.values if v.axes == w.own and v.kind == "f"]
    if not known:
        return f"tl.zeros({w.long()}, tl.float32)"
    value = expression(w, w.own, depth)
    return value.text if value.axes == w.own else f"({w.rng.choice(known).text} + {value.text})"


def write_blocks(rng):
    w = Blocks(rng)
    w.kernel()
    parameters, passed = w.parameters()
    programs = -(-w.extent[w.own] // w.block[w.own])
    grid = max(1, programs - rng.randint(0, 2)) if w.persistent else programs
    body = f"@triton.jit\ndef kernel({parameters}):\n{w.text()}"
    options = w.pick("", "", ", num_warps=8", ", num_warps=1")
    return body, f"    kernel[({grid},)]({passed}{options}, debug=debug)\n", w.arguments
