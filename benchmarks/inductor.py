"""Under `tilery run`: the Triton that torch.compile's Inductor writes, compiled by us, against the C++ that it writes, compiled
by g++. Prints the Results as JSON."""

import dataclasses
import json
import sys

import torch
import torch.nn.functional as F
from harness import compare
from torch._dynamo.utils import counters

SHAPE = (4096, 1024)
BYTES = 4 * SHAPE[0] * SHAPE[1]


def chain(x, y):
    return (x * 2 + y).sigmoid() * x.tanh() - (y * y).exp().clamp(max=5)


def softmax(x):
    return torch.softmax(x, -1)


def layer_norm(x, weight, bias):
    return F.layer_norm(x, SHAPE[1:], weight, bias)


def compiled(function, backend, arguments):
    """`backend` is an option of this function's own: what torch remembers of it stays apart from the other one's."""
    fast = torch.compile(function, options={"cpu_backend": backend})
    torch.testing.assert_close(fast(*arguments), function(*arguments), rtol=1e-4, atol=1e-5)
    return fast


def race(name, function, arguments, tensors):
    ours, theirs = (compiled(function, backend, arguments) for backend in ("triton", "cpp"))
    graphs = counters["stats"]["unique_graphs"]
    rivals = {"C++": lambda: theirs(*arguments)}
    result = compare(f"Inductor's {name} 4096x1024 f32", lambda: ours(*arguments), rivals, tensors * BYTES, "GB/s", 1.0)
    assert counters["stats"]["unique_graphs"] == graphs, "compiled again, by torch's own back end"
    return result


def show(results):
    json.dump([dataclasses.asdict(result) for result in results], sys.stdout)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[1]))
    x, y, weight, bias = torch.randn(SHAPE), torch.randn(SHAPE), torch.randn(SHAPE[1]), torch.randn(SHAPE[1])
    show(
        [
            race("elementwise chain", chain, (x, y), 3),
            race("softmax", softmax, (x,), 2),
            race("layer norm", layer_norm, (x, weight, bias), 2),
        ]
    )


if __name__ == "__main__":  # torch's compile workers import the main module, too
    main()
