"""Profiles: kernels under scopes, with times and work."""

import json

import pytest
import torch

import tilery.tileon as tileon
import tilery.tileon.language as tl
from tilery.tileon import knobs
from tilery.tileon import profiler as proton
from tilery.tileon.profiler import viewer


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


def test_profiles_are_read_back(here, capsys):
    def node(name, metrics, *children):
        return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}

    def kernel(name, count, time, **work):
        return node(name, {"count": count, "time (ns)": time, "device_id": "0", **work})

    slow, fast = kernel("slow", 2, 3_000_000, flops16=6e9, bytes=3e6), kernel("fast", 1, 1_000_000, flops32=4e9)
    root = node("ROOT", {"count": 0, "time (ns)": 0}, node("outer", {"batch": 3}, fast, slow), kernel("alone", 1, 500_000))
    (here / "mine.hatchet").write_text(json.dumps([root, {}]))
    tree, names = viewer.parse(["time/ms", "tflop16/s", "gflop/s", "gbyte/s", "avg_time/us", "batch"], "mine.hatchet")
    viewer.print_tree(tree, names, print_sorted=True)
    assert capsys.readouterr().out.splitlines() == [
        "4.500 1.333 2222.222 0.667 1125.000 3.000 ROOT",
        "├─ 4.000 1.500 2500.000 0.750 1333.333 3.000 outer",
        "│  ├─ 3.000 2.000 2000.000 1.000 1500.000 0.000 slow",
        "│  └─ 1.000 0.000 4000.000 0.000 1000.000 0.000 fast",
        "└─ 0.500 0.000 0.000 0.000 500.000 0.000 alone",
    ]
    for choice, kept in ({"include": "slow"}, ["outer", "slow"]), ({"exclude": "fast"}, ["outer", "slow", "alone"]):
        assert [n.strip("│├└─ ").split()[-1] for n in lines(capsys, "time/s", **choice)[1:]] == kept
    assert len(lines(capsys, "time/s", threshold=0.5)) == 3 and len(lines(capsys, "count", depth=1)) == 3
    with pytest.raises(ValueError, match="the profile has no metric 'cycles'"):
        viewer.parse(["cycles"], "mine.hatchet")


def test_the_viewer_is_a_program(here, capsys):
    leaf = {"frame": {"name": "add", "type": "function"}, "metrics": {"count": 2, "time (ns)": 3_000_000}, "children": []}
    root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0}, "children": [leaf]}
    (here / "mine.hatchet").write_text(json.dumps([root, {}]))
    viewer.main(["-l", "mine.hatchet"])
    assert capsys.readouterr().out == "count\ntime (ns)\n"
    viewer.main(["-m", "time/ms,count", "mine.hatchet"])
    assert capsys.readouterr().out == "3.000 2.000 ROOT\n└─ 3.000 2.000 add\n"
    for arguments, words in ((["-m", "cycles", "mine.hatchet"], "no metric 'cycles'"), (["nowhere"], "nowhere")):
        with pytest.raises(SystemExit) as ended:
            viewer.main(arguments)
        assert ended.value.code == 1 and words in capsys.readouterr().err


def lines(capsys, metric, depth=100, **choice):
    viewer.print_tree(*viewer.parse([metric], "mine.hatchet", **choice), depth=depth)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "format, name",
    [
        (None, "/there/model.py:forward@12"),
        ("full", "/there/model.py:forward@12"),
        ("file_function_line", "model.py:forward@12"),
        ("function_line", "forward@12"),
        ("file_function", "model.py:forward"),
    ],
)
def test_names_of_lines_are_shortened(format, name, capsys):
    viewer.print_tree(viewer.Tree("/there/model.py:forward@12", {"count": 1}, []), ["count"], format=format)
    assert capsys.readouterr().out == f"1.000 {name}\n"
    with pytest.raises(ValueError, match="print_tree knows no format 'line'\n  hint: known: full, file_function_line"):
        viewer.print_tree(viewer.Tree("a", {}, []), [], format="line")
