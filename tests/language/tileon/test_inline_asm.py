"""inline_asm_elementwise: the instructions of PTX against NumPy and torch."""

import numpy as np
import pytest
import torch

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl

N = 128


@tileon.jit
def one(x, y, o, ASM: tl.constexpr, CONSTRAINTS: tl.constexpr, DTYPE: tl.constexpr, PACK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.inline_asm_elementwise(ASM, CONSTRAINTS, [tl.load(x + i), tl.load(y + i)], DTYPE, True, PACK))


def integers(seed):
    values = np.random.default_rng(seed).integers(-(2**31), 2**31, N).astype(np.int32)
    values[:4] = [0, -1, 1, 2**31 - 1]
    return values


A, B = integers(1), integers(2)
U, V = A.view(np.uint32), B.view(np.uint32)
WIDE = U.astype(np.uint64)
CASES = {
    "shf.l.wrap.b32 $0, $1, $2, 17;": (V << 17) | (U >> 15),
    "shf.r.wrap.b32 $0, $1, $2, 5;": (U >> 5) | (V << 27),
    "lop3.b32 $0, $1, $2, 0xFF00FF00, 0xCA;": (U & V) | (~U & 0xFF00FF00),
    "mad.lo.u32 $0, $1, $2, 7;": U * V + np.uint32(7),
    "mul.hi.u32 $0, $1, $2;": (WIDE * V >> 32).astype(np.uint32),
    "shr.s32 $0, $1, 3; // arithmetic": (A >> 3).view(np.uint32),
    "{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }": np.minimum(A, B).view(np.uint32),
    "{ .reg .pred p; setp.gt.s32 p, $1, 0; mov.b32 $0, $2; @p mov.b32 $0, $1; }": np.where(A > 0, U, V),
    "setp.gt.s32 p, $1, 0; mov.b32 $0, $2; @!p add.u32 $0, $1, 5; @p not.b32 $0, $0;": np.where(A > 0, ~V, U + np.uint32(5)),
    "setp.lt.s32 p|q, $1, $2; @p mov.u32 $0, 1; @q mov.u32 $0, 2;": np.where(A < B, 1, 2).astype(np.uint32),
    "setp.lo.u32 p, $1, $2; setp.ge.and.s32 q, $1, 0, p; setp.ne.or.s32 q, $1, $1, q; selp.u32 $0, 7, 9, q;": np.where(
        (U < V) & (A >= 0), 7, 9
    ).astype(np.uint32),
    "setp.ge.xor.s32 q|r, $1, 0, p; selp.u32 $0, 7, 9, q;".replace("xor", "and").replace(", p;", ", !p;").replace(
        "setp", "setp.eq.s32 p, $1, $2; setp", 1
    ): np.where((A >= 0) & (A != B), 7, 9).astype(np.uint32),
    "setp.gt.s32 p, $1, 0; mov.b32 {h, l}, $1; @p mov.b32 {h, l}, $2; mov.b32 $0, {l, h};": np.where(A > 0, V, U) >> 16
    | np.where(A > 0, V, U) << 16,
    "brev.b32 $0, $1; popc.b32 $0, $0;": np.array([bin(u).count("1") for u in U], np.uint32),
    "prmt.b32 $0, $1, $2, 0x5410;": (U & 0xFFFF) | (V << 16),
    "xor.b32 $0, $1, $2;\n/* not of it */ not.b32 $0, $0;": ~(U ^ V),
    "max.u32 $0, $1, 0x80000000;": np.maximum(U, np.uint32(0x80000000)),
    "cvt.u32.u8 $0, $1; add.u32 $0, $0, $2;": (U & 255) + V,
}


@pytest.mark.parametrize("text", CASES)
def test_integer_instructions(engine, text):
    x, y, out = torch.from_numpy(A.copy()), torch.from_numpy(B.copy()), torch.zeros(N, dtype=torch.int32, device="cpu")
    device = torch.get_default_device()
    x, y, out = x.to(device), y.to(device), out.to(device)
    one[(1,)](x, y, out, text, "=r,r,r", tl.int32, 1, N)
    np.testing.assert_array_equal(out.cpu().numpy().view(np.uint32), CASES[text])


PAIRS = {
    "sub.{} $0, $1, $2;": lambda x, y: x - y,
    "add.rn.{} $0, $1, $2; neg.{} $0, $0;": lambda x, y: -(x + y),
    "mul.{} t, $1, $2; max.{} $0, t, $1;": lambda x, y: torch.maximum(x * y, x),
    "fma.rn.{} $0, $1, $2, $2;": lambda x, y: (x.double() * y.double() + y.double()).to(x.dtype),
    "abs.{} $0, $1; min.NaN.{} $0, $0, $2;": lambda x, y: torch.minimum(x.abs(), y),
}


