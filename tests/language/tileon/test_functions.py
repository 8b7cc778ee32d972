"""Functions of tl, each in a kernel of its own, against NumPy or torch."""

import itertools
import textwrap

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

N = 64


@pytest.fixture
def run(tmp_path):
    """run(body, outputs, *inputs): a kernel over pointers x0, x1, ... and o0, o1, ... of N elements each; i is arange(0, N)."""
    count = itertools.count()

    def launch(body, outputs, *inputs, **constants):
        names = [f"x{k}" for k in range(len(inputs))] + [f"o{k}" for k in range(len(outputs))]
        parameters = ", ".join(names + [f"{k}: tl.constexpr" for k in constants])
        text = f"@tileon.jit\ndef kernel({parameters}):\n    i = tl.arange(0, {N})\n" + textwrap.indent(
            textwrap.dedent(body), "    "
        )
        path = tmp_path / f"kernel{next(count)}.py"
        path.write_text(text)
        space = {"tileon": tileon, "tl": tl, "__name__": "kernels"}
        exec(compile(text, str(path), "exec"), space)
        space["kernel"][(1,)](*inputs, *outputs, **constants)
        return outputs[0] if len(outputs) == 1 else outputs

    return launch


def out(dtype=torch.float32, *shape):
    shape = shape or (N,)
    return torch.full(shape, 7, dtype=dtype)


def randn(dtype=torch.float32, *shape):
    return torch.randn(shape or (N,), dtype=torch.float64).to(dtype)


UNARY = {
    "tl.exp": torch.exp,
    "tl.exp2": torch.exp2,
    "tl.sin": torch.sin,
    "tl.cos": torch.cos,
    "tl.erf": torch.erf,
    "tl.floor": torch.floor,
    "tl.ceil": torch.ceil,
    "tl.abs": torch.abs,
    "tl.sigmoid": torch.sigmoid,
    "-": torch.neg,
    "tl.math.exp": torch.exp,
    "tl.extra.libdevice.tanh": torch.tanh,
    "tl.extra.libdevice.atan": torch.atan,
    "tl.extra.libdevice.expm1": torch.expm1,
}
POSITIVE = {"tl.log": torch.log, "tl.log2": torch.log2, "tl.sqrt": torch.sqrt, "tl.rsqrt": torch.rsqrt, "tl.sqrt_rn": torch.sqrt}


@pytest.mark.parametrize("function", [*UNARY, *POSITIVE])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_unary(run, function, dtype):
    x = randn(dtype)
    if function in POSITIVE:
        x = x.abs() + 0.1
    expected = {**UNARY, **POSITIVE}[function](x.double()).to(dtype)
    torch.testing.assert_close(
        run(f"tl.store(o0 + i, {function}(tl.load(x0 + i)))", [out(dtype)], x), expected, rtol=1e-6, atol=1e-6
    )


DTYPES = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "bool",
]


def promoted(a, b, op):
    """Reference 2.10."""
    division = op in ("/", "%", "//")
    if division and a == b == "bool":
        return "int32"  # upstream divides single bits; the quotient is the same
    if "float64" in (a, b):
        return "float64"
    if "float32" in (a, b):
        return "float32"
    if "float16" in (a, b):
        return "float32" if division else "float16"
    if "bfloat16" in (a, b):
        return "bfloat16" if a == b and not division else "float32"

    def facts(t):
        return (t == "bool" or t.startswith("u"), 1 if t == "bool" else int(t.strip("uint")))

    (ua, ra), (ub, rb) = facts(a), facts(b)
    if division and ua != ub:
        return None
    if ua == ub:
        return a if ra >= rb else b
    unsigned, signed = ((a, ra), (b, rb)) if ua else ((b, rb), (a, ra))
    return unsigned[0] if unsigned[1] >= signed[1] else signed[0]


