"""`tilery doctor`: what is here, and what is to be mended."""

import os
import platform

import pytest

from tilery.commands import doctor


def mended(done):
    return [line.split(maxsplit=2)[1:] for line in done.stdout.splitlines() if line.startswith("mend")]


def test_what_is_here(python, tmp_path):
    done = python("-m", "tilery", "doctor", environment={"TILERY_CACHE_DIR": str(tmp_path / "cache"), "TILERY_NUM_THREADS": "1"})
    assert (done.returncode, mended(done)) == (0, []), done.stdout + done.stderr
    about = {line.split()[1]: line for line in done.stdout.splitlines()}
    assert {"python", "tilery", "numpy", "torch", "cpu", "gpu", "cache"} <= about.keys()
    assert platform.python_version() in about["python"] and "1 thread; runs code for" in about["cpu"]
    assert "TILERY_NUM_THREADS=1" in done.stdout and not (tmp_path / "cache").exists()


def test_a_root_without_proc(tmp_path):
    nameless = tmp_path / "cpuinfo"
    nameless.write_text("processor : 0\n")
    assert doctor._model_name(str(tmp_path / "none")) == doctor._model_name(str(nameless)) == "a processor without a name"
    nameless.write_text("processor : 0\nmodel name\t: A Processor\n")
    assert doctor._model_name(str(nameless)) == "A Processor"


def test_variables(python):
    done = python("-m", "tilery", "doctor", environment={"TILERY_DUMPP": "1", "TILERY_CACHE_MB": "many"})
    garbled, misspelt = mended(done)
    assert done.returncode == 1
    assert "TILERY_CACHE_MB is 'many'; expected a number" in garbled[1]
    assert "TILERY_DUMPP is not known" in misspelt[1] and "did you mean TILERY_DUMP?" in misspelt[1]


def test_a_cache_that_is_no_folder(python, tmp_path):
    (tmp_path / "file").write_text("")
    for name in ("file", "file/below"):
        done = python("-m", "tilery", "doctor", environment={"TILERY_CACHE_DIR": str(tmp_path / name)})
        ((about, text),) = mended(done)
        assert done.returncode == 1 and about == "cache" and "no folder" in text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere: run as another user")
def test_a_cache_that_cannot_be_written(python, tmp_path):
    (tmp_path / "cache").mkdir(mode=0o500)
    ((about, text),) = mended(python("-m", "tilery", "doctor", environment={"TILERY_CACHE_DIR": str(tmp_path / "cache")}))
    assert about == "cache" and "cannot be written" in text


class Native:
    """A module whose GPU is what a test says."""

    def __init__(self, count=1, assembler=True, target="sm_90a:cuda12040", problem=None):
        self.count, self.assembler, self.target, self.problem = count, assembler, target, problem

    def gpu_count(self):
        return self.count

    def gpu_properties(self, device):
        if self.problem:
            raise self.problem
        return {"name": "H100", "capability": (9, 0), "multiprocessors": 132}

    def gpu_target(self, device):
        if isinstance(self.target, Exception):
            raise self.target
        return self.target

    def gpu_assembler_is_here(self):
        return self.assembler


@pytest.mark.parametrize(
    "native, wanted",
    [
        (Native(), [("ok", "H100, compute capability 9.0, 132 multiprocessors; driver of CUDA 12.4"), ("ok", "PTX compiler")]),
        (Native(assembler=False), [("ok", "code for sm_90a"), ("mend", "libnvidia-ptxjitcompiler.so.1, is not found")]),
        (Native(target=NotImplementedError("has compute capability 7.5")), [("mend", "7.5"), ("ok", "PTX compiler")]),
        (Native(count=0, problem=RuntimeError("this machine has no NVIDIA driver")), [("ok", "none: this machine has no")]),
    ],
)
def test_gpus(native, wanted, monkeypatch):
    monkeypatch.setattr("tilery._native", native, raising=False)
    found = [*doctor._gpu()]
    assert [state for state, _, _ in found] == [state for state, _ in wanted]
    assert all(text in line for (_, _, line), (_, text) in zip(found, wanted)), found


def test_a_driver_that_does_not_start(monkeypatch):
    monkeypatch.setattr("tilery._native", Native(count=0, problem=RuntimeError("the NVIDIA driver is too old")), raising=False)
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/dev/nvidiactl")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    ((state, _, text),) = doctor._gpu()
    assert state == "mend" and "too old" in text
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    ((state, _, text),) = doctor._gpu()
    assert state == "ok" and "CUDA_VISIBLE_DEVICES hides all" in text