@pytest.mark.parametrize("kind", ["f16x2", "bf16x2", "s16x2", "u16x2"])
@pytest.mark.parametrize("text", PAIRS)
def test_arithmetic_of_two_numbers_in_a_register(engine, kind, text):
    floats = "f16" in kind
    if not floats and ("fma" in text or "abs" in text or "mul" in text or (kind == "u16x2" and "neg" in text)):
        return  # no such instruction
    dtype = {"f16x2": torch.float16, "bf16x2": torch.bfloat16}.get(kind, torch.int16)
    numbers = [torch.randn(2 * N) if floats else torch.randint(-(2**15), 2**15, (2 * N,)) for _ in range(2)]
    x, y = (values.to("cpu", dtype) for values in numbers)
    device, out = torch.get_default_device(), torch.zeros(N, dtype=torch.int32)
    x_words, y_words = (values.view(torch.int32).to(device) for values in (x, y))
    one[(1,)](x_words, y_words, out, text.replace("{}", kind), "=r,r,r", tl.int32, 1, N)
    assert torch.equal(out.cpu().view(dtype), PAIRS[text](x, y))


@pytest.mark.parametrize("kind, narrow", [("e4m3x2", torch.float8_e4m3fn), ("e5m2x2", torch.float8_e5m2)])
def test_two_floats_of_8_bits(engine, kind, narrow):
    x = (torch.randn(2 * N) * 30).to("cpu", torch.float16)
    device, out = torch.get_default_device(), torch.zeros(N, dtype=torch.int32)
    text = f"cvt.rn.satfinite.{kind}.f16x2 t, $1; cvt.rn.f16x2.{kind} $0, t;"
    one[(1,)](x.view(torch.int32).to(device), out, out, text, "=r,r,r", tl.int32, 1, N)
    assert torch.equal(out.cpu().view(torch.float16), x.to(narrow).to(torch.float16))