@pytest.mark.parametrize("op", ["+", "*", "%", "<"])
@pytest.mark.parametrize("a", DTYPES)
def test_promotion(run, a, op):
    """One kernel that asserts the type of `a op b` for every b; what is refused is refused one by one."""
    ones = [torch.ones(N, dtype=getattr(torch, t)) for t in (a, *DTYPES)]
    body = "a = tl.load(x0 + i)\n"
    for k, b in enumerate(DTYPES, 1):
        expected = promoted(a, b, op)
        if expected is None:
            with pytest.raises(TypeError, match="because they have different signedness"):
                run(f"z = tl.load(x0 + i) {op} tl.load(x1 + i)", [out()], ones[0], ones[k])
            continue
        name = "int1" if op == "<" or expected == "bool" else expected
        body += f"z{k} = a {op} tl.load(x{k} + i)\ntl.static_assert(z{k}.dtype == tl.{name}, f'{{z{k}.dtype}} with {b}')\n"
    run(body, [out()], *ones)


@pytest.mark.parametrize(
    "literal, dtype, expected",
    [
        ("1", "float16", "float16"),
        ("1.5", "float16", "float16"),
        ("1.5", "int8", "float32"),
        ("3", "uint8", "uint8"),
        ("True", "int8", "int8"),
        ("2", "int1", "int32"),
        ("1e300", "float32", "float32"),
        ("1.5", "int64", "float32"),
        ("1e300", "int32", "float64"),
    ],
)
def test_literals_are_weak(run, literal, dtype, expected):
    run(f"z = tl.zeros((4,), tl.{dtype}) + {literal}\ntl.static_assert(z.dtype == tl.{expected}, f'{{z.dtype}}')", [out()])


def test_division_truncates_like_c(run):
    x = torch.tensor([-7, 7, -7, 7] * 16, dtype=torch.int32)
    y = torch.tensor([2, -2, -2, 2] * 16, dtype=torch.int32)
    q, r = run(
        "a = tl.load(x0 + i)\nb = tl.load(x1 + i)\ntl.store(o0 + i, a // b)\ntl.store(o1 + i, a % b)",
        [out(torch.int32), out(torch.int32)],
        x,
        y,
    )
    assert q[:4].tolist() == [-3, -3, 3, 3] and r[:4].tolist() == [-1, 1, -1, 1]


def test_constants_fold_as_in_python(run):
    q, r = run("tl.store(o0, -SEVEN // 2)\ntl.store(o1, -SEVEN % 2)", [out(torch.int32), out(torch.int32)], SEVEN=7)
    assert q[0] == -4 and r[0] == 1


def test_integers_wrap_and_shift(run):
    x = torch.full((N,), 2**31 - 1, dtype=torch.int32)
    a, b, c = run(
        "a = tl.load(x0 + i)\ntl.store(o0 + i, a + 1)\ntl.store(o1 + i, (-a) >> 3)\n"
        "tl.store(o2 + i, a.to(tl.uint32, bitcast=True) << 1)",
        [out(torch.int32), out(torch.int32), out(torch.uint32)],
        x,
    )
    assert a[0] == -(2**31) and b[0] == -(2**31 - 1) >> 3 and c[0].item() == 2**32 - 2


def test_casts(run):
    x = torch.tensor([1.9, -1.9, 1e10, float("nan"), 0.1, 255.5, -0.0, 3.0] * 8)
    i, h, b, t = run(
        """
        x = tl.load(x0 + i)
        tl.store(o0 + i, x.to(tl.int32))
        tl.store(o1 + i, x.to(tl.float16))
        tl.store(o2 + i, x.to(tl.int32, bitcast=True))
        tl.store(o3 + i, x.to(tl.int1))
    """,
        [out(torch.int32), out(torch.float16), out(torch.int32), out(torch.bool)],
        x,
    )
    assert i[:6].tolist() == [1, -1, 2**31 - 1, 0, 0, 255]
    assert torch.equal(h.view(torch.int16)[:3], x.half().view(torch.int16)[:3])
    assert torch.equal(b, x.view(torch.int32)) and t[:8].tolist() == [True] * 6 + [False, True]


