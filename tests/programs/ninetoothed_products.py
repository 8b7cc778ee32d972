"""NineToothed programs around products: matmuls with what stands before, between and behind, convolutions, and attention."""

from programs.ninetoothed_kernel import KNOWN, Kernel
from programs.triton_products import on_elements, sizes
from programs.writer import Value

OPERANDS = ("float16", "float16", "bfloat16", "float32")


class Product(Kernel):
    """Tiles of an output, and for each the row of tiles of one operand and the column of the other's."""

    def __init__(self, rng, blocks=(16, 16, 32, 64)):
        super().__init__(rng)
        self.block = {a: self.pick(*blocks) for a in "mnk"}
        self.extent = {a: sizes(rng, self.block[a]) for a in "mnk"}
        if self.chance(0.04):
            self.extent[self.pick(*"mnk")] = 0
        free = ("", "32, 64", "lower_bound=16, upper_bound=32") if self.chance(0.3) else ()
        self.text_of = {a: self.size(f"B{a.upper()}", self.block[a], free) for a in "mnk"}
        self.batch = None
        self.dtype = self.pick(*OPERANDS, *OPERANDS, "int8", "int8", "float8_e5m2")
        self.whole = self.dtype == "int8"
        self.plain = self.whole or self.dtype.startswith("float8")  # operands are taken as they are

    def steps(self, which, out):
        """Of an operand or the output, behind what makes it a matrix (or matrices)."""
        m, n, k = (self.text_of[a] for a in "mnk")
        if self.batch is None:
            return {
                "out": [f".tile(({m}, {n}))"],
                "lhs": [f".tile(({m}, {k}))", ".tile((1, -1))", f".expand((-1, {out}.shape[1]))", "d.squeeze(0)"],
                "rhs": [f".tile(({k}, {n}))", ".tile((-1, 1))", f".expand(({out}.shape[0], -1))", "d.squeeze(1)"],
                "turned": [
                    f".tile(({n}, {k}))",
                    ".tile((1, -1))",
                    ".squeeze(1)",
                    ".unsqueeze(0)",
                    f".expand(({out}.shape[0], -1))",
                    "d.squeeze(0)",
                ],
            }[which]
        return {
            "out": [f".tile((1, {m}, {n}))", "d.squeeze(0)"],
            "lhs": [
                f".tile((1, {m}, {k}))",
                ".tile((1, 1, -1))",
                f".expand((-1, -1, {out}.shape[2]))",
                "d.squeeze((0, 1))",
                "dd.squeeze(0)",
            ],
            "rhs": [
                f".tile((1, {k}, {n}))",
                ".tile((1, -1, 1))",
                f".expand((-1, {out}.shape[1], -1))",
                "d.squeeze((0, 2))",
                "dd.squeeze(0)",
            ],
        }[which]

    def placed(self, stem, shape, steps, order=0, **options):
        name = self.tensor(stem, shape, *steps, **options)
        self.parameters[-1].order = order
        return name

    def accumulate(self, a, b, out, turned):
        """The loop, with what stands before the product; the name of the sum."""
        kind = "int32" if self.whole else "float32"
        shape = f"{out}.shape" if self.chance(0.8) else f"({out}.shape[0], {out}.shape[1])"
        self.line(f"acc = ntl.zeros({shape}, dtype=ntl.{kind})")
        plain = not turned and self.chance(0.3)
        if plain:
            if self.chance(0.4) and not self.whole:
                self.line(f"product({a}, {b}, acc)")
                return
            with self.under(f"for k in range({a}.shape[0]):"):
                self.line(self.pick(f"acc += ntl.dot({a}[k], {b}[k])", f"acc = ntl.dot({a}[k], {b}[k], acc)"))
            return
        second = not self.plain and self.chance(0.2)
        sums = not self.plain and self.chance(0.2)
        if second:
            self.line(f"acc2 = ntl.zeros({shape}, dtype=ntl.float32)")
        if sums:
            self.line(f"total = ntl.zeros(({out}.shape[0],), dtype=ntl.float32)")
        with self.under(f"for k in range({self.pick(a, b)}.shape[0]):"):
            left, right = f"{a}[k]", f"{b}[k]"
            if not self.plain and self.chance(0.35):
                back = self.pick("ntl." + self.dtype, f"{a}.dtype.dtype")
                self.line(f"left = ({on_elements(self, f'{left}.to(tl.float32)', 'rc', 2)}).to({back})")
                left = "left"
            if not self.plain and self.chance(0.2):
                self.line(f"right = ntl.cast(ntl.cast({right}, ntl.float32) * 0.5, ntl.{self.dtype})")
                right = "right"
            if sums:
                self.line(f"total += ntl.sum(ntl.cast({left}, ntl.float32), {self.pick('1', 'axis=1', 'axis=-1')})")
            given = right if not turned else self.pick(f"ntl.trans({right})", f"ntl.permute({right}, (1, 0))")
            precise = ', input_precision="ieee"' if self.dtype == "float32" and self.chance(0.5) else ""
            if self.chance(0.5):
                self.line(f"acc += ntl.dot({left}, {given}{precise})")
            else:
                self.line(f"acc = ntl.dot({left}, {given}, acc{precise})")
            if second:
                self.line(
                    f"acc2 += ntl.dot({left}, {given})"
                    if turned
                    else f"acc2 += ntl.dot({left}, ntl.cast({right} * {right}, ntl.{self.dtype}))"
                )
        if second:
            self.line("acc = acc * ntl.sigmoid(acc2 * 0.25)")
        if sums:
            self.bind("total", "r")


