"""Launches with launch_cooperative_grid=True: their programs wait for each other. GPUs run all at once (tests/runtime/cuda),
the interpreter lets them take turns, and CPUs refuse."""

import pytest
import torch

from tilery import _native, tileon
from tilery.errors import Error
from tilery.tileon import language as tl


@tileon.jit
def meet(count_ptr, x_ptr, o_ptr):
    """Each program reads what the next one has written, when all have come."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    tl.store(x_ptr + program, program * 10)
    tl.atomic_add(count_ptr, 1, sem="release")
    while tl.atomic_add(count_ptr, 0, sem="acquire") < programs:
        pass
    tl.store(o_ptr + program, tl.load(x_ptr + (program + 1) % programs))


def launch(programs, **options):
    count, x, out = (torch.zeros(n, dtype=torch.int32) for n in (1, programs, programs))
    meet[(programs,)](count, x, out, **options)
    return out.tolist()


def test_programs_take_turns_in_the_interpreter():
    assert launch(3, launch_cooperative_grid=True, debug=True) == [10, 20, 0]


def test_gpus_run_all_at_once_and_cpus_refuse_more_than_one(device):
    assert launch(1, launch_cooperative_grid=True) == launch(1, launch_cooperative_grid=False) == [0]
    if device != "cpu":
        assert launch(3, launch_cooperative_grid=True) == [10, 20, 0]
        return
    with pytest.raises(Error, match=r"\(launch_cooperative_grid\): those of meet run one after the other on a CPU") as caught:
        launch(2, launch_cooperative_grid=True)
    assert isinstance(caught.value, NotImplementedError)


def test_code_for_such_launches_is_kept_apart():
    for target in ("host", "sm_80"):
        assert "launch_cooperative_grid" in _native.hints_of(target)
