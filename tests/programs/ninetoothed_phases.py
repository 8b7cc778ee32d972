"""NineToothed programs that own rows or columns and go through their tiles: sums, maxima, online rescaling, passes that write."""

from programs.ninetoothed_rows import START, Rows
from programs.triton_expressions import spread
from programs.writer import Value


class Phases(Rows):
    def tile_sum(self):
        """A tile that adds up over the loop, reduced behind it."""
        how = self.pick("sum", "sum", "max", "min")
        many = self.name("acc")
        zero = how == "sum" and self.chance(0.7)
        make = "zeros({}, dtype=ntl.float32)" if zero else f"full({{}}, {START[how]}, dtype=ntl.float32)"
        self.line(f"{many} = ntl.{make.format(self.tile_shape())}")

        def body():
            text = self.masked(self.of(self.axes, 3), START[how])
            if how == "sum":
                self.line(self.pick(f"{many} += {text}", f"{many} = {many} + {text}"))
            else:
                self.line(f"{many} = ntl.{how}imum({many}, {text})")

        self.tiles(body)
        self.let("q", self.reduced(how, many), self.own)

    def vector_sum(self):
        """What each tile reduces to, added up."""
        how = self.pick("sum", "sum", "max", "min")
        total = self.name("s")
        if self.whole:
            self.tiles(lambda: self.line(f"{total} = {self.reduced(how, self.masked(self.of(self.axes, 3), START[how]))}"))
        else:
            self.line(f"{total} = {self.start(START[how])}")

            def body():
                part = self.reduced(how, self.masked(self.of(self.axes, 3), START[how]))
                self.line(f"{total} += {part}" if how == "sum" else f"{total} = ntl.{how}imum({total}, {part})")

            self.tiles(body)
        self.bind(total, self.own)

    def online(self):
        """A running maximum and the sum under it; of a whole row softmax's."""
        if self.whole:
            top, total = self.name("top"), self.name("s")

            def body():
                z = self.let("z", self.masked(self.of(self.axes, 2), "float('-inf')"), self.axes)
                self.line(f"{top} = {self.reduced('max', z.text)}")
                self.line(f"p = ntl.exp({z.text} - {spread(Value(top, self.own), self.axes)})")
                self.line(f"{total} = {self.reduced('sum', 'p')}")
                self.written("S", f"p / {spread(Value(total, self.own), self.axes)}")

            self.tiles(body)
            self.bind(total, self.own)
            return
        top, total = self.name("top"), self.name("s")
        self.line(f"{top} = {self.start(START['max'])}")
        self.line(f"{total} = {self.start('0.0')}")
        more = self.chance(0.4) and self.name("acc")
        if more:
            self.line(f"{more} = {self.start('0.0')}")
        guard = self.chance(0.5)

        def body():
            first = self.floats()[0].text
            z = self.let("z", self.masked(self.of(self.axes, 2), "float('-inf')"), self.axes)
            new = self.name("new")
            self.line(f"{new} = ntl.maximum({top}, {self.reduced('max', z.text)})")
            if guard:
                self.line(f"{new} = ntl.maximum({new}, -1e30)")
            p = self.let("p", f"ntl.exp({z.text} - {spread(Value(new, self.own), self.axes)})", self.axes)
            scale = f"ntl.exp({top} - {new})"
            self.line(f"{total} = {total} * {scale} + {self.reduced('sum', p.text)}")
            if more:
                weighted = f"ntl.where({p.text} > 0, {p.text} * {first}, 0.0)"
                self.line(f"{more} = {more} * {scale} + {self.reduced('sum', weighted)}")
            self.line(f"{top} = {new}")

        self.tiles(body)
        self.bind(total, self.own)
        self.bind(top, self.own)
        if more:
            self.let("mean", f"{more} / ({total} + 1.0)", self.own)

    def scan(self):
        """A running sum along the loop, written as it goes."""
        carry, axis = self.name("run"), self.axis()
        if not self.whole:
            self.line(f"{carry} = {self.start('0.0')}")

        def body():
            v = self.let("v", self.masked(self.of(self.axes, 1), "0.0"), self.axes)
            carried = "" if self.whole else f" + {spread(Value(carry, self.own), self.axes)}"
            self.written(self.name("S"), f"ntl.cumsum({v.text}, {self.pick('', 'axis=')}{axis}){carried}")
            if not self.whole:
                self.line(f"{carry} += {self.reduced('sum', v.text)}")

        self.tiles(body)
        if not self.whole:
            self.bind(carry, self.own)

    def moments(self):
        """Mean and variance in two passes, or in one by squares."""
        count = self.number("count", str(float(max(1, self.shape[self.dims[0]]))), self.chance(0.2))
        total, squares = self.name("s"), self.name("s")
        if self.whole and not self.own and self.chance(0.5):
            self.tiles(lambda: self.line(f"{total}, {squares} = moments({self.masked(self.of(self.axes, 1), '0.0')}, {count})"))
            self.let("scale", f"ntl.rsqrt(ntl.abs({squares} - {total} * {total}) + 1e-5)", self.own)
            return
        for name in (total, squares):
            self.line(f"{name} = {self.start('0.0')}")
        self.tiles(lambda: self.line(f"{total} += {self.reduced('sum', self.masked(self.of(self.axes, 1), '0.0'))}"))
        mean = self.let("mean", f"{total} / {count}", self.own)

        def body():
            first = self.floats()[0].text
            away = self.let("d", self.masked(f"{first} - {spread(mean, self.axes)}", "0.0"), self.axes)
            self.line(f"{squares} += {self.reduced('sum', f'{away.text} * {away.text}')}")

        self.tiles(body)
        self.let("scale", f"ntl.rsqrt({squares} / {count} + 1e-5)", self.own)

    def crosswise(self):
        """Sums along the other axis: of each tile written apart, or added to memory."""
        if not self.own or self.loose:
            return self.write_pass()
        x, name = self.known["X"], "G"
        d = "rc".index(self.loop)
        if self.chance(0.6) or self.whole:
            name = self.tensor(name, [self.shape[d]], fill="small", plain=True)

            def body():
                index = f"{self.at(x)}.offsets({d})"
                part = f"ntl.sum({self.masked(self.of('rc', 2), '0.0')}, axis={1 - d})"
                self.line(f"ntl.atomic_add({name}.source.data_ptr() + {index}, {part}, mask={index} < {x}.source.shape[{d}])")

        else:
            own, block = (self.rows, self.columns) if d else (self.columns, self.rows)
            programs = -(-self.shape[1 - d] // self.value(own))
            if not own.isdigit() and own not in self.keywords and programs > 1:
                return self.write_pass()  # the compiler chooses how many programs there are
            shape, tile, again = [programs, self.shape[1]], f"(1, {block})", "(1, -1)"
            if not d:
                shape, tile, again = [self.shape[0], programs], f"({block}, 1)", "(-1, 1)"
            steps = [f".tile({tile})", f".tile({again})", f"d.squeeze({1 - d})", f"dd.squeeze({1 - d})"]
            name, how = self.tensor(name, shape, *steps, fill="none"), self.pick("sum", "max")

            def body():
                self.line(f"{name}[{self.index}] = ntl.{how}({self.of('rc', 2)}, axis={1 - d})")

        return self.tiles(body)

    def write_pass(self):
        self.tiles(lambda: self.written(self.name("O"), self.of(self.axes, 3)), backwards=True)

    def written(self, name, text):
        self.line(f"{self.at(self.data(name, 'none'))} = {text}")

    def position(self):
        """Where the maximum is."""
        if self.form == "line":
            return self.write_pass()
        best, where, axis = self.name("best"), self.name("at"), self.axis()
        x = self.known["X"]
        width = f"{self.tile_shape()}[{axis}]"
        if not self.whole:
            self.line(f"{best} = {self.start(START['max'])}")
            shape = f"({self.tile_shape()}[{'rc'.index(self.own)}],)" if self.own else "(1,)" if self.ones else "[]"
            self.line(f"{where} = ntl.zeros({shape}, dtype=ntl.int32)")

        def body():
            v = self.let("v", self.masked(self.load(x), "float('-inf')"), self.axes).text
            if self.whole:
                self.line(f"{where} = ntl.argmax({v}, {axis})")
                self.line(f"{best} = ntl.max({v}, {axis})")
                return
            self.line(f"m_ = ntl.max({v}, axis={axis})")
            self.line(f"i_ = ntl.argmax({v}, {axis}) + ntl.cast({self.index} * {width}, ntl.int32)")
            self.line(f"{where} = ntl.where(m_ > {best}, i_, {where})")
            self.line(f"{best} = ntl.maximum({best}, m_)")

        self.tiles(body)
        self.line(f"{self.along_own(self.name('A'), 'none', self.pick('int32', 'int64'))} = {where}")
        self.bind(best, self.own)

    def ordered(self):
        """A sorted or reversed row."""
        if self.form != "vector":
            return self.online()
        text = self.pick(
            "ntl.sort({x})", "ntl.flip({x}, 0)", "ntl.associative_scan({x}, 0, larger)", "ntl.reduce({x}, 0, larger) + {x}"
        )
        return self.tiles(lambda: self.written(self.name("O"), text.format(x=self.floats()[-1].text)))

    def branch(self):
        """An `if` on a number that was passed or read."""
        name = self.along_own("V")
        test = self.pick(
            f"ntl.sum({name}) > 0.0", f"ntl.max({name}) < 0.5", f"{self.number('n', str(self.rng.randint(0, 4)))} > 2"
        )
        value = self.let("sel", self.statistic(1), self.own)
        with self.under(f"if {test}:"):
            if self.chance(0.4) and not self.whole:
                inner = self.name("u")
                self.line(f"{inner} = {self.start('0.0') if self.own else 'ntl.cast(0.0, ntl.float32)'}")
                self.tiles(lambda: self.line(f"{inner} += {self.reduced('sum', self.of(self.axes, 1))}"))
                self.line(f"{value.text} = {inner} * 0.5" + ("" if self.own else f" + {value.text} * 0"))
            else:
                self.line(f"{value.text} = {value.text} * {self.pick('0.5', '-1.0')}")
        if self.chance(0.4):
            with self.under("else:"):
                self.line(f"{value.text} = {value.text} + 1.0")

    def statistic(self, depth):
        """An expression with the axes that programs own."""
        if not any(v.axes == self.own and v.kind == "f" for v in self.values):
            name = self.along_own("V")
            text = self.read(name, self.dtype(name))
            self.let("v", text if self.own else f"ntl.sum({text})", self.own)
        return self.of(self.own, depth)


def write_rows(rng):
    w = Phases(rng)
    if w.own and w.chance(0.4):
        name = w.along_own("V")
        w.let("vec", w.read(name, w.dtype(name)), w.own)
    if w.chance(0.15):
        w.constant()
    phases = [w.tile_sum, w.vector_sum, w.online, w.online, w.position, w.write_pass]
    if not w.softmax:
        phases += [w.tile_sum, w.vector_sum, w.scan, w.moments, w.crosswise, w.ordered, w.branch]
    for _ in range(w.pick(1, 2, 2, 3, 4)):
        w.pick(*phases)()
        if w.chance(0.2) and any(v.axes == w.own and v.kind == "f" for v in w.values):
            w.let("e", w.statistic(2), w.own)
    results = [v for v in w.values if v.axes == w.own and v.kind == "f"]
    if results:
        name = w.along_own(w.name("P"), "none")
        w.line(f"{name} = {' + '.join(v.text for v in results[-w.pick(1, 2, 3) :])}")
    if not results or w.chance(0.5):
        w.write_pass()
    return w