@pytest.mark.parametrize("name, reference", [("tl.minimum", torch.fmin), ("tl.maximum", torch.fmax)])
def test_nan_loses_unless_asked(run, name, reference):
    x, y = randn(), randn()
    x[::3], y[1::3] = float("nan"), float("nan")
    loses, wins = run(
        f"x = tl.load(x0 + i)\ny = tl.load(x1 + i)\ntl.store(o0 + i, {name}(x, y))\n"
        f"tl.store(o1 + i, {name}(x, y, propagate_nan=tl.PropagateNan.ALL))",
        [out(), out()],
        x,
        y,
    )
    assert torch.equal(loses.nan_to_num(9), reference(x, y).nan_to_num(9))
    wins_reference = torch.minimum(x, y) if "min" in name else torch.maximum(x, y)
    assert torch.equal(wins.nan_to_num(9), wins_reference.nan_to_num(9))


def test_where_clamp_fma_umulhi(run):
    x, y = randn(), randn()
    a, b, c, d = run(
        """
        x = tl.load(x0 + i)
        y = tl.load(x1 + i)
        tl.store(o0 + i, tl.where(x > y, x, 0))
        tl.store(o1 + i, tl.clamp(x, -0.5, 0.5))
        tl.store(o2 + i, tl.fma(x, y, x))
        tl.store(o3 + i, tl.umulhi(i.to(tl.uint32) * 0x9E3779B9, i.to(tl.uint32) + 0xBB67AE85))
    """,
        [out(), out(), out(), out(torch.uint32)],
        x,
        y,
    )
    assert torch.equal(a, torch.where(x > y, x, 0.0)) and torch.equal(b, x.clamp(-0.5, 0.5))
    torch.testing.assert_close(c, (x.double() * y + x).float())
    k = np.arange(N, dtype=np.uint64)
    assert d.tolist() == ((k * 0x9E3779B9 % 2**32) * ((k + 0xBB67AE85) % 2**32) >> np.uint64(32)).tolist()


def load2(name="x0", rows=8, cols=8):
    return f"tl.load({name} + tl.arange(0, {rows})[:, None] * {cols} + tl.arange(0, {cols})[None, :])"


REDUCTIONS = [
    (name, axis, dtype)
    for name in ["sum", "max", "min", "xor_sum", "argmax", "argmin"]
    for axis in (0, 1, None)
    for dtype in (torch.int8, torch.int32, torch.float32)
    if not (name == "xor_sum" and dtype == torch.float32 or name.startswith("arg") and axis is None)
]


@pytest.mark.pairs
@pytest.mark.parametrize("name, axis, dtype", REDUCTIONS)
def test_reductions(run, name, axis, dtype):
    x = torch.randint(-100, 100, (8, 8)).to(dtype)
    wide = torch.int32 if dtype in (torch.int8, torch.int32) else torch.float32
    result = torch.int32 if name.startswith("arg") else wide
    place = "o0" if axis is None else "o0 + tl.arange(0, 8)"
    got = run(f"tl.store({place}, tl.{name}({load2()}, axis={axis}))", [out(result, 8)], x)
    reference = {
        "sum": np.sum,
        "max": np.max,
        "min": np.min,
        "xor_sum": np.bitwise_xor.reduce,
        "argmax": np.argmax,
        "argmin": np.argmin,
    }[name]
    expected = np.asarray(reference(x.cpu().numpy().astype(np.int64), axis=axis))
    assert got[: expected.size].tolist() == expected.ravel().tolist()


