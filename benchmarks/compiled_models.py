"""Under `tilery run`: small models by torch.compile, the Triton that Inductor writes compiled by us, against the C++ that it
writes, compiled by g++, and against eager torch. Prints the Results as JSON."""

import sys
import time

import inductor
import torch
import torch.nn.functional as F
from harness import compare
from torch import nn
from torch._inductor.runtime.triton_heuristics import CachingAutotuner


class TransformerBlock(nn.Module):
    def __init__(self, width=512, heads=8):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.before(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.between(x))))


class ResNetBlock(nn.Module):
    def __init__(self, channels=64):
        super().__init__()
        self.convolutions = nn.ModuleList(nn.Conv2d(channels, channels, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(nn.GroupNorm(8, channels) for _ in range(2))

    def forward(self, x):
        y = F.relu(self.norms[0](self.convolutions[0](x)))
        return F.relu(x + self.norms[1](self.convolutions[1](y)))


class Experts(nn.Module):
    def __init__(self, width=256, experts=4, chosen=2):
        super().__init__()
        self.chosen, self.norm, self.gate = chosen, nn.RMSNorm(width), nn.Linear(width, experts)
        self.up = nn.Parameter(torch.randn(experts, width, 4 * width) / width**0.5)
        self.down = nn.Parameter(torch.randn(experts, 2 * width, width) / width**0.5)

    def forward(self, x):
        y = self.norm(x)
        shares = torch.softmax(self.gate(y), -1)
        least = shares.topk(self.chosen, -1).values[..., -1:]
        shares = torch.where(shares >= least, shares, 0.0)
        shares = shares / shares.sum(-1, keepdim=True)
        left, right = torch.einsum("tc,ecd->etd", y, self.up).chunk(2, -1)
        return x + torch.einsum("etd,edc,te->tc", F.silu(left) * right, self.down, shares)


MODELS = {
    "transformer block 4x256x512": (TransformerBlock, (4, 256, 512)),
    "ResNet block 4x64x56x56": (ResNetBlock, (4, 64, 56, 56)),
    "block of 4 experts 1024x256": (Experts, (1024, 256)),
}


def share_of_kernels(call):
    """Of a call's time, the part in the kernels that we compiled."""
    run, inside = CachingAutotuner.run, [0.0]

    def timed(self, *arguments, **options):
        start = time.perf_counter()
        result = run(self, *arguments, **options)
        inside[0] += time.perf_counter() - start
        return result

    CachingAutotuner.run = timed
    try:
        start = time.perf_counter()
        for _ in range(10):
            call()
        return inside[0] / (time.perf_counter() - start)
    finally:
        CachingAutotuner.run = run


@torch.no_grad()
def race(name, make, shape):
    model, x = make().eval(), torch.randn(shape)
    ours, theirs = (inductor.compiled(model, backend, (x,)) for backend in ("triton", "cpp"))
    graphs = inductor.counters["stats"]["unique_graphs"]
    rivals = {"C++": lambda: theirs(x), "torch": lambda: model(x)}
    share = share_of_kernels(lambda: ours(x))
    work = f"{name}, compiled ({share:.0%} in our kernels)"
    result = compare(work, lambda: ours(x), rivals, 1e3 * x.numel(), "Melements/s", 1.0)
    assert inductor.counters["stats"]["unique_graphs"] == graphs, "compiled again, by torch's own back end"
    return result


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(int(sys.argv[1]))
    inductor.show([race(name, *model) for name, model in MODELS.items()])
