"""What memory's rate is measured with."""

import os

import numpy as np
import pytest
from core.explain.faulty_kernels import matmul_kernel

from tilery import _native, tileon
from tilery.core.explain import busy, roofline
from tilery.core.explain.roofline import Roofline
from tilery.tileon import language as tl


def test_what_is_copied_is_as_large_as_caches_and_memory_affords(monkeypatch):
    caches, memory = 256 << 20, 16 << 30
    monkeypatch.setattr(roofline, "last_caches", lambda: caches)
    monkeypatch.setattr(os, "sysconf", lambda name: memory >> 12 if name == "SC_PHYS_PAGES" else 4096)
    assert roofline.copied_blocks(-1) << 14 == 256 << 20
    caches, memory = 4 << 30, 64 << 30
    assert roofline.copied_blocks(-1) << 14 == 512 << 20
    memory = 2 << 30
    assert roofline.copied_blocks(-1) << 14 == 128 << 20
    caches = 0
    assert roofline.copied_blocks(-1) << 14 == 64 << 20


def test_caches_are_counted_once(tmp_path):
    for cpu, sharing in enumerate(("0-1", "0-1", "2")):
        folder = tmp_path / f"cpu{cpu}/cache/index3"
        folder.mkdir(parents=True)
        (folder / "shared_cpu_list").write_text(f"{sharing}\n")
        (folder / "size").write_text("32768K\n")
    assert roofline.last_caches(str(tmp_path)) == 64 << 20
    assert roofline.last_caches(str(tmp_path / "none")) == 0


def test_a_tensor_has_pages_of_its_own():
    """Pages that nobody wrote are one page of zeros, which caches hold."""
    before = _resident()
    kept = roofline._tensor(32 << 20, -1)  # 128 MiB
    assert _resident() - before > 100 << 20 and kept.nbytes == 128 << 20


def test_others_are_counted_on_our_processors(tmp_path, monkeypatch):
    stat, own = tmp_path / "stat", iter([50.0, 90.0])

    def written(ours):
        stat.write_text(f"cpu 1 1 1 1 1 1 1 1 0 0\ncpu0 {ours}\ncpu1 9999 0 0 0 0 0 0 0 0 0\nintr 7\n")

    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    monkeypatch.setattr(busy, "_own", lambda: next(own))
    read = busy._ticks
    monkeypatch.setattr(busy, "_ticks", lambda: read(str(stat)))
    written("100 0 0 1000 10 0 0 0 0 0")
    with busy.Others() as others:
        written("130 5 20 1020 15 0 0 20 0 0")  # 75 busy or stolen, of which 40 are ours, and 25 idle
    assert others.share == pytest.approx(0.35)
    assert read(str(tmp_path / "none")) == (0, 0)


@tileon.jit
def copy_kernel(x, y, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))


def another_process():
    roofline._known.clear()
    roofline.again.cache_clear()


@pytest.fixture
def measured(monkeypatch):
    """Nothing is known, and the disk cache is a dictionary."""
    kept = {}
    before = dict(roofline._known)
    with monkeypatch.context() as patch:
        patch.setattr(roofline.cache, "folder", lambda: "somewhere")
        patch.setattr(_native, "cache_get", lambda kind, key: kept.get((kind, key)))
        patch.setattr(_native, "cache_put", lambda kind, key, data: kept.__setitem__((kind, key), data))
        another_process()
        yield patch
    another_process()
    roofline._known.update(before)


@pytest.mark.parametrize("others", [0.1, 0.5])
def test_what_is_measured_on_a_busy_machine_is_measured_again(others, measured):
    """The next process measures again; the best of both stays."""
    again = Roofline(2e10, 0.5e11, 1e11, 0.05)
    rounds = iter([Roofline(1e10, 1e11, 1e11, others), again])
    measured.setattr(roofline, "measured", lambda device: next(rounds))
    assert roofline.of(-1) == roofline.of(-1) == Roofline(1e10, 1e11, 1e11, others)
    another_process()
    assert roofline.of(-1) == (Roofline(2e10, 1e11, 1e11, 0.05) if others == 0.5 else Roofline(1e10, 1e11, 1e11, others))
    another_process()
    assert roofline.of(-1).others < roofline.BUSY
    measured.undo()
    measured.setattr(roofline, "of", lambda device: Roofline(1e10, 1e11, 1e11, others))
    measured.setattr(roofline, "again", lambda device: None)
    said = str(copy_kernel.explain(np.ones(64, np.float32), np.ones(64, np.float32), B=64, grid=(1,)))
    assert ("other programs had 50 % of the processors while they were measured" in said) == (others == 0.5), said


@pytest.mark.parametrize(
    "times, best",
    [
        ([40.0] * 9, 40.0),
        ([10.0] * 8 + [90.0, 5.0], 10.0),
        ([100.0] + [50.0] * 6 + [20.0] + [60.0] * 8 + [1.0], 20.0),
        ([1000.0, 1.0], 1000.0),
    ],
)
def test_a_rate_is_that_of_the_quickest_launch(times, best, monkeypatch):
    """Of launches that others disturb, so many that some are left alone; but no more than a second."""
    clock = iter(times)
    monkeypatch.setattr(roofline, "time_call", lambda launch: next(clock))
    tensors = [np.zeros(4096, np.float32), np.zeros(4096, np.float32)]
    assert roofline._rate("roofline_copy", roofline._COPY, (1,), tensors, 1e9) == pytest.approx(1e12 / best)


def test_a_launch_that_is_faster_than_what_was_measured_has_it_measured_again(measured):
    """Once; where data are in caches it says nothing."""
    calls = []
    slow, fast = Roofline(1e3, 1e3, 1e3), Roofline(1e15, 1e15, 1e15)
    measured.setattr(roofline, "measured", lambda device: calls.append(device) or (fast if len(calls) > 1 else slow))
    small = np.ones(64, np.float32)
    said = str(copy_kernel.explain(small, small.copy(), B=64, grid=(1,), seconds=0))
    assert calls == [-1] and "data that stay in caches are faster" in said
    measured.setattr(roofline, "last_caches", lambda: 0)
    report = copy_kernel.explain(small, small.copy(), B=64, grid=(1,), seconds=0)
    assert report.launches[0].reached < 1 and "faster" not in str(report) and calls == [-1, -1]


def test_products_of_narrow_elements_may_be_faster_than_the_limit(measured):
    measured.setattr(roofline, "measured", lambda device: Roofline(1e15, 1e3, 1e15))
    a = np.ones((64, 64), np.float32)
    report = matmul_kernel.explain(a, a, a.copy(), 64, 64, 64, BM=64, BN=64, BK=64, grid=(1, 1), seconds=0)
    assert "the limit is that of f32: narrower elements may be faster; or the machine was busier" in str(report)


def test_machines_that_share_a_folder_have_limits_of_their_own(measured, monkeypatch):
    rounds = iter([Roofline(1e10, 1e11, 1e11), Roofline(2e10, 2e11, 2e11)])
    measured.setattr(roofline, "measured", lambda device: next(rounds))
    first = roofline.of(-1)
    another_process()
    monkeypatch.setattr("platform.node", lambda: "another")
    assert roofline.of(-1) != first


def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