def test_reductions_keep_dims_and_indices(run):
    x = torch.randn(8, 8)
    a, b, c = run(
        f"""
        x = {load2()}
        m, k = tl.max(x, 1, return_indices=True)
        tl.store(o0 + tl.arange(0, 8), m)
        tl.store(o1 + tl.arange(0, 8), k)
        y = x - tl.max(x, 1, keep_dims=True)
        tl.store(o2 + tl.arange(0, 64).reshape(8, 8), y)
    """,
        [out(torch.float32, 8), out(torch.int32, 8), out(torch.float32, 8, 8)],
        x,
    )
    assert (
        torch.equal(a, x.max(1).values)
        and torch.equal(b, x.argmax(1).int())
        and torch.equal(c, x - x.max(1, keepdim=True).values)
    )


def test_ties_go_left(run):
    a, b = run(
        "x = tl.zeros((64,), tl.float32)\ntl.store(o0, tl.argmax(x, 0))\ntl.store(o1, tl.argmin(x, 0))",
        [out(torch.int32), out(torch.int32)],
    )
    assert a[0] == 0 and b[0] == 0


def test_scans(run):
    x = torch.randint(-5, 6, (8, 8), dtype=torch.int32)
    a, b, c = run(
        f"""
        x = {load2()}
        at = tl.arange(0, 64).reshape(8, 8)
        tl.store(o0 + at, tl.cumsum(x, 1))
        tl.store(o1 + at, tl.cumsum(x, 0, reverse=True))
        tl.store(o2 + at, tl.cumprod(x, 0))
    """,
        [out(torch.int32, 8, 8) for _ in range(3)],
        x,
    )
    assert (
        torch.equal(a, x.cumsum(1).int())
        and torch.equal(b, x.flip(0).cumsum(0).flip(0).int())
        and torch.equal(c, x.cumprod(0).int())
    )


def test_sort_topk_flip(run):
    x = torch.randn(N)
    a, b, c, d = run(
        "x = tl.load(x0 + i)\ntl.store(o0 + i, tl.sort(x))\ntl.store(o1 + i, tl.sort(x, descending=True))\n"
        "tl.store(o2 + i, tl.flip(x))\ntl.store(o3 + tl.arange(0, 8), tl.topk(x, 8))",
        [out(), out(), out(), out(torch.float32, 8)],
        x,
    )
    assert torch.equal(a, x.sort().values) and torch.equal(b, x.sort(descending=True).values)
    assert torch.equal(c, x.flip(0)) and torch.equal(d, x.topk(8).values)


def test_shapes(run):
    x = torch.randn(8, 8)
    a, b, c, d, e = run(
        f"""
        x = {load2()}
        tl.store(o0 + tl.arange(0, 64).reshape(8, 8), x.T)
        tl.store(o1 + i, tl.trans(x, 1, 0).ravel())
        tl.store(o2 + tl.arange(0, 64).reshape(4, 2, 8), tl.permute(x.reshape(2, 4, 8), (1, 0, 2)))
        y, z = tl.split(tl.join(x, x + 1))
        tl.store(o3 + i, (y + z).reshape((64,)))
        tl.store(o4 + tl.arange(0, 128), tl.interleave(i, -i))
    """,
        [out(torch.float32, 8, 8), out(), out(), out(), out(torch.int32, 128)],
        x,
    )
    assert torch.equal(a, x.T) and torch.equal(b, x.T.ravel()) and torch.equal(c, x.reshape(2, 4, 8).permute(1, 0, 2).ravel())
    torch.testing.assert_close(d, (2 * x + 1).ravel())
    k = torch.arange(N)
    assert torch.equal(e, torch.stack([k, -k], 1).ravel().int())