def write_matmul(rng):
    w = Product(rng)
    m, n, k = (w.extent[a] for a in "mnk")
    if w.chance(0.25):
        w.batch = w.pick(1, 2, 3)
    lead = [] if w.batch is None else [w.batch]
    turned = w.batch is None and w.chance(0.25)
    fill, names = "small" if w.whole else "normal", w.numbers
    out, out_dtype = f"C{names + 3}_tiled", "int32" if w.whole else w.pick("float32", "float16" if w.plain else w.dtype)
    free = not w.whole and w.batch is None
    first = w.pick("", ".permute((1, 0))") if w.batch is None else ""
    order = (k, m) if first else (m, k)
    a = w.placed("A", [*lead, *order], [*([first] if first else []), *w.steps("lhs", out)], dtype=w.dtype, fill=fill)
    b = w.placed(
        "B", [*lead, *((n, k) if turned else (k, n))], w.steps("turned" if turned else "rhs", out), dtype=w.dtype, fill=fill
    )
    c = w.placed("C", [*lead, m, n], w.steps("out", out), -1, dtype=out_dtype, fill="none")
    assert w.parameters[-1].arranged == out
    w.accumulate(a, b, c, turned)
    result = "acc"
    if free and w.chance(0.4):
        bias = w.tensor(
            "Bias",
            [n],
            f".tile(({w.text_of['n']},))",
            ".unsqueeze(0)",
            f".expand(({out}.shape[0], -1))",
            dtype=w.pick("float32", "float16" if w.plain else w.dtype),
        )
        w.let("bias", w.read(bias, w.arguments[-1].dtype), "c")
    if free and w.chance(0.25):
        scale = w.tensor(
            "Scale", [m], f".tile(({w.text_of['m']},))", ".unsqueeze(1)", f".expand((-1, {out}.shape[1]))", fill="positive"
        )
        w.let("scale", scale, "r")
    if not w.whole and w.chance(0.3):
        residual = w.placed("R", [*lead, m, n], w.steps("out", out), dtype=w.pick("float32", "float16" if w.plain else w.dtype))
        w.let("residual", w.read(residual, w.arguments[-1].dtype), "rc")
        w.line(f"acc = {w.number('beta', w.pick('0.5', '1.5'))} * {w.values[-1].text} + acc")
    if not w.whole and w.chance(0.5):
        w.line(f"acc = {on_elements(w, 'acc', 'rc', 3)}")
    if free and w.chance(0.2) and (w.text_of["n"].isdigit() or w.text_of["n"] in w.keywords):
        parts = w.tensor("Parts", [m, -(-n // w.block["n"])], f".tile(({w.text_of['m']}, 1))", fill="none")
        w.line(f"{parts} = ntl.{w.pick('sum', 'max')}(acc, axis=1){w.pick('[:, None]', '[:, None] * 0.5')}")
    if w.chance(0.15) and not w.whole:
        w.line(f"{c} = {result}")
        w.line(f"{c} = {c} * 0.5 + {result}")  # what was written is read again, rounded
    else:
        w.line(f"{c} = {w.pick(result, result, f'{result}.to(ntl.{out_dtype})', f'ntl.cast({result}, {c}.dtype)')}")
    return w


def write_convolution(rng):
    w = Product(rng, (16, 16, 32))
    w.dtype, w.whole, w.plain = w.pick(*OPERANDS), False, False
    batch, channels, filters = w.pick(1, 2), w.pick(1, 3, 4, 8), w.pick(1, 4, 5, 16, 20)
    (r, s), step, side, gap = (w.rng.randint(1, 3), w.rng.randint(1, 3)), w.pick(1, 1, 2), w.pick(0, 0, 1), w.pick(1, 1, 2)
    height, width = (gap * (size - 1) + 1 + w.rng.randint(0, 7) for size in (r, s))
    p, q = ((size + 2 * side - gap * (f - 1) - 1) // step + 1 for size, f in ((height, r), (width, s)))
    out = f"Y{w.numbers + 3}_tiled"
    filter_name = f"F{w.numbers + 2}"
    windows = [f".pad(((0, 0), (0, 0), ({side}, {side}), ({side}, {side})))"] if side else []
    dilated = f", dilation=(1, 1, {gap}, {gap})" if gap > 1 or w.chance(0.2) else ""
    windows += [
        f".tile((1, *{filter_name}.shape[1:]), strides=(-1, -1, {step}, {step}){dilated}, floor_mode=True)",
        ".squeeze(1)",
        "d.squeeze(0)",
        ".ravel()",
        ".flatten(end_dim=3)",
        ".flatten(start_dim=1)",
    ]
    options = KNOWN
    x = w.placed("X", [batch, channels, height, width], [*windows, *w.steps("lhs", out)], dtype=w.dtype, options=options)
    f = w.placed(
        "F",
        [filters, channels, r, s],
        [".flatten(start_dim=1)", ".permute((1, 0))", *w.steps("rhs", out)],
        dtype=w.dtype,
        options=options,
    )
    dtype = w.pick("float32", "float16" if w.plain else w.dtype)
    flat = [".permute((0, 2, 3, 1))", ".flatten(end_dim=3)"]
    y = w.placed("Y", [batch, filters, p, q], [*flat, *w.steps("out", out)], -1, dtype=dtype, fill="none", options=options)
    w.accumulate(x, f, y, False)
    if w.chance(0.4):
        bias = w.tensor("Bias", [filters], f".tile(({w.text_of['n']},))", ".unsqueeze(0)", f".expand(({out}.shape[0], -1))")
        w.let("bias", bias, "c")
    w.line(f"{y} = {on_elements(w, 'acc', 'rc', 2) if w.chance(0.5) else 'acc'}")
    return w


def write_attention(rng):
    """softmax(q k^T) v by tiles of keys: causal, within a window, with sinks, with heads that share keys."""
    w = Kernel(rng)
    block = {a: w.pick(8, 16, 16, 32) for a in "mn"}
    batch, heads, width = w.pick(1, 2), w.pick(1, 2), w.pick(8, 16, 16, 32)
    group = w.pick(1, 1, 2)
    rows, keys = sizes(rng, block["m"]), sizes(rng, block["n"])
    dtype = w.pick("float16", "bfloat16", "float32", "float32")
    bm, bn = w.size("BM", block["m"], ("16, 16", "16, 32")), w.size("BN", block["n"], ("16, 16",))
    last = w.pick(KNOWN, 'shape_options=(None, None, None, {"constexpr": True})', "")
    name = f"Q{w.numbers + 1}"
    own = [f".tile((1, 1, {bm}, -1))"]
    if group > 1:
        own += [f".tile((1, {group}, 1, 1))", "d.squeeze((0, 2, 3))", "dd.squeeze((0, 1))"]
    else:
        own += ["d.squeeze((0, 1))"]
    every = [f".tile((1, 1, {bn}, -1))", ".tile((1, 1, -1, -1))", f".expand((-1, -1, {name}_tiled.shape[-2], -1))"]
    every += ["d.squeeze((0, 1, 3))", "dd.squeeze((0, 1))"]
    q = w.tensor("Q", [batch, heads * group, rows, width], *own, dtype=dtype, options=last)
    assert q == name
    k, v = (w.tensor(s, [batch, heads, keys, width], *every, dtype=dtype, options=last) for s in "KV")
    o = w.tensor("O", [batch, heads * group, rows, width], *own, dtype=w.pick("float32", dtype), fill="none", options=last)
    logs = group == 1 and w.chance(0.3)
    if logs:
        lse = w.tensor("L", [batch, heads, rows], f".tile((1, 1, {bm}))", ".unsqueeze(3)", "d.squeeze((0, 1))", fill="none")
    scale = w.number("scale", w.pick("0.25", "0.5")) if w.chance(0.6) else "0.3"
    causal = w.pick(None, None, w.number("causal", w.pick("True", "False"), True) if w.chance(0.5) else "plain")
    base2, sinks = w.chance(0.5), w.chance(0.2)
    exp = "ntl.exp2" if base2 else "ntl.exp"
    query, head = q, ""
    if group > 1:
        w.line(f"for h in range({q}.shape[0]):")
        w.depth += 1
        query, head = f"{q}[h]", "[h]"
    cast = w.pick(True, dtype == "float32")
    w.line(f"query = {f'ntl.cast({query}, ntl.float32) * {scale}' if cast else query}")
    if cast and dtype != "float32" and w.chance(0.5):
        w.line(f"query = query.to({'ntl.' + dtype})")
        cast = False
    wide = "query.shape[0]"
    w.line(f"total = ntl.zeros(({wide}, {v}.dtype.shape[-1]), dtype=ntl.float32)")
    w.line(f"top = ntl.full(({wide},), {'0.25' if sinks else w.pick('float(%s)' % repr('-inf'), '-1e30')}, dtype=ntl.float32)")
    w.line(f"norm = ntl.full(({wide},), {'1.0' if sinks else '0.0'}, dtype=ntl.float32)")
    with w.under(f"for i in range({k}.shape[0]):"):
        to = ", ntl.float32)" if cast and dtype != "float32" else None
        each = f"ntl.cast({k}[i]{to}" if to else f"{k}[i]"
        precise = ', input_precision="ieee"' if dtype == "float32" and w.chance(0.5) else ""
        w.line(f"score = ntl.dot(query, ntl.trans({each}){precise}){'' if cast else ' * 0.3'}")
        if w.chance(0.3):
            w.line(f"score = {on_elements(w, 'score', 'rc', 2)}")
        w.line(f"column = {k}[i].offsets(-2)[None, :]")
        low = w.pick("float('-inf')", "-1e30")
        w.line(f"score = ntl.where(column < {k}.source.shape[-2], score, {low})")
        mask = f"{query}.offsets(-2)[:, None]{w.pick('', f' + {k}.source.shape[-2] - {q}.source.shape[-2]')} >= column"
        if causal == "plain":
            w.line(f"score = ntl.where({mask}, score, -1.0e6)")
        elif causal:
            with w.under(f"if {causal}:"):
                w.line(f"score = ntl.where({mask}, score, -1.0e6)")
        w.line("now = ntl.maximum(top, ntl.max(score, 1))")
        w.line(f"share = {exp}(score - now[:, None])")
        w.line(f"factor = {exp}(top - now)")
        w.line("norm = norm * factor + ntl.sum(share, 1)")
        value = f"ntl.cast({v}[i]{to}" if to else f"{v}[i]"
        p = "share" if to or dtype == "float32" else f"share.to({v}.dtype.dtype)"
        w.line(
            w.pick(
                f"total = total * factor[:, None] + ntl.dot({p}, {value}{precise})",
                f"total = ntl.dot({p}, {value}, total * factor[:, None]{precise})",
            )
        )
        w.line("top = now")
    w.line(f"{o}{head} = {w.pick('total / norm[:, None]', 'total * (1.0 / norm)[:, None]')}")
    if logs:
        w.line(f"{lse} = top + ntl.log(norm)")
    w.values.append(Value("total", "rc"))
    return w
