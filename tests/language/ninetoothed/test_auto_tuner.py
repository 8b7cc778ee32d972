"""AutoTuner: which function is called, what is timed again, and what survives the process."""

import itertools

import pytest
import torch

from tilery.errors import Error
from tilery.ninetoothed.auto_tuner import AutoTuner

COUNT = itertools.count()


def tuner(monkeypatch, *costs):
    """A tuner of functions whose times are given; what it called and timed; the functions."""
    log = []

    def function(i):
        def call(*args, **kwargs):
            log.append(i)
            if costs[i] is None:
                raise RuntimeError("cannot be launched")
            return i

        return call

    def measure(fn, *_):
        i = fn()
        log.append("timed")
        return costs[i]

    monkeypatch.setattr("tilery.ninetoothed.auto_tuner.measure", measure)
    functions = [function(i) for i in range(len(costs))]
    keys = [f"test {next(COUNT)}" for _ in costs]
    return AutoTuner(functions, keys), log, functions, keys


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    init = AutoTuner.__init__

    def patched(self, funcs, keys):
        init(self, funcs, keys)
        self._folder = tmp_path
        self._cache_path = self._path("\n".join(self._keys))

    monkeypatch.setattr(AutoTuner, "__init__", patched)


def test_the_fastest_is_called_and_timed_once(monkeypatch):
    tune, log, _, _ = tuner(monkeypatch, 3.0, 1.0, 2.0)
    assert tune(1, a=2) == 1 and log == [0, "timed", 1, "timed", 2, "timed", 1]
    assert tune(1, a=2) == 1 and log[7:] == [1]
    tune(1, a=3)
    assert log.count("timed") == 6


def test_times_survive_the_tuner(monkeypatch):
    tune, log, functions, keys = tuner(monkeypatch, 3.0, 1.0)
    tune(5)
    assert tune._cache_path.exists() and all(tune._get_func_cache_path(f).exists() for f in functions)
    del log[:]
    assert AutoTuner(functions, keys)(5) == 1 and log == [1]
    del log[:]
    assert AutoTuner(functions[:1], keys[:1])(5) == 0 and log == [0]
    tune._cache_path.write_text("no json")
    assert AutoTuner(functions, keys)(5) == 1


def test_functions_that_cannot_run_are_not_chosen(monkeypatch):
    tune, _, _, _ = tuner(monkeypatch, None, 9.0)
    assert tune() == 1
    tune, _, _, _ = tuner(monkeypatch, None, None)
    with pytest.raises(RuntimeError, match="cannot be launched"):
        tune()


def test_keys_of_arguments():
    key = AutoTuner._make_arg_key((torch.zeros(2, 3), 4), {"x": torch.zeros(0, dtype=torch.int8)})
    assert key == "tensor(shape=(2, 3), dtype=torch.float32), 4, x=tensor(shape=(0,), dtype=torch.int8)"
    with pytest.raises(Error, match="got 1 and 2"):
        AutoTuner([print], ["a", "b"])
