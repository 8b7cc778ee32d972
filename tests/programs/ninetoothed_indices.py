"""NineToothed programs that index by what they read: gathers, scatters, counts, tables, ranges of rows, pages; jagged rows."""

from programs.ninetoothed_kernel import FLOATS, KNOWN, Kernel, Parameter
from programs.writer import Value

ROWS = [".tile((1, -1))", ".squeeze(1)", "d.squeeze(0)"]


class Indices(Kernel):
    def __init__(self, rng):
        super().__init__(rng)
        self.count, self.width = self.rng.randint(1, 20), self.rng.randint(1, 40)
        self.floats = self.pick(*FLOATS)

    def made(self, stem, text, *steps):
        """A vector that the launch makes, the first parameter."""
        name = self.name(stem)
        self.parameters.insert(0, Parameter(name, "Tensor(1)", text, list(steps)))
        return name

    def table(self, stem, rows, first, fill="normal", dtype=None):
        """All rows of a table, for every program."""
        steps = [
            ".tile((1, -1))",
            ".tile((-1, -1))",
            ".squeeze(0)",
            f".expand(({first}.shape[0],))",
            "d.squeeze(1)",
            "dd.squeeze(0)",
        ]
        return self.tensor(
            stem,
            [rows, self.width],
            *steps,
            dtype=dtype or self.floats,
            fill=fill,
            options=self.pick("", KNOWN),
            plain=fill != "normal",
        )


def embedding(w):
    """Rows of a table by their numbers, with something added or multiplied."""
    rows = w.rng.randint(1, 30)
    index = w.tensor("Index", [w.count], ".tile((1,))", dtype=w.pick("int32", "int64"), fill=f"below:{rows + w.pick(0, 2)}")
    table = w.table("Table", rows, f"{index}_tiled")
    y = w.tensor("Y", [w.count, w.width], *ROWS, dtype=w.pick("float32", w.floats), fill="none")
    if w.chance(0.5):
        w.line(f"row = {index}")
        text = f"{table}[row]"
    else:
        text = f"{table}[{index}]"
    w.let("x", w.read(text, w.floats), "c")
    if w.chance(0.5):
        x = w.tensor("X", [w.count, w.width], *ROWS, dtype=w.pick(*FLOATS))
        w.let("x", w.read(x, w.arguments[-1].dtype), "c")
    w.line(f"{y} = {w.of('c', w.pick(0, 1, 2))}")


def scatter(w):
    """Rows go to places that are read: none twice."""
    more = w.rng.randint(0, 3)
    x = w.tensor("X", [w.count, w.width], *ROWS, dtype=w.floats)
    numbers = f"torch.arange({w.count}, device={x}.device)"
    places = w.made("Slot", w.pick(f"{numbers} + {more}", f"{w.count + more - 1} - {numbers}"), ".tile((1,))")
    rows = w.count + max(0, more - w.pick(0, 1))
    cache = w.table("Cache", rows, f"{x}_tiled", "small", dtype=w.pick("float32", w.floats))
    w.line(f"row = {places}")
    w.let("x", w.read(x, w.floats), "c")
    w.line(f"{cache}[row] = {w.of('c', w.pick(0, 1, 2))}")


def source_gather(w):
    """The source of a tensor by rows and columns that are computed."""
    rows = w.rng.randint(1, 12)
    index = w.tensor("Index", [w.count], ".tile((2,))", dtype=w.pick("int32", "int64"), fill=f"below:{rows + w.pick(0, 3)}")
    x = w.tensor("X", [rows, w.width], dtype=w.floats, other=w.pick(None, "1.5"))
    columns = w.rng.randint(1, w.width + 3)
    y = w.tensor("Y", [w.count, columns], ".tile((2, -1))", ".squeeze(1)", dtype="float32", fill="none")
    w.line(f"row = {index}")
    w.line(f"column = {w.pick('', f'{w.rng.randint(0, 2)} + ')}ntl.arange(0, {columns})")
    w.let("x", w.read(f"{x}.source[row[:, None], column[None, :]]", w.floats), "rc")
    w.line(f"{y} = {w.of('rc', w.pick(0, 1, 2))}")


