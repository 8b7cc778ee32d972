"""What memory bounds: vector addition beside torch, and copies that turn tiles beside Triton on the same source and a copy."""

import torch
from gpu_rounds import Contest
from loaded_programs import EXAMPLES, HERE, as_triton, ours

PATH = EXAMPLES / "tileon" / "rows.py"


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


def turned(dtype, name, n=8192):
    x = torch.randint(-128, 127, (n, n), device="cuda").to(dtype)
    z = torch.empty_like(x)

    def check():
        if not torch.equal(z, x.T):
            raise ValueError("the copy is wrong")
        z.zero_()

    contest = Contest()
    for block in (64, 128):
        for label, load in (("ours", ours), ("Triton", as_triton)):

            def prepare(load=load, block=block):
                launch = load(HERE / "turned_copy.py").turned[(n // block, n // block)]
                return lambda: launch(x, z, n, BLOCK=block)

            contest.enter(f"{label}, {block}x{block}", prepare, check)
    contest.enter("copy", lambda: lambda: z.copy_(x))
    contest.run()
    for rival, goal in (("Triton", 1.0), ("copy", 0.9)):
        yield from contest.result(f"tl.trans {name} {n}x{n}", "ours", rival, 2 * x.nbytes / 1e9, "GB/s", goal)


TURNED = {"int8": torch.int8, "f16": torch.float16, "f32": torch.float32}
WORKLOADS = {
    "vector add 2^28 f32": {"vector-add": vector_add},
    "tl.trans": {f"turned-{name}": lambda dtype=dtype, name=name: turned(dtype, name) for name, dtype in TURNED.items()},
}
