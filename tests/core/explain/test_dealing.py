"""Launches that leave processors without work, and what is said where no finding is."""

import pytest
import torch

from tilery import tilelang, tileon
from tilery.core.explain import entry, text
from tilery.core.explain.dealing import idle
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def alone_kernel(x, o, N: tl.constexpr):
    total = 0.0
    for start in range(0, N, 1024):
        total += tl.sum(tl.exp(tl.load(x + start + tl.arange(0, 1024))))
    tl.store(o, total)


@pytest.mark.parametrize(
    "grids, processors, milliseconds, found",
    [
        ([[1, 1, 1]], 8, 1.0, "one program runs where 8 threads could"),
        ([[2, 2, 1]], 8, 1.0, "4 programs run where 8 threads could"),
        ([[5, 1, 1]], 8, 1.0, None),
        ([[1, 1, 1], [64, 1, 1]], 8, 1.0, None),
        ([[1, 1, 1]], 1, 1.0, None),
        ([[1, 1, 1]], 8, 0.01, None),
        ([[1, 1, 1]], 8, None, None),
        ([], 8, 1.0, None),
    ],
)
def test_half_of_the_processors_or_more_are_idle(grids, processors, milliseconds, found):
    findings = idle(grids, processors, milliseconds, -1, None)
    assert [each.message for each in findings] == ([found + ": the others have nothing to do"] if found else [])


def test_a_launch_of_one_program_says_so_at_its_function(monkeypatch):
    monkeypatch.setattr(entry, "processors_of", lambda device: 4)
    report = alone_kernel.explain(torch.rand(1 << 20), torch.empty(1), N=1 << 20, grid=(1,), seconds=0)
    (found,) = [each for each in report.launches[0].findings if each.fault == "grid"]
    assert found.chain[0].file == __file__ and found.chain[0].line == alone_kernel.fn.__code__.co_firstlineno + 1
    assert "grid: one program runs where 4 threads could" in str(report) and "one program runs" in report.html()


@T.prim_func
def without_blocks(x: T.Tensor((1 << 20,), "float32"), y: T.Tensor((1 << 20,), "float32")):
    for i in T.Parallel(1 << 20):
        y[i] = x[i] + 1


def test_tilelang_is_told_how_to_make_more_programs(monkeypatch):
    monkeypatch.setattr(entry, "processors_of", lambda device: 4)
    report = tilelang.compile(without_blocks).explain(torch.rand(1 << 20), torch.empty(1 << 20), seconds=0)
    (launch,) = report.launches
    launch.kind.times[:] = [1.0] * 3
    (found,) = [each for each in launch.findings if each.fault == "grid"]
    assert found.hint.endswith("`with T.Kernel(n) as i` around them runs n, a function without it one")


def test_what_is_said_without_a_finding():
    (found,) = alone_kernel.explain(torch.rand(1 << 20), torch.empty(1), N=1 << 20, grid=(1,), seconds=0).launches
    least, found.kind.waited = found.limits[0][1], 0.0
    found.kind.times[:] = [100 * least + 1]
    assert found.without_findings == "what holds it back is not known"
    found.kind.times[:] = [1e-3]  # a launch's own time
    assert found.without_findings == "nothing is known to hold it back"
    found.kind.times[:] = [1.2 * least]
    assert found.without_findings == "nothing is known to hold it back"
    assert any(name == "reached" and said.startswith("83 % of the roofline: ") for name, said in text.facts(found))
    found.kind.times[:] = [0.5 * least]
    (said,) = [said for name, said in text.facts(found) if name == "reached"]
    assert said.startswith("the roofline and more: ") and f" {found.limits[0][1]:.4f} ms there; " in said


@tileon.jit
def little_kernel(x, o, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) + 1)


@tileon.jit
def divided_kernel(x, o, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) + i // N)


def test_where_programs_do_next_to_nothing_that_alone_is_said():
    """A division per element costs nothing beside the beginning of 32768 programs."""
    x = torch.rand(1 << 18)
    (launch,) = divided_kernel.explain(x, torch.empty_like(x), 100, B=8, grid=(len(x) // 8,), seconds=0).launches
    launch.kind.times[:] = [max(0.1, 10 * launch.limits[0][1])]
    assert [each.fault for each in launch.findings] == ["grid"]


@pytest.mark.parametrize("block, found", [(8, "each of 32768 programs moves 64 bytes"), (1024, None)])
def test_programs_that_do_next_to_nothing(block, found):
    x = torch.rand(1 << 18)
    (launch,) = little_kernel.explain(x, torch.empty_like(x), B=block, grid=(len(x) // block,), seconds=0).launches
    launch.kind.times[:] = [max(0.1, 10 * launch.limits[0][1])]
    assert [each.message.partition(":")[0] for each in launch.findings if "bytes" in each.message] == ([found] if found else [])
    launch.kind.times[:] = [0.01]  # short
    assert not launch.findings