def counts(w):
    """Counts and sums by keys, added to memory."""
    keys = w.rng.randint(1, 12)
    block = w.size("B", w.pick(8, 16, 64), ("16, 64",))
    total = w.rng.randint(1, 120)
    x = w.tensor("K", [total], f".tile(({block},))", dtype=w.pick("int32", "int64"), fill=f"below:{keys}")
    mask = f"mask={x}.offsets({w.pick('0', '-1')}) < {x}.source.shape[{w.pick('0', '-1')}]"
    if w.chance(0.5):
        y = w.tensor("Y", [keys], *w.pick([], [".tile((-1,))", ".squeeze(0)"]), dtype="int32", fill="small", plain=True)
        how, value = w.pick("add", "max", "min"), w.pick("1", "2")
        w.line(f"ntl.atomic_{how}({y}.source.data_ptr() + {x}, {value}, {mask})")
    else:
        v = w.tensor("V", [total], f".tile(({block},))", dtype=w.floats)
        y = w.tensor("Y", [keys], dtype="float32", fill="small", plain=True)
        w.let("v", w.read(v, w.floats), "c")
        w.line(f"ntl.atomic_add({y}.source.data_ptr() + {x} * {y}.source.stride(0), {w.of('c', w.pick(0, 1))}, {mask})")


def segments(w):
    """Sums of rows between two bounds that are read."""
    bounds = sorted(w.rng.randint(0, w.count) for _ in range(w.rng.randint(1, 5)))
    bounds = [0, *bounds, w.count]
    columns = w.size("B", w.pick(4, 8, 16))
    x = w.tensor("X", [w.count, w.width], dtype=w.floats)
    y_name = f"Y{w.numbers + 3}"
    steps = [".tile((1,))", ".unsqueeze(1)", f".expand((-1, {y_name}_tiled.shape[1]))"]
    device = f"dtype=torch.int32, device={x}.device"
    ends = w.made("End", f"torch.tensor({bounds[1:]}, {device})", *steps)
    starts = w.made("Start", f"torch.tensor({bounds[:-1]}, {device})", *steps)
    y = w.tensor("Y", [len(bounds) - 1, w.width], f".tile((1, {columns}))", "d.squeeze(0)", dtype="float32", fill="none")
    assert y == y_name
    w.parameters[-1].order = -1
    w.line(f"start, end = ntl.sum({starts}), ntl.sum({ends})")
    w.line(f"column = {y}.offsets(-1)")
    how = w.pick("sum", "max")
    zero = "0.0" if how == "sum" else "float('-inf')"
    w.line(f"total = ntl.full({y}.shape, {zero}, dtype=ntl.float32)")
    with w.under("for row in range(start, end):"):
        w.let("x", w.read(f"{x}.source[row, column]", w.floats), "c")
        text = w.of("c", w.pick(0, 1, 2))
        w.line(f"total += {text}" if how == "sum" else f"total = ntl.maximum(total, {text})")
    w.line(f"{y} = {w.pick('total', 'total * 0.5', 'ntl.where(end > start, total, 0.0)')}")


def experts(w):
    """Each row is multiplied by the matrix whose number is read."""
    number, w.width, out = w.rng.randint(1, 4), w.pick(4, 8, 16), w.pick(4, 8, 5)
    w.count = min(w.count, 10)
    expert = w.tensor("Expert", [w.count], ".tile((1,))", dtype="int64", fill=f"below:{number}")
    x = w.tensor("X", [w.count, w.width], *ROWS, dtype=w.floats, options=w.pick("", KNOWN))
    weights = [".tile((1, -1, -1))", "d.squeeze(0)", ".squeeze((1, 2))", ".tile((-1,))", f".expand(({x}_tiled.shape[0],))"]
    weight = w.tensor("Weight", [number, w.width, out], *weights, dtype=w.floats, options=KNOWN)
    y = w.tensor("Y", [w.count, out], *ROWS, dtype="float32", fill="none")
    w.line(f"k = {expert}")
    w.let("x", w.read(x, w.floats), "r")
    w.let("m", w.read(f"{weight}[k]", w.floats), "rc")
    w.let("p", f"{w.values[0].text}[:, None] * {w.values[1].text}", "rc")
    w.line(f"{y} = ntl.sum({w.pick(w.values[2].text, w.of('rc', 1))}, {w.pick('0', 'axis=0')})")


