"""Kernels that memory bounds: softmax and rms norm over rows beside Triton and a copy, vector addition beside torch."""

import torch
from gpu_rounds import Contest
from programs import EXAMPLES, as_triton, ours

ROW_SHAPES = ((32768, 1024), (16384, 4096), (8192, 16384))
WARPS = {1024: (2, 4), 4096: (4, 8), 16384: (8, 16)}  # of Triton, by columns: its best are among them
PATH = EXAMPLES / "tileon" / "rows.py"


def checker(out, expected):
    """A function that raises unless `out` is `expected` (float64) up to one rounding to its type and a little of f32."""
    unit = 2.0**-8 if out.dtype == torch.bfloat16 else 2.0**-20
    out.fill_(float("nan"))

    def check():
        wrong = int((~((out.double() - expected).abs() <= unit * expected.abs() + 1e-6)).sum())
        out.fill_(float("nan"))
        if wrong:
            raise ValueError(f"{wrong} of {out.numel()} elements are wrong")

    return check


def softmax(module, x, w, out, **options):
    rows, n = x.shape
    launch = module.softmax_kernel[(rows,)]
    return lambda: launch(out, x, out.stride(0), x.stride(0), n, BLOCK=n, **options)


def rms_norm(module, x, w, out, **options):
    rows, n = x.shape
    launch = module.rms_norm_kernel[(rows,)]
    return lambda: launch(out, x, w, out.stride(0), x.stride(0), n, 1e-6, BLOCK=n, **options)


def exact(name, x, w):
    x = x.double()
    if name == "softmax":
        return torch.softmax(x, -1)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w.double()


def over_rows(name, launch):
    """The number of warps is left to us; of Triton's the best counts."""
    for dtype, label in ((torch.bfloat16, "bf16"), (torch.float32, "f32")):
        for rows, n in ROW_SHAPES:
            x, w = (torch.randn(*shape, device="cuda").to(dtype) for shape in ((rows, n), (n,)))
            out, copy = torch.empty_like(x), torch.empty_like(x)
            check = checker(out, exact(name, x, w))
            contest = Contest()
            contest.enter("ours", lambda: launch(ours(PATH), x, w, out), check)
            for warps in WARPS[n]:
                contest.enter(f"Triton, {warps} warps", lambda: launch(as_triton(PATH), x, w, out, num_warps=warps), check)
            contest.enter("copy", lambda: lambda: copy.copy_(x))
            contest.run()
            moved = 2 * x.element_size() * rows * n / 1e9
            for rival, goal in (("Triton", 1.0), ("copy", 0.85)):
                yield from contest.result(f"{name} {label} {rows}x{n}", "ours", rival, moved, "GB/s", goal)


def vector_add():
    """z = x + y over 2^28 floats."""
    n, block = 2**28, 1024
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    z = torch.empty_like(x)

    def check():
        if not torch.equal(z, x + y):
            raise ValueError("the sum is wrong")
        z.fill_(float("nan"))

    launch = ours(PATH).add_kernel[(n // block,)]
    contest = Contest()
    contest.enter("ours", lambda: lambda: launch(x, y, z, n, BLOCK=block, num_warps=4), check)
    contest.enter("torch", lambda: lambda: torch.add(x, y, out=z), check)
    yield from contest.run().result("vector add 2^28 f32", "ours", "torch", 12 * n / 1e9, "GB/s", 1.0)


ROWS = {
    "softmax": lambda: over_rows("softmax", softmax),
    "rms-norm": lambda: over_rows("rms norm", rms_norm),
    "vector-add": vector_add,
}