@tileon.jit
def known(x, o, M: tl.constexpr, TABLE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    add: tl.constexpr = -5
    text: tl.constexpr = "lop3.b32 $0, $1, $2, $3, $4; add.s32 $0, $0, $5;"
    arguments = [tl.load(x + i), M, 0x0F0F0F0F, TABLE, add]
    tl.store(o + i, tl.inline_asm_elementwise(text, "=r,r,n,n,n,i", arguments, tl.int32, True, 1))


def test_known_numbers(engine):
    x, out = torch.from_numpy(A.copy()), torch.zeros(N, dtype=torch.int32)
    known[(1,)](x.to(torch.get_default_device()), out, 0xFF00FF, 0xEA, N)
    expected = ((U & 0xFF00FF) | 0x0F0F0F0F).view(np.int32) - 5
    np.testing.assert_array_equal(out.cpu().numpy(), expected)


@pytest.mark.parametrize(
    "text, function",
    [
        ("tanh.approx.f32 $0, $1;", lambda x, y: x.tanh()),
        ("ex2.approx.ftz.f32 $0, $1;", lambda x, y: x.exp2()),
        ("rcp.approx.ftz.f32 $0, $2; mul.f32 $0, $0, $1;", lambda x, y: x / y),
        ("fma.rn.f32 $0, $1, $2, 0f3F800000;", lambda x, y: x * y + 1),
        ("max.f32 $0, $1, 0.5; neg.f32 $0, $0;", lambda x, y: -x.clamp(min=0.5)),
        ("cvt.rzi.s32.f32 $0, $1; cvt.rn.f32.s32 $0, $0;", lambda x, y: x.trunc()),
        ("mov.b32 t, 0fC0200000; add.f32 $0, $1, t;", lambda x, y: x - 2.5),
        ("div.full.f32 t, $1, 0.0; sub.f32 t, t, t; max.NaN.f32 $0, $2, t;", lambda x, y: y + float("nan")),
    ],
)
def test_float_instructions(engine, text, function):
    x, y, out = torch.randn(N) * 3, torch.rand(N) + 0.5, torch.zeros(N)
    one[(1,)](x, y, out, text, "=f,f,f", tl.float32, 1, N)
    torch.testing.assert_close(out, function(x, y), equal_nan=True)


# Floats of 8 bits are rounded to nearest alone.
@pytest.mark.parametrize(
    "kind, rounding",
    [("bf16x2", "rn"), ("bf16x2", "rz"), ("f16x2", "rn"), ("f16x2", "rz"), ("e4m3x2", "rn"), ("e5m2x2", "rn")],
)
def test_two_floats_in_a_register(engine, kind, rounding):
    types = {"bf16x2": torch.bfloat16, "f16x2": torch.float16, "e4m3x2": torch.float8_e4m3fn, "e5m2x2": torch.float8_e5m2}
    dtype, narrow = types[kind], kind[0] == "e"
    x, y, out = torch.randn(N) * 30, torch.randn(N), torch.zeros(N, dtype=torch.int32)
    text = f"cvt.{rounding}{'.satfinite' if narrow else ''}.{kind}.f32 $0, $1, $2;"
    one[(1,)](x, y, out, text.replace("$0", "t") + " mov.b32 $0, t;", "=r,f,f", tl.int32, 1, N)
    for values, shift in ((x, 8 if narrow else 16), (y, 0)):
        if rounding == "rz":  # no bits of the mantissa that do not fit
            bits = values.cpu().view(torch.int32) & ~((1 << (16 if kind == "bf16x2" else 13)) - 1)
            values = bits.view(torch.float32)
        bits = values.cpu().to(dtype).view(torch.uint8 if narrow else torch.int16).int() & (0xFF if narrow else 0xFFFF)
        assert torch.equal(out.cpu() >> shift & (0xFF if narrow else 0xFFFF), bits)


@tileon.jit
def packed(x, o, p, q, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    text: tl.constexpr = "and.b32 $0, $1, 0x1F1F1F1F; shl.b32 $0, $0, 3;"
    tl.store(o + i, tl.inline_asm_elementwise(text, "=r,r", [a], tl.int8, True, pack=4))
    b, c = tl.inline_asm_elementwise(
        """
        {
            .reg .b8 t<4>;
            mov.b32 {t0, t1, t2, t3}, $8;
            cvt.u32.u8 $0, t0;  cvt.u32.u8 $1, t1;  cvt.u32.u8 $2, t2;  cvt.u32.u8 $3, t3;
        }
        add.u32 $4, $0, $9;
        add.u32 $5, $1, $10;
        add.u32 $6, $2, $11;
        add.u32 $7, $3, $12;
        """,
        "=r,=r,=r,=r,=r,=r,=r,=r,r,r,r,r,r",
        [a, i],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=4,
    )
    tl.store(p + i, b)
    tl.store(q + i, c)


def test_packed_elements_and_several_results(engine):
    x = torch.arange(N, dtype=torch.int32).add(37).to(torch.uint8)
    out, p, q = torch.zeros(N, dtype=torch.uint8), torch.zeros(N, dtype=torch.int32), torch.zeros(N, dtype=torch.int32)
    packed[(1,)](x, out, p, q, N)
    assert torch.equal(out, (x & 31) << 3) and torch.equal(p, x.int())
    assert torch.equal(q, x.int() + torch.arange(N, dtype=torch.int32))


@tileon.jit
def through_pointers(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    text: tl.constexpr = "ld.global.b8 $0, [$1]; shl.b32 $0, $0, 3; st.global.b8 [$2], $0;"
    tl.inline_asm_elementwise(text, "=r,l,l", [x + i, y + i], dtype=tl.int8, is_pure=False, pack=1)


def test_memory(engine):
    x, y = torch.arange(N, dtype=torch.int32).to(torch.uint8), torch.zeros(N, dtype=torch.uint8)
    through_pointers[(1,)](x, y, N)
    assert torch.equal(y, x << 3)


def test_what_is_not_understood():
    x = torch.zeros(N, dtype=torch.int32)
    with pytest.raises(Error, match=r"the instruction `vote.sync.all.pred \$0, \$1` of inline_asm_elementwise is not understood"):
        one[(1,)](x, x, x, "vote.sync.all.pred $0, $1;", "=r,r,r", tl.int32, 1, N)
    with pytest.raises(Error, match="`%clock` in the assembly is neither a register"):
        one[(1,)](x, x, x, "mov.u32 $0, %clock;", "=r,r,r", tl.int32, 1, N)


@pytest.mark.parametrize("compare", ["eq", "ne", "lt", "le", "gt", "ge", "num", "nan", "equ", "neu", "ltu", "leu", "gtu", "geu"])
def test_comparisons_with_nan(engine, compare):
    x = torch.tensor([1.0, 2.0, float("nan"), -0.0, float("inf"), 3.0, float("nan"), 0.0]).repeat(N // 8)
    y = torch.tensor([1.0, 1.0, 1.0, 0.0, float("inf"), float("nan"), float("nan"), 5.0]).repeat(N // 8)
    out = torch.zeros(N, dtype=torch.int32)
    one[(1,)](x, y, out, f"setp.{compare}.f32 p, $1, $2; selp.b32 $0, 1, 0, p;", "=r,f,f", tl.int32, 1, N)
    unordered = x.isnan() | y.isnan()
    if compare in ("num", "nan"):
        right = unordered if compare == "nan" else ~unordered
    else:
        holds = getattr(x, f"__{compare[:2]}__")(y) & ~unordered
        right = holds | unordered if len(compare) == 3 else holds
    assert torch.equal(out.bool(), right)


@tileon.jit
def guarded(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    text: tl.constexpr = "{ .reg .pred p; setp.gt.s32 p, $1, 2; mov.b32 $0, -1; @p ld.global.b32 $0, [$2]; }"
    tl.store(o + i, tl.inline_asm_elementwise(text, "=r,r,l", [i, x + i], tl.int32, False, 1))


def test_a_guarded_load_touches_nothing_elsewhere(engine):
    x, out = torch.arange(8, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
    guarded[(1,)](x, out, 8)
    assert out.tolist() == [-1, -1, -1, 3, 4, 5, 6, 7]
