"""Block sizes by timing, where a user asks for it: how many are timed, on what, and that the result is remembered."""

import random

import pytest
import torch

from tilery import ninetoothed
from tilery.ninetoothed import Tensor, block_size, tuning

FRESH = 256 * random.SystemRandom().randrange(1 << 16)  # what an earlier run of the tests has timed is remembered on disk


@pytest.fixture
def timed(monkeypatch):
    """[seconds of each timing] to come: each pops one; records what was timed."""
    plan, done = [], []

    def measure(fn, **_):
        fn()
        done.append(len(done))
        return plan.pop(0) if plan else 1.0

    monkeypatch.setattr(tuning, "measure", measure)
    return plan, done


def kernel(salt, max_num_configs=None, **options):
    block = block_size()

    def application(x, y):
        y = x + salt  # noqa: F841

    def arrangement(x, y):
        return x.tile((block,)), y.tile((block,))

    tensors = (Tensor(1), Tensor(1))
    return ninetoothed.make(arrangement, application, tensors, max_num_configs=max_num_configs, **options)


def test_the_model_chooses_where_nobody_asks(timed, device, monkeypatch):
    monkeypatch.delenv("TILERY_TUNE", raising=False)
    x, y = torch.randn(5000, device=device), torch.empty(5000, device=device)
    kernel(FRESH, max_num_configs=4)(x, y)
    assert torch.equal(y, x + FRESH) and timed[1] == []


@pytest.mark.parametrize("limit, expected", [(None, 6), (4, 4), (100, 6), (2, 2)])
def test_so_many_are_timed(timed, device, limit, expected):
    x, y = torch.randn(5000, device=device), torch.empty(5000, device=device)
    made = kernel(FRESH + (limit or 0), max_num_configs=limit)
    chosen = made.tune(x, y)
    assert len(timed[1]) == expected and len(chosen) == 1  # 32 to 1024


def test_the_fastest_is_used_and_remembered(timed, device):
    plan, done = timed
    x, y = torch.randn(5000, device=device), torch.full((5000,), -1.0, device=device)
    plan += [5, 4, 1, 3]
    made = kernel(FRESH + 11, max_num_configs=4)
    model = made._candidates((x, y), {}, 4)
    chosen = made.tune(x, y)
    assert chosen == {label: value for label, value in model[2].items() if not label.startswith("_")}
    assert (y == -1).all()  # only copies were written
    made(x, y)
    assert torch.equal(y, x + (FRESH + 11)) and len(done) == 4
    (found,) = {tuple(v for k, v in c.items() if not k.startswith("_")) for c in made._choices.values()}
    assert found == tuple(chosen.values())
    made.tune(x, y)
    assert len(done) == 4 or not tuning._native.cache_folder()


def test_the_environment_asks(timed, device, monkeypatch):
    monkeypatch.setenv("TILERY_TUNE", "1")
    x, y = torch.randn(777, device=device), torch.empty(777, device=device)
    without = kernel(FRESH + 21)
    without(x, y)
    assert timed[1] == []  # names no max_num_configs
    asked = kernel(FRESH + 22, max_num_configs=3)
    asked(x, y)
    asked(x, y)
    assert torch.equal(y, x + (FRESH + 22)) and len(timed[1]) == 3


def test_in_place_kernels_are_timed_on_copies(timed, device):
    block = block_size(64, 256)

    def application(x, y):
        y = y + x  # noqa: F841

    made = ninetoothed.make(lambda x, y: (x.tile((block,)), y.tile((block,))), application, (Tensor(1), Tensor(1)))
    x = torch.randn(1000, device=device)[::2]
    before = x.clone()
    made.tune(x, x)
    assert torch.equal(x, before)
    made(x, x)
    assert torch.equal(x, before * 2)


def test_one_that_fails_is_not_chosen(monkeypatch):
    def run(candidate):
        if candidate["n"] != 2:
            raise RuntimeError("too large")

    candidates = [{"n": n} for n in (1, 2, 3)]
    assert tuning.fastest("k", None, candidates, run) == {"n": 2}
    with pytest.raises(RuntimeError, match="no configuration of kernel `k` could be run"):
        tuning.fastest("k", None, candidates[:1], run)


ALTERNATIVES = {"num_stages": (1, 2, 3)}, {"num_warps": (4, 8)}, {"num_warps": (4, 8), "num_stages": [1, 2]}


@pytest.mark.parametrize("options", ALTERNATIVES)
def test_what_comes_to_the_same_code_is_timed_once(timed, device, options):
    x, y = torch.randn(5000, device=device), torch.empty(5000, device=device)
    salt = FRESH + 31 + ALTERNATIVES.index(options)
    made = kernel(salt, **options)
    made.tune(x, y)
    ran = [(choice[:2], choice[3:], compiled) for choice, compiled in made._coded.items()]  # without the hints
    assert len(timed[1]) == len(ran) >= 4
    for sizes, rest, compiled in ran:
        alike = [kind for kind in ran if kind[:2] == (sizes, rest)]
        assert len(alike) == 1 or not compiled.ignores("num_warps")
    made(x, y)
    assert torch.equal(y, x + salt)


def test_one_that_runs_the_code_of_another_is_left_out():
    ran = []
    candidates = [{"n": 1, "w": 4}, {"n": 1, "w": 8}, {"n": 2, "w": 4}]
    tuning.fastest("k", None, candidates, ran.append, lambda timed, other: timed["n"] == other["n"])
    assert {c["w"] for c in ran if c["n"] == 1} == {4} and {c["n"] for c in ran} == {1, 2}
