"""Triton programs that walk their rows (or columns) several times, each time with what the walks before have found of each row.

So are softmax where a row has more elements than a block (three passes, or online and a pass that writes), cross entropy and
distillation with their gradients, attention whose weights are written, layer, group and RMS norm and their gradients, and scales
of rows for quantization. What was found stays one for a row and is spread over the tile where it is used, often changed there:
`x * tl.rsqrt(var + eps)[:, None]`, `tl.exp(x - lse[:, None])`, temperatures, slopes. A walk adds up a tile (reduced behind the
loop) or each block's sums; blocks at the end and rows behind the last one are masked."""

from programs.triton_expressions import spread
from programs.writer import Value

STARTS = {"sum": "0.0", "max": "float('-inf')", "min": "float('inf')"}
CHANGED = (
    "{y} * 0.25",
    "tl.exp(-tl.abs({y}))",
    "tl.rsqrt({y} * {y} + 1e-5)",
    "1.0 / (tl.abs({y}) + 1.0)",
    "tl.log(tl.abs({y}) + 1.0)",
    "tl.sqrt(tl.abs({y}) + 0.5)",
    "tl.sigmoid({y})",
)


def over(w, name):
    """What was found of each row, in the shape of the tile."""
    return spread(Value(name, w.own), "rc")


def changed(w, name):
    """The same as a temperature, a slope, a scale."""
    text = w.pick(*CHANGED)
    if w.chance(0.5):
        return f"({text.format(y=over(w, name))})"
    return over(w, f"({text.format(y=name)})")


def element(w):
    """What the block's first load has brought."""
    return next(v.text for v in w.values if v.axes == "rc" and v.kind == "f")


def known(w):
    """A name for what is known of each row."""
    names = [v.text for v in w.values if v.axes == w.own and v.kind == "f"]
    if names and w.chance(0.7):
        return w.rng.choice(names[-3:])
    w.vector("V", w.own)
    return w.let("vec", w.load("V", *w.ordered(w.index, "")), w.own).text


def valid(w, rows, columns, text, other):
    mask = w.inside(rows, columns)
    return f"tl.where({mask}, {text}, {other})" if mask else text


def scores(w):
    """A function of rows and columns: the text of what all walks look at, the elements themselves or what one or two steps make
    of them. What is known of rows scales, biases or caps them; so does how far apart row and column lie."""
    steps = []
    for _ in range(w.pick(0, 1, 1, 2)):
        form = w.rng.randrange(8)
        if form < 4:
            way = w.pick("({x} * {y})", "({x} * {y})", "({x} + {y})", "({x} - {y})", "({x} / (1.0 + tl.abs({y})))")
            steps.append(way.replace("{y}", changed(w, known(w)) if w.chance(0.7) else over(w, known(w))))
        elif form == 4:
            steps.append(f"({{x}} * {w.pick('0.125', '0.5', '1.44269504')})")
        elif form == 5:
            steps.append(f"{w.pick('soft_cap', 'clipped', 'silu', 'gelu')}({{x}})")
        elif form == 6:
            steps.append("({x} - 0.0625 * tl.abs({rows}[:, None] - {columns}[None, :]))")
        else:
            steps.append(
                f"tl.where({{rows}}[:, None] {w.pick('>=', '<=', '!=')} {{columns}}[None, :], {{x}}, {w.pick('-1e4', '0.0')})"
            )

    def at(rows, columns):
        text = element(w)
        for step in steps:
            text = step.format(x=text, rows=rows, columns=columns)
            if w.chance(0.3):
                text = w.let("z", text, "rc").text
        return text

    return at


def found(w, *ways):
    """Names of what one walk finds of each row: (how, stem, the text of a tile at rows and columns) for each."""
    names, tiles = [], [w.chance(0.5) for _ in ways]
    for (how, stem, _), tile in zip(ways, tiles):
        names.append(w.name(stem))
        shape, start = w.wide() if tile else w.long(), STARTS[how]
        zeros = how == "sum" and w.chance(0.7)
        w.line(f"{names[-1]} = " + (f"tl.zeros({shape}, tl.float32)" if zeros else f"tl.full({shape}, {start}, tl.float32)"))

    def body(rows, columns):
        for (how, _, make), name, tile in zip(ways, names, tiles):
            text = valid(w, rows, columns, make(rows, columns), STARTS[how])
            text = text if tile else w.reduced(how, text)
            w.line(f"{name} += {text}" if how == "sum" else f"{name} = tl.{how}imum({name}, {text})")

    w.blocks(body)
    results = []
    for (how, stem, _), name, tile in zip(ways, names, tiles):
        if tile:
            results.append(w.let(stem, w.reduced(how, name), w.own).text)
        else:
            w.values.append(Value(name, w.own))
            results.append(name)
    return results


def written(w, make):
    """A walk that writes a tile."""
    name = w.fresh("O", "matrix")
    w.blocks(lambda rows, columns: w.store(name, rows, columns, make(rows, columns)))


def under_maximum(w, at, exp):
    """(maximum, sum of exponentials under it) of each row: by two walks, or by one that rescales."""
    if w.chance(0.5):
        (top,) = found(w, ("max", "top", at))
        (total,) = found(w, ("sum", "total", lambda rows, columns: f"{exp}({at(rows, columns)} - {over(w, top)})"))
        return top, total
    top, total, guard = w.name("top"), w.name("total"), w.chance(0.3)
    w.line(f"{top} = tl.full({w.long()}, {w.pick('float(%s)' % repr('-inf'), '-1e30')}, tl.float32)")
    w.line(f"{total} = tl.zeros({w.long()}, tl.float32)")

    def body(rows, columns):
        z, new = w.let("z", valid(w, rows, columns, at(rows, columns), "float('-inf')"), "rc").text, w.name("new")
        w.line(f"{new} = tl.maximum({top}, {w.reduced('max', z)})")
        if guard:
            w.line(f"{new} = tl.maximum({new}, -1e30)")
        w.line(f"{total} = {total} * {exp}({top} - {new}) + {w.reduced('sum', f'{exp}({z} - {over(w, new)})')}")
        w.line(f"{top} = {new}")

    w.blocks(body)
    w.values += [Value(total, w.own), Value(top, w.own)]
    return top, total


