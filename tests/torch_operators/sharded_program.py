"""Operators on DTensors, in each of two processes; test_sharded.py runs it by torchrun."""

import importlib.util
import sys
from pathlib import Path

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

import tilery.torch

spec = importlib.util.spec_from_file_location("torch_operators_kernels", Path(__file__).with_name("kernels.py"))
sys.modules[spec.name] = kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)

sharding = tilery.torch.sharding
sharding(kernels.silu, "... -> ...", along=["..."])
sharding(kernels.silu_backward, "..., ... -> ...", along=["..."])
sharding(kernels.scaled, "rows columns -> rows columns", along=["rows", "columns"])
sharding(kernels.sums, "rows columns -> rows, twice one")
sharding(kernels.plus_transposed, "m n, m n -> n m", along=["m", "n"])

torch.manual_seed(0)
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("all",))
WHOLE = torch.randn(8, 12)


def given(placement, whole=WHOLE):
    return distribute_tensor(whole, mesh, [placement])


def same(found, expected, placement):
    assert found.placements == (placement,), found.placements
    torch.testing.assert_close(found.full_tensor(), expected)


def test_elementwise():
    expected = torch.nn.functional.silu(WHOLE)
    for placement in (Shard(0), Shard(1), Replicate()):
        same(kernels.silu(given(placement)), expected, placement)
    cube = torch.randn(3, 5, 7)
    same(kernels.silu(given(Shard(1), cube)), torch.nn.functional.silu(cube), Shard(1))  # of 3 and 2 rows
    parts = given(Shard(0)).redistribute(mesh, [Replicate()])
    half = torch.distributed.tensor.DTensor.from_local(parts.to_local() / 2, mesh, [Partial()])  # a sum is made before
    torch.testing.assert_close(kernels.silu(half).full_tensor(), expected)
    same(kernels.scaled(given(Shard(1)), 1.5), WHOLE * 1.5, Shard(1))


def test_axes_together():
    same(kernels.plus_transposed(given(Shard(0)), given(Shard(0))), (WHOLE * 2).t(), Shard(1))
    found = kernels.plus_transposed(given(Shard(1)), given(Shard(0)))
    torch.testing.assert_close(found.full_tensor(), (WHOLE * 2).t())


def test_gradients():
    x = given(Shard(0)).requires_grad_()
    kernels.silu(x).sum().backward()
    whole = WHOLE.clone().requires_grad_()
    torch.nn.functional.silu(whole).sum().backward()
    same(x.grad, whole.grad, Shard(0))


@tilery.torch.custom_op("sharded::linear", mutates_args=())
def linear(x: torch.Tensor, weight: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    return (x @ weight.t()) * scale


@tilery.torch.backward(linear)
def linear_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    return (grad @ weight) * scale, (grad.t() @ x) * scale


@tilery.torch.custom_op("sharded::affine", mutates_args=())
def affine(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    return x @ weight.t() if bias is None else x @ weight.t() + bias


sharding(linear, "rows k, columns k -> rows columns", along=["rows", "columns"], sums=["k"])
sharding(linear_backward, "rows columns, rows k, columns k -> rows k, columns k", sums=["rows", "columns", "k"])
sharding(affine, "rows k, columns k, columns -> rows columns", along=["rows", "columns"])


def test_sums_over_processes():
    weight = torch.randn(6, 12)
    expected = torch.nn.functional.linear(WHOLE, weight) * 2
    for x, w, result in ((Shard(0), Replicate(), Shard(0)), (Replicate(), Shard(0), Shard(1)), (Shard(1), Shard(1), Partial())):
        one, two = given(x).requires_grad_(), given(w, weight).requires_grad_()
        found = linear(one, two, 2.0)
        same(found, expected, result)
        found.redistribute(mesh, [Replicate()]).sum().backward()
        torch.testing.assert_close(one.grad.full_tensor(), torch.full((8, 6), 2.0) @ weight)
        torch.testing.assert_close(two.grad.full_tensor(), torch.full((6, 8), 2.0) @ WHOLE)


def test_what_is_no_sum():
    weight, bias = torch.randn(6, 12), torch.randn(6)
    expected = torch.nn.functional.linear(WHOLE, weight, bias)
    same(affine(given(Replicate()), given(Shard(0), weight), given(Shard(0), bias)), expected, Shard(1))
    found = affine(given(Shard(1)), given(Shard(1), weight), given(Replicate(), bias))  # the bias would be there twice
    torch.testing.assert_close(found.full_tensor(), expected)
    same(affine(given(Shard(0)), given(Replicate(), weight)), expected - bias, Shard(0))


def test_whole_axes():
    """`sums` writes two numbers a row along one axis: it is called with all rows."""
    total, twice = kernels.sums(given(Shard(1)))
    torch.testing.assert_close(total.full_tensor(), WHOLE.sum(1))
    torch.testing.assert_close(twice.full_tensor(), torch.stack([WHOLE.sum(1), -WHOLE.sum(1)], 1).view(-1, 1))


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        if dist.get_rank() == 0:
            print(name, flush=True)
dist.barrier()  # until gloo's threads are done with the tensors: what DTensors remember keeps them alive beyond the group
dist.destroy_process_group()
