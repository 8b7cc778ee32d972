"""Statistics of rows in TileLang: one pass over the blocks, with what is known behind it in fragments."""

from programs.tilelang_blocks import Blocks
from programs.tilelang_expressions import condition, whole
from programs.tilelang_kernel import value

LOWEST = ('-T.infinity("float32")', "-T.infinity(T.float32)", "-1e30", "T.min_value('float32')")


class Statistics(Blocks):
    def collect(self):
        """One pass that ends in statistics of the rows."""
        kinds = "sum sum max tile online count absmax min abssum best square scalar top reducer".split()
        getattr(self, "by_" + self.pick(*kinds))()

    def pass_(self, initial, body):
        made = [self.statistic(stem, first) for stem, first in initial]
        with self.blocks(("X", "Y") if "Y" in self.shapes and self.chance(0.4) else ("X",)):
            for _ in range(self.pick(0, 0, 0, 1, 1, 2)):
                self.other_statement()
            body(*made)
        self.statistics += [value(form, self.own) for _, form in made]
        self.values += [value(form, self.own) for _, form in made]

    def merged(self, kind, source, total, join):
        """total joined with the reduction of a tile: at once, or by a part of its own."""
        name, form = total
        if self.chance(0.4):
            return self.reduce(kind, source, name, "False")
        part, part_form = self.statistic("part", None)
        self.reduce(kind, source, part, self.pick(None, "True"))
        with self.own_elements():
            self.line(f"{form} = {join.format(a=form, b=part_form)}")

    def by_sum(self):
        def body(total):
            self.merged("sum", self.tile(whole(self, "rc", 3)), total, self.pick("{a} + {b}", "{b} + {a}"))

        self.pass_([("sum", "0")], body)

    def by_square(self):
        def body(total, squares):
            name = self.tile(whole(self, "rc", 1))
            self.merged("sum", name, total, "{a} + {b}")
            text = self.in_form(name, "rc")
            self.merged("sum", self.tile(f"{text} * {text}"), squares, "{a} + {b}")

        self.pass_([("s", "0"), ("q", "0")], body)

    def by_max(self):
        def body(top):
            self.merged("max", self.tile(whole(self, "rc", 2), self.pick(*LOWEST[:3])), top, "T.max({a}, {b})")

        self.pass_([("top", self.pick(*LOWEST))], body)

    def by_min(self):
        def body(low):
            self.merged("min", self.tile(whole(self, "rc", 2), "T.infinity('float32')"), low, "T.min({a}, {b})")

        self.pass_([("low", "T.infinity('float32')")], body)

    def by_absmax(self):
        def body(top):
            self.merged("absmax", self.tile(whole(self, "rc", 2)), top, "T.max({a}, {b})")

        self.pass_([("amax", self.pick("0", "1e-4"))], body)

    def by_abssum(self):
        def body(total):
            part, form = self.statistic("part", None)
            self.reduce("abssum", self.tile(whole(self, "rc", 2)), part)
            with self.own_elements():
                self.line(f"{total[1]} += {form}")

        self.pass_([("asum", "0")], body)

    def by_count(self):
        def body(total):
            which = condition(self, "rc")
            self.merged("sum", self.tile(f"T.if_then_else({which.text}, 1.0, 0.0)"), total, "{a} + {b}")

        self.pass_([("count", "0")], body)

    def by_scalar(self):
        """A loop over elements within rows."""

        def body(total):
            name = self.tile(whole(self, "rc", 2), stem="sh")
            inner = self.index[self.loop]
            with self.own_elements():
                loop = self.pick("T.serial", "T.serial", "T.unroll", "range")
                with self.under(f"for {inner} in {loop}({self.width[self.loop]}):"):
                    if self.chance(0.4):
                        with self.under(f"if {self.in_form(name, 'rc')} > {self.pick('0', '0.5')}:"):
                            self.line(f"{total[1]} += {self.in_form(name, 'rc')}")
                    else:
                        self.line(f"{total[1]} += {self.in_form(name, 'rc')} * {self.pick('1.0', '0.5')}")

        self.pass_([("tot", "0")], body)

    def by_tile(self):
        """A tile of sums (or maxima), reduced after the loop."""
        kind = self.pick("sum", "sum", "max")
        tile = self.alloc("acc", self.shape("rc"), "float32", "fragment")
        self.line(f"T.clear({tile})" if kind == "sum" else f"T.fill({tile}, {self.pick(*LOWEST)})")
        form = self.in_form(tile, "rc")
        with self.blocks():
            if self.chance(0.3):
                self.other_statement()
            text = self.masked(whole(self, "rc", 3), "0.0" if kind == "sum" else LOWEST[0])
            with self.elements("rc"):
                if kind == "sum":
                    self.line(f"{form} += {text}" if self.chance(0.6) else f"{form} = {form} + {text}")
                else:
                    self.line(f"{form} = T.max({form}, {text})")
        name, own = self.statistic("red", None)
        self.reduce(kind, tile, name, self.pick(None, "True"))
        self.statistics.append(value(own, self.own))
        self.values.append(value(own, self.own))

    def by_online(self):
        """Softmax's running maximum and sum."""
        base = self.pick("exp", "exp2")
        scale = self.pick("", "", " * 1.44269504", " * 0.125") if base == "exp2" else ""

        def power(x, top):
            return f"T.{base}({x}{scale} - {top}{scale})"

        def body(top, total):
            name = self.tile(whole(self, "rc", 1), self.pick("-T.infinity('float32')", "-1e30"))
            form = self.in_form(name, "rc")
            old, old_form = self.statistic("old", None)
            part, part_form = self.statistic("part", None)
            self.line(f"T.copy({top[0]}, {old})" if self.shared[old] == self.shared[top[0]] else f"T.fill({old}, 0)")
            if self.shared[old] != self.shared[top[0]]:
                with self.own_elements():
                    self.line(f"{old_form} = {top[1]}")
            if self.chance(0.5):
                self.line(f"T.fill({top[0]}, -T.infinity('float32'))")
                self.reduce("max", name, top[0], "False")
                with self.own_elements():
                    self.line(f"{top[1]} = T.max({top[1]}, {old_form})")
            else:
                self.reduce("max", name, top[0], "False")
            with self.elements("rc"):
                self.line(f"{form} = {power(form, top[1])}")
            self.reduce("sum", name, part)
            with self.own_elements():
                self.line(f"{total[1]} = {total[1]} * {power(old_form, top[1])} + {part_form}")

        self.pass_([("m", self.pick("-1e30", "-1e20", "-3e4")), ("l", "0")], body)

    def by_best(self):
        """The greatest value and where it stands."""
        best, best_form = self.statistic("best", self.pick(*LOWEST[:3]))
        where, where_form = self.statistic("at", None)
        self.prologue[-1] = f'{where} = T.alloc_fragment({self.shared[where][0]}, "int32")'
        self.line(f"T.fill({where}, 0)")
        with self.blocks():
            name = self.tile(whole(self, "rc", 1), "-T.infinity('float32')")
            part, part_form = self.statistic("part", None)
            self.reduce("max", name, part)
            places = self.alloc("pl", self.shape("rc"), "int32", "fragment")
            with self.elements("rc"):
                here = f"{self.in_form(name, 'rc')} == {part_form}"
                self.line(f"{self.in_form(places, 'rc')} = T.if_then_else({here}, {self.place(self.loop)}, 100000)")
            first = self.alloc("first", [self.width[self.own]], "int32", "fragment")
            self.reduce("min", places, first)
            with self.own_elements():
                with self.under(f"if {part_form} > {best_form}:"):
                    self.line(f"{best_form} = {part_form}")
                    self.line(f"{where_form} = {self.in_form(first, self.own)}")
        self.statistics.append(value(best_form, self.own))
        self.values.append(value(best_form, self.own))
        if self.chance(0.7):
            self.tensor("Where", [self.limit[self.own]], self.pick("int32", "int64"), "none")
            self.store_vector("Where", where_form)

    def by_top(self):
        """The greatest elements of each row of a block, one after the other, and where they are."""
        best = self.pick(1, 2, 3)
        own, both = self.own, "rc"
        for name, kind in (("Top", "float32"), ("TopAt", "int32")):
            self.tensor(name, [self.limit[own], best], kind, "none")
        with self.blocks():
            name = self.tile(whole(self, both, 1), "-1e30")
            form, inner = self.in_form(name, both), self.index[self.loop]
            top = self.alloc("tv", [self.width[own]], "float32", "fragment")
            at = self.alloc("ti", [self.width[own]], "int32", "fragment")
            places = self.alloc("pl", self.shape(both), "int32", "fragment")
            with self.under(f"for t in {self.pick('T.serial', 'T.unroll', 'range')}({best}):"):
                self.reduce("max", name, top)
                here = f"{form} == {self.in_form(top, own)}"
                with self.parallel(*self.shape(both)):
                    self.line(f"{self.in_form(places, both)} = T.if_then_else({here}, {inner}, -1)")
                self.reduce("max", places, at)
                with self.parallel(*self.shape(both)):
                    gone = f"{inner} == {self.in_form(at, own)}"
                    self.line(f"{form} = T.if_then_else({gone}, -1e30, {form})")
                with self.parallel(self.width[own], names=[self.index[own]]):
                    with self.under(f"if {self.place(own)} < {self.limit[own]}:"):
                        self.line(f"Top[{self.place(own)}, t] = {self.in_form(top, own)}")
                        self.line(f"TopAt[{self.place(own)}, t] = {self.in_form(at, own)}")
        self.by_sum()

    def by_reducer(self):
        """Sums or extremes that each thread collects."""
        kind = self.pick("sum", "max", "min")
        name, axis = self.name("red"), self.own
        self.prologue.append(f'{name} = T.alloc_reducer(({self.width[axis]},), "float32", op="{kind}")')
        self.line(f"T.reducer_init({name})")
        with self.blocks():
            text = self.masked(whole(self, "rc", 2), "0.0")
            with self.elements("rc"):
                self.line(f"T.reducer_update({self.in_form(name, axis)}, {text})")
        total = self.alloc("tot", [self.width[axis]], "float32", "fragment")
        self.line(f"T.finalize_reducer({name}, {total})")
        self.statistics.append(value(self.in_form(total, axis), axis))
        self.values.append(value(self.in_form(total, axis), axis))

    def finish(self):
        """Numbers made of the statistics."""
        for _ in range(self.pick(0, 1, 1, 2)):
            name, form = self.statistic("st", None)
            if self.statistics and self.chance(0.5):
                s = self.rng.choice(self.statistics).text
                forms = ("{s} / {n}", "T.rsqrt(T.abs({s}) + 1e-5)", "1.0 / (T.abs({s}) + 1.0)", "T.max({s}, 1e-4)")
                text = self.pick(*forms).format(s=s, n=self.limit[self.loop])
            else:
                text = whole(self, self.own, 2)
            with self.own_elements():
                self.line(f"{form} = {text}")
            self.statistics.append(value(form, self.own))
            self.values.append(value(form, self.own))
