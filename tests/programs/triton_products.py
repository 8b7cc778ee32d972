"""Triton programs around products: matmuls with what stands before, between and behind, and attention."""

from programs.frame import Argument
from programs.triton_expressions import expression
from programs.triton_packed import packed
from programs.writer import Value, Writer

OPERANDS = ("float16", "float16", "bfloat16", "float32")


def sizes(rng, block):
    return rng.choice([block, 2 * block, rng.randint(1, 2 * block + 3), rng.randint(1, 90)])


def write_product(rng):
    kind = rng.random()
    return attention(rng) if kind < 0.3 else packed(rng) if kind < 0.5 else matmul(rng)


def on_elements(w, text, axes, depth):
    """The text of an expression of one tile and what broadcasts to it."""
    before = list(w.values)
    w.values = [v for v in before if v.axes != axes] + [Value(text, axes)]
    value = expression(w, axes, depth)
    w.values = before
    return value.text if value.axes == axes else f"({text} * {value.text})"


def matmul(rng):
    w = Writer(rng)
    block = {a: w.pick(16, 16, 32, 64) for a in "mnk"}
    extent = {a: sizes(rng, block[a]) for a in "mnk"}
    dtype = w.pick(*OPERANDS, "int8")
    whole = dtype == "int8"
    m, n, k = (extent[a] for a in "mnk")
    turned = {"A": w.chance(0.25), "B": w.chance(0.25)}
    fill = "small" if whole else "normal"
    arguments = [
        Argument("A", (m, k), dtype, fill, (1, m) if turned["A"] else w.pick(None, (k + 3, 1))),
        Argument("B", (k, n), dtype, fill, (1, k) if turned["B"] else w.pick(None, (n + 8, 1))),
        Argument("C", (m, n), "int32" if whole else w.pick("float32", dtype), "none"),
    ]
    form = w.pick("pointers", "pointers", "offsets", "block_pointers", "descriptors" if not any(turned.values()) else "offsets")
    if form == "descriptors":
        width = {"float32": 4, "int8": 1}.get(dtype, 2)
        pad = lambda x: -(-x * width // 16) * 16 // width  # noqa: E731
        arguments[0] = Argument("A", (m, k), dtype, fill, (pad(k), 1))
        arguments[1] = Argument("B", (k, n), dtype, fill, (pad(n), 1))
    loop = w.pick("range(0, K, BK)", "range(tl.cdiv(K, BK))", "tl.range(0, K, BK, num_stages=3)")
    step = "kk * BK" if "cdiv" in loop else "kk"
    w.line("pid = tl.program_id(0)")
    grouped = w.chance(0.3)
    if grouped:
        w.line("across, down = tl.cdiv(N, BN), tl.cdiv(M, BM)")
        w.line("group = pid // (2 * across)")
        w.line("height = tl.minimum(down - group * 2, 2)")
        w.line("pm = group * 2 + (pid % (2 * across)) % height")
        w.line("pn = (pid % (2 * across)) // height")
    else:
        w.line("pm, pn = pid // tl.cdiv(N, BN), pid % tl.cdiv(N, BN)")
    w.line("rm = pm * BM + tl.arange(0, BM)")
    w.line("rn = pn * BN + tl.arange(0, BN)")
    w.line("rk = tl.arange(0, BK)")
    wrapped = form == "pointers" and w.chance(0.3)
    if wrapped:
        w.line("rm_, rn_ = rm % M, rn % N")
    row, column = ("rm_", "rn_") if wrapped else ("rm", "rn")
    if form == "pointers":
        w.line(f"pa = A + {row}[:, None] * sa0 + rk[None, :] * sa1")
        w.line(f"pb = B + rk[:, None] * sb0 + {column}[None, :] * sb1")
    if form == "block_pointers":
        w.line("pa = tl.make_block_ptr(A, (M, K), (sa0, sa1), (pm * BM, 0), (BM, BK), (1, 0))")
        w.line("pb = tl.make_block_ptr(B, (K, N), (sb0, sb1), (0, pn * BN), (BK, BN), (1, 0))")
    if form == "descriptors":
        w.line("da = tl.make_tensor_descriptor(A, [M, K], [sa0, 1], [BM, BK])")
        w.line("db = tl.make_tensor_descriptor(B, [K, N], [sb0, 1], [BK, BN])")
    kind = "int32" if whole else "float32"
    start = w.pick("zeros", "zeros", "zeros", "bias") if not whole else "zeros"
    if start == "bias":
        arguments.append(Argument("Bias", (n,), "float32"))
        w.line("acc = tl.zeros((BM, BN), tl.float32) + tl.load(Bias + rn, mask=rn < N, other=0.0)[None, :]")
    else:
        w.line(f"acc = tl.zeros((BM, BN), dtype=tl.{kind})")
    second = not whole and w.chance(0.15)
    if second:
        w.line("acc2 = tl.zeros((BM, BN), dtype=tl.float32)")
    sums = not whole and w.chance(0.15)
    if sums:
        w.line("asum = tl.zeros((BM,), tl.float32)")
    with w.under(f"for kk in {loop}:"):
        left = f"(rk[None, :] < K - {step})" + ("" if wrapped or w.chance(0.2) else " & (rm[:, None] < M)")
        right = f"(rk[:, None] < K - {step})" + ("" if wrapped or w.chance(0.2) else " & (rn[None, :] < N)")
        if form == "pointers":
            w.line(f"a = tl.load(pa, mask={left if '&' in left or wrapped else left + ' & (rm[:, None] < M)'}, other=0.0)")
            w.line(f"b = tl.load(pb, mask={right if '&' in right or wrapped else right + ' & (rn[None, :] < N)'}, other=0.0)")
        elif form == "offsets":
            w.line(f"k0 = {step} + rk")
            w.line(
                "a = tl.load(A + rm[:, None] * sa0 + k0[None, :] * sa1, mask=(rm[:, None] < M) & (k0[None, :] < K), other=0.0)"
            )
            w.line(
                "b = tl.load(B + k0[:, None] * sb0 + rn[None, :] * sb1, mask=(k0[:, None] < K) & (rn[None, :] < N), other=0.0)"
            )
        elif form == "block_pointers":
            w.line('a = tl.load(pa, boundary_check=(0, 1), padding_option="zero")')
            w.line('b = tl.load(pb, boundary_check=(0, 1), padding_option="zero")')
        else:
            w.line(f"a = da.load([pm * BM, {step}])")
            w.line(f"b = db.load([{step}, pn * BN])")
        if not whole and w.chance(0.25):
            w.line(f"a = ({on_elements(w, 'a.to(tl.float32)', 'rc', 2)}).to(a.dtype)")
        if not whole and w.chance(0.2):
            w.line(f"b = ({on_elements(w, 'b.to(tl.float32)', 'rc', 1)}).to(b.dtype)")
        precision = w.pick("", ", input_precision='ieee'") if dtype == "float32" else ""
        out = ", out_dtype=tl.int32" if whole else ""
        w.line(w.pick(f"acc += tl.dot(a, b{precision}{out})", f"acc = tl.dot(a, b, acc{precision}{out})"))
        if second:
            w.line(f"acc2 += tl.dot(a, b * 0.5{precision})" if dtype == "float32" else "acc2 += tl.dot(a, (b * 0.5).to(b.dtype))")
        if sums:
            w.line("asum += tl.sum(a.to(tl.float32), axis=1)")
        if not whole and w.chance(0.15):
            w.line("acc = acc * 0.5")
        if form == "pointers":
            w.line("pa += BK * sa1")
            w.line("pb += BK * sb0")
        if form == "block_pointers":
            w.line("pa = tl.advance(pa, (0, BK))")
            w.line("pb = tl.advance(pb, (BK, 0))")
    w.values = [Value("rm", "r", "i"), Value("rn", "c", "i")]
    result = "acc"
    if second:
        w.line("acc = acc * tl.sigmoid(acc2)")
    if sums:
        w.values.append(Value("asum", "r"))
    if not whole and w.chance(0.3):
        arguments.append(Argument("Scale", (m,), "float32", "positive"))
        w.line("scale = tl.load(Scale + rm, mask=rm < M, other=1.0)")
        w.values.append(Value("scale", "r"))
    if not whole and w.chance(0.5):
        w.line(f"acc = {on_elements(w, 'acc', 'rc', 3)}")
    if not whole and w.chance(0.2):
        arguments.append(Argument("Row", (m, -(-n // block["n"])), "float32", "none"))
        w.line("inner = tl.where((rn < N)[None, :], acc, 0.0)")
        w.line(f"tl.store(Row + rm * tl.cdiv(N, BN) + pn, tl.{w.pick('sum', 'max')}(inner, axis=1), mask=rm < M)")
    mask = "(rm[:, None] < M) & (rn[None, :] < N)"
    w.line(f"tl.store(C + rm[:, None] * N + rn[None, :], {result}, mask={mask})")
    names = [a.name for a in arguments]
    strides = ["sa0", "sa1", "sb0", "sb1"]
    parameters = ", ".join(names + ["M", "N", "K"] + strides + ["BM: tl.constexpr", "BN: tl.constexpr", "BK: tl.constexpr"])
    passed = ", ".join(names + [str(m), str(n), str(k), "A.stride(0)", "A.stride(1)", "B.stride(0)", "B.stride(1)"])
    passed += f", BM={block['m']}, BN={block['n']}, BK={block['k']}"
    grid = -(-m // block["m"]) * -(-n // block["n"])
    body = f"@triton.jit\ndef kernel({parameters}):\n{w.text()}"
    return body, f"    kernel[({grid},)]({passed}{w.pick('', ', num_warps=8', ', num_stages=2')}, debug=debug)\n", arguments


def attention(rng):
    """softmax(q k^T) v by blocks of keys, with a mask, a bias or sinks."""
    w = Writer(rng)
    rows, keys, d = w.pick(16, 32, 64), w.pick(16, 32, 64), w.pick(16, 32, 64)
    n, m = sizes(rng, rows), sizes(rng, keys)
    dtype = w.pick("float16", "bfloat16", "float32")
    arguments = [
        Argument("Q", (n, d), dtype),
        Argument("K", (m, d), dtype),
        Argument("V", (m, d), dtype),
        Argument("O", (n, d), w.pick("float32", dtype), "none"),
    ]
    causal, base2, late = w.chance(0.5), w.chance(0.5), w.chance(0.5)
    exp = "tl.exp2" if base2 else "tl.exp"
    w.line("r = tl.program_id(0) * BR + tl.arange(0, BR)")
    w.line("e = tl.arange(0, D)")
    w.line("q = tl.load(Q + r[:, None] * D + e[None, :], mask=(r < N)[:, None], other=0.0)")
    if w.chance(0.3):
        w.line("q = (q * 0.125).to(q.dtype)")
    sinks = w.chance(0.2)
    w.line("top = tl.full((BR,), 0.25, tl.float32)" if sinks else "top = tl.full((BR,), float('-inf'), tl.float32)")
    w.line("total = tl.full((BR,), 1.0, tl.float32)" if sinks else "total = tl.zeros((BR,), tl.float32)")
    w.line("acc = tl.zeros((BR, D), tl.float32)")
    end = "M"
    if causal and w.chance(0.5):
        w.line("end = tl.minimum(M, (tl.program_id(0) + 1) * BR)")
        end = "end"
    turned = w.chance(0.4)
    with w.under(f"for st in range(0, {end}, BC):"):
        w.line("c = st + tl.arange(0, BC)")
        if turned:
            w.line("k = tl.load(K + c[None, :] * D + e[:, None], mask=(c < M)[None, :], other=0.0)")
        else:
            w.line("k = tl.load(K + c[:, None] * D + e[None, :], mask=(c < M)[:, None], other=0.0)")
        w.line(f"s = tl.dot(q, {'k' if turned else w.pick('k.T', 'tl.trans(k)')}) * 0.3")
        if w.chance(0.3):
            w.values = [Value("r", "r", "i"), Value("c", "c", "i")]
            w.line(f"s = {on_elements(w, 's', 'rc', 2)}")
        mask = "(c < M)[None, :]" + (" & (r[:, None] >= c[None, :])" if causal else "")
        w.line(f"s = tl.where({mask}, s, {w.pick('-1e30', '-1.0e6')})")
        w.line("new = tl.maximum(top, tl.max(s, axis=1))")
        w.line(f"p = {exp}(s - new[:, None])")
        w.line(f"scale = {exp}(top - new)")
        w.line("total = total * scale + tl.sum(p, axis=1)")
        w.line("acc = acc * scale[:, None]")
        w.line("v = tl.load(V + c[:, None] * D + e[None, :], mask=(c < M)[:, None], other=0.0)")
        w.line(w.pick("acc += tl.dot(p.to(v.dtype), v)", "acc = tl.dot(p.to(v.dtype), v, acc)"))
        w.line("top = new")
    if late:
        w.line("acc = acc / total[:, None]")
    else:
        w.line("acc *= (1.0 / total)[:, None]")
    w.line("tl.store(O + r[:, None] * D + e[None, :], acc, mask=(r < N)[:, None])")
    if w.chance(0.4):
        arguments.append(Argument("L", (n,), "float32", "none"))
        w.line("tl.store(L + r, top + tl.log(total), mask=r < N)")
    names = ", ".join(a.name for a in arguments)
    body = f"@triton.jit\ndef kernel({names}, N, M, D: tl.constexpr, BR: tl.constexpr, BC: tl.constexpr):\n{w.text()}"
    return body, f"    kernel[({-(-n // rows)},)]({names}, {n}, {m}, D={d}, BR={rows}, BC={keys}, debug=debug)\n", arguments
