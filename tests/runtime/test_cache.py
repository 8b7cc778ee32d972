"""The disk cache as programs meet it. What TILERY_DUMP=tile prints tells whether a process compiled."""

import os
import random
import resource
import shutil
import subprocess
import sys

import pytest

PROGRAM = """
import os, shutil
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
{before}
kernel[(2,)](x, y, 100, BLOCK={block})
assert (y == x * {factor} * {scale}).all()
print("right")
"""


@pytest.fixture
def run(tmp_path):
    def run(folder=tmp_path / "cache", start=False, around=(), variables=None, limits=None, **values):
        """around: a command that runs the program's. variables: None takes one away. limits: called in the process."""
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.format(**{"scale": 2.0, "factor": 3.0, "block": 64, "before": "", **values}))
        environment = {**os.environ, "TILERY_CACHE_DIR": str(folder), "TILERY_DUMP": "tile", **(variables or {})}
        environment = {name: text for name, text in environment.items() if text is not None}
        command = [*around, sys.executable, str(program)]
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limits, cwd=tmp_path
        )
        return process if start else finish(process)

    return run


def finish(process):
    """(compilations, the rest of stderr)"""
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "right\n"), err
    return err.count("// ---- tilery: tile"), err


def warnings(err):
    return [line for line in err.splitlines() if line.startswith("tilery: the cache folder")]


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
    [
        lambda data: data[: len(data) // 2],
        lambda data: b"",
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: random.Random(0).randbytes(len(data)),
    ],
    ids=["truncated", "empty", "changed", "random"],
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


def test_a_file_in_the_folders_place(run, tmp_path):
    (tmp_path / "cache").write_text("")
    compiled, err = run()
    assert compiled == 1 and len(warnings(err)) == 1 and "is no folder" in err
    assert (tmp_path / "cache").read_text() == ""


def test_entries_that_may_not_be_read(run, tmp_path):
    run()
    for entry in (tmp_path / "cache").iterdir():
        entry.chmod(0)
        if os.geteuid() == 0:  # whom modes do not stop: another user's
            os.chown(entry, 12345, 12345)
    compiled, err = run()
    assert compiled == 1 and not warnings(err)
    assert run()[0] == 0


def test_without_a_home(run, tmp_path):
    """Neither the folder's variable nor XDG_CACHE_HOME nor HOME lead anywhere."""
    around = {"TILERY_CACHE_DIR": None, "XDG_CACHE_HOME": "not/absolute", "HOME": "/dev/null/home"}
    compiled, err = run(variables=around)
    assert compiled == 1 and len(warnings(err)) == 1
    assert run(variables={**around, "HOME": str(tmp_path / "home")})[0] == 1
    assert run(variables={**around, "HOME": str(tmp_path / "home")})[0] == 0
    assert (tmp_path / "home/.cache/tilery").is_dir() and not (tmp_path / "not").exists()


def test_a_folder_below_that_of_the_start(run, tmp_path):
    """A program that goes elsewhere keeps the folder it began with."""
    (tmp_path / "elsewhere").mkdir()
    assert run("below", before="os.chdir('elsewhere')")[0] == 1
    assert run("below")[0] == 0
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_folder_that_is_deleted_while_the_program_runs(run, tmp_path):
    first = "kernel[(2,)](x, y, 100, BLOCK=32)\nshutil.rmtree(os.environ['TILERY_CACHE_DIR'])"
    compiled, err = run(before=first)
    assert compiled == 2 and not warnings(err)
    assert run()[0] == 0, "what came after is kept"


def test_files_that_may_not_grow(run):
    """As on a full disk: what is written breaks off."""
    compiled, err = run(limits=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
    assert compiled == 1 and len(warnings(err)) == 1 and "cannot be written" in err


def mounted(folder, options):
    """A command that runs another one where a disk with these options is mounted."""
    script = f"mount {options} {folder} && exec \"$@\""
    command = ["unshare", "--mount", "sh", "-c", script, "sh"]
    if not shutil.which("unshare") or subprocess.run([*command, "true"], capture_output=True).returncode:
        pytest.skip("this user may not mount a disk")
    return command


def test_a_full_disk(run, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    compiled, err = run(around=mounted(folder, "-t tmpfs -o size=4k,mode=700 tmpfs"))
    assert compiled == 1 and len(warnings(err)) == 1 and "No space left on device" in err


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_disk_that_is_read_only(run, tmp_path, mode):
    """What is there is used."""
    folder = tmp_path / "cache"
    run()
    folder.chmod(mode)
    around = mounted(folder, f"--bind -o ro {folder}")
    compiled, err = run(around=around)
    assert compiled == 0 and not warnings(err)
    compiled, err = run(around=around, scale=4.0)
    assert compiled == 1 and len(warnings(err)) == 1 and "Read-only file system" in err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(run, tmp_path):
    run()
    (tmp_path / "cache").chmod(0o500)
    assert run()[0] == 0
    compiled, err = run(scale=4.0)
    assert compiled == 1 and len(warnings(err)) == 1


# A processor that differs in one feature, whose entries hold what no processor runs.
STRANGER = """
from tilery import _native
known, put = _native.target_id, _native.cache_put
_native.target_id = lambda target="host": known(target).replace("+avx2", "-avx2", 1)
_native.cache_put = lambda kind, key, value: put(kind, key, b"for another processor" if kind == "code" else value)
assert known() != _native.target_id()
"""
REFUSED = (
    STRANGER
    + """
try:
    kernel[(2,)](x, y, 100, BLOCK=64)
except Exception:
    raise SystemExit(print("right"))
"""
)


def test_code_for_another_processor_is_left_alone(run, tmp_path):
    """Two machines with one folder. What the other one has put there is found by itself alone."""
    assert run(before=STRANGER)[0] == 1
    there = {entry: entry.read_bytes() for entry in (tmp_path / "cache").iterdir()}
    assert run(before=REFUSED)[0] == 0, "its own entry is what it takes, or this test says nothing"
    assert run()[0] == 1 and run()[0] == 0
    assert len(list((tmp_path / "cache").iterdir())) == 2 * len(there) == 4
    assert {entry: entry.read_bytes() for entry in there} == there
