"""The disk cache as programs meet it. What TILERY_DUMP=tile prints tells whether a process compiled."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from tilery import tileon
import tilery.tileon.language as tl
SCALE = tl.constexpr({scale})

@tileon.jit
def helper(x):
    return x * {factor}

@tileon.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, helper(tl.load(x + offsets, mask=offsets < n)) * SCALE, mask=offsets < n)

x, y = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
kernel[(2,)](x, y, 100, BLOCK={block})
assert (y == x * {factor} * {scale}).all()
print("right")
"""


@pytest.fixture
def run(tmp_path):
    def run(folder=tmp_path / "cache", start=False, **values):
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.format(**{"scale": 2.0, "factor": 3.0, "block": 64, **values}))
        environment = {**os.environ, "TILERY_CACHE_DIR": str(folder), "TILERY_DUMP": "tile"}
        process = subprocess.Popen(
            [sys.executable, str(program)], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        return process if start else finish(process)

    return run


def finish(process):
    """(compilations, the rest of stderr)"""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "right\n"), err
    return err.count("// ---- tilery: tile"), err


def test_second_process_does_not_compile(run, tmp_path):
    assert run()[0] == 1
    assert run()[0] == 0
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("change", [{"scale": 4.0}, {"factor": 5.0}, {"block": 128}], ids=["global", "helper", "constexpr"])
def test_what_a_kernel_reads_is_part_of_the_key(run, change):
    run()
    assert run(**change)[0] == 1
    assert run(**change)[0] == 0
    assert run()[0] == 0


@pytest.mark.parametrize(
    "damage",
    [lambda data: data[: len(data) // 2], lambda data: b"", lambda data: data[:-1] + bytes([data[-1] ^ 1])],
    ids=["truncated", "empty", "changed"],
)
@pytest.mark.parametrize("kind", ["code", "manifest"])
def test_damaged_entries_are_rewritten(run, tmp_path, damage, kind):
    run()
    (entry,) = (tmp_path / "cache").glob(f"{kind}-*")
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    run()
    assert entry.read_bytes() == whole
    assert run()[0] == 0


def test_two_processes_at_once(run):
    first, second = run(start=True), run(start=True)
    finish(first), finish(second)
    assert run()[0] == 0


def test_unwritable_folder_warns_once(run, tmp_path):
    (tmp_path / "file").write_text("")
    compiled, err = run(tmp_path / "file" / "cache")
    assert compiled == 1 and err.count("tilery: the cache folder") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_folder_of_another_user(run, tmp_path):
    run()
    os.chown(tmp_path / "cache", 12345, 12345)
    compiled, err = run()
    assert compiled == 1 and "belongs to another user" in err


def test_turned_off(run, tmp_path):
    assert run("")[0] == 1 and run("")[0] == 1
    assert not (tmp_path / "cache").exists()
