"""TileLang programs around T.gemm: loops over K with something before and after, batches, split sums, chains of products."""

from programs.tilelang_expressions import whole
from programs.tilelang_kernel import Kernel, value

TYPES = (  # of the factors, of the sums
    ("float16", "float32"),
    ("float16", "float32"),
    ("bfloat16", "float32"),
    ("float32", "float32"),
    ("float16", "float16"),
    ("int8", "int32"),
    ("float8_e4m3fn", "float32"),
)


class Product(Kernel):
    def __init__(self, rng):
        super().__init__(rng)
        self.kind, self.sum = self.pick(*TYPES)
        self.block = {"BM": self.pick(16, 32, 64), "BN": self.pick(16, 32, 64), "BK": self.pick(16, 16, 32)}
        for name, block in (("M", "BM"), ("N", "BN"), ("K", "BK")):
            b = self.block[block]
            self.size(name, self.pick(b, 2 * b, self.rng.randint(1, 2 * b + 5), self.rng.randint(1, 70)))
        self.turned = {"A": self.chance(0.25), "B": self.chance(0.4)}
        self.batch = self.chance(0.2)
        self.split = self.pick(2, 3) if self.sum == "float32" and not self.batch and self.chance(0.12) else 0
        self.fill = "small" if self.kind in ("int8", "float8_e4m3fn") or self.chance(0.2) else "normal"
        if self.batch:
            self.size("P", self.pick(1, 2, 3))

    def factor(self, name, rows, columns, fill=None):
        """A tensor that is turned or not, with the batch before it."""
        shape = [columns, rows] if self.turned[name] else [rows, columns]
        self.tensor(name, (["P"] if self.batch else []) + shape, self.kind, fill or self.fill)

    def shared_factor(self, name, rows, columns):
        """(buffer, is it turned)."""
        shape = [columns, rows] if self.turned[name] else [rows, columns]
        return self.alloc(name, shape, self.kind, "shared")

    def place(self, name, row, column, rows, columns):
        at = [(column, columns), (row, rows)] if self.turned[name] else [(row, rows), (column, columns)]
        if self.chance(0.75):
            parts = [start for start, _ in at]
        else:
            parts = [f"{start} : {start} + {n}" for start, n in at]
        return f"{name}[{', '.join((['bz'] if self.batch else []) + parts)}]"

    def gemm(self, a, b, c, clear=None):
        options = [f"transpose_{name}=True" for name in "AB" if self.turned[name]]
        if self.chance(0.3):
            options.append(f"policy=T.GemmWarpPolicy.{self.pick('Square', 'FullRow', 'FullCol')}")
        if clear:
            options.append(f"clear_accum={clear}")
        return f"T.gemm({', '.join([a, b, c, *options])})"

    def prologue_of(self, a, shape):
        """Something done to a factor in shared memory before it is multiplied; the name of what is multiplied."""
        if self.kind in ("int8", "float8_e4m3fn") or not self.chance(0.3):
            return a
        with self.parallel(*shape):
            if self.chance(0.5):
                self.line(f"{a}[i, j] = {self.pick(f'{a}[i, j] * 0.5', f'T.max({a}[i, j], 0)', f'{a}[i, j] + {a}[i, j]')}")
            else:
                self.line(f"{a}[i, j] = T.if_then_else(i {self.pick('>', '<=')} j, {a}[i, j], 0)")
        return a

    def loop(self, count, c):
        """The loop over K."""
        form = self.rng.random()
        clear = form < 0.2
        if not clear:
            self.line(f"T.clear({c})" if self.chance(0.8) else f"T.fill({c}, 0)")
        stages = f"T.Pipelined({count}, num_stages={self.pick(0, 1, 2, 3)})"
        head = self.pick(stages, stages, stages, f"T.serial({count})", f"range({count})")
        return head, "k == 0" if clear else None

    def product(self, c):
        a, b = self.shared_factor("A", "BM", "BK"), self.shared_factor("B", "BK", "BN")
        count, first = "T.ceildiv(K, BK)", "k"
        if self.split:
            count, first = f"T.ceildiv(K, BK * {self.split})", f"(bz * T.ceildiv(K, BK * {self.split}) + k)"
        head, clear = self.loop(count, c)
        with self.under(f"for k in {head}:"):
            self.line(f"T.copy({self.place('A', 'by * BM', f'{first} * BK', 'BM', 'BK')}, {a})")
            self.line(f"T.copy({self.place('B', f'{first} * BK', 'bx * BN', 'BK', 'BN')}, {b})")
            shape = ["BK", "BM"] if self.turned["A"] else ["BM", "BK"]
            used = self.prologue_of(a, shape)
            if self.chance(0.12) and self.kind in ("float16", "bfloat16"):
                fragment = self.alloc("Af", shape, self.kind, "fragment")
                self.line(f"T.copy({used}, {fragment})")
                used = fragment
            self.line(self.gemm(used, b, c, clear))
            if self.chance(0.1) and self.sum == "float32":
                with self.parallel("BM", "BN"):
                    self.line(f"{c}[i, j] *= 0.5")

    def epilogue(self, c):
        """What is done with the sums, and how they are stored."""
        wide = self.sum == "int32"
        outputs = ("float32", "int32") if wide else ("float32", "float16", "bfloat16", self.sum)
        self.tensor("C", (["P"] if self.batch else []) + ["M", "N"], self.pick(*outputs) if not self.split else "float32", "none")
        target = f"C[{'bz, ' if self.batch else ''}by * BM, bx * BN]"
        element = f"C[{'bz, ' if self.batch else ''}by * BM + i, bx * BN + j]"
        if self.split:
            self.arguments[-1] = type(self.arguments[-1])("C", self.arguments[-1].shape, "float32", "small")
            form = self.pick("tile", "elements")
            if form == "tile":
                return self.line(f"T.atomic_add({target}, {c})")
            with self.parallel("BM", "BN"):
                with self.under("if by * BM + i < M and bx * BN + j < N:"):
                    self.line(f"T.atomic_add({element}, {c}[i, j])")
            return
        if not wide:
            self.values.append(value(f"{c}[i, j]", "rc"))
            for name, extent, axis, start in (("Bias", "N", "c", "bx * BN + j"), ("Scale", "M", "r", "by * BM + i")):
                if self.chance(0.35):
                    self.tensor(name, [extent], None)
                    self.values.append(value(f"{name}[{start}]", axis))
            if self.chance(0.25):
                self.tensor("R", (["P"] if self.batch else []) + ["M", "N"])
                self.values.append(value(f"R[{element[2:]}", "rc"))
            if self.chance(0.3):
                self.rows_of(c)
        elif self.chance(0.5):
            self.values.append(value(f"T.cast({c}[i, j], 'float32')", "rc"))
        form = self.rng.random()
        text = whole(self, "rc", 2) if self.values and self.chance(0.7) else None
        if text and form < 0.35:
            with self.parallel("BM", "BN"):
                if self.chance(0.7):
                    with self.under("if by * BM + i < M and bx * BN + j < N:"):
                        self.line(f"{element} = {text}")
                else:
                    self.line(f"{element} = {text}")
            return
        if text and not wide:
            with self.parallel("BM", "BN"):
                self.line(f"{c}[i, j] = {text}")
        if form < 0.6:
            return self.line(f"T.copy({c}, {target})")
        dtype = self.dtype("C")
        shared = self.alloc("Cs", ["BM", "BN"], dtype, "shared")
        self.line(f"T.copy({c}, {shared})")
        self.line(f"T.copy({shared}, {target})")

    def rows_of(self, c):
        """Statistics of the rows or columns of the result, where the block has them."""
        along, extent, axis, index = self.pick(("1", "BM", "r", "i"), ("0", "BN", "c", "j"))
        kind = self.pick("sum", "max", "absmax")
        name = self.alloc("stat", [extent], "float32", "fragment")
        source = c
        if self.sum != "float32":
            source = self.alloc("Cf", ["BM", "BN"], "float32", "fragment")
            self.line(f"T.copy({c}, {source})")
        self.line(f"T.reduce_{kind}({source}, {name}, dim={along})")
        self.values.append(value(f"{name}[{index}]", axis))
        if self.chance(0.5):
            with self.parallel(extent, names=(index,)):
                self.line(f"{name}[{index}] = T.rsqrt(T.abs({name}[{index}]) + 1.0)")

    # -- a chain: attention
    def chain(self):
        self.kind = self.pick("float16", "bfloat16", "float32")
        self.split, self.fill = 0, "normal"
        dim, values = self.pick(16, 32), self.pick(16, 32)
        causal, base = self.chance(0.4), self.pick("exp", "exp2")
        batch = ["P"] if self.batch else []
        self.tensor("Q", [*batch, "M", dim], self.kind)
        self.tensor("Kt", [*batch, "N", dim], self.kind)
        self.tensor("V", [*batch, "N", values], self.kind)
        self.tensor("O", [*batch, "M", values], self.pick(self.kind, "float32"), "none")
        z = "bz, " if self.batch else ""
        q, k = self.alloc("Q", ["BM", dim], self.kind, "shared"), self.alloc("K", ["BN", dim], self.kind, "shared")
        v = self.alloc("V", ["BN", values], self.kind, "shared")
        s = self.alloc("S", ["BM", "BN"], "float32", "fragment")
        p = self.alloc("Pc", ["BM", "BN"], self.kind, "fragment" if self.chance(0.7) else "shared")
        acc = self.alloc("acc", ["BM", values], "float32", "fragment")
        top, old, scaled, part, total = (self.alloc(n, ["BM"], "float32", "fragment") for n in ("top", "old", "sc", "part", "l"))
        self.line(f"T.copy(Q[{z}bx * BM, 0], {q})")
        self.line(f"T.clear({acc})")
        self.line(f"T.clear({total})")
        lowest = self.pick("-T.infinity('float32')", "-1e30") if not causal else "-1e30"
        self.line(f"T.fill({top}, {lowest})")
        count = "T.ceildiv(N, BN)"
        if causal and self.chance(0.5):
            count = "T.min(T.ceildiv(N, BN), T.ceildiv((bx + 1) * BM, BN))"
        factor = self.pick("0.25", "0.36067376")
        with self.under(f"for n in {self.pick(f'T.Pipelined({count}, num_stages=2)', f'T.serial({count})')}:"):
            self.line(f"T.copy(Kt[{z}n * BN, 0], {k})")
            if self.chance(0.5):
                self.line(f"T.clear({s})")
                self.line(f"T.gemm({q}, {k}, {s}, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)")
                inside = "n * BN + j < N" + (" and bx * BM + i >= n * BN + j" if causal else "")
                with self.parallel("BM", "BN"):
                    self.line(f"{s}[i, j] = T.if_then_else({inside}, {s}[i, j], -1e30)")
            else:
                inside = "T.And(n * BN + j < N, bx * BM + i >= n * BN + j)" if causal else "n * BN + j < N"
                with self.parallel("BM", "BN"):
                    self.line(f"{s}[i, j] = T.if_then_else({inside}, 0, -1e30)")
                self.line(f"T.gemm({q}, {k}, {s}, transpose_B=True)")
            self.line(f"T.copy({top}, {old})")
            self.line(f"T.reduce_max({s}, {top}, dim=1, clear=False)")
            with self.parallel("BM", names=("i",)):
                self.line(f"{scaled}[i] = T.{base}({old}[i] * {factor} - {top}[i] * {factor})")
            with self.parallel("BM", "BN"):
                self.line(f"{s}[i, j] = T.{base}({s}[i, j] * {factor} - {top}[i] * {factor})")
            self.line(f"T.reduce_sum({s}, {part}, dim=1)")
            with self.parallel("BM", names=("i",)):
                self.line(f"{total}[i] = {total}[i] * {scaled}[i] + {part}[i]")
            with self.parallel("BM", values):
                self.line(f"{acc}[i, j] *= {scaled}[i]")
            self.line(f"T.copy({s}, {p})")
            self.line(f"T.copy(V[{z}n * BN, 0], {v})")
            self.line(f"T.gemm({p}, {v}, {acc})")
        with self.parallel("BM", values):
            self.line(f"{acc}[i, j] /= {total}[i]")
        if self.chance(0.4):
            self.tensor("Lse", [*batch, "M"], "float32", "none")
            with self.parallel("BM", names=("i",)):
                with self.under("if bx * BM + i < M:"):
                    self.line(f"Lse[{z}bx * BM + i] = T.log({total}[i]) + {top}[i] * {factor}")
        self.line(f"T.copy({acc}, O[{z}bx * BM, 0])")


