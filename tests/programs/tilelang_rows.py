"""TileLang programs that own some rows (or columns) of a matrix and walk the other dimension in blocks: statistics kept in
fragments, online rescaling, several passes over the same rows."""

from programs.tilelang_expressions import whole
from programs.tilelang_statistics import Statistics


class Rows(Statistics):
    def output(self):
        return f"O{sum(name.startswith('O') for name in self.shapes) + 1}"

    def store_vector(self, name, text):
        inside = self.inside(self.own)
        with self.own_elements():
            if inside and self.chance(0.7):
                with self.under(f"if {inside}:"):
                    self.line(f"{self.element(name, self.own)} = {text}")
            else:
                self.line(f"{self.element(name, self.own)} = {text}")

    def store_statistic(self):
        name = self.output()
        self.tensor(name, [self.limit[self.own]], None, "none")
        found = self.rng.choice(self.statistics)
        buffer = found.text.split("[")[0]
        if found.text.count(",") == 0 and self.shared[buffer][1] == "float32" and self.chance(0.4):
            self.line(f"T.copy({buffer}, {self.region(name, self.own)})")
        else:
            self.store_vector(name, whole(self, self.own, 1) if self.chance(0.4) else found.text)

    def write(self):
        """A pass that writes a matrix."""
        name = self.output()
        self.tensor(name, ["N", "M"], None, "none")
        with self.blocks(("X", "Y") if "Y" in self.shapes and self.chance(0.5) else ("X",)):
            for _ in range(self.pick(0, 0, 0, 1, 1)):
                self.other_statement()
            self.store_block(name)

    def store_block(self, name):
        text, form = whole(self, "rc", 3), self.rng.random()
        if form < 0.45:
            inside = self.inside("r", "c")
            with self.elements("rc"):
                if inside and self.chance(0.6):
                    with self.under(f"if {inside}:"):
                        self.line(f"{self.element(name, 'r', 'c')} = {text}")
                else:
                    self.line(f"{self.element(name, 'r', 'c')} = {text}")
            return
        dtype = self.pick("float32", self.dtype(name))
        tile = self.alloc("out", self.shape("rc"), dtype)
        with self.elements("rc"):
            self.line(f"{self.in_form(tile, 'rc')} = {text}")
        if form < 0.7:
            return self.line(f"T.copy({tile}, {self.region(name)})")
        other = self.alloc("outs", self.shape("rc"), self.dtype(name), "shared")
        self.line(f"T.copy({tile}, {other})")
        self.line(f"T.copy({other}, {self.region(name)})")

    def add(self):
        """Updates that blocks share: sums along the own axis, or of everything."""
        form = self.pick("scalar", "columns")
        if form == "scalar" and self.statistics:
            self.tensor("Sum", [1], "float32", "small")
            text = self.rng.choice(self.statistics).text
            with self.own_elements():
                with self.under(f"if {self.place(self.own)} < {self.limit[self.own]}:"):
                    self.line(f"T.atomic_add(Sum[0], {text})")
            return
        self.tensor("Cols", [self.limit[self.loop]], "float32", "small")
        with self.blocks():
            name = self.tile(whole(self, "rc", 1))
            with self.elements("rc"):
                guard = f"{self.place(self.own)} < {self.limit[self.own]} and {self.place(self.loop)} < {self.limit[self.loop]}"
                with self.under(f"if {guard}:"):
                    self.line(f"T.atomic_add({self.element('Cols', self.loop)}, {self.in_form(name, 'rc')})")


def write_rows(rng, seed):
    w = Rows(rng)
    w.tensor("X", ["N", "M"])
    if w.chance(0.35):
        w.tensor("Y", ["N", "M"])
    for name, extent in (("W", "M"), ("V", "N")):
        if w.chance(0.4):
            w.tensor(name, [extent])
    own, block = w.own, "bx"
    count = f"T.ceildiv({w.limit[own]}, {w.width[own]})"
    grid = [count]
    if w.chance(0.25):
        w.line(f"T.use_swizzle({w.pick('10', 'panel_size=4')})")
    if w.persistent:
        grid = [str(w.pick(1, 2, 3))]
        step = w.name("step")
        w.line(f"for {step} in T.serial(T.ceildiv({count}, {grid[0]})):")
        w.depth += 1
        w.line(f"tile = {step} * {grid[0]} + bx")
        w.line(f"if tile < {count}:")
        w.depth += 1
        block = "tile"
    w.origin[own] = f"{block} * {w.width[own]}"
    if w.chance(0.3):
        w.line(f"first = {w.origin[own]}")
        w.origin[own] = "first"
    w.vectors()
    passes = w.pick(1, 1, 1, 2)
    for _ in range(passes):
        w.collect()
        w.finish()
    if w.chance(0.15):
        w.add()
    wrote = False
    if w.chance(0.55):
        w.write()
        wrote = True
    if w.statistics and (not wrote or w.chance(0.6)):
        w.store_statistic()
    elif not wrote:
        w.write()
    return w.program(seed, grid, ["bx"], {"BR": w.block["r"], "BC": w.block["c"]})
