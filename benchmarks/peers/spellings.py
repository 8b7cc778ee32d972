"""One matmul in ten spellings beside our plain one, and beside Triton on the same source."""

import torch
from gpu_rounds import Contest
from loaded_programs import HERE, as_triton, ours
from matmuls import BLOCKS, checker, operands

PATH = HERE / "matmul_spellings.py"
SIZE = 4096
NAMES = ("batch_axis", "int64_offsets", "block_pointer", "host_descriptor", "device_descriptor", "persistent", "bias_gelu",
         "residual", "transposed", "other_order")  # fmt: skip
STAGES = (3, 4)


def descriptors(load):
    """The class of a module that names tileon or triton: which of the two `load` makes of it."""
    if load is ours:
        from tilery.tileon.tools.tensor_descriptor import TensorDescriptor
    else:
        from triton.tools.tensor_descriptor import TensorDescriptor
    return TensorDescriptor


def call(load, name, a, b, c, bias, stages):
    (m, k), n = a.shape, b.shape[1]
    names = dict(zip(("BM", "BN", "BK"), BLOCKS, strict=True), GROUP=8, num_warps=8, num_stages=stages)
    module = load(PATH)
    tiles = -(-m // BLOCKS[0]) * -(-n // BLOCKS[1])
    if name == "host_descriptor":
        boxes = [(BLOCKS[0], BLOCKS[2]), (BLOCKS[2], BLOCKS[1]), BLOCKS[:2]]
        described = [descriptors(load).from_tensor(t, list(box)) for t, box in zip((a, b, c), boxes, strict=True)]
        return lambda: module.host_descriptor[(tiles,)](*described, m, n, k, TYPE=module.tl.bfloat16, **names)
    if name == "device_descriptor" and load is not ours:
        import triton

        triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
    grid = {"batch_axis": (tiles, 1), "persistent": (multiprocessors,)}.get(name, (tiles,))
    launch = getattr(module, name)[grid]
    return lambda: launch(a, b, c, bias, m, n, k, *a.stride(), *b.stride(), *c.stride(), **names)


def result_check(name, a, b, c, bias):
    """Raises unless c is what the spelling computes; leaves in c what it needs before the next call."""
    if name == "bias_gelu":
        exact = torch.nn.functional.gelu(a.double() @ b.double() + bias.double())

        def check():
            torch.testing.assert_close(c.double(), exact, rtol=2.0**-7, atol=0.05)
            c.fill_(float("nan"))

        return check
    if name == "residual":
        exact = a.double() @ b.double()
        c.fill_(1.0)

        def check():  # called behind one launch
            torch.testing.assert_close(c.double(), exact + 1, rtol=2.0**-7, atol=0.05)
            c.fill_(1.0)

        return check
    return checker(a, b, c)


def spelling(name):
    a, b, c = operands(SIZE, SIZE, SIZE, name == "transposed", torch.bfloat16)
    bias = torch.randn(SIZE, device="cuda").bfloat16()
    plain = operands(SIZE, SIZE, SIZE, name == "transposed", torch.bfloat16)[2]
    contest = Contest()
    check = result_check(name, a, b, c, bias)
    for stages in STAGES:
        contest.enter(f"ours, {stages} stages", lambda: call(ours, name, a, b, c, bias, stages), check)
        contest.enter(f"Triton, {stages} stages", lambda: call(as_triton, name, a, b, c, bias, stages), check)
        contest.enter(f"plain, {stages} stages", lambda: call(ours, "plain", a, b, plain, bias, stages), checker(a, b, plain))
    contest.run()
    for rival, goal in (("plain", 0.97), ("Triton", 1.0)):
        yield from contest.result(f"matmul {SIZE}, {name}", "ours", rival, 2 * SIZE**3 / 1e12, "TFLOP/s", goal)


WORKLOADS = {
    "matmul 4096 in ten spellings": {
        f"spelling-{name.replace('_', '-')}": lambda name=name: spelling(name) for name in NAMES
    }
}