def write_product(rng, seed):
    w = Product(rng)
    blocks = {n: w.block[n] for n in ("BM", "BN", "BK")}
    if w.chance(0.3):
        w.sizes.pop("K")
        w.chain()
        blocks.pop("BK")
        grid, names = ["T.ceildiv(M, BM)"], ["bx"]
        if w.batch:
            grid, names = [*grid, "P"], [*names, "bz"]
        return w.program(seed, grid, names, blocks)
    w.factor("A", "M", "K")
    w.factor("B", "K", "N")
    c = w.alloc("C", ["BM", "BN"], w.sum, "fragment")
    grid, names = ["T.ceildiv(N, BN)", "T.ceildiv(M, BM)"], ["bx", "by"]
    if w.batch:
        grid, names = [*grid, "P"], [*names, "bz"]
    if w.split:
        grid, names = [*grid, str(w.split)], [*names, "bz"]
    if not (w.batch or w.split) and w.chance(0.2):
        workers = w.pick(1, 3)
        domain = "[T.ceildiv(M, BM), T.ceildiv(N, BN)]"
        grid, names = [str(workers)], ["worker"]
        w.line(f"for by, bx in T.Persistent({domain}, {workers}, worker):")
        w.depth += 1
    elif w.chance(0.3):
        w.line(f"T.use_swizzle({w.pick('10', 'panel_size=4')})")
    w.product(c)
    w.epilogue(c)
    return w.program(seed, grid, names, blocks)
