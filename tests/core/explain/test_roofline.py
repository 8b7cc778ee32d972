"""What memory's rate is measured with."""

import os

import numpy as np
import pytest

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


@pytest.mark.parametrize("others", [0.1, 0.5])
def test_what_is_measured_on_a_busy_machine_is_not_kept(others, monkeypatch, tmp_path):
    kept = []
    monkeypatch.setattr(roofline, "measured", lambda device: Roofline(1e10, 1e11, 1e11, others))
    monkeypatch.setattr(roofline.cache, "folder", lambda: str(tmp_path))
    monkeypatch.setattr(_native, "cache_get", lambda kind, key: None)
    monkeypatch.setattr(_native, "cache_put", lambda kind, key, data: kept.append(kind))
    roofline.of.cache_clear()
    found = roofline.of(-1)
    roofline.of.cache_clear()
    assert found.others == others and kept == ["roofline"] * (others < roofline.BUSY)
    monkeypatch.undo()
    monkeypatch.setattr(roofline, "of", lambda device: Roofline(1e10, 1e11, 1e11, others))
    said = str(copy_kernel.explain(np.ones(64, np.float32), np.ones(64, np.float32), B=64, grid=(1,)))
    assert ("other programs had 50 % of the processors while they were measured" in said) == (others == 0.5), said


def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
