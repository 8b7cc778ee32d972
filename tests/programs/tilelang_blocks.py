"""Blocks of a matrix in TileLang: programs own some rows (or columns) and walk the other dimension."""

from contextlib import contextmanager

from programs.tilelang_expressions import condition, expression, whole
from programs.tilelang_kernel import Kernel, value


class Blocks(Kernel):
    def __init__(self, rng):
        super().__init__(rng)
        self.byRows = self.chance(0.65)
        self.own, self.loop = ("r", "c") if self.byRows else ("c", "r")
        sizes = [1, 2, 4, 8, 16, 32, 64]
        block = {a: self.pick(*sizes[2:]) for a in "rc"}
        while block["r"] * block["c"] > 2048:
            block = {a: self.pick(*sizes) for a in "rc"}
        self.block = block
        self.extent = {a: self.extent_of(block[a]) for a in "rc"}
        self.size("N", self.extent["r"])
        self.size("M", self.extent["c"])
        self.limit = {"r": "N", "c": "M"}
        self.width = {"r": "BR", "c": "BC"}
        self.index = {"r": "i", "c": "j"}
        self.origin = {}
        self.statistics = []  # of the rows, once they are known
        self.persistent = self.chance(0.12)

    def extent_of(self, block):
        return self.pick(
            block, 2 * block, self.rng.randint(1, 3 * block + 2), self.rng.randint(1, block + 1), self.rng.randint(1, 80)
        )

    # -- places
    def element(self, name, *axes):
        return f"{name}[{', '.join(self.place(a) for a in axes)}]"

    def place(self, axis):
        return f"{self.origin[axis]} + {self.index[axis]}"

    def inside(self, *axes):
        """A condition that the element exists, where it may not."""
        parts = [f"{self.place(a)} < {self.limit[a]}" for a in axes if self.extent[a] % self.block[a] or self.chance(0.5)]
        return " and ".join(parts)

    def region(self, name, axes=("r", "c")):
        """Where a block begins, or the slice that it is."""
        if self.chance(0.7):
            return f"{name}[{', '.join(self.origin[a] for a in axes)}]"
        starts = [(self.origin[a], self.width[a]) for a in axes]
        return f"{name}[{', '.join(f'{s} : {s} + {n}' for s, n in starts)}]"

    def shape(self, axes):
        return [self.width[a] for a in axes]

    def in_form(self, name, axes):
        return f"{name}[{', '.join(self.index[a] for a in axes)}]"

    @contextmanager
    def elements(self, axes):
        with self.parallel(*self.shape(axes), names=[self.index[a] for a in axes]):
            before = len(self.values)
            for axis in axes:
                if axis in self.origin:
                    self.values.append(value(f"({self.place(axis)})", axis, "i"))
            if self.chance(0.12):
                self.let("v", whole(self, axes, 2), axes)
            yield
            del self.values[before:]

    # -- loads
    def load(self, name):
        """The block of a matrix; a value of both axes."""
        dtype, form = self.dtype(name), self.rng.random()
        if form < 0.35:
            tile = self.alloc(name.lower() + "s", self.shape("rc"), dtype, "shared")
            self.line(f"T.copy({self.region(name)}, {tile})")
        elif form < 0.6:
            shared = self.alloc(name.lower() + "s", self.shape("rc"), dtype, "shared")
            tile = self.alloc(name.lower() + "f", self.shape("rc"), "float32", "fragment")
            self.line(f"T.copy({self.region(name)}, {shared})")
            self.line(f"T.copy({shared}, {tile})")
        elif form < 0.75:
            tile = self.alloc(name.lower() + "f", self.shape("rc"), self.pick("float32", dtype), "fragment")
            self.line(f"T.copy({self.region(name)}, {tile})")
        else:
            tile = self.alloc(name.lower() + "f", self.shape("rc"), "float32")
            other = self.pick("0", "0.0", "0.0", "1.0")
            text = self.element(name, "r", "c")
            inside = self.inside("r", "c")
            with self.parallel(*self.shape("rc")):
                if inside and self.chance(0.6):
                    text = f"T.if_then_else({inside}, {text}, {other})"
                self.line(f"{self.in_form(tile, 'rc')} = {text}")
        found = value(self.in_form(tile, "rc"), "rc")
        self.values.append(found)
        if self.shared[tile][1] == "float32" and self.chance(0.3):
            with self.elements("rc"):
                self.line(f"{found.text} {self.pick('=', '=', '+=', '*=')} {whole(self, 'rc', 2)}")
        return found

    def vectors(self):
        """Values along one axis, from tensors."""
        for name, axis in (("W", "c"), ("V", "r")):
            if name in self.shapes and axis in self.origin and self.chance(0.8):
                if self.chance(0.5):
                    tile = self.alloc(name.lower(), [self.width[axis]], self.dtype(name))
                    self.line(f"T.copy({self.region(name, axis)}, {tile})")
                    self.values.append(value(self.in_form(tile, axis), axis))
                else:
                    self.values.append(value(self.element(name, axis), axis))

    @contextmanager
    def blocks(self, loads=("X",)):
        """A loop over blocks, with what it loads."""
        axis, counter = self.loop, self.name("k")
        count = f"T.ceildiv({self.limit[axis]}, {self.width[axis]})"
        static = not self.dynamic and self.extent[axis] <= 4 * self.block[axis]
        form = self.rng.random()
        origin = f"{counter} * {self.width[axis]}"
        before = len(self.values)
        if form < 0.35:
            head = f"for {counter} in T.Pipelined({count}, num_stages={self.pick(0, 1, 2, 2, 3)}):"
        elif form < 0.6:
            head = f"for {counter} in {self.pick('T.serial', 'T.serial', 'range')}({count}):"
        elif form < 0.7 and static:
            head = f"for {counter} in T.unroll({count}):"
        elif form < 0.82:
            loop = self.pick("T.serial", "range")
            head, origin = f"for {counter} in {loop}(0, {self.limit[axis]}, {self.width[axis]}):", counter
        elif form < 0.92:
            self.prologue.append(f'{counter} = T.alloc_var("int32")')
            self.line(f"{counter} = 0")
            head = f"while {counter} * {self.width[axis]} < {self.limit[axis]}:"
        else:
            head = f"for {counter} in T.serial({count}):"
            origin = f"({count} - 1 - {counter}) * {self.width[axis]}"
        with self.under(head):
            if self.chance(0.3) and "while" not in head:
                name = self.name("at")
                self.line(f"{name} = {origin}")
                origin = name
            self.origin[axis] = origin
            for name in loads:
                self.load(name)
            self.vectors()
            yield counter
            if "while" in head:
                self.line(f"{counter} += 1")
            del self.origin[axis]
            del self.values[before:]

    # -- within a loop over blocks
    def masked(self, text, other):
        """A value of the block, and `other` beyond the end of the rows."""
        axis = self.loop
        if self.extent[axis] % self.block[axis] == 0 and not self.dynamic and self.chance(0.6):
            return text
        return f"T.if_then_else({self.place(axis)} < {self.limit[axis]}, {text}, {other})"

    def tile(self, text, other="0.0", stem="t"):
        """A new tile of an expression that is `other` outside of the matrix."""
        name = self.alloc(stem, self.shape("rc"), "float32", "fragment" if self.chance(0.8) else "shared")
        with self.elements("rc"):
            self.line(f"{self.in_form(name, 'rc')} = {self.masked(text, other)}")
        self.values.append(value(self.in_form(name, "rc"), "rc"))
        return name

    def reduce(self, kind, source, target, clear=None):
        dim = {"c": self.pick("1", "-1"), "r": "0"}[self.loop]
        clear = "" if clear is None else f", clear={clear}"
        if kind != "abssum" and self.chance(0.1):
            return self.line(f'T.reduce({source}, {target}, "{kind}", dim={dim}{clear})')
        self.line(f"T.reduce_{kind}({source}, {target}, dim={dim}{clear})")

    def statistic(self, stem, initial):
        """A vector of the own axis; (name, text of its element)."""
        kept = self.chance(0.12)
        axes = self.own
        shape = [self.width[axes]] if not kept else (["BR", 1] if self.byRows else [1, "BC"])
        name = self.alloc(stem, shape, "float32", "fragment" if self.chance(0.85) else "shared")
        form = self.in_form(name, axes) if not kept else f"{name}[i, 0]" if self.byRows else f"{name}[0, j]"
        if initial is not None:
            self.line(f"T.clear({name})" if initial == "0" and self.chance(0.6) else f"T.fill({name}, {initial})")
        return name, form

    @contextmanager
    def own_elements(self):
        with self.elements(self.own):
            yield

    def call_macro(self, tile):
        """A macro that changes a tile."""
        name, before = self.name("step"), self.values
        self.values = [value("t[i, j]", "rc")]
        changed = f"        t[i, j] {self.pick('=', '+=')} {whole(self, 'rc', 2)}\n"
        if self.chance(0.4):
            changed = f"        if {condition(self, 'rc').text}:\n    {changed}"
        loop = "    for i, j in T.Parallel(n, m):\n"
        self.functions.append(f"@T.macro\ndef {name}(t, n, m):\n{loop}{changed}\n\n")
        self.values = before
        self.line(f"{name}({tile}, BR, BC)")

    def other_statement(self):
        """What stands in a loop and changes some tile."""
        form, text = self.rng.random(), whole(self, "rc", 2)
        tiles = [v for v in self.values if v.axes == "rc" and v.text.split("[")[0] in self.shared]
        tiles = [v for v in tiles if self.shared[v.text.split("[")[0]][1] == "float32"]
        if not tiles or form < 0.3:
            return self.tile(text)
        target = self.rng.choice(tiles)
        name = target.text.split("[")[0]
        if form < 0.5:
            with self.elements("rc"):
                with self.under(f"if {condition(self, 'rc').text}:"):
                    self.line(f"{target.text} = {text}")
                if self.chance(0.5):
                    with self.under("else:"):
                        self.line(f"{target.text} {self.pick('=', '+=', '*=')} {expression(self, 'rc', 1).text}")
        elif form < 0.65:
            with self.elements("rc"):
                self.line(f"{target.text} {self.pick('+=', '-=', '*=', '=')} {text}")
        elif form < 0.75:
            reverse = self.pick("", "", ", reverse=True")
            other = self.alloc("sc", self.shape("rc"), "float32")
            self.line(f"T.cumsum({name}, {other}, dim={self.pick(0, 1)}{reverse})")
            self.values.append(value(self.in_form(other, "rc"), "rc"))
        elif form < 0.85:
            other = self.alloc("cp", self.shape("rc"), self.pick("float16", "bfloat16", "float32"))
            self.line(f"T.copy({name}, {other})")
            self.values.append(value(self.in_form(other, "rc"), "rc"))
        elif form < 0.89:
            self.call_macro(name)
        elif form < 0.92:
            mask = self.alloc("mk", self.shape("rc"), "int32")
            with self.elements("rc"):
                self.line(f"{self.in_form(mask, 'rc')} = T.if_then_else({condition(self, 'rc').text}, 1, 0)")
            with self.under(f"if T.{self.pick('any_of', 'all_of')}({mask}):"):
                with self.elements("rc"):
                    self.line(f"{target.text} += {text}")
        elif form < 0.96:
            test = self.pick(f"{self.origin[self.loop]} < {self.pick(8, 16, 'N // 2')}", f"{self.origin[self.own]} > 0")
            with self.under(f"if {test}:"):
                if self.chance(0.5):
                    self.line(f"T.fill({name}, {self.pick('0.5', '1.0', '0')})")
                else:
                    with self.elements("rc"):
                        self.line(f"{target.text} += {text}")
        else:
            other = self.alloc("mv", self.shape("rc"), "float32", "shared")
            self.line(f"T.copy({name}, {other})")
            with self.elements("rc"):
                reversed_ = ["BR - 1 - i", "j"] if self.chance(0.5) else ["i", "BC - 1 - j"]
                self.line(f"{self.in_form(name, 'rc')} = {other}[{', '.join(reversed_)}]")
