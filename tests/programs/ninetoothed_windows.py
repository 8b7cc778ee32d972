"""NineToothed programs over windows and halves: pooling, and rotary embeddings in place."""

from programs.ninetoothed_elements import texts
from programs.ninetoothed_kernel import FLOATS, Kernel


def write_pooling(rng):
    w = Kernel(rng)
    flat = w.chance(0.3)  # one dimension of windows
    count = 1 if flat else 2
    window = [w.rng.randint(1, 3) for _ in range(count)]
    steps = [w.pick(1, 2, size) for size in window]
    gaps = [w.pick(1, 1, 2) for _ in range(count)]
    sides = [w.rng.randint(0, size // 2) for size in window]
    ceil = w.chance(0.4)
    sizes = [gap * (size - 1) + 1 + w.rng.randint(0, 9) for size, gap in zip(window, gaps)]
    lead = [w.rng.randint(1, 3) for _ in range(2)]
    outs = []
    for size, wide, step, gap, side in zip(sizes, window, steps, gaps, sides):
        rest = size + 2 * side - gap * (wide - 1) - 1
        outs.append((-(-rest // step) if ceil else rest // step) + 1)
    block = w.size("B", w.pick(4, 8, 16, 32), ("16, 32",))
    rank = 2 + count
    arranged = [f".pad(((0, 0), (0, 0), {', '.join(f'({s}, {s})' for s in sides)}))"] if any(sides) else []
    keywords = [f"strides={texts(['-1', '-1', *map(str, steps)])}"]
    if any(g > 1 for g in gaps) or w.chance(0.3):
        keywords.append(f"dilation={texts(['1', '1', *map(str, gaps)])}")
    if not ceil:
        keywords.append("floor_mode=True")
    arranged.append(f".tile({texts(['1', '1', *map(str, window)])}, {', '.join(keywords)})")
    arranged += [".ravel()", f".flatten(end_dim={rank})", ".flatten(start_dim=1)", f".tile(({block}, -1))"]
    how = w.pick("max", "max", "sum", "min", "argmax")
    other = {"max": 'float("-inf")', "argmax": 'float("-inf")', "min": 'float("inf")', "sum": None}[how]
    dtype = w.pick(*FLOATS)
    x = w.tensor("X", [*lead, *sizes], *arranged, dtype=dtype, other=other)
    tall = w.chance(0.4)
    behind = [".flatten()", f".tile(({block},))", ".unsqueeze(1)"]
    if tall:
        behind = [".flatten()", ".unsqueeze(1)", f".tile(({block}, -1))"]
    y = w.tensor("Y", [*lead, *outs], *behind, dtype="int32" if how == "argmax" else w.pick("float32", dtype), fill="none")
    w.let("x", w.read(x, dtype), "rc")
    if w.chance(0.4) and how != "argmax":
        w.let("t", w.of("rc", 2), "rc")
    w.let("v", f"ntl.{how}({w.values[-1].text}, {w.pick('1', 'axis=1', 'axis=-1')})", "r")
    value = w.values[-1].text
    if how == "sum":
        number = w.number("count", str(float(window[0] * window[-1])))
        value = f"{value} / {number}"
    if how != "argmax" and w.chance(0.3):
        w.let("e", w.of("r", 2), "r")
        value = w.values[-1].text
    w.line(f"{y} = {f'({value})[:, None]' if tall else value}")
    return w


def write_rotary(rng):
    """Pairs of a head's elements are turned, side by side or in halves, in place or to another tensor."""
    w = Kernel(rng)
    batch, length, heads, half = w.pick(1, 2), w.rng.randint(1, 9), w.rng.randint(1, 3), w.pick(2, 4, 8, 16, 5)
    beside, inplace = w.chance(0.5), w.chance(0.5)
    strides = "strides=(-1, -1, -1, 1), " if beside else ""
    tiles = [f".tile((1, 1, 1, {half}), {strides}dilation=(1, 1, 1, {2 if beside else 1}))", ".tile((1, 1, 1, 2))"]
    tiles += ["d.squeeze((0, 1, 2))", "dd.squeeze((0, 1, 2))"]
    shape = [batch, length, heads, 2 * half]
    dtype = w.pick(*FLOATS)
    x = w.tensor("X", shape, *tiles, dtype=dtype, plain=inplace)
    first = w.parameters[0]
    table = [".tile((1, -1))", ".unsqueeze(0)", ".unsqueeze(2)"]
    table += [f".expand(({first.name}.shape[0], -1, {first.name}.shape[2], -1))", "d.squeeze(0)"]
    sin, cos = (w.tensor(s, [length, half], *table, dtype=w.pick("float32", dtype)) for s in ("Sin", "Cos"))
    y = x if inplace else w.tensor("Y", shape, *tiles, dtype=w.pick("float32", dtype), fill="none")
    if w.chance(0.5):
        w.line(f"first, second = {w.read(f'{x}[0]', dtype)}, {w.read(f'{x}[1]', dtype)}")
    else:
        w.line(f"first = {w.read(f'{x}[0]', dtype)}")
        w.line(f"second = {w.read(f'{x}[1]', dtype)}")
    w.line(f"s, c = {sin}, {cos}")
    w.line(f"{y}[0] = first * c - second * s")
    w.line(f"{y}[1] = first * s + second * c")
    return w
