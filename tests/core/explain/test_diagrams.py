"""Pictures on the page of an explanation: the pipeline over time, elements dealt to threads, arrangements."""

from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import torch
from core.explain.faulty_kernels import looked_up_kernel, plus, plus_kernel
from core.explain.test_gpu_code import made, product

from tilery import ninetoothed
from tilery.core.explain import diagrams
from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed.sketch import sketch

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture):
    return [each.text for each in ElementTree.fromstring(picture).iter(SVG + "text")]


def boxes(picture, kind):
    return [each for each in ElementTree.fromstring(picture).iter(SVG + "rect") if each.get("class") == kind]


def test_a_ring_over_time():
    (picture,) = filter(None, map(diagrams.pipeline, made(product(torch.float16)).steps))
    said = texts(picture)
    assert said[:2] == ["slot 0", "slot 1"] and any("bound by the tensor cores" in text for text in said)
    slots = sum(text.startswith("slot") for text in said)
    copies, products = boxes(picture, "least"), boxes(picture, "taken")
    assert len(copies) == len(products) == 2 * slots

    def span(box):
        return float(box.get("x")), float(box.get("x")) + float(box.get("width"))

    for i, (copy, own) in enumerate(zip(copies, products)):
        assert copy.get("y") == own.get("y") and span(copy)[1] <= span(own)[0]  # a product begins when its copy is there
        if i >= slots:
            assert span(products[i - slots])[1] <= span(copy)[0]  # and a copy when its slot is free
        if i:
            assert span(products[i - 1])[1] <= span(own)[0]


@pytest.mark.parametrize("stages, steps", [(2, 1), (4, 3), (24, 100)])
def test_rings_of_other_sizes(stages, steps):
    message = f"consumers=1 k=64 stages={stages} group=8: 1024 cycles of {steps} steps, bound by memory; next"
    picture = diagrams.pipeline(SimpleNamespace(message=message))
    assert len(boxes(picture, "taken")) == min(steps, 2 * min(stages, 8))


def test_elements_of_threads():
    x, index = torch.empty(4096), torch.empty(4096, dtype=torch.int32)
    steps = made(lambda: looked_up_kernel[(4,)](x, index, torch.empty(4096), B=1024)).steps
    (picture,) = diagrams.dealings(steps)
    said = texts(picture)
    assert said[said.index("thread 127") + 1] == "508 to 511"
    assert said[said.index("vector 1") + 1 :][:2] == ["thread 0", "512 to 515"]


def test_steps_of_other_kinds_have_no_picture():
    step = SimpleNamespace(message="loops over 64 x 64 elements, in vectors of 16: stores")
    assert diagrams.pipeline(step) == "" and diagrams.dealings([step]) == []


def test_an_arrangement_is_drawn_small():
    block = Symbol("BLOCK", meta=True)
    add = ninetoothed.make(lambda *given: tuple(t.tile((block,)) for t in given), plus, (Tensor(1), Tensor(1), Tensor(1)))
    report = add.explain(torch.rand(4000), torch.rand(4000), torch.empty(4000), seconds=0)
    assert "arrangement, with small numbers" in report.html()

    def matmul(a, b, c):
        c = c.tile((block, block))
        a = a.tile((block, block)).tile((1, -1)).expand((-1, c.shape[1]))
        b = b.tile((block, block)).tile((-1, 1)).expand((c.shape[0], -1))
        a.dtype, b.dtype = a.dtype.squeeze(0), b.dtype.squeeze(1)
        return a, b, c

    tensors = matmul(*(Tensor(2, name=name) for name in "abc"))
    said = texts(sketch(tensors))
    assert [text.split(":")[0] for text in said if ":" in text] == ["a", "b", "c"]
    assert sketch((Tensor(2, jagged_dim=1),)) == ""


def test_what_takes_no_small_numbers_is_not_drawn():
    tensors = (Tensor(shape=(1000, 1000)).tile((100, 100)),)
    assert sketch(tensors) == ""
    report = plus_kernel.explain(torch.rand(4000), torch.rand(4000), torch.empty(4000), seconds=0)  # tiles of 256
    assert "small numbers" not in report.html()