def softmax(w):
    """Weights, their logarithms, or the gradient of a loss of labels, of targets or of what is handed down."""
    at, exp = scores(w), w.pick("tl.exp", "tl.exp", "tl.exp2")
    log = "tl.log2" if exp == "tl.exp2" else "tl.log"
    top, total = under_maximum(w, at, exp)
    lse = w.let("lse", f"{top} + {log}({total})", w.own).text

    def weights(rows, columns):
        form = w.rng.randrange(3)
        if form == 0:
            return f"{exp}({at(rows, columns)} - {over(w, top)}) / {over(w, total)}"
        return f"{exp}({at(rows, columns)} - {over(w, lse)})"

    form = w.rng.randrange(6)
    if form < 2:
        written(w, weights)
    elif form == 2:
        written(w, lambda rows, columns: f"{at(rows, columns)} - {over(w, lse)}")
    elif form == 3:
        label = f"({known(w)} * 4.0).to(tl.int32)"

        def gradient(rows, columns):
            p, index = w.let("p", weights(rows, columns), "rc").text, columns if w.byRows else rows
            where = spread(Value(index, w.loop, "i"), "rc")
            return f"tl.where({where} == {over(w, f'({label})')}, {p} - 1.0, {p})"

        written(w, gradient)
    elif form == 4:  # of weights: p * (dp - delta)
        (delta,) = found(w, ("sum", "delta", lambda rows, columns: f"{weights(rows, columns)} * {second(w, rows, columns)}"))
        written(w, lambda rows, columns: f"{weights(rows, columns)} * ({second(w, rows, columns)} - {over(w, delta)})")
    else:  # entropy, or the distance of two distributions
        found(w, ("sum", "loss", lambda rows, columns: f"{weights(rows, columns)} * ({at(rows, columns)} - {over(w, lse)})"))


def second(w, rows, columns):
    """A second matrix's block."""
    w.matrix("Y")
    return w.let("y", w.load("Y", rows, columns, "0.0"), "rc").text


def norm(w):
    """Centered and scaled by rows, with weight and bias of columns; or the gradient of that."""
    size, at = w.limit[w.loop], scores(w)
    mean = None
    if w.chance(0.6):
        (total,) = found(w, ("sum", "s", at))
        mean = w.let("mean", f"{total} / {size}", w.own).text

    def centered(rows, columns):
        return f"({at(rows, columns)} - {over(w, mean)})" if mean else at(rows, columns)

    def squared(rows, columns):
        d = w.let("d", centered(rows, columns), "rc").text
        return f"{d} * {d}"

    (square,) = found(w, ("sum", "sq", squared))
    inverse = w.pick("tl.rsqrt({v} / {n} + 1e-5)", "1.0 / tl.sqrt({v} / {n} + 1e-5)").format(v=square, n=size)
    rstd = w.let("rstd", inverse, w.own).text if w.chance(0.7) else inverse

    def hat(rows, columns):
        return f"{centered(rows, columns)} * {over(w, rstd if rstd.isidentifier() else f'({rstd})')}"

    def weight(rows, columns, name, other):
        w.vector(name, w.loop)
        value = w.let(name.lower(), w.load(name, *w.ordered("", columns if w.byRows else rows), other), w.loop)
        return spread(value, "rc")

    if w.chance(0.6):

        def result(rows, columns):
            text = hat(rows, columns)
            if w.chance(0.7):
                text = f"{text} * {weight(rows, columns, 'W', '1.0')}"
            if w.chance(0.4):
                text = f"{text} + {weight(rows, columns, 'B', '0.0')}"
            return f"{w.pick('silu', 'gelu', 'tanh')}({text})" if w.chance(0.3) else text

        return written(w, result)

    def upper(rows, columns):
        return f"{second(w, rows, columns)} * {weight(rows, columns, 'W', '0.0')}"

    one, two = found(w, ("sum", "c", lambda rows, columns: f"{hat(rows, columns)} * {upper(rows, columns)}"), ("sum", "c", upper))

    def gradient(rows, columns):
        inner = f"{hat(rows, columns)} * {over(w, f'({one} / {size})')} + {over(w, f'({two} / {size})')}"
        return f"({upper(rows, columns)} - ({inner})) * {over(w, rstd if rstd.isidentifier() else f'({rstd})')}"

    return written(w, gradient)


def scaled(w):
    """Scales of rows by their largest element, and the elements over it, clamped or not: fp8 and int8 by tokens."""
    at = scores(w)
    (top,) = found(w, ("max", "amax", lambda rows, columns: f"tl.abs({at(rows, columns)})"))
    scale = w.let("scale", f"tl.maximum({top}, 1e-4) / {w.pick('127.0', '448.0')}", w.own).text
    w.line(f"{scale} = tl.where({scale} > 0.0, {scale}, 1.0)") if w.chance(0.3) else None

    def result(rows, columns):
        text = f"{at(rows, columns)} / {over(w, scale)}"
        return f"tl.clamp({text}, -127.0, 127.0)" if w.chance(0.5) else text

    written(w, result)