def test_cat_gather_broadcast(run):
    x, index = torch.randn(8, 8), torch.randint(0, 8, (8, 8), dtype=torch.int32)
    a, b, c = run(
        f"""
        tl.store(o0 + tl.arange(0, 128), tl.cat(i, i + 1, can_reorder=True))
        tl.store(o1 + tl.arange(0, 64).reshape(8, 8), tl.gather({load2()}, {load2("x1")}, 1))
        p, q = tl.broadcast(tl.arange(0, 8)[:, None], tl.arange(0, 8)[None, :])
        tl.store(o2 + tl.arange(0, 64).reshape(8, 8), p * 10 + tl.broadcast_to(q, 8, 8))
    """,
        [out(torch.int32, 128), out(torch.float32, 8, 8), out(torch.int32, 8, 8)],
        x,
        index,
    )
    k = torch.arange(N).int()
    assert torch.equal(a, torch.cat([k, k + 1])) and torch.equal(b, x.gather(1, index.long()))
    assert torch.equal(c, (torch.arange(8)[:, None] * 10 + torch.arange(8)).int())


def test_reduce_and_scan_with_functions(run, tmp_path):
    x = torch.randn(N)
    text = """
@tileon.jit
def better(v, k, w, l):
    if_greater = v > w
    return tl.where(if_greater, v, w), tl.where(if_greater, k, l)

@tileon.jit
def decay(a, b, c, d):
    return a * c, b * c + d
"""
    path = tmp_path / "combine.py"
    path.write_text(text)
    space = {"tileon": tileon, "tl": tl, "__name__": "combine"}
    exec(compile(text, str(path), "exec"), space)
    a, b, c = run(
        """
        v, k = tl.reduce((tl.load(x0 + i), i), 0, better)
        tl.store(o0, v)
        tl.store(o1, k)
        f, s = tl.associative_scan((tl.full((64,), 0.5, tl.float32), tl.load(x0 + i)), 0, decay)
        tl.store(o2 + i, s)
    """,
        [out(), out(torch.int32), out()],
        x,
        better=space["better"],
        decay=space["decay"],
    )
    assert a[0] == x.max() and b[0] == x.argmax()
    expected, state = [], 0.0
    for v in x.double().tolist():
        state = state * 0.5 + v
        expected.append(state)
    torch.testing.assert_close(c, torch.tensor(expected).float(), rtol=1e-5, atol=1e-6)