def orders(w):
    """Rows in order: sorts, places, quantiles, running sums of whole numbers."""
    dtype = w.pick("int32", "int16", "int64", "float32", "float16")
    whole = "int" in dtype
    form = w.pick("sort", "place", "quantile", "scan", "most")
    other = {True: "32767", False: 'float("inf")'}[whole] if form in ("sort", "place", "quantile") else None
    fill = w.pick("any", "small") if dtype == "int16" or form in ("scan", "most") and whole else "small" if whole else "normal"
    x = w.tensor("X", [w.count, w.width], *ROWS, dtype=dtype, fill=fill, other=other, options=w.pick("", KNOWN))
    if form == "place":
        y = w.tensor("Y", [w.count, w.width], *ROWS, dtype="int64", fill="none")
        w.line(f"place = ntl.arange(0, {x}.shape[0]).to(ntl.int64)")
        number = x if whole else f"ntl.floor(ntl.clamp({x}.to(ntl.float32), -9.0, 9.0) * 8.0)"
        w.line(f"key = ({number}.to(ntl.int64) << 32) | place")
        w.line(f"{y} = ntl.sort(key) & 0xFFFFFFFF")
    elif form == "quantile":
        y = w.tensor("Y", [w.count], ".tile((1,))", fill="none")
        w.line(f"ordered = ntl.sort({x})")
        w.line(f"low = {w.rng.randrange(w.width)}")
        w.line(f"at = ntl.arange(0, {w.pick('ordered', x)}.shape[0])")
        w.line(f"{y} = ntl.sum(ntl.where(at == low, ordered.to(ntl.float32), 0.0)) * 0.5")
    elif form == "most":
        y = w.tensor("Y", [w.count], ".tile((1,))", dtype="int32", fill="none")
        value = w.tensor("V", [w.count], ".tile((1,))", dtype=dtype, fill="none")
        how = w.pick("max", "min")
        w.line(f"{value} = ntl.{how}({x})")
        w.line(f"{y} = ntl.arg{how}({x}, {w.pick('0', 'axis=0')})")
    else:
        y = w.tensor("Y", [w.count, w.width], *ROWS, dtype=w.pick(dtype, "float32", "int64" if whole else dtype), fill="none")
        way = w.pick("", ", descending=True") if form == "sort" else w.pick(", 0", ", axis=0", ", 0, reverse=True")
        w.line(f"{y} = ntl.{'sort' if form == 'sort' else 'cumsum'}({x}{way})")


def rounds(w):
    """Random numbers by place: dropout."""
    block = w.size("B", w.pick(16, 32, 64), ("32, 128",))
    shape = [w.count, w.width]
    flat = [".flatten()", f".tile(({block},))"]
    x = w.tensor("X", shape, *flat, dtype=w.floats)
    keep, seed = w.number("keep", "0.75"), w.number("seed", str(w.rng.randint(0, 99)))
    y = w.tensor("Y", shape, *flat, dtype=w.pick("float32", w.floats), fill="none")
    w.let("x", w.read(x, w.floats), "r")
    w.line(f"kept = ntl.rand({seed}, {x}.offsets()) < {keep}")
    w.values.append(Value("kept", "r", "b"))
    w.line(f"{y} = ntl.where(kept, {w.of('r', w.pick(0, 1))} / {keep}, 0.0)")


def jagged(w):
    """Rows of different lengths, read as if they were padded, or element by element."""
    lengths = [w.rng.randint(0, 9) for _ in range(w.rng.randint(1, 4))]
    if not sum(lengths):
        lengths[0] = 3
    width, block = w.rng.randint(1, 9), w.size("B", w.pick(2, 4, 8))
    tile = f".tile((1, {block}, {block}))"
    padded = w.chance(0.6)
    names = []
    for stem in ("X",) if padded else ("X", "Y"):
        name = w.tensor(stem, [len(lengths), max(lengths), width], tile, dtype=w.floats, plain=True)
        argument = w.arguments.pop()
        w.arguments.append(argument.__class__(name, (sum(lengths), width), w.floats, "normal" if stem == "X" else "none"))
        offsets = [sum(lengths[:n]) for n in range(len(lengths) + 1)]
        parameter = w.parameters[-1]
        other = ", other=0.25" if w.chance(0.4) else ""
        parameter.constructor = f"Tensor(3, jagged_dim=1{other})"
        parameter.passed = f"torch.nested.nested_tensor_from_jagged({name}, torch.tensor({offsets}, device={name}.device))"
        names.append(name)
    if padded:
        names.append(w.tensor("Y", [len(lengths), max(lengths), width], tile, dtype="float32", fill="none"))
    w.let("x", w.read(names[0], w.floats), "r")
    if w.chance(0.3):
        w.bind(w.number("alpha", "0.5"))
    w.line(f"{names[1]} = {w.of('r', 2)}")


def write_indices(rng):
    w = Indices(rng)
    w.pick(embedding, scatter, source_gather, counts, segments, experts, orders, orders, rounds, jagged)(w)
    return w
