"""Triton programs that multiply by weights packed in words: several numbers along k or n in each, with scales of groups."""

from programs.frame import Argument
from programs.writer import Writer


def unpacked(w, word, each, along, whole):
    """Lines that make `b`, numbers of [BK, BN], from words of [K, N] packed along `along`. `whole`: steps end where K does."""
    bits = 8 * {"int32": 4, "int8": 1, "uint8": 1}[word] // each
    mask = (1 << bits) - 1
    joined = each == 2 and w.chance(0.4)
    turned = w.chance(0.5)  # [n, k] in memory and in registers
    k, n = "kw" if joined and along == "k" else "k0", "nw" if joined and along == "n" else "rn"
    if joined:
        start = "kk" if along == "k" else "pn * BN"
        w.line(f"{along}w = {start} // {each} + tl.arange(0, B{along.upper()} // {each})")
    place_k = f"{k} // {each}" if along == "k" and not joined else k
    place_n = f"{n} // {each}" if along == "n" and not joined else n
    masks = []
    if not whole or w.chance(0.3):
        masks.append(f"({k} < K{f' // {each}' if joined and along == 'k' else ''})")
    masks.append(f"({n} < N{f' // {each}' if joined and along == 'n' else ''})")
    row, column = ("[None, :]", "[:, None]") if turned else ("[:, None]", "[None, :]")
    shown = " & ".join(m + (row if m.startswith(f"({k} ") else column) for m in masks)
    w.line(f"words = tl.load(W + ({place_k}){row} * sw0 + ({place_n}){column} * sw1, mask={shown}, other=0)")
    if joined:
        last = turned == (along == "k")  # numbers of a word follow each other in the last dimension
        low, high = f"words & {mask}", f"(words >> {bits}) & {mask}"
        if last:
            w.line(f"b = tl.join({low}, {high}).reshape({'BN, BK' if turned else 'BK, BN'})")
        else:
            w.line(f"b = tl.join({low}, {high}).permute(0, 2, 1).reshape({'BN, BK' if turned else 'BK, BN'})")
    else:
        at, line = ("k0", row) if along == "k" else ("rn", column)
        w.line(f"b = (words >> (({at} % {each}) * {bits}){line}.to(words.dtype)) & {mask}")
    if turned:
        w.line("b = b.T")
    w.line("b = b.to(tl.int32)")
    if w.chance(0.3):
        w.line(f"b = tl.where(b >= {1 << (bits - 1)}, b - {1 << bits}, b)")


def packed(rng):
    w = Writer(rng)
    block = {"m": w.pick(16, 64, 128), "n": w.pick(32, 64, 128), "k": w.pick(16, 32, 64)}
    dtype = w.pick("float16", "bfloat16")
    word, each = w.pick(("int32", 8), ("int32", 4), ("int8", 2), ("uint8", 2), ("uint8", 1))
    along = w.pick("k", "k", "n")
    m = w.pick(block["m"], 2 * block["m"], rng.randint(1, 2 * block["m"]))
    n = block["n"] * w.pick(1, 2) if w.chance(0.7) else 8 * rng.randint(1, 16)
    k = block["k"] * w.pick(1, 2, 4) if w.chance(0.7) else 8 * rng.randint(1, 20)
    shape = (k // each, n) if along == "k" else (k, n // each)
    lies = w.chance(0.5)  # k side by side
    group = w.pick(8, 16, block["k"], 2 * block["k"], 24)
    arguments = [
        Argument("A", (m, k), dtype, "small", w.pick(None, (k + 8, 1))),
        Argument("W", shape, word, "any", (1, shape[0]) if lies else None),
        Argument("C", (m, n), w.pick("float32", dtype), "none"),
    ]
    w.line("pm, pn = tl.program_id(0), tl.program_id(1)")
    w.line("rm, rn = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN)")
    w.line("acc = tl.zeros((BM, BN), tl.float32)")
    scales = w.pick("none", "group", "groups", "column")
    if scales != "none":
        arguments.append(Argument("S", (-(-k // group), n) if scales != "column" else (n,), dtype, "small"))
    with w.under("for kk in range(0, K, BK):"):
        w.line("k0 = kk + tl.arange(0, BK)")
        w.line("a = tl.load(A + rm[:, None] * sa + k0[None, :], mask=(rm[:, None] < M) & (k0[None, :] < K), other=0.0)")
        unpacked(w, word, each, along, k % block["k"] == 0)
        if w.chance(0.4):
            w.line(f"b = b - {w.pick(1, 8)}")
        w.line(f"b = b.to(tl.{dtype})")
        if scales == "group":
            w.line(f"b = b * tl.load(S + kk // {group} * N + rn, mask=rn < N, other=0.0)[None, :]")
        if scales == "groups":
            mask = "(k0[:, None] < K) & (rn[None, :] < N)"
            w.line(f"b = b * tl.load(S + (k0 // {group})[:, None] * N + rn[None, :], mask={mask}, other=0.0)")
        w.line(w.pick(f"acc += tl.dot(a, b.to(tl.{dtype}))", f"acc = tl.dot(a, b.to(tl.{dtype}), acc)"))
    if scales == "column":
        w.line("acc = acc * tl.load(S + rn, mask=rn < N, other=0.0)[None, :]")
    w.line("tl.store(C + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))")
    names = [a.name for a in arguments]
    constants = "BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr"
    parameters = ", ".join([*names, "M", "N", "K", "sa", "sw0", "sw1", constants])
    passed = ", ".join([*names, str(m), str(n), str(k), "A.stride(0)", "W.stride(0)", "W.stride(1)"])
    passed += f", BM={block['m']}, BN={block['n']}, BK={block['k']}"
    grid = f"{-(-m // block['m'])}, {-(-n // block['n'])}"
    body = f"@triton.jit\ndef kernel({parameters}):\n{w.text()}"
    return body, f"    kernel[({grid})]({passed}, debug=debug)\n", arguments
