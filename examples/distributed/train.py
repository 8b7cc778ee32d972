"""A layer of a transformer, split over processes, trained with kernels of all languages, beside torch's own.

    torchrun --nproc-per-node 2 examples/distributed/train.py [--time]

In float32 losses of 20 steps agree to 1e-4 (on GPUs, whose products of TileLang are in tf32: in bfloat16, to 0.05). With --time,
on GPUs: 200 steps in bfloat16, whose losses go apart from torch's no further than torch's own with other orders of sums do; steps
a second.
"""

import time

import torch
from layer import Model, OurFunctions, TorchFunctions
from peers import DEVICE, ON_GPU, TIMED, run, say

SMALL = {"columns": 128, "heads": 4, "hidden": 256, "classes": 200}
LARGE = {"columns": 4096, "heads": 32, "hidden": 11264, "classes": 32768}


def tokens(step, batches, length, classes):
    """Sequences whose next token is mostly a function of the last one."""
    generator = torch.Generator().manual_seed(1000 + step)
    found = torch.randint(classes, (batches, length + 1), generator=generator)
    noisy = torch.rand(batches, length + 1, generator=generator) < 0.1
    for i in range(1, length + 1):
        found[:, i] = torch.where(noisy[:, i], found[:, i], (found[:, i - 1] * 5 + 1) % classes)
    return found


def train(functions, sizes, dtype, data, rate, order=None):
    """Losses of each step; seconds a step, of those behind the first ten."""
    model = Model(functions, sizes, DEVICE, dtype, order)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, fused=ON_GPU)
    losses = []
    for step, batch in enumerate(data):
        if step == 10:
            torch.cuda.synchronize() if ON_GPU else None
            start = time.perf_counter()
        loss = model(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    losses = torch.stack(losses).double().cpu()
    return losses, (time.perf_counter() - start) / (len(data) - 10)


def check():
    data = [tokens(step, 2, 128, SMALL["classes"]) for step in range(20)]
    data = [batch.to(DEVICE) for batch in data]
    dtype, allowed = (torch.bfloat16, 0.05) if ON_GPU else (torch.float32, 1e-4)
    (ours, _), (theirs, _) = (train(functions, SMALL, dtype, data, 1e-2) for functions in (OurFunctions, TorchFunctions))
    apart = (ours - theirs).abs().max().item()
    assert theirs[-1] < theirs[0] - 1, theirs
    assert apart < allowed, f"{apart}\n{ours}\n{theirs}"
    name = str(dtype).removeprefix("torch.")
    say(f"20 steps in {name}: loss {ours[0]:.3f} to {ours[-1]:.3f}, at most {apart:.1e} apart: agrees")


def measure(steps=200, batches=4, length=2048):
    data = [tokens(step, batches, length, LARGE["classes"]).to(DEVICE) for step in range(25)] * (steps // 25)
    runs = [train(TorchFunctions, LARGE, torch.bfloat16, data, 1e-4, order) for order in (None, 1, 2, 3, 4)]
    ours, seconds = train(OurFunctions, LARGE, torch.bfloat16, data, 1e-4)
    losses, theirs = torch.stack([run[0] for run in runs]), min(run[1] for run in runs)
    spread = [(losses[i] - torch.cat([losses[:i], losses[i + 1 :]]).mean(0)).abs() for i in range(len(losses))]
    apart = (ours - losses.mean(0)).abs()
    least, most = losses[:, -1].min(), losses[:, -1].max()
    say(f"{steps} steps in bfloat16: loss {ours[0]:.3f} to {ours[-1]:.3f}, torch's to {least:.3f} to {most:.3f}")
    others = ", ".join(f"{each.mean():.5f} ({each.max():.4f})" for each in spread)
    say(f"apart from torch's mean {apart.mean():.5f} ({apart.max():.4f}); torch's runs from that of their others: {others}")
    assert apart.mean() <= 2 * max(s.mean() for s in spread)
    say(f"steps a second: {1 / seconds:.2f}, torch {1 / theirs:.2f}, {theirs / seconds:.3f}")


def main():
    check()
    if TIMED and ON_GPU:
        measure()


run(main)