ATOMICS = {
    "add": lambda a, b: a + b,
    "max": torch.maximum,
    "min": torch.minimum,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "xchg": lambda a, b: b,
}


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint32, torch.int64])
def test_atomics(run, name, dtype):
    x, y = torch.randint(0, 1000, (N,)).to(dtype), torch.randint(0, 1000, (N,)).to(dtype)
    old = run(
        f"tl.store(o0 + i, tl.atomic_{name}(x0 + i, tl.load(x1 + i), mask=i % 3 == 0, sem='relaxed'))",
        [out(dtype)],
        mine := x.clone(),
        y,
    )
    expected = ATOMICS[name](x.long(), y.long())
    touched = torch.arange(N) % 3 == 0
    assert torch.equal(mine.long(), torch.where(touched, expected, x.long())) and torch.equal(
        old.long()[touched], x.long()[touched]
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_float_atomics(run, dtype):
    x = torch.zeros(4, dtype=dtype)
    run("tl.atomic_add(x0 + i % 4, 0.5)", [out()], x)
    assert x.tolist() == [8.0] * 4
    if dtype != torch.float16:
        run("tl.atomic_max(x0 + i % 4, (i - 70).to(tl.float32))", [out()], y := torch.full((4,), -100.0, dtype=dtype))
        assert y.tolist() == [-10.0, -9.0, -8.0, -7.0]


def test_compare_and_swap(run):
    x = torch.tensor([3, 4] * 32, dtype=torch.int32)
    old = run("tl.store(o0 + i, tl.atomic_cas(x0 + i, 3, 9))", [out(torch.int32)], mine := x.clone())
    assert torch.equal(old, x) and mine[:2].tolist() == [9, 4]


def test_masks_and_other(run):
    x = torch.randn(40)
    a, b, c = run(
        """
        mask = i < 40
        tl.store(o0 + i, tl.load(x0 + i, mask=mask, other=-1.0))
        tl.store(o1 + i, tl.load(x0 + i, mask=mask))
        tl.store(o2 + i, tl.load(x0 + i, mask=mask, other=i.to(tl.float32)), mask=i >= 3)
    """,
        [out(), out(), out()],
        x,
    )
    rest = torch.arange(40, 64).float()
    assert torch.equal(a, torch.cat([x, -torch.ones(24)])) and torch.equal(b, torch.cat([x, torch.zeros(24)]))
    assert torch.equal(c, torch.cat([torch.full((3,), 7.0), x[3:], rest]))


def test_block_pointers_and_descriptors(run):
    x = torch.randn(10, 12)
    a, b, c = run(
        """
        p = tl.make_block_ptr(x0, (10, 12), (12, 1), (4, 8), (8, 8), (1, 0))
        tl.store(o0 + tl.arange(0, 64).reshape(8, 8), tl.load(p, boundary_check=(0, 1), padding_option="zero"))
        q = tl.advance(p, (-4, -8))
        tl.store(o1 + tl.arange(0, 64).reshape(8, 8), tl.load(q, boundary_check=(0, 1)))
        d = tl.make_tensor_descriptor(o2, [10, 12], [12, 1], [8, 8])
        d.store([4, 8], tl.make_tensor_descriptor(x0, [10, 12], [12, 1], [8, 8]).load([4, 8]) + 1)
    """,
        [out(torch.float32, 8, 8), out(torch.float32, 8, 8), out(torch.float32, 10, 12)],
        x,
    )
    expected = torch.zeros(8, 8)
    expected[:6, :4] = x[4:, 8:]
    assert torch.equal(a, expected) and torch.equal(b, x[:8, :8])
    stored = torch.full((10, 12), 7.0)
    stored[4:, 8:] = x[4:, 8:] + 1
    assert torch.equal(c, stored)


def test_random_numbers_are_upstreams(run):
    a, b, c = run(
        "tl.store(o0 + i, tl.rand(42, i))\ntl.store(o1 + i, tl.randint(42, i))\ntl.store(o2 + i, tl.randn(7, i))",
        [out(), out(torch.uint32), out()],
    )
    torch.testing.assert_close(a[:4], torch.tensor([0.77408, 0.02456, 0.34827, 0.54080]), rtol=0, atol=1e-5)
    assert len(set(b.tolist())) == N and c.abs().max() < 6 and c.std() > 0.5


def test_histogram_and_softmax(run):
    x = torch.randint(0, 16, (N,), dtype=torch.int32)
    y = torch.randn(N)
    a, b = run(
        "tl.store(o0 + tl.arange(0, 16), tl.histogram(tl.load(x0 + i), 16))\ntl.store(o1 + i, tl.softmax(tl.load(x1 + i)))",
        [out(torch.int32, 16), out()],
        x,
        y,
    )
    assert torch.equal(a, torch.bincount(x.long(), minlength=16).int())
    torch.testing.assert_close(b, torch.softmax(y.double(), 0).float(), rtol=1e-5, atol=1e-6)


def test_static_range_and_constexpr_names(run):
    a = run(
        """
        HALF: tl.constexpr = SIZE // 2
        offsets = tl.arange(0, HALF)
        total = tl.zeros((HALF,), tl.int32)
        for k in tl.static_range(1, 4):
            total += tl.full((HALF,), k, tl.int32) * offsets.shape[0]
        tl.store(o0 + offsets, total)
    """,
        [out(torch.int32)],
        SIZE=64,
    )
    assert a[:32].tolist() == [6 * 32] * 32


def test_print_and_assert(run, capfd):
    run(
        "tl.static_print('compiling', SIZE)\ntl.device_print('x', tl.sum(i, 0))\n"
        "tl.device_assert(i < 3, 'not reached without debug')",
        [out()],
        SIZE=3,
    )
    text = capfd.readouterr().out
    assert "compiling 3" in text and "x: 2016" in text


def test_texts_of_prints(run, capfd):
    run(
        "tl.static_print(i)\ntl.static_print(tl.sum(i, 0))\nprint('three', tl.arange(0, 3) * 10)\nprint('', tl.program_id(0))\n"
        "tl.device_print('no value')\ntl.device_print('h', tl.arange(9, 11), hex=True)",
        [out()],
    )
    whole_tiles = ["three: [ 0, 10, 20]", ": 0", "no value", "h: [0x00000009, 0x0000000a]"]
    elements = ["idx (0) three: 0", "idx (1) three: 10", "idx (2) three: 20", "idx (): 0", "no value"]
    elements += ["idx (0) h: 0x00000009", "idx (1) h: 0x0000000a"]
    lines = [f"pid (0, 0, 0) {text}" for text in elements]
    if not out().is_cuda:
        lines = [f"(0, 0, 0) {text}".replace(") :", "):") for text in whole_tiles]
    assert capfd.readouterr().out.splitlines() == [f"int32[constexpr[{N}]]", "int32[]", *lines]


def test_batched_dot(run):
    x, y = torch.randn(4, 4, 4), torch.randn(4, 4, 4)
    at = "tl.arange(0, 64).reshape(4, 4, 4)"
    got = run(f"tl.store(o0 + {at}, tl.dot(tl.load(x0 + {at}), tl.load(x1 + {at})))", [out()], x, y)
    torch.testing.assert_close(got.reshape(4, 4, 4), (x.double() @ y.double()).float(), rtol=1e-5, atol=1e-5)


def test_host_functions():
    assert tl.cdiv(7, 2) == 4 and tileon.cdiv(8, 2) == 4 and tileon.next_power_of_2(5) == 8 and tileon.next_power_of_2(8) == 8
    assert tileon.constexpr(4) * 2 == 8 and tileon.cdiv(tl.constexpr(7), 2) == 4


def test_division_as_ieee_rounds_it(run):
    x, y = randn(), randn()
    assert torch.equal(run("tl.store(o0 + i, tl.div_rn(tl.load(x0 + i), tl.load(x1 + i)))", [out()], x, y), x / y)


def test_bitwise_atomics(run):
    mask, value = (torch.randint(0, 1 << 31, (N,), dtype=torch.int32) for _ in range(2))
    for name, expected in (("and", value & mask), ("or", value | mask), ("xor", value ^ mask)):
        assert torch.equal(run(f"tl.atomic_{name}(o0 + i, tl.load(x0 + i))", [value.clone()], mask), expected)


@pytest.mark.parametrize("group", [1, 3, 16])
def test_swizzle2d_orders_groups_of_rows_by_columns(run, group):
    rows, columns = 16, N // 16
    body = f"r, c = tl.swizzle2d(i // {columns}, i % {columns}, {rows}, {columns}, {group})\ntl.store(o0 + i, r * {columns} + c)"
    starts = range(0, rows, group)
    order = [r * columns + c for s in starts for c in range(columns) for r in range(s, min(s + group, rows))]
    assert run(body, [out(torch.int32)]).tolist() == order


def test_four_random_tiles(run):
    body = "a, b, c, d = tl.rand4x(3, i)\ntl.store(o0 + i, a)\ntl.store(o1 + i, tl.rand(3, i))\ntl.store(o2 + i, d)"
    first, alone, last = run(body, [out(), out(), out()])
    assert torch.equal(first, alone) and not torch.equal(first, last)
    assert all(((0 <= t) & (t < 1)).all() and len(t.unique()) > 60 for t in (first, last))


def test_conditions_that_are_numbers_are_warned_of(run):
    with pytest.warns(UserWarning, match="tl.where takes a condition of type int1"):
        got = run("tl.store(o0 + i, tl.where(i % 3, 1.0, 2.0))", [out()])
    assert torch.equal(got, torch.where(torch.arange(N) % 3 != 0, 1.0, 2.0))
