"""Operators on DTensors: what rules say, and by two processes what comes out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import tilery.torch
from tilery.errors import Error

PROGRAM = Path(__file__).with_name("sharded_program.py")


def test_two_processes():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", PROGRAM]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "TILERY_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [line[4:-3] for line in PROGRAM.read_text().splitlines() if line.startswith("def test_")]


@pytest.fixture(scope="module")
def both():
    @tilery.torch.custom_op("sharding_rules::both", mutates_args=())
    def both(x: torch.Tensor, y: torch.Tensor, n: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
        return x + y, x.sum(0)

    return both


WRONG = {
    "m n -> m n": "takes 2 tensors, its sharding rule 'm n -> m n' names 1",
    "m n, m n -> m n": "returns 2 tensors, its sharding rule .* names 1",
    "m n, m n": "is `axes, ... -> axes, ...`",
    "m m, m n -> m n, n": "`m m` in the sharding rule",
    "m 2, m n -> m n, n": "`m 2` in the sharding rule",
}


@pytest.mark.parametrize("rule", WRONG)
def test_wrong_rules(both, rule):
    with pytest.raises(ValueError, match=WRONG[rule]):
        tilery.torch.sharding(both, rule)


def test_wrong_axes(both):
    with pytest.raises(ValueError, match="`along` names `m`, which not all results of sharding_rules::both have") as caught:
        tilery.torch.sharding(both, "m n, m n -> m n, n", along=["m"])
    assert "name it in `sums`" in caught.value.hint
    with pytest.raises(ValueError, match="`sums` names `k`, which no tensor"):
        tilery.torch.sharding(both, "m n, m n -> m n, n", sums=["k"])
    with pytest.raises(TypeError, match="`along` is a sequence of names, got 'n'"):
        tilery.torch.sharding(both, "m n, m n -> m n, n", along="n")


def test_operators_without_rules(both, kernels):
    with pytest.raises(TypeError, match="what is sharded is an operator"):
        tilery.torch.sharding(torch.add, "m, m -> m")
    with pytest.raises(TypeError, match="writes to `y`"):
        tilery.torch.sharding(kernels.scale_into, "m, m -> ")

    @tilery.torch.custom_op("sharding_rules::many", mutates_args=())
    def many(xs: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(xs)

    with pytest.raises(TypeError, match="a list of tensors"):
        tilery.torch.sharding(many, "m -> n m")


def test_calls_that_a_rule_does_not_fit(both):
    from tilery.torch.sharded import _Rule

    rule = _Rule(both, "m n, ... -> m n, n", ["n"], [])
    with pytest.raises(Error, match="a tensor of 1 axis, where its sharding rule says `m n`"):
        rule(torch.zeros(3), torch.zeros(3))
    rule = _Rule(both, "..., ... n -> ... n, n", ["n"], [])
    with pytest.raises(Error, match="differ in how many axes"):
        rule(torch.zeros(3, 3), torch.zeros(3, 3))
