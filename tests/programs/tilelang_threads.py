"""TileLang programs for single threads: local arrays, shared memory between synchronisations, shuffles, atomics."""

from programs.tilelang_expressions import condition, expression
from programs.tilelang_kernel import Kernel, value


class Threads(Kernel):
    """A block of `threads` threads, of which each has `EACH` elements of a vector of N, or a part of a row of M."""

    def __init__(self, rng):
        super().__init__(rng)
        self.threads = self.pick(32, 32, 64, 128)
        self.each = self.pick(1, 2, 4, 4, 8)
        self.sync = "T.sync_threads()"
        self.size("N", self.pick(self.threads * self.each, self.rng.randint(1, 2 * self.threads * self.each + 3)))

    def local(self, stem, shape, dtype="float32"):
        name = self.name(stem)
        self.line(f'{name} = T.alloc_local(({shape},), "{dtype}")')
        return name

    def variable(self, stem, initial, dtype="float32"):
        name = self.name(stem)
        if self.chance(0.5):
            self.line(f'{name} = T.alloc_var("{dtype}", {initial})')
        else:
            self.line(f'{name} = T.alloc_var("{dtype}")')
            self.line(f"{name} = {initial}")
        return name

    def scalar(self, depth=2):
        return expression(self, "", depth).text

    def load(self):
        """Each thread's elements, into a local array."""
        own = self.local("own", "EACH")
        place = self.pick("bx * (TX * EACH) + tx * EACH + v", "bx * (TX * EACH) + v * TX + tx")
        loop = self.pick("T.vectorized", "T.serial", "T.unroll", "range")
        with self.under(f"for v in {loop}(EACH):"):
            text = f"X[{place}]"
            if self.chance(0.4):
                text = f"T.if_then_else({place} < N, {text}, {self.pick('0.0', '0')})"
            self.line(f"{own}[v] = {text}")
        return own, place

    def change(self, own):
        loop = self.pick("T.serial", "T.unroll", "T.vectorized")
        with self.under(f"for v in {loop}(EACH):"):
            self.values.append(value(f"{own}[v]"))
            form = self.rng.random()
            if form < 0.6:
                self.line(f"{own}[v] = {self.scalar()}")
            else:
                with self.under(f"if {condition(self, '').text}:"):
                    self.line(f"{own}[v] {self.pick('=', '+=', '*=')} {self.scalar(1)}")
                if self.chance(0.5):
                    with self.under("else:"):
                        self.line(f"{own}[v] = {self.scalar(1)}")
            self.values.pop()

    def summed(self, own):
        """The sum (or maximum) of a thread's elements, in a variable."""
        join = self.pick("{a} + {b}", "{a} + {b}", "T.max({a}, {b})")
        total = self.variable("t", "0.0")
        with self.under(f"for v in {self.pick('T.serial', 'T.unroll', 'range')}(EACH):"):
            self.line(f"{total} = {join.format(a=total, b=own + '[v]')}")
        return total, join

    def of_block(self, total, join):
        """What all threads have of it: by shared memory, in a tree, or by shuffles within warps."""
        form = self.rng.random()
        shared = self.alloc("sh", ["TX"], "float32", "shared")
        if form < 0.4:
            self.line(f"{shared}[tx] = {total}")
            self.line(self.sync)
            step = self.name("half")
            if self.chance(0.5):
                self.prologue.append(f'{step} = T.alloc_var("int32")')
                self.line(f"{step} = TX // 2")
                with self.under(f"while {step} > 0:"):
                    with self.under(f"if tx < {step}:"):
                        self.line(f"{shared}[tx] = {join.format(a=f'{shared}[tx]', b=f'{shared}[tx + {step}]')}")
                    self.line(self.sync)
                    self.line(f"{step} = {step} // 2")
            else:
                levels = self.threads.bit_length() - 1
                with self.under(f"for {step} in {self.pick('T.serial', 'T.unroll')}({levels}):"):
                    with self.under(f"if tx < (TX >> ({step} + 1)):"):
                        other = f"{shared}[tx + (TX >> ({step} + 1))]"
                        self.line(f"{shared}[tx] = {join.format(a=f'{shared}[tx]', b=other)}")
                    self.line(self.sync)
            return f"{shared}[0]"
        if form < 0.8:
            lane = self.variable("w", total)
            if self.chance(0.5):
                name = "sum" if "+" in join else "max"
                self.line(f"{lane} = T.warp_reduce_{name}({lane})")
            else:
                mode, step = self.pick(("xor", None), ("down", None)), self.name("s")
                with self.under(f"for {step} in T.unroll(5):"):
                    self.line(f"{lane} = {join.format(a=lane, b=f'T.shfl_{mode[0]}({lane}, 16 >> {step})')}")
            with self.under("if tx % 32 == 0:"):
                self.line(f"{shared}[tx // 32] = {lane}")
            self.line(self.sync)
            result = self.variable("all", f"{shared}[0]")
            with self.under("for g in T.serial(1, TX // 32):"):
                self.line(f"{result} = {join.format(a=result, b=f'{shared}[g]')}")
            return result
        self.line(f"{shared}[tx] = {total}")
        self.line(self.sync)
        result = self.variable("all", f"{shared}[0]")
        with self.under("for g in T.serial(1, TX):"):
            self.line(f"{result} = {join.format(a=result, b=f'{shared}[g]')}")
        return result

    def exchange(self, own):
        """A number of another thread."""
        form = self.rng.random()
        if form < 0.5:
            shared = self.alloc("ex", ["TX"], "float32", "shared")
            self.line(f"{shared}[tx] = {own}[{self.pick('0', 'EACH - 1')}]")
            self.line(self.sync)
            other = self.pick("TX - 1 - tx", "(tx + 1) % TX", "tx ^ 1", "tx // 2", "(tx * 5) % TX")
            return self.variable("ot", f"{shared}[{other}]")
        mode = self.pick("T.shfl_xor({x}, 1)", "T.shfl_down({x}, 4)", "T.shfl_up({x}, 2)", "T.shfl_sync({x}, 3)")
        return self.variable("ot", mode.format(x=f"{own}[0]"))

    def histogram(self):
        """Counts in shared memory, added up by atomics."""
        bins = self.pick(4, 16, 32)
        self.tensor("Ids", ["N"], "int32", f"below:{bins}")
        self.tensor("Hist", [bins], "int32", "small")
        shared = self.alloc("bins", [bins], "int32", "shared")
        with self.under(f"if tx < {bins}:"):
            self.line(f"{shared}[tx] = 0")
        self.line(self.sync)
        with self.under("for v in T.serial(EACH):"):
            self.line("p = bx * (TX * EACH) + v * TX + tx")
            with self.under("if p < N:"):
                self.line(f"T.atomic_add({shared}[Ids[p]], 1)")
        self.line(self.sync)
        with self.under(f"if tx < {bins}:"):
            self.line(f"T.atomic_add(Hist[tx], {shared}[tx])")

    def search(self):
        """A loop whose end depends on what a thread finds."""
        self.tensor("Steps", ["N"], "int32", "none")
        self.tensor("Starts", ["N"], "int32", f"below:{self.pick(30, 200)}")
        self.line("p = bx * TX + tx")
        with self.under("if p < N:"):
            x, n = self.variable("x", "Starts[p] + 1", "int32"), self.variable("n", "0", "int32")
            form = self.rng.random()
            if form < 0.5:
                with self.under(f"while {x} > 1:"):
                    self.line(f"{x} = T.if_then_else({x} % 2 == 0, {x} // 2, 3 * {x} + 1)")
                    self.line(f"{n} += 1")
            else:
                with self.under(f"for s in T.serial({self.pick(8, 20)}):"):
                    with self.under(f"if {x} <= 1:"):
                        self.line("break" if self.chance(0.7) else "T.loop_break()")
                    self.line(f"{x} = {x} // 2")
                    self.line(f"{n} += {x} % 3")
            self.line(f"Steps[p] = {n}")


