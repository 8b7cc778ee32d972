"""What memory's rate is measured with."""

import os

from tilery.core.explain import roofline


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


def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
