"""Profiles: kernels under scopes, with times and work."""

import json

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon import knobs
from tilery.tileon import profiler as proton


@tileon.jit(launch_metadata=lambda grid, kernel, args: {"flops32": args["n"], "bytes": 8 * args["n"]})
def double(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def tree(file):
    root, device = json.loads(file.read_text())
    assert set(device) <= {"CPU", "CUDA"} and root["frame"]["name"] == "ROOT"
    return {child["frame"]["name"]: child for child in root["children"]}


def test_kernels_under_scopes(here):
    x = torch.ones(10)
    session = proton.start("mine", hook="triton")
    double[(1,)](x, 10, 16)
    with proton.scope("outer", metrics={"batch": 3}):
        with proton.cpu_timed_scope("inner"):
            double[(1,)](x, 10, 16)
            double[(1,)](x, 10, 16)
    proton.deactivate(session)
    double[(1,)](x, 10, 16)
    proton.finalize(session)
    double[(1,)](x, 10, 16)
    assert torch.equal(x, torch.full((10,), 32.0)) and not knobs.runtime.launch_enter_hook
    nodes = tree(here / "mine.hatchet")
    alone, inner = nodes["double"]["metrics"], nodes["outer"]["children"][0]
    assert alone["count"] == 1 and alone["flops32"] == 10 and alone["time (ns)"] > 0 and nodes["outer"]["metrics"] == {"batch": 3}
    assert inner["frame"]["name"] == "inner" and inner["children"][0]["metrics"]["count"] == 2
    assert inner["children"][0]["metrics"]["bytes"] == 160
    assert inner["metrics"]["cpu_time (ns)"] >= inner["children"][0]["metrics"]["time (ns)"]


def test_traces(here):
    proton.start(data="trace")

    @proton.scope("work")
    def work():
        double[(1,)](torch.ones(10), 10, 16)

    work()
    proton.finalize()
    (event,) = json.loads((here / "proton.chrome_trace").read_text())["traceEvents"]
    assert event["name"] == "double" and event["dur"] > 0 and event["args"]["scopes"] == ["work"]


def test_functions_that_are_measured(here):
    @proton.profile(name="calls")
    def work():
        double[(1,)](torch.ones(10), 10, 16)

    work()
    double[(1,)](torch.ones(10), 10, 16)
    proton.finalize()
    assert tree(here / "calls.hatchet")["double"]["metrics"]["count"] == 1


def test_it_can_be_switched_off(here):
    with knobs.proton.scope():
        knobs.proton.disable = True
        assert proton.start() is None
    proton.finalize()
    assert not list(here.iterdir())


def test_wrong_use(here):
    with pytest.raises(NotImplementedError, match="times inside kernels are not measured"):
        proton.start(backend="instrumentation")
    with pytest.raises(ValueError, match="there is no session 77"):
        proton.finalize(77)
    proton.start()
    with pytest.raises(RuntimeError, match="a scope was left that was not entered"):
        proton.exit_scope()
    proton.finalize()