def write_threads(rng, seed):
    w = Threads(rng)
    w.line("tx = T.get_thread_binding()" if w.chance(0.7) else "tx = T.get_thread_binding(0)")
    kind = w.rng.random()
    constants = {"TX": w.threads, "EACH": w.each}
    if kind < 0.12:
        w.search()
        constants.pop("EACH")
        return w.program(seed, ["T.ceildiv(N, TX)"], ["bx"], constants)
    if kind < 0.25:
        w.histogram()
        return w.program(seed, ["T.ceildiv(N, TX * EACH)"], ["bx"], constants)
    w.tensor("X", ["N"])
    own, place = w.load()
    for _ in range(w.pick(0, 1, 1, 2)):
        w.change(own)
    for _ in range(w.pick(0, 1, 1)):
        if w.chance(0.4):
            w.values.append(value(w.exchange(own)))
        else:
            total, join = w.summed(own)
            w.values.append(value(total))
            if w.chance(0.7):
                w.values.append(value(w.of_block(total, join)))
    if w.values and w.chance(0.3):
        w.tensor("Sum", [1], "float32", "small")
        text = w.values[-1].text
        guard = w.pick("tx == 0", "tx < 16", "")
        if guard:
            with w.under(f"if {guard}:"):
                w.line(f"T.atomic_add({w.pick('Sum[0]', 'Sum')}, {text})")
        else:
            w.line(f"T.atomic_add({w.pick('Sum[0]', 'Sum')}, {text})")
    w.tensor("O", ["N"], None, "none")
    with w.under(f"for v in {w.pick('T.vectorized', 'T.serial', 'T.unroll')}(EACH):"):
        w.values.append(value(f"{own}[v]"))
        text = w.scalar()
        if w.chance(0.7):
            with w.under(f"if {place} < N:"):
                w.line(f"O[{place}] = {text}")
        else:
            w.line(f"O[{place}] = {text}")
    return w.program(seed, ["T.ceildiv(N, TX * EACH)"], ["bx"], constants)
