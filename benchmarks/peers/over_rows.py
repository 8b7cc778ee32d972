"""Programs over rows beside Triton on the same source and a copy: sums, softmax, norms forward and backward, cross entropy."""

import functools
from pathlib import Path

import torch
from gpu_rounds import Contest
from loaded_programs import as_triton, ours

PATH = Path(__file__).resolve().parent / "row_programs.py"
COLUMNS = (1024, 4096, 16384, 65536, 131072)
LONGEST = 65536  # columns that a program holds at once; longer rows come in pieces
PIECE = 16384
VOCABULARY = 128256
ELEMENTS = 2**26  # of a tensor
TYPES = {"bf16": torch.bfloat16, "f32": torch.float32}
EPSILON = 1e-6
LOOPING = 528  # programs of a loop over rows, some a multiprocessor


def warps(n):
    """Of Triton, by columns a program holds: its best are among them."""
    return {1024: (1, 2, 4), 4096: (4, 8), 16384: (8, 16)}.get(n, (16, 32))


class Rows:
    """Tensors of one shape: rows x and dy, a vector's w and b, the result, and what is computed from them in float64."""

    def __init__(self, dtype, n, count=None):
        self.n, self.count = n, count or ELEMENTS // n
        make = lambda *shape: torch.randn(*shape, device="cuda").to(dtype)
        self.x, self.dy, self.w, self.b = make(self.count, n), make(self.count, n), make(n), make(n)
        self.out = torch.empty_like(self.x)
        self.piece = min(PIECE, n)

    def exact(self, function, *names):
        """function of some tensors in float64, in parts that fit the memory."""
        parts = []
        for first in range(0, self.count, max(1, 2**24 // self.n)):
            part = slice(first, first + max(1, 2**24 // self.n))
            parts.append(function(*(getattr(self, name)[part].double() for name in names)).float())
        return torch.cat(parts)

    def checker(self, expected, units=1.0, out=None):
        """A function that raises unless the result is `expected` up to `units` roundings to its type and a little of f32."""
        out = self.out if out is None else out
        unit = units * (2.0**-8 if out.dtype == torch.bfloat16 else 2.0**-19)
        out.fill_(float("nan"))

        def check():
            wrong = int((~((out.float() - expected).abs() <= unit * expected.abs() + units * 2e-5)).sum())
            out.fill_(float("nan"))
            if wrong:
                raise ValueError(f"{wrong} of {out.numel()} elements are wrong")

        return check


def sums(t):
    out = torch.empty(t.count, device="cuda")
    check = t.checker(t.exact(lambda x: x.sum(-1), "x"), 64, out)
    if t.n > LONGEST:
        return (lambda m, **o: m.sums_in_pieces(t.x, out, t.piece, **o)), check, 1
    return (lambda m, **o: m.sums(t.x, out, **o)), check, 1


def softmax(t, variant=""):
    check = t.checker(t.exact(lambda x: torch.softmax(x, -1), "x"))
    if variant == "loop":
        return (lambda m, **o: m.softmax_in_a_loop(t.x, t.out, LOOPING, **o)), check, 2
    if variant == "pieces" or t.n > LONGEST:
        return (lambda m, **o: m.softmax_in_pieces(t.x, t.out, t.piece, **o)), check, 2
    return (lambda m, **o: m.softmax(t.x, t.out, **o)), check, 2


def rms_norm(t):
    exact = t.exact(lambda x: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * t.w.double(), "x")
    check = t.checker(exact)
    if t.n > LONGEST:
        return (lambda m, **o: m.rms_norm_in_pieces(t.x, t.w, t.out, t.piece, **o)), check, 2
    return (lambda m, **o: m.rms_norm(t.x, t.w, t.out, **o)), check, 2


def layer_norm(t):
    normal = functools.partial(torch.nn.functional.layer_norm, normalized_shape=(t.n,), eps=EPSILON)
    check = t.checker(t.exact(lambda x: normal(x, weight=t.w.double(), bias=t.b.double()), "x"), 2)
    return (lambda m, **o: m.layer_norm(t.x, t.w, t.b, t.out, **o)), check, 2


def layer_norm_backward(t):
    mean = t.exact(lambda x: x.mean(-1), "x")
    scale = t.exact(lambda x: torch.rsqrt(x.var(-1, correction=0) + EPSILON), "x")

    def gradient(x, dy):
        normal = (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, correction=0, keepdim=True) + EPSILON)
        wdy = dy * t.w.double()
        deviation = wdy - wdy.mean(-1, keepdim=True) - normal * (normal * wdy).mean(-1, keepdim=True)
        return deviation * torch.rsqrt(x.var(-1, correction=0, keepdim=True) + EPSILON)

    check = t.checker(t.exact(gradient, "x", "dy"), 2)
    return (lambda m, **o: m.layer_norm_backward(t.dy, t.x, t.w, mean, scale, t.out, **o)), check, 3


def rms_norm_backward(t):
    scale = t.exact(lambda x: torch.rsqrt(x.square().mean(-1) + EPSILON), "x")
    dw = torch.empty(min(LOOPING, t.count), t.n, device="cuda")

    def gradient(x, dy):
        r = torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON)
        m = dy * t.w.double()
        return r * m - r**3 * (m * x).mean(-1, keepdim=True) * x

    check = t.checker(t.exact(gradient, "x", "dy"), 2)
    total = (t.dy.double() * t.x.double() * scale.double()[:, None]).sum(0)

    def both():
        if not torch.allclose(dw.double().sum(0), total, rtol=1e-3, atol=1e-2):
            raise ValueError("the weights' gradient is wrong")
        dw.fill_(float("nan"))
        check()

    return (lambda m, **o: m.rms_norm_backward(t.dy, t.x, t.w, scale, t.out, dw, **o)), both, 3


def cross_entropy(t):
    """In place: three times the tensor's bytes are read or written."""
    target = torch.randint(t.n, (t.count,), device="cuda")
    loss = torch.empty(t.count, device="cuda")
    start = t.x.clone()
    exact = torch.cat([torch.nn.functional.cross_entropy(x.double(), y, reduction="none")
                       for x, y in zip(start.split(128), target.split(128), strict=True)])  # fmt: skip
    wanted = torch.softmax(start[:128].double(), -1)
    wanted[torch.arange(128), target[:128]] -= 1
    wanted /= t.count

    def check():
        torch.testing.assert_close(loss.double(), exact, rtol=1e-5, atol=1e-4)
        torch.testing.assert_close(t.x[:128].double(), wanted, rtol=2.0**-8, atol=1e-9)
        t.x.copy_(start)

    return (lambda m, **o: m.cross_entropy(t.x, target, loss, 2 * PIECE, **o)), check, 3


def race(label, t, program):
    """The number of warps is left to us; of Triton's the best counts."""
    launch, check, passes = program(t)
    contest = Contest()
    contest.enter("ours", lambda: functools.partial(launch, ours(PATH)), check)
    for count in warps(t.n):
        by_triton = lambda count=count: functools.partial(launch, as_triton(PATH), num_warps=count)
        contest.enter(f"Triton, {count} warps", by_triton, check)
    contest.enter("copy", lambda: lambda: t.out.copy_(t.x))
    contest.run()
    bytes_of_tensor = t.x.element_size() * t.x.numel()
    contest.scale("copy", passes / 2)  # of as many bytes
    for rival, goal in (("Triton", 1.0), ("copy", 0.9)):
        yield from contest.result(label, "ours", rival, passes * bytes_of_tensor / 1e9, "GB/s", goal)


def over(name, program, dtype, longest):
    for n in COLUMNS:
        if n <= longest:
            t = Rows(TYPES[dtype], n)
            yield from race(f"{name} {dtype} {t.count}x{n}", t, program)


def entropy(dtype):
    t = Rows(TYPES[dtype], VOCABULARY, 2048)
    yield from race(f"cross entropy {dtype} {t.count}x{t.n}", t, cross_entropy)


PROGRAMS = {  # and their longest rows
    "row sum": (sums, COLUMNS[-1]),
    "softmax": (softmax, COLUMNS[-1]),
    "softmax, rows in a loop": (functools.partial(softmax, variant="loop"), LONGEST // 4),
    "rms norm": (rms_norm, COLUMNS[-1]),
    "layer norm": (layer_norm, LONGEST),
    "layer norm backward": (layer_norm_backward, LONGEST // 4),
    "rms norm backward": (rms_norm_backward, LONGEST // 4),
}
WORKLOADS = {
    name: {
        f"rows-{name.replace(',', '').replace(' ', '-')}-{dtype}": functools.partial(over, name, program, dtype, longest)
        for dtype in TYPES
    }
    for name, (program, longest) in PROGRAMS.items()
}
WORKLOADS["cross entropy"] = {f"rows-cross-entropy-{dtype}": lambda dtype=dtype: entropy(dtype) for dtype in TYPES}
